"""Which results a change of the code makes stale."""

import json
import platform
import shutil

import pytest

from experiments.commands import STUDIES
from experiments.measuring import digest, provenance
from experiments.measuring.digest import Source, modules_of

FILES = {
    "wdro_cvx/__init__.py": "",
    "wdro_cvx/judge.py": '"""Judges."""\nimport numpy\nLIMIT = 1\n',
    "wdro_cvx/other.py": "OTHER = 1\n",
    "solvers/__init__.py": "import pkgutil\npkgutil.walk_packages(__path__)\n",
    "solvers/one.py": "ONE = 1\n",
    "solvers/drawn.py": "def draw():\n    import matplotlib\n",
    "experiments/__init__.py": "",
    "experiments/trial.py": "from wdro_cvx import judge\n\ndef run():\n    import solvers\n",
    "experiments/plain.py": "from wdro_cvx.other import OTHER\n",
}


@pytest.fixture
def root(tmp_path, monkeypatch):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(digest, "ROOT", tmp_path)
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    return tmp_path


TRIAL, PLAIN = Source(("experiments.trial",)), Source(("experiments.plain",))


def test_it_covers_what_the_trial_imports_and_nothing_else(root):
    assert modules_of(["experiments.trial"]) == {
        "experiments", "experiments.trial", "wdro_cvx", "wdro_cvx.judge", "solvers", "solvers.one",
    }  # fmt: skip
    assert "wdro_cvx.other" in modules_of(["experiments.plain"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("wdro_cvx/judge.py", '"""Judges fairly."""\n\nimport numpy  # why\n\nLIMIT = 1\n'),
        ("solvers/drawn.py", "def draw():\n    import matplotlib.pyplot\n"),
        ("wdro_cvx/other.py", "OTHER = 2\n"),
    ],
    ids=["words", "a drawing", "what it does not import"],
)
def test_it_stays_when_nothing_that_was_run_changes(root, name, text):
    before = TRIAL.digest()
    (root / name).write_text(text)
    assert TRIAL.digest() == before


@pytest.mark.parametrize("name", ["wdro_cvx/judge.py", "solvers/one.py", "experiments/trial.py"])
def test_a_line_of_what_was_run_changes_it(root, name):
    trial, plain = TRIAL.digest(), PLAIN.digest()
    (root / name).write_text(FILES[name] + "MORE = 2\n")
    assert TRIAL.digest() != trial
    assert PLAIN.digest() == plain


def test_a_new_registered_file_changes_it(root):
    before = TRIAL.digest()
    (root / "solvers/two.py").write_text("TWO = 2\n")
    assert TRIAL.digest() != before


@pytest.fixture
def on_demand(root):
    """A package that loads a room only when a public name of it is asked for."""
    (root / "solvers/room").mkdir()
    (root / "solvers/room/__init__.py").write_text("")
    (root / "solvers/room/inner.py").write_text("Inner = 1\n")
    (root / "solvers/roomy.py").write_text("ROOMY = 1\n")
    text = FILES["solvers/__init__.py"]
    literals = '_ON_DEMAND = ("room",)\n_LAZY = {"Inner": "room.inner"}\n'
    (root / "solvers/__init__.py").write_text(text + literals)
    return root / "experiments/trial.py"


def test_a_room_that_is_loaded_on_demand_counts_only_for_those_who_use_it(on_demand):
    modules = modules_of(["experiments.trial"])
    assert "solvers.roomy" in modules
    assert not any(name.startswith("solvers.room.") for name in modules)
    assert "solvers.room" not in modules


@pytest.mark.parametrize(
    "text",
    [
        "from solvers import Inner\n",
        "import solvers\n\ndef run():\n    return solvers.Inner\n",
        "from solvers.room.inner import Inner\n",
    ],
)
def test_a_lazy_name_stands_for_its_module(on_demand, text):
    on_demand.write_text(text)
    assert "solvers.room.inner" in modules_of(["experiments.trial"])


def test_measured_results_do_not_depend_on_the_estimator():
    from experiments.compare.study import MEASURED

    apart = ("solvers.estimator", "solvers.learned", "solvers.selection")
    modules = modules_of(MEASURED)
    assert not any(name.startswith(apart) for name in modules)
    assert "solvers.generic.solver" in modules
    assert "solvers.estimator" in modules_of(["experiments.studies.validate.methods"])


def test_libraries_extensions_and_data_are_part_of_it(root, monkeypatch):
    table, plugin = root / "table.csv", root / "plugin.py"
    table.write_text("1")
    plugin.write_text("x = 1")
    source = Source(("experiments.plain",), (str(plugin),), (table,))
    found = {PLAIN.digest(), source.digest()}
    table.write_text("2")
    found.add(source.digest())
    plugin.write_text("x = 2")
    found.add(source.digest())
    monkeypatch.setattr(digest, "library_version", lambda name: "0")
    assert len({*found, source.digest()}) == 5


def test_files_that_an_extension_imports_are_part_of_it(root):
    folder = root / "mine"
    (folder / "room").mkdir(parents=True)
    source = Source(("experiments.plain",), (str(folder / "set.py"),))
    files = {
        "set.py": "import numpy\nfrom first import X\n",
        "first.py": "import second, set\nX = 1\n",
        "second.py": "def f():\n    from room.inner import Y\n",
        "room/inner.py": "Y = 1\n",
        "other.py": "Z = 1\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    before, changing = source.digest(), set()
    for name, text in files.items():
        (folder / name).write_text(f"{text}more = 1\n")
        changing |= {name} if source.digest() != before else set()
        (folder / name).write_text(text)
        assert source.digest() == before
    assert changing == set(files) - {"other.py"}


def test_a_trial_that_does_not_exist_is_said(root):
    with pytest.raises(ValueError, match=r"no module experiments\.gone"):
        Source(("experiments.gone",)).digest()


def written(source, folder):
    folder.mkdir(parents=True)
    record = {"trials": source.trials, "extensions": [], "data": [], "code": source.code()}
    record["python"] = platform.python_version()
    (folder / "provenance.json").write_text(json.dumps(record))


def test_stale_results_are_listed_with_what_changed(root, capsys):
    results = root / "results"
    written(TRIAL, results / "bench")
    written(PLAIN, results / "figures")
    assert provenance.main(results) == 0
    assert capsys.readouterr().out == "fresh  bench\nfresh  figures\n"
    (root / "wdro_cvx/judge.py").write_text("LIMIT = 2\n")
    assert provenance.main(results) == 1
    assert capsys.readouterr().out == "stale  bench: wdro_cvx.judge\nfresh  figures\n"


def test_results_without_a_record_of_modules_are_stale(root, capsys):
    (root / "results/old").mkdir(parents=True)
    (root / "results/old/provenance.json").write_text('{"code": "abc"}')
    assert provenance.main(root / "results") == 1
    assert "made before modules were recorded" in capsys.readouterr().out


def test_imports_for_type_checkers_do_not_count(root):
    path = root / "experiments/plain.py"
    path.write_text("if TYPE_CHECKING:\n    from wdro_cvx.judge import LIMIT\n")
    before = PLAIN.digest()
    assert modules_of(PLAIN.trials) == {"experiments", "experiments.plain"}
    path.write_text("if TYPE_CHECKING:\n    from wdro_cvx.other import OTHER\n")
    assert PLAIN.digest() == before


def test_every_command_names_trials_that_exist():
    from experiments.bench.scale import SCALE
    from experiments.bench.study import BENCH
    from experiments.compare.study import MEASURED
    from experiments.figures.study import STUDY as FIGURES
    from experiments.propositions.study import STUDY as PROPOSITIONS
    from experiments.stress.conic import STUDY as CONIC
    from experiments.stress.study import STUDY as STRESS

    attacks = Source(("tests.helpers.attacks", "tests.helpers.hostile"))
    sources = [
        BENCH.source, SCALE.source, Source(MEASURED), CONIC.source, STRESS.source, attacks,
        FIGURES.source, PROPOSITIONS.source,
        *(command.study(None).source for command in STUDIES),
    ]  # fmt: skip
    for source in sources:
        modules = modules_of(source.trials)
        assert "wdro_cvx.judge" in modules, source
        assert not any(
            name.startswith(("solvers.learned.page", "solvers.learned.html")) for name in modules
        )


# --- The real tree -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Fresh results of every study."""
    folder = tmp_path_factory.mktemp("fresh")
    for command in STUDIES:
        written(Source(command.study(None).source.trials), folder / command.name)
    return folder


@pytest.fixture
def tree(fresh, tmp_path, monkeypatch):
    """Our sources, of which a test edits copies, and fresh results of every study."""
    shutil.copytree(fresh, tmp_path, dirs_exist_ok=True)
    edited = {}
    original = digest._path_of
    monkeypatch.setattr(digest, "_path_of", lambda name: edited.get(name) or original(name))

    def edit(name, change):
        module = name.removesuffix(".py").replace("/", ".")
        edited[module] = tmp_path / f"{module}.py"
        edited[module].write_text(change((digest.ROOT / name).read_text()))

    return edit


@pytest.fixture
def stale(tmp_path, capsys):
    """Return the stale results with what changed, as ``make stale`` prints them."""

    def listed():
        provenance.main(tmp_path)
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == len(STUDIES)
        found = [line.split(maxsplit=1)[1] for line in lines if line.startswith("stale")]
        return dict(line.split(": ") for line in found)

    return listed


def longer(text):
    return text + "NEW = 1\n"


def test_words_drawings_reports_and_the_runner_leave_studies_fresh(tree, stale):
    tree("wdro_cvx/judge.py", lambda text: text.replace('"""', '"""New words. ', 1) + "# More.\n")
    for name in ("drawing/graphs", "drawing/style", "study", "cli", "measuring/store",
                 "measuring/options", "measuring/display", "figures/statements",
                 "figures/catalogue",
                 *(f"studies/{command.name}/study" for command in STUDIES)):  # fmt: skip
        tree(f"experiments/{name}.py", longer)
    assert stale() == {}


def test_a_line_of_the_judge_makes_the_judged_studies_stale(tree, stale):
    tree("wdro_cvx/judge.py", longer)
    sources = {command.name: command.study(None).source.trials for command in STUDIES}
    judged = [name for name, trials in sources.items() if "wdro_cvx.judge" in modules_of(trials)]
    assert "explain" in judged
    assert stale() == dict.fromkeys(judged, "wdro_cvx.judge")


def test_a_line_of_a_trial_makes_its_own_study_stale_and_no_other(tree, stale):
    tree("experiments/studies/validate/trials.py", longer)
    assert stale() == {"validate": "experiments.studies.validate.trials"}


def test_communities_are_part_of_what_is_scored_by_them(tree, stale):
    tree("solvers/learned/communities.py", longer)
    assert set(stale()) == {"explain", "temperature"}


def test_every_library_that_computes_is_part_of_it():
    computing = {"numpy", "scipy", "cvxpy", "clarabel", "scs", "piqp", "scikit-learn"}
    assert computing <= set(digest.LIBRARIES)

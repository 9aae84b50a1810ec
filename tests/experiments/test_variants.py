"""Variants from outside: the documented example, by file and by entry point, and its checks."""

import re
import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pandas as pd
import pytest

from experiments import cli
from experiments.compare.brought import broken_promises, load_files
from experiments.compare.grid import PRESETS, Grid, methods_for
from experiments.measuring import extensions
from experiments.measuring.digest import Source
from formulations import registered
from wdro_cvx import (
    registered_ambiguities,
)

DOCUMENT = Path(__file__).parents[2] / "docs" / "new-variant.md"


@pytest.fixture
def variant(tmp_path, own_registries):
    """The file that docs/new-variant.md tells its reader to save, not registered yet."""
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)
    path = tmp_path / "nuclear.py"
    path.write_text(blocks[0])
    return path


@pytest.mark.slow
def test_the_printed_variant_is_compared(variant, tmp_path):
    output = tmp_path / "out"
    code = cli.main(
        ["compare", "--with", str(variant), "--dimensions", "5,6", "--seeds", "1", "--repeats", "1",
         "--output",
         str(output)]
    )  # fmt: skip
    assert code == 0
    rows = pd.read_csv(output / "runs.csv")
    assert set(rows["model"]) == {"NuclearBall"}
    assert set(rows["method"]) == {
        "NuclearForm:CLARABEL", "ProjectedGradient", "CertifiedSolver",
    }  # fmt: skip
    # Its risk has a kink at the optimum, where projected gradient stops short, and says so.
    assert rows.loc[rows["method"] != "ProjectedGradient", "is_solved"].all()
    assert (rows["is_solved"] | ~rows["said_solved"]).all()
    assert "NuclearBall" in (output / "report.md").read_text()


def test_the_example_is_the_document_s():
    (first, *_) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)
    example = (DOCUMENT.parents[1] / "examples" / "new_variant.py").read_text()
    assert first[first.index("@register_ambiguity") :].strip() in example


def test_installed_packages_register_by_entry_point(variant, monkeypatch):
    monkeypatch.syspath_prepend(str(variant.parent))
    point = EntryPoint("nuclear", "nuclear", extensions.GROUP)
    monkeypatch.setattr(extensions, "entry_points", lambda group: [point])
    extensions.load_installed()
    assert "NuclearForm" in registered()
    assert "NuclearBall" in registered_ambiguities()
    broken = EntryPoint("broken", "no_such_module", extensions.GROUP)
    monkeypatch.setattr(extensions, "entry_points", lambda group: [broken])
    with pytest.raises(extensions.WdroError, match="'broken' of an installed package"):
        extensions.load_installed()


def test_a_change_of_an_installed_variant_is_a_change_of_code(tmp_path, monkeypatch):
    (tmp_path / "leaving.py").write_text("raise SystemExit(0)")
    package = tmp_path / "brought"
    package.mkdir()
    (package / "__init__.py").write_text("from brought import inner\nOWN = inner\n")
    (package / "inner.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = Source(()).digest()
    point = EntryPoint("brought", "brought", extensions.GROUP)
    monkeypatch.setattr(extensions, "entry_points", lambda group: [point])
    extensions.load_installed()
    there = Source(()).digest()
    (package / "inner.py").write_text("x = 2\n")
    assert len({before, there, Source(()).digest()}) == 3
    leaving = EntryPoint("leaving", "leaving", extensions.GROUP)
    monkeypatch.setattr(extensions, "entry_points", lambda group: [leaving])
    with pytest.raises(extensions.WdroError, match="SystemExit"):
        extensions.load_installed()


def test_two_files_of_one_name_do_not_replace_each_other(variant, tmp_path, capsys):
    other = tmp_path / "other" / variant.name
    other.parent.mkdir()
    other.write_text(variant.read_text())
    extensions.load_extension(str(variant))
    extensions.load_extension(str(variant))  # the same file may come again
    with pytest.raises(extensions.WdroError, match="NuclearBall is registered already"):
        extensions.load_extension(str(other))


BASE = """
from dataclasses import dataclass
from wdro_cvx import GaussianBall, KLBall, register_ambiguity

both = KLBall(0.2) + GaussianBall(0.5)

@register_ambiguity
@dataclass(frozen=True)
class {name}(GaussianBall):
    pass
"""
HEIR = """
from base import *

@register_ambiguity
@dataclass(frozen=True)
class {name}(Parent):
    heirs = 1
"""


def test_a_file_may_import_its_neighbours(tmp_path, own_registries):
    """Comparisons load it again, in the processes that measure."""
    (tmp_path / "base.py").write_text(BASE.format(name="Parent"))
    heir = tmp_path / "heir.py"
    heir.write_text(HEIR.format(name="Heir"))
    path, modules = list(sys.path), set(sys.modules)
    arguments = ["compare", "--with", str(heir), "--dimensions", "5", "--seeds", "1",
                 "--repeats", "1", "--sets", "Heir", "--output", str(tmp_path / "out"),
                 "--methods", "CertifiedSolver"]  # fmt: skip
    assert cli.main(arguments) == 0
    assert pd.read_csv(tmp_path / "out" / "runs.csv")["is_solved"].all()
    assert sys.path == path
    assert "base" not in set(sys.modules) - modules


@pytest.mark.parametrize("order", [("base", "heir"), ("heir", "base"), ("heir", "heir")])
def test_a_neighbour_registers_once(order, tmp_path, own_registries):
    (tmp_path / "base.py").write_text(BASE.format(name="Parent"))
    (tmp_path / "heir.py").write_text(HEIR.format(name="Heir"))
    for name in order:
        extensions.load_extension(str(tmp_path / f"{name}.py"))
    known = registered_ambiguities()
    assert issubclass(known["Heir"], known["Parent"])
    assert "both" in extensions.named_sets()


def test_neighbours_of_one_name_in_two_folders_are_two(tmp_path, own_registries):
    for place in ("north", "south"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "base.py").write_text(f"HERE = {place!r}\n")
        (tmp_path / place / "user.py").write_text("from base import HERE\nassert HERE in __file__")
        extensions.load_extension(str(tmp_path / place / "user.py"))


NAMED = """
import numpy as np
from wdro_cvx import CVaRBall, KLBall, KnownGraph, LogDet, Term, WassersteinBall, register_term

@register_term
class Heavy(LogDet):
    pass

both = KLBall(0.2) + WassersteinBall(0.5)
_hidden = KLBall(0.5) & CVaRBall(1.0)
"""


def test_terms_and_combined_sets_are_compared(tmp_path, own_registries):
    path = tmp_path / "named.py"
    path.write_text(NAMED)
    arguments = ["compare", "--with", str(path), "--dimensions", "5", "--seeds", "1",
                 "--repeats", "1", "--output", str(tmp_path)]  # fmt: skip
    assert cli.main(arguments) == 0
    rows = pd.read_csv(tmp_path / "runs.csv").fillna({"term": ""})
    panels = rows.groupby("panel")["method"].agg(set).to_dict()
    assert panels == {
        "both": {"CertifiedSolver", "ProjectedGradient", "CombinedProgram:CLARABEL"},
        "both with Heavy": {
            "CertifiedSolver", "CombinedProgram:CLARABEL", "CombinedProgram:SCS",
        },
    }  # fmt: skip
    assert rows["is_solved"].all()
    # A term that got lost would leave the value of the set alone.
    values = rows.groupby("panel")["judged_value"].agg(["min", "max"])
    assert values.loc["both", "min"] - values.loc["both with Heavy", "max"] > 0.1
    assert set(rows["radius"]) == {1.0}  # that of a sum


def test_shipped_terms_stand_beside_sets():
    preset = replace(PRESETS["quick"], dimensions=(5,), seeds=1)
    plan = Grid(preset, terms=("LogDet",)).plan()
    assert {item.panel for item in plan} == {
        "Singleton with LogDet", "WassersteinBall with LogDet",
    }  # fmt: skip
    methods = {item.cell.method for item in plan}
    assert {"LikelihoodSolver", "CertifiedSolver", "RobustPremium:SCS"} <= methods
    assert "ProjectedGradient" not in methods  # it takes no terms


def test_names_in_files_are_checked(tmp_path, own_registries, capsys):
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text("from wdro_cvx import KLBall\nmine = 2.0 * KLBall(0.1)\n")
    second.write_text(first.read_text())
    extensions.load_extension(str(first))
    extensions.load_extension(str(first))
    with pytest.raises(extensions.WdroError, match="there is a mine already; rename it"):
        extensions.load_extension(str(second))
    second.write_text("from wdro_cvx import KLBall\nSingleton = KLBall(0.1)\n")
    with pytest.raises(extensions.WdroError, match="there is a Singleton already"):
        extensions.load_extension(str(second))
    assert cli.main(["compare", "--terms", "LogDot", "--dimensions", "5"]) == 2
    assert "there is no term 'LogDot'. Known: KnownEdges" in capsys.readouterr().err
    second.write_text(
        "import numpy as np\nfrom wdro_cvx import WassersteinBall\n"
        "turned = WassersteinBall(0.5).in_coordinates(np.eye(4))\n"
    )
    arguments = ["compare", "--with", str(second), "--output", str(tmp_path), "--dimensions"]
    assert cli.main([*arguments, "5"]) == 2
    assert "coordinates" in (told := capsys.readouterr().err)
    assert "5" in told


SILLY = """
from dataclasses import dataclass
from solvers import CertifiedSolver, Solver, register
from wdro_cvx import AmbiguitySet, GaussianBall, register_ambiguity

@register
@dataclass(frozen=True)
class Muddled(Solver):
    claims = (AmbiguitySet,)
    tol: float = 1e-6

    @classmethod
    def check_claim(cls, problem):
        raise ValueError("what was it?")

    def solve(self, problem):
        return CertifiedSolver(self.tol).solve(problem)

@register
class PIQP(Muddled):
    pass

@register_ambiguity
@dataclass(frozen=True)
class Shy(GaussianBall):
    @classmethod
    def example(cls, radius, d):
        raise KeyError("none")
"""


def test_a_plug_in_that_fails_while_it_is_asked_is_named(tmp_path, own_registries, capsys):
    path = tmp_path / "silly.py"
    path.write_text(SILLY)
    shared = ["compare", "--with", str(path), "--dimensions", "5", "--seeds", "1",
              "--output", str(tmp_path)]  # fmt: skip
    assert cli.main([*shared, "--sets", "Shy"]) == 2
    assert "Shy.example(0.5, 5) raises KeyError: 'none'" in capsys.readouterr().err
    assert cli.main([*shared, "--sets", "KLBall", "--methods", "PIQP"]) == 2
    assert "'PIQP' is a built-in method" in capsys.readouterr().err
    methods = ["--methods", "Muddled,CertifiedSolver"]
    assert cli.main([*shared, "--sets", "KLBall", *methods]) == 0
    rows = pd.read_csv(tmp_path / "runs.csv").set_index("method")
    assert "ValueError: what was it?" in rows.loc["Muddled", "message"]
    assert rows.loc["CertifiedSolver", "is_solved"]


def test_unknown_sets_are_named(capsys):
    assert cli.main(["compare", "--sets", "Ball"]) == 2
    assert "no ambiguity set 'Ball'" in capsys.readouterr().err
    assert "RobustPremium:CLARABEL" in methods_for(["GaussianBall"])
    assert "GeneralRegularized:CLARABEL" not in methods_for(["GaussianBall"])


@pytest.mark.parametrize(
    "name", [pytest.param("KLBall", marks=pytest.mark.slow), "MahalanobisBall"]
)  # the latter depends on d
def test_shipped_sets_are_compared(name, tmp_path):
    arguments = ["compare", "--sets", name, "--dimensions", "6", "--seeds", "1", "--repeats", "1"]
    assert cli.main([*arguments, "--output", str(tmp_path)]) == 0
    rows = pd.read_csv(tmp_path / "runs.csv").set_index("method")
    assert len(rows) == 3
    # Projected gradient may stop short where the risk is not smooth, and then says so.
    assert rows["is_solved"].drop("ProjectedGradient").all()
    assert (rows["is_solved"] | ~rows["said_solved"]).all()


IDLE = """
from dataclasses import dataclass
import numpy as np
from formulations import Formulation
from wdro_cvx import AmbiguitySet, GaussianBall, Term, WorstCase

class Forgotten(AmbiguitySet):
    pass

class Silent(Formulation):
    claims = (GaussianBall,)

class Unsaid(Term):
    pass

_hidden = GaussianBall(0.5)
"""


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (
            IDLE,
            "These classes lack their decorators: Forgotten (@register_ambiguity), "
            "Unsaid (@register_term), Silent (@register of formulations).",
        ),
        ("x = 1", "Add a class with a decorator, or assign a set or a term to a name."),
    ],
)
def test_a_file_that_brings_nothing_is_refused(code, told, tmp_path, own_registries, capsys):
    """Otherwise the comparison is the paper's, which takes hours and does not concern the file."""
    path = tmp_path / "idle.py"
    path.write_text(code)
    output = tmp_path / "never"
    assert cli.main(["compare", "--with", str(path), "--output", str(output)]) == 2
    said = capsys.readouterr().err
    assert f"{path} registers nothing and names no set or term. {told}" in said
    assert not output.exists()


def test_a_file_that_is_loaded_again_brings_the_same(variant, own_registries):
    for _ in range(2):
        assert load_files([str(variant)]) == (("NuclearBall",), ())


BROKEN = """
from dataclasses import dataclass
import numpy as np
from wdro_cvx import AmbiguitySet, LogDet, WorstCase, register_ambiguity, register_term

@register_ambiguity
@dataclass(frozen=True)
class Loose(AmbiguitySet):
    radius_degree = 2

    def worst_case(self, nominal, laplacian):
        top = np.linalg.eigh(laplacian)[1][:, -1]
        moment = nominal.second_moment + self.radius * np.outer(top, top)
        return WorstCase(float(np.vdot(moment, laplacian)), moment, 0.0)

    def distance(self, nominal, second_moment):
        return float(np.linalg.norm(second_moment - nominal.second_moment, 2))

@register_term
class Twisted(LogDet):
    def gradient(self, laplacian):
        return 2.0 * super().gradient(laplacian)

right = 0.5 * Loose(0.5)
"""


def test_a_set_that_fails_its_checks_is_told_before_and_in_the_report(
    tmp_path, own_registries, capsys
):
    path = tmp_path / "broken.py"
    path.write_text(BROKEN)
    arguments = ["compare", "--with", str(path), "--dimensions", "5", "--seeds", "1",
                 "--repeats", "1", "--methods", "ProjectedGradient", "--sets", "Loose",
                 "--terms", "LogDet", "--output", str(tmp_path / "out")]  # fmt: skip
    cli.main(arguments)
    for text in (capsys.readouterr().err, (tmp_path / "out" / "report.md").read_text()):
        assert "Loose does not pass its checks. The comparison goes on" in text
        assert "its verdicts on Loose cannot be trusted" in text
        assert "- support function: missed by" in text
        assert "Twisted" not in text  # it is not compared


def test_promises_of_sets_and_terms_are_checked_at_a_size_that_fits(tmp_path, own_registries):
    path = tmp_path / "broken.py"
    path.write_text(
        BROKEN + "turned = right.in_coordinates(np.eye(4))\n"
        "from wdro_cvx import KLBall, KnownGraph, Singleton\n"
        "four = KLBall(0.1).in_coordinates(np.eye(4))\nfixed = KnownGraph(1.0, 4 * np.eye(4) - 1)\n"
        "none = KLBall(0.0)\n"
    )
    sets, terms = load_files([str(path)])
    assert (sets, terms) == (("Loose", "four", "none", "right", "turned"), ("Twisted", "fixed"))
    told = broken_promises(sets, terms, 4)
    assert [warning.split()[1] for warning in told] == ["Loose", "right", "turned", "Twisted"]
    assert all("support function" in warning for warning in told[:3])
    assert "gradient" in told[3]

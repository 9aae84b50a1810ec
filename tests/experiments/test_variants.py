"""A variant from outside: the printed example, by file and by entry point, and its checks."""

import re
from importlib.metadata import EntryPoint
from pathlib import Path

import pandas as pd
import pytest

from experiments import cli
from experiments.compare.grid import methods_for
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
    assert "Shy.example(0.5, 4) raises KeyError: 'none'" in capsys.readouterr().err
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


@pytest.mark.parametrize("name", ["KLBall", "MahalanobisBall"])  # the latter depends on d
def test_shipped_sets_are_compared(name, tmp_path):
    arguments = ["compare", "--sets", name, "--dimensions", "6", "--seeds", "1", "--repeats", "1"]
    assert cli.main([*arguments, "--output", str(tmp_path)]) == 0
    rows = pd.read_csv(tmp_path / "runs.csv").set_index("method")
    assert len(rows) == 3
    # Projected gradient may stop short where the risk is not smooth, and then says so.
    assert rows["is_solved"].drop("ProjectedGradient").all()
    assert (rows["is_solved"] | ~rows["said_solved"]).all()

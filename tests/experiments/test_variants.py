"""A variant from outside: the printed example, by file and by entry point, and its checks."""

import re
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import formulations
from experiments import cli
from experiments.checks import check_formulation
from experiments.compare.grid import methods_for
from experiments.running import extensions
from formulations import Formulation, Risk, registered, smoothness
from wdro_cvx import (
    MomentBall,
    ProblemError,
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


def test_the_printed_variant_is_compared(variant, tmp_path):
    output = tmp_path / "out"
    code = cli.main(
        ["compare", "--with", str(variant), "--dimensions", "5,6", "--repeats", "1", "--output",
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


def test_unknown_sets_are_named(capsys):
    assert cli.main(["compare", "--sets", "Ball"]) == 2
    assert "no ambiguity set 'Ball'" in capsys.readouterr().err
    assert "RobustPremium:CLARABEL" in methods_for(["GaussianBall"])
    assert "GeneralRegularized:CLARABEL" not in methods_for(["GaussianBall"])


@pytest.mark.parametrize("name", ["KLBall", "MahalanobisBall"])  # the latter depends on d
def test_shipped_sets_are_compared(name, tmp_path):
    arguments = ["compare", "--sets", name, "--dimensions", "6", "--repeats", "1"]
    assert cli.main([*arguments, "--output", str(tmp_path)]) == 0
    rows = pd.read_csv(tmp_path / "runs.csv").set_index("method")
    assert len(rows) == 3
    # Projected gradient may stop short where the risk is not smooth, and then says so.
    assert rows["is_solved"].drop("ProjectedGradient").all()
    assert (rows["is_solved"] | ~rows["said_solved"]).all()


class Wrong(Formulation):
    """Half of the premium."""

    claims = (MomentBall,)

    def risk(self, laplacian):
        average = smoothness(self.normalised.nominal.second_moment, laplacian)
        return Risk(average + 0.5 * self.radius * cp.norm(cp.vec(laplacian.matrix, order="C"), 2))


class Stiff(Formulation):
    """The radius as a number instead of a parameter: a sweep does not move."""

    claims = (MomentBall,)

    def risk(self, laplacian):
        average = smoothness(self.normalised.nominal.second_moment, laplacian)
        radius = self.normalised.ambiguity.radius
        return Risk(average + radius * cp.norm(cp.vec(laplacian.matrix, order="C"), 2))


class Uncertified(Formulation):
    """Right, but where two degrees are the largest nothing tells how they share the shift."""

    claims = (MomentBall,)

    def risk(self, laplacian):
        average = smoothness(self.normalised.nominal.second_moment, laplacian)
        return Risk(average + self.radius * cp.max(laplacian.degrees))


class Miscertified(Uncertified):
    """With a worst moment outside the set."""

    def risk(self, laplacian):
        moment = 2.0 * self.normalised.nominal.second_moment
        return replace(super().risk(laplacian), worst_moment=lambda: moment)


class Claimless(Formulation):
    def risk(self, laplacian):
        return Risk(cp.Constant(0.0))


@pytest.mark.parametrize(
    ("formulation", "failure"),
    [
        (Wrong, "agrees with the paper's prior"),
        (Stiff, "sweeps"),
        (Claimless, "claims"),
    ],
)
def test_wrong_formulations_are_caught_by_name(formulation, failure):
    report = check_formulation(formulation)
    assert failure in report.failures
    assert f"FAILED {failure}" in str(report)


@pytest.mark.parametrize(
    ("formulation", "hint"),
    [
        (Uncertified, "Risk has no worst_moment"),
        (Miscertified, "worst_moment is at a distance of"),
    ],
)
def test_a_missing_or_wrong_worst_moment_is_named(formulation, hint):
    report = check_formulation(formulation, MomentBall(3.0, p=1.0))
    assert report.failures == ("judged",)
    assert hint in str(report)


def test_incomplete_formulations_say_what_is_missing():
    with pytest.raises(ProblemError, match="set claims"):
        formulations.register(Claimless)
    assert np.all([issubclass(item, Formulation) for item in registered().values()])

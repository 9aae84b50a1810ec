"""The guides suffice: sets and terms written from them are checked, solved, proved and compared."""

import shutil

import guide_sets
import numpy as np
import pandas as pd
import pytest
from guide_sets import CutForm, EntryBall, EntryForm, GroupedEdges, WorstOfGiven

from experiments import cli
from formulations import SampleAverage, register
from solvers import solve
from wdro_cvx import (
    GraphProblem,
    Nominal,
    Singleton,
    check_ambiguity,
    check_formulation,
    check_term,
    judge,
)

SETS = [(WorstOfGiven, CutForm), (EntryBall, EntryForm)]


@pytest.mark.parametrize(("kind", "program"), SETS)
def test_a_set_with_arrays_passes_its_checks_and_is_solved(kind, program, own_registries):
    ball = kind.example(0.5, 6)
    for report in (check_ambiguity(ball), check_formulation(program)):
        assert report.passed, str(report)
    register(program)  # where the risk has kinks, solve hands over to it
    signals = np.random.default_rng(1).standard_normal((30, 6))
    problem = GraphProblem(Nominal.from_samples(signals), ball, eta=0.2)
    answer = solve(problem)
    assert judge(problem, answer).solved(1e-6)
    assert program(problem).solve().value == pytest.approx(answer.value, rel=1e-6)


FILE = """
from formulations import register
from my_sets import CutForm, WorstOfGiven
from wdro_cvx import register_ambiguity

register_ambiguity(WorstOfGiven)
register(CutForm)
"""


def test_comparisons_take_a_risk_of_numpy_from_a_file_beside(tmp_path, own_registries):
    shutil.copy(guide_sets.__file__, tmp_path / "my_sets.py")
    path = tmp_path / "given.py"
    path.write_text(FILE)
    arguments = ["compare", "--with", str(path), "--dimensions", "5", "--seeds", "1"]
    assert cli.main([*arguments, "--repeats", "1", "--output", str(tmp_path / "out")]) == 0
    rows = pd.read_csv(tmp_path / "out" / "runs.csv").set_index("method")
    assert rows.loc[["CertifiedSolver", "CutForm:CLARABEL"], "is_solved"].all()


@pytest.mark.parametrize("alpha", [0.5, 3.0])
def test_a_norm_as_a_term_is_proved_at_its_kink(alpha):
    """With the larger weight no edge crosses, and the judge needs the right subgradient."""
    assert check_term(GroupedEdges(alpha)).passed
    rng = np.random.default_rng(0)
    halves = rng.standard_normal((40, 2))
    signals = np.repeat(halves, 4, axis=1) + 0.3 * rng.standard_normal((40, 8))
    nominal = Nominal.from_samples(signals)
    problem = GraphProblem(nominal, Singleton(), eta=0.1, terms=(GroupedEdges(alpha),))
    answer = SampleAverage(problem).solve()
    assert judge(problem, answer).solved(1e-5)

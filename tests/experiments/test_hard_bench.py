"""``wdro bench --hard``: every cell is judged, and the report names unsolved ones."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments import cli
from experiments.bench import hard_trial
from experiments.bench.hard import describe
from experiments.bench.hard_trial import FROBENIUS, LOG_DEGREE, SETS, cells, measure, problem_of
from experiments.measuring import isolated
from solvers import solve
from wdro_cvx import LogDegree

KINDS = sorted({(cell.ambiguity, cell.prior) for cell in cells()})


@pytest.mark.parametrize(("ambiguity", "prior"), KINDS)
def test_a_small_copy_of_every_kind_has_the_value_of_the_dense_path(ambiguity, prior):
    cell = hard_trial.HardCell(ambiguity, prior, 40, 60)
    problem = problem_of(cell)
    assert isinstance(problem.prior, LogDegree) == (prior == LOG_DEGREE)
    row = measure(cell)
    assert row["is_solved"]
    assert row["gap"] <= 1e-6
    best = solve(problem, 1e-8).value
    assert row["value"] == pytest.approx(best, abs=1.1e-6 * max(abs(best), problem.floor))


def test_every_set_is_measured_on_large_graphs():
    chosen = cells()
    assert {cell.ambiguity for cell in chosen} == set(SETS)
    assert {cell.prior for cell in chosen} == {FROBENIUS, LOG_DEGREE}
    assert min(cell.d for cell in chosen) >= 500
    assert len(set(chosen)) == len(chosen)


def test_the_same_problem_every_time():
    cell = replace(cells()[0], d=60)
    first, second = (problem_of(cell).nominal.samples for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_the_command_writes_resumes_and_tells_of_limits(tmp_path, monkeypatch, unpainted):
    small = [replace(cell, d=40, n=60) for cell in cells()[:2]]
    monkeypatch.setattr(hard_trial, "cells", lambda: small)
    arguments = ["bench", "--hard", "--output", str(tmp_path)]
    assert cli.main(arguments) == 0
    table = pd.read_csv(tmp_path / "runs.csv")
    assert table["is_solved"].all()
    assert "not solved" not in (tmp_path / "report.md").read_text()
    monkeypatch.setattr(isolated, "run_isolated", None)  # nothing is measured twice
    assert cli.main(arguments) == 0
    stopped = table.assign(outcome="time-out", message="stopped after 1 s")
    assert "stopped after 1 s" in describe(stopped)[-1]
    missed = table.assign(is_solved=False, said="iteration limit")
    assert "iteration limit" in describe(missed)[-1]

"""``wdro bench --scale``: what is measured is judged, and near pairs only are no optimum."""

import numpy as np
import pandas as pd
import pytest

from experiments import cli
from experiments.bench.rivals.neighbours import NeighbourGraph
from experiments.bench.scale import run as scale_run
from experiments.bench.scale.grid import DENSE, LOG_DENSE, NEIGHBOURS, SPARSE, ScaleCell, cells
from experiments.bench.scale.measure import measure, problem_of
from experiments.bench.scale.report import describe
from solvers import solve
from wdro_cvx import ProblemError, judge

PATHS = (DENSE, SPARSE, LOG_DENSE, NEIGHBOURS)


def test_near_pairs_that_are_all_pairs_have_the_optimum():
    problem = problem_of(ScaleCell(NEIGHBOURS, 25, 40, 2))
    answer = NeighbourGraph(1e-8, candidates=24, components=40).solve(problem)
    assert judge(problem, answer).solved(1e-7)
    assert answer.value == pytest.approx(solve(problem, 1e-9).value, abs=1e-6 * 25)


def test_near_pairs_only_are_no_optimum_and_the_judge_says_how_far():
    problem = problem_of(ScaleCell(NEIGHBOURS, 200, 60, 10))
    answer = NeighbourGraph(candidates=12, components=4).solve(problem)
    verdict, best = judge(problem, answer), solve(problem)
    assert verdict.gap > 1e-4
    assert verdict.bound <= best.value < verdict.value - 1e-4 * 200


def test_near_pairs_are_for_log_degree_alone():
    with pytest.raises(ProblemError, match="LogDegree"):
        NeighbourGraph().solve(problem_of(ScaleCell(DENSE, 20, 10, 2)))


@pytest.mark.parametrize("path", PATHS)
def test_a_cell_is_judged(path):
    row = measure(ScaleCell(path, 120, 60, 2))
    assert row["is_solved"] == (path != NEIGHBOURS or row["gap"] <= 1e-6)
    assert path == NEIGHBOURS or row["gap"] <= 1e-6
    assert row["data_mb"] == pytest.approx(120 * 60 * 8 / 2**20)
    assert 1.0 < row["neighbours"] < 100.0


def test_a_cell_is_the_same_problem_every_time():
    first, second = (problem_of(ScaleCell(SPARSE, 60, 20, 2)) for _ in range(2))
    np.testing.assert_array_equal(first.nominal.samples, second.nominal.samples)


def test_all_paths_at_all_sizes_that_they_can_reach():
    chosen = cells(50_000)
    assert {cell.path for cell in chosen} == set(PATHS)
    assert max(cell.d for cell in chosen if cell.path == SPARSE) == 50_000
    assert {cell.n for cell in chosen} == {50, 200, 800}
    assert max(cell.d for cell in cells(5000)) == 5000
    assert len(set(chosen)) == len(chosen)


def test_the_command_writes_resumes_and_tells_of_limits(tmp_path, monkeypatch, capsys):
    small = [ScaleCell(path, 80, 30, 2) for path in PATHS]
    monkeypatch.setattr(scale_run, "cells", lambda largest: small)
    arguments = ["bench", "--scale", "--output", str(tmp_path)]
    assert cli.main(arguments) == 0
    table = pd.read_csv(tmp_path / "runs.csv")
    assert list(table["path"]) == list(PATHS)
    assert table["is_solved"][:3].all()
    assert {"report.md", "scale.png", "scale.pdf"} <= {path.name for path in tmp_path.iterdir()}
    monkeypatch.setattr(scale_run, "run_isolated", None)  # nothing is measured twice
    assert cli.main(arguments) == 0
    stopped = table.assign(outcome="time-out", message="stopped after 1 s")
    assert "stopped after 1 s" in describe(stopped, 80)


def test_one_bench_at_a_time(capsys):
    with pytest.raises(SystemExit):
        cli.main(["bench", "--scale", "--log-degree"])
    assert "not allowed with" in capsys.readouterr().err

"""``wdro bench --small``: every answer is judged, and the report names unsolved ones."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments import cli
from experiments.bench import small_trial
from experiments.bench.small import describe
from experiments.bench.small_trial import MODELS, SIZES, cells, measure, problems_of
from experiments.measuring import isolated
from wdro_cvx import LogDegree


@pytest.fixture(autouse=True)
def once(monkeypatch):
    monkeypatch.setattr(small_trial, "_ROUNDS", 1)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_and_its_opponent_are_solved(model):
    row = measure(small_trial.SmallCell(model, 10, count=3))
    assert row["is_solved"]
    assert row["total_s"] > 0
    assert row["together_s"] > 0
    if MODELS[model].other:
        assert row["other_is_solved"]
        assert row["other_s"] > 0


def test_answers_that_are_not_solved_are_counted(monkeypatch):
    good = small_trial.solve_many

    def first_only(problems, tol):
        answers = good(problems, tol)
        return [answers[0]] * len(answers)

    monkeypatch.setattr(small_trial, "solve_many", first_only)
    assert not measure(small_trial.SmallCell("sample average", 10, count=3))["is_solved"]


def test_only_the_time_of_the_backend_counts_where_it_is_said():
    problems = problems_of(small_trial.SmallCell("KL ball", 10, count=2))
    reported = [replace(answer, solve_s=5.0) for answer in small_trial._clarabel(problems)]
    spent, _ = small_trial._timed(problems, lambda _: reported, backend_only=True)
    assert spent == 10.0
    assert small_trial._timed(problems, lambda _: reported, backend_only=False)[0] < 5.0


def test_every_model_is_measured_at_every_size():
    assert {(cell.model, cell.d) for cell in cells()} == {(m, d) for m in MODELS for d in SIZES}


def test_problems_are_the_same_every_time_and_have_the_prior_of_their_model():
    for model, settings in MODELS.items():
        cell = small_trial.SmallCell(model, 10, count=2)
        first, second = problems_of(cell), problems_of(cell)
        for one, other in zip(first, second, strict=True):
            np.testing.assert_array_equal(one.nominal.samples, other.nominal.samples)
        assert isinstance(first[0].prior, LogDegree) == (settings.shape is not None)
        assert not np.array_equal(first[0].nominal.samples, first[1].nominal.samples)


def test_the_command_writes_resumes_and_tells_what_is_not_solved(tmp_path, monkeypatch, unpainted):
    few = [small_trial.SmallCell(model, 10, count=2) for model in list(MODELS)[:2]]
    monkeypatch.setattr(small_trial, "cells", lambda: few)
    arguments = ["bench", "--small", "--output", str(tmp_path)]
    assert cli.main(arguments) == 0
    table = pd.read_csv(tmp_path / "runs.csv")
    assert table["is_solved"].all()
    assert "not all solved" not in (tmp_path / "report.md").read_text()
    monkeypatch.setattr(isolated, "run_isolated", None)  # nothing is measured twice
    assert cli.main(arguments) == 0
    missed = table.assign(is_solved=False, other_is_solved=False)
    assert "ours: not all solved; other method: not all solved" in describe(missed)[-1]
    stopped = table.assign(outcome="time-out", message="stopped after 1 s")
    assert "stopped after 1 s" in describe(stopped)[-1]

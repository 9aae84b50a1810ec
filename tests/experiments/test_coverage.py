"""``wdro study coverage``: how often a set contains the truth."""

import numpy as np
import pandas as pd
import pytest

from experiments import cli
from experiments.studies.coverage import study, trial
from experiments.studies.coverage.trial import CoverageTask, contains, cover
from solvers.selection.bootstrap import bootstrap_radius
from solvers.selection.signals import Signals
from wdro_cvx import MomentBall, Nominal


def test_a_thousand_gaussian_tables_of_every_set_and_size():
    batches = pd.Series([task.tails for task in trial.tasks()]).value_counts()
    assert dict(batches) == {"gaussian": 3 * 12 * 10, "student-5": 3 * 12 * 2}


def test_it_counts_tables(monkeypatch):
    monkeypatch.setattr("experiments.studies.coverage.trial.BATCH", 5)
    assert 3 <= cover(CoverageTask("gaussian", "moment", 5, 30, 0))["covered"] <= 5
    assert cover(CoverageTask("student-5", "moment", 5, 30, 0))["covered"] <= 5
    monkeypatch.setattr(
        "experiments.studies.coverage.trial.resampled_distances",
        lambda *_, **__: [iter([0.0] * 199)],
    )
    assert cover(CoverageTask("gaussian", "wasserstein", 5, 30, 0))["covered"] == 0


@pytest.mark.slow
def test_it_counts_as_the_radius_would():
    """Resamples that are not made would not have changed the answer."""
    rng = np.random.default_rng(4)
    ball, answers = MomentBall(0.0), set()
    for seed in range(12):
        signals = Signals(rng.standard_normal((20, 4)))
        rows = signals.centred
        nominal = Nominal(rows.mean(axis=0), None, rows)
        truth = (1.0 + 0.15 * (seed % 4)) * (np.eye(4) - 0.25)
        expected = ball.distance(nominal, truth) <= bootstrap_radius(
            signals, ball, seed=np.random.default_rng(seed)
        )
        assert contains(signals, ball, truth, np.random.default_rng(seed)) == expected
        answers.add(bool(expected))
    assert answers == {True, False}


def test_the_command_reports_shares(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("experiments.study.run_trials", lambda tasks, trial, *_: map(trial, tasks))
    for module in (study, trial):
        monkeypatch.setattr(module, "BATCH", 2)
    monkeypatch.setattr(study, "tasks", lambda: [CoverageTask("gaussian", "moment", 4, 20, 0)])
    assert cli.main(["study", "coverage", "--output", str(tmp_path / "out")]) == 0
    assert "| gaussian | moment | 4 | 20 |" in capsys.readouterr().out
    assert len(pd.read_csv(tmp_path / "out" / "coverage.csv")) == 1
    assert "nominally 95 %" in (tmp_path / "out" / "report.md").read_text()

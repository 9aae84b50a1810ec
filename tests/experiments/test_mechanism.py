"""``wdro study mechanism``: tasks, predictions that can fail, and the report."""

import numpy as np
import pandas as pd
import pytest

from experiments import cli
from experiments.studies.mechanism import study, trial
from experiments.studies.mechanism.trial import CONDITIONS, GRAPHS, MODELS, MechanismTask, run_task


def test_a_task_scores_every_candidate(monkeypatch):
    monkeypatch.setattr(trial, "ETAS", (0.1, 0.4))
    monkeypatch.setattr(trial, "RADII", (0.2,))
    monkeypatch.setattr(trial, "WEIGHTS", (0.1,))
    row = run_task(MechanismTask(0, 7, GRAPHS, 30))
    assert row["unsolved"] == 0
    lists = {name: row["scores"][name]["mcc"] for name in MODELS}
    assert {len(values) for name, values in lists.items() if name != "SAA"} == {3}
    assert all(values[:2] == lists["SAA"] for values in lists.values())


def scores(**gains):
    noise = np.random.default_rng(0).normal(0.0, 0.001, 501)
    noise[0] = 0.0
    names = {"SAA": 0.0, trial.BALL: 0.02, trial.OWN: 0.03, trial.VARIANCES: 0.0,
             trial.SHUFFLED: 0.0, trial.OTHER: 0.04} | gains  # fmt: skip
    shifts = {name: np.roll(noise[1:], k) for k, name in enumerate(names)}
    return {
        (key, name): 0.5 + names[name] + np.append(0.0, shifts[name])
        for key in CONDITIONS
        for name in MODELS
    }


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, ["holds", "holds", "holds"]),
        ({trial.OWN: 0.002}, ["fails", "fails", "holds"]),
        ({trial.VARIANCES: 0.02}, ["holds", "fails", "holds"]),
        ({trial.SHUFFLED: 0.02}, ["holds", "fails", "holds"]),
        ({trial.OTHER: 0.01}, ["holds", "holds", "fails"]),
        ({trial.BALL: 0.0}, ["the ball gains nothing", "", "other signals gain: more"]),
    ],
)
def test_every_prediction_can_fail(changed, words):
    assert study.verdicts(scores(**changed))[0][2:] == words


def test_command_reports_gains(monkeypatch, tmp_path, unpainted):
    def fake(planned, function, *rest):
        assert function is run_task
        return [
            {"scores": {name: {"mcc": [0.5 + 0.01 * k]} for k, name in enumerate(MODELS)},
             "unsolved": 0}
            for _ in planned
        ]  # fmt: skip

    monkeypatch.setattr("experiments.study.run_trials", fake)
    arguments = ["study", "mechanism", "--tuned", "2", "--graphs", "3", "--output", str(tmp_path)]
    assert cli.main(arguments) == 0
    assert (tmp_path / "mechanism.png").exists()
    table = pd.read_csv(tmp_path / "gains.csv")
    assert table[table["model"] == trial.BALL]["gain"].tolist() == pytest.approx([0.01] * 4)

"""The comparison of priors: equal candidates, scores of scaled graphs, paired differences."""

import numpy as np
import pandas as pd
import pytest

from experiments.figures import catalogue, trials
from solvers import solve
from wdro_cvx import GaussianBall, GraphProblem, LogDegree, Nominal
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.metrics import mcc


def fake_table(gain, count=5):
    """The log-degree prior is better by ``gain`` in every trial, at its second candidate."""
    rows = [
        {**setting, "trial": trial, "seed": 0, "model": model, "eta": eta,
         "radius": 0.1 * ("ball" in model),
         "mcc": 0.5 + 0.1 * np.sin(trial) + gain * model.startswith("log") - 0.2 * (place != 1),
         "dog": 0.5}
        for setting in trials.GRIDS["prior"].settings
        for trial in range(count)
        for model in trials.PRIOR_MODELS
        for place, eta in enumerate((1.0, 2.0))
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_tables_hold_the_paired_differences_of_the_best_candidates():
    text = catalogue.prior_tables(fake_table(0.125))
    lines = [line for line in text.splitlines() if "log-degree − Frobenius" in line]
    assert len(lines) == 2  # one for each kind of graph
    # Trials vary by 0.1 and more; paired, the difference is the same in all of them.
    assert all(line.count("0.125 ± 0.000") == 4 for line in lines)
    assert "2, ε = 0" in text
    assert "1, ε = 0;" not in text


def test_figures_are_drawn():
    assert len(catalogue.prior_figure(fake_table(0.1)).axes) == 2


def test_a_trial_scores_graphs_of_trace_d(monkeypatch):
    monkeypatch.setattr(trials, "STRENGTHS", (0.3,))
    small = {name: radii[:1] for name, radii in trials.PRIOR_MODELS.items()}
    monkeypatch.setattr(trials, "PRIOR_MODELS", small)
    records = trials.with_priors({"truth": "RBF", "n": 40}, np.random.default_rng(3))
    assert [record["model"] for record in records] == list(small)
    rng = np.random.default_rng(3)
    truth = rbf_graph(20, rng)
    nominal = Nominal.from_samples(smooth_signals(truth, 40, rng, noise=0.1))
    # Another alpha with the same product is the same graph, but for its scale.
    other = LogDegree(0.3 * 7, 0.3 / 7)
    graph = solve(GraphProblem(nominal, GaussianBall(0.0), prior=other)).laplacian
    expected = mcc(graph * (20 / np.trace(graph)), truth)
    by_model = {record["model"]: record["mcc"] for record in records}
    assert by_model["log-degree"] == pytest.approx(expected, abs=1e-12)
    plain = solve(GraphProblem(nominal, GaussianBall(0.0), eta=0.3)).laplacian
    assert by_model["Frobenius"] == mcc(plain, truth)


def test_it_is_one_of_the_experiments():
    assert catalogue.EXPERIMENTS["prior"].tables is catalogue.prior_tables


def test_a_ball_has_the_candidates_of_its_prior_as_radius_0():
    table = fake_table(0.0)
    table.loc[table["model"].str.contains("ball"), "mcc"] -= 0.25  # every positive radius loses
    chosen = catalogue.Chosen(catalogue.with_radius_0(table))
    for ball in ("Frobenius, Gaussian ball", "log-degree, Gaussian ball"):
        for n in chosen.sizes:
            setting = {"truth": "RBF", "n": n}
            plain = chosen.at(setting, ball.removesuffix(", Gaussian ball"), "mcc")
            np.testing.assert_array_equal(chosen.at(setting, ball, "mcc"), plain)
            assert set(chosen.rows(setting, ball)["radius"]) == {0.0}

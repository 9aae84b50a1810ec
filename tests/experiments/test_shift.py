"""``wdro study shift``: nested candidates, troubles, tests of a graph, choice and comparison."""

import numpy as np
import pandas as pd
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from experiments import cli
from experiments.measuring.prediction import prediction_error
from experiments.studies.shift import study, trial
from experiments.studies.shift.risks import (
    BROKEN,
    METRICS,
    OWN,
    Truth,
    second_moment,
)
from experiments.studies.shift.tables import GRAPHS, SIZES, STATES, D, ShiftTask, draw, tasks
from experiments.studies.shift.trial import MODELS, SAA, run_task
from experiments.studies.shift.trouble import CLEAN, OUTLIER_FACTOR, TROUBLES
from experiments.studies.shift.tuning import AWARE, BLIND, UNAWARE, collect, compare
from solvers import solve
from wdro_cvx import GraphProblem, Nominal, Singleton
from wdro_cvx.examples import state_anomalies
from wdro_cvx.generators import rbf_graph, smooth_signals


def graphs(seed=0):
    rng = np.random.default_rng(seed)
    return rbf_graph(D, rng), rbf_graph(D, rng)


# --- The tests of a graph ------------------------------------------------------------------------


@examples(20)
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 3.0))
def test_white_noise_costs_every_graph_the_same(seed, sigma):
    """It adds σ²·Tr L to the risk, and all graphs have the trace d: no graph is robust to it."""
    truth, graph = graphs(seed)
    moment = second_moment(truth)
    risks = []
    for extra in (0.0, sigma**2):
        nominal = Nominal.from_moments(np.zeros(D), moment + extra * np.eye(D))
        risks.append(GraphProblem(nominal, Singleton(), 0.3).value(graph))
    assert risks[1] - risks[0] == pytest.approx(sigma**2 * D, rel=1e-9, abs=1e-9 * risks[0])


def test_a_broken_sensor_is_the_worst_of_all_vertices():
    truth, graph = graphs()
    problem, _ = Truth.of(truth, truth).risks["sensor"]
    moment = second_moment(truth)
    strength = BROKEN**2 * (np.trace(moment) - moment.sum() / D) / D
    risks = []
    for vertex in range(D):
        shifted = moment.copy()
        shifted[vertex, vertex] += strength
        risks.append(np.vdot(shifted, graph) + problem.eta * np.sum(graph**2))
    assert problem.value(graph) == pytest.approx(max(risks), rel=1e-9)


def test_nobody_beats_the_best_and_the_best_has_no_regret():
    truth, graph = graphs(1)
    tests = Truth.of(truth, graph)
    for name, (problem, _) in tests.risks.items():
        assert tests.score(graph)[f"risk, {name}"] < -1e-3
        best = tests.score(solve(problem).laplacian)[f"risk, {name}"]
        assert best == pytest.approx(0.0, abs=2e-6)


def test_the_truth_scores_best_by_its_edges_and_predicts_as_simulated():
    truth, _ = graphs(3)
    tests = Truth.of(truth, truth)
    assert tests.score(tests.laplacian)["mcc"] == 1.0
    assert tests.score(tests.laplacian)["dog"] == pytest.approx(0.0)
    signals = smooth_signals(truth, 200_000, np.random.default_rng(0), noise=0.1)
    adjacency = np.diag(np.diagonal(truth)) - truth
    guess = signals @ adjacency / np.diagonal(truth)
    simulated = np.sum((signals - guess) ** 2) / np.sum(signals**2)
    assert prediction_error(truth, second_moment(truth)) == pytest.approx(simulated, rel=0.02)


def test_a_vertex_without_neighbours_is_predicted_by_zero():
    moment = np.diag([1.0, 1.0, 4.0])
    edge = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    assert prediction_error(edge, moment) == pytest.approx((2 + 2 + 4) / 6)


def test_a_weight_that_a_solver_leaves_by_rounding_is_no_neighbour():
    moment = np.array([[1.0, 0.9, 1.9], [0.9, 1.0, 1.9], [1.9, 1.9, 4.0]])
    edge = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    left = 1e-9 * np.array([[0.5, 0.0, -0.5], [0.0, 0.5, -0.5], [-0.5, -0.5, 1.0]])
    assert prediction_error(edge + left, moment) == pytest.approx(prediction_error(edge, moment))
    assert prediction_error(edge + 1e6 * left, moment) < 0.9 * prediction_error(edge, moment)


# --- Troubles ------------------------------------------------------------------------------------


def test_troubles_do_what_they_say():
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((2000, D))
    spoilt = {name: trouble(samples, rng) for name, trouble in TROUBLES.items()}
    assert spoilt[CLEAN] is samples
    factor = np.linalg.norm(spoilt["outlying rows"], axis=1) / np.linalg.norm(samples, axis=1)
    assert sorted(factor)[-100:] == pytest.approx([OUTLIER_FACTOR] * 100)
    assert sorted(factor)[:-100] == pytest.approx([1.0] * 1900)
    assert np.linalg.norm(spoilt["heavy tails"], axis=1).max() > 5 * np.linalg.norm(samples[0])
    for name, share in (("broken sensor", 0.2), ("drifting sensor", 1.0)):
        changed = spoilt[name] != samples
        assert np.count_nonzero(changed.any(axis=0)) == 1
        assert changed.any(axis=1).mean() == pytest.approx(share, abs=0.03)
    lost = np.isnan(spoilt["missing values"])
    assert lost.mean() == pytest.approx(0.1, abs=0.01)
    assert np.abs(samples[lost]).min() > 1.1  # only large values hide


# --- Candidates ----------------------------------------------------------------------------------


def test_every_list_contains_the_baseline():
    """Otherwise a ball's gain or loss may be one of its etas alone."""
    baseline = set(MODELS[SAA].candidates)
    assert all(baseline <= set(model.candidates) for model in MODELS.values())
    # The control has a longer list than any ball, so length alone explains no gain.
    longest = max(len(model.candidates) for model in MODELS.values() if not model.finer)
    assert len(MODELS["SAA, finer"].candidates) >= longest


def test_a_task_scores_every_candidate(monkeypatch):
    monkeypatch.setattr(trial, "ETAS", (0.1, 0.4))
    monkeypatch.setattr(trial, "_FINE", (0.1, 0.2, 0.4))
    row = run_task(ShiftTask(0, 7, GRAPHS, 30, "missing values"))
    assert row["unsolved"] == 0
    for name, model in MODELS.items():
        scores = row["scores"][name]
        assert set(scores) == {*METRICS, *(["blind"] if model.moment == "sample" else [])}
        assert {len(values) for values in scores.values()} == {len(model.candidates)}
        assert max(max(scores[metric]) for metric in METRICS if "risk" in metric) < 1e-6
    for ball in ("Gaussian", "p = 1"):  # at radius 0 the same graphs as the baseline
        assert row["scores"][ball]["mcc"][:2] == row["scores"][SAA]["mcc"]


def test_states_are_tested_by_years_that_were_not_used():
    first, score = draw(ShiftTask(0, 7, STATES, 120, CLEAN))
    assert first.shape == (120, 48)
    table = state_anomalies()
    used = {int(np.flatnonzero((table.to_numpy() == row).all(axis=1))[0]) for row in first}
    years = {table.index[place].year for place in used}
    assert len(used) == 120
    assert len(years) <= 12
    unused = table[~table.index.year.isin(sorted(years))].to_numpy()
    graph = solve(GraphProblem(Nominal.from_samples(first), Singleton(), 50.0)).laplacian
    # The tests may leave out a year that happens to be unused.
    found = -score(graph)["prediction"]
    assert found == pytest.approx(prediction_error(graph, unused.T @ unused / len(unused)), rel=0.2)


# --- Choice and comparison -----------------------------------------------------------------------


def fake_rows(planned, bonus):
    """Scores with the best candidate at place 2, at 5 under a shift or trouble."""
    rows = []
    for task in planned:
        scores = {}
        for index, (name, model) in enumerate(MODELS.items()):
            places = np.arange(len(model.candidates))
            at_home, away = -0.01 * abs(places - 2), -0.01 * abs(places - 5)
            own = bonus.get(name, 0.0) + 1e-4 * np.sin(task.trial) * index
            scores[name] = {
                metric: (
                    (at_home if task.training == CLEAN and metric != "risk, drift" else away) + own
                ).tolist()
                for metric in METRICS
            }
            if model.moment == "sample":
                scores[name]["blind"] = (-abs(places - 3.0)).tolist()
        rows.append({"scores": scores, "unsolved": 0})
    return rows


def comparisons(bonus):
    planned = tasks(range(6), 0)
    _, scores = collect(planned, fake_rows(planned, bonus), 0)
    return compare(scores, scores, seed=0)


def test_choices_see_only_what_they_may():
    table = comparisons({})
    ball = table[(table["model"] == "Gaussian") & (table["metric"] == "risk, drift")]
    by = ball.groupby("choice")["baseline"].mean()
    assert by[AWARE] == pytest.approx(0.0, abs=1e-3)
    assert by[UNAWARE] == pytest.approx(-0.03, abs=1e-3)  # place 2 instead of 5
    assert by[BLIND] == pytest.approx(-0.02, abs=1e-3)  # place 3


def test_winners_and_losers_are_told_from_noise():
    table = comparisons({"Gaussian": 0.02, "p = 1": -0.02})
    words = table.groupby("model")["verdict"].unique().map(list)
    assert words["Gaussian"] == ["wins"]
    assert words["p = 1"] == ["loses"]
    own = table[table["own objective"]]
    assert set(own["metric"]) == set(OWN)
    assert set(own[own["metric"] == "risk, sensor"]["model"]) == {"p = 1"}


@pytest.mark.slow
def test_the_error_includes_the_graphs_for_choosing():
    """Scores of fresh graphs do not vary here; only the choice does."""
    planned = tasks(range(8), 0)

    def rows(varies):
        found = fake_rows(planned, {})
        for task, row in zip(planned, found, strict=True):
            values = np.array(row["scores"]["Gaussian"]["mcc"])
            values[:] = -0.1
            # Half of the graphs prefer one of two candidates, by little; fresh ones know better.
            values[0 if task.trial % 2 else 1] = 0.0
            if not varies:
                values[:2] = 0.0, -0.05
            row["scores"]["Gaussian"]["mcc"] = values.tolist()
        return collect(planned, found, 0)[1]

    table = compare(rows(True), rows(False), seed=0)
    line = table[(table["model"] == "Gaussian") & (table["metric"] == "mcc")]
    errors = line.groupby("choice")["error"].max()
    assert errors[AWARE] > 0.015  # the standard deviation of a fair coin times 0.05 is 0.025


def test_command_reports_wins_and_losses(monkeypatch, tmp_path, unpainted):
    def fake(planned, function, *rest):
        assert function is run_task
        return fake_rows(planned, {"Gaussian": 0.02})

    monkeypatch.setattr("experiments.study.run_trials", fake)
    arguments = ["study", "shift", "--tuned", "2", "--graphs", "3", "--output", str(tmp_path)]
    assert cli.main(arguments) == 0
    assert (tmp_path / "shift.png").exists()
    report = (tmp_path / "report.md").read_text()
    assert "Made by `wdro study shift --tuned 2 --graphs 3`." in report
    assert "**+0.020 ± " in report
    table = pd.read_csv(tmp_path / "comparisons.csv")
    assert set(table["model"]) == set(MODELS) - {SAA}


@pytest.mark.slow
def test_curves_are_of_random_graphs_only():
    figure = study.draw(comparisons({}))
    drawn = [line.get_xdata() for axes in figure.axes for line in axes.get_lines()[1:]]
    assert len(drawn) == 3 * 5 * 2
    assert all(list(sizes) == list(SIZES[GRAPHS]) for sizes in drawn)

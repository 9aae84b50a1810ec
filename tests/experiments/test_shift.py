"""Does robustness pay: the shifts, the corrupted signals, tuning and the comparison."""

import numpy as np
import pandas as pd
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from experiments import cli
from experiments.studies.shift import trial
from experiments.studies.shift.trial import (
    ADVERSARY,
    BROKEN,
    CLEAN,
    DEGREE,
    DRIFT,
    GAUSSIAN,
    MODELS,
    NO_SHIFT,
    NOISY,
    OUTLIER_FACTOR,
    OUTLIERS,
    SAA,
    SENSOR,
    D,
    ShiftTask,
    candidates,
    conditions,
    corrupt,
    make_tests,
    run_task,
    second_moment,
    tasks,
)
from experiments.studies.shift.tuning import AWARE, METRICS, UNAWARE, collect, compare
from solvers import solve
from wdro_cvx import GraphProblem, Nominal, Singleton
from wdro_cvx.generators import rbf_graph


def graphs(seed=0):
    rng = np.random.default_rng(seed)
    return rbf_graph(D, rng), rbf_graph(D, rng)


# --- The shifts ----------------------------------------------------------------------------------


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
    test = make_tests(truth, truth)[SENSOR]
    moment = second_moment(truth)
    strength = BROKEN**2 * (np.trace(moment) - moment.sum() / D) / D
    eta = test.problem.eta
    risks = []
    for vertex in range(D):
        shifted = moment.copy()
        shifted[vertex, vertex] += strength
        risks.append(np.vdot(shifted, graph) + eta * np.sum(graph**2))
    assert test.problem.value(graph) == pytest.approx(max(risks), rel=1e-9)


def test_nobody_beats_the_best_and_the_best_has_no_regret():
    truth, graph = graphs(1)
    for name, test in make_tests(truth, 0.5 * truth + 0.5 * graph).items():
        assert test.regret(graph) > 1e-3, name
        assert test.regret(solve(test.problem).laplacian) == pytest.approx(0.0, abs=2e-6)


def test_shifts_are_no_milder_than_none():
    truth, graph = graphs(2)
    tests = make_tests(truth, graph)
    plain = tests[NO_SHIFT].problem.value(graph)
    assert tests[SENSOR].problem.value(graph) > plain
    assert tests[ADVERSARY].problem.value(graph) > plain
    # A graph that has drifted all the way is at home in its own distribution.
    assert tests[DRIFT].regret(graph) < tests[NO_SHIFT].regret(graph)


def test_corrupted_signals():
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((200, D))
    factor = np.linalg.norm(corrupt(samples, OUTLIERS, rng), axis=1) / np.linalg.norm(
        samples, axis=1
    )
    assert sorted(factor)[-10:] == pytest.approx([OUTLIER_FACTOR] * 10)
    assert sorted(factor)[:-10] == pytest.approx([1.0] * 190)
    noisy = corrupt(samples, NOISY, rng)
    assert np.var(noisy - samples) == pytest.approx(np.var(samples), rel=0.1)
    assert corrupt(samples, CLEAN, rng) is samples


# --- Tuning --------------------------------------------------------------------------------------


def test_every_model_has_the_same_budget():
    assert len({len(candidates(model)) for model in MODELS}) == 1
    assert all(len(set(candidates(model))) == len(candidates(model)) for model in MODELS)


def test_a_task_scores_every_candidate(monkeypatch):
    monkeypatch.setattr(trial, "_ETAS", (0.4,))
    monkeypatch.setattr(trial, "_SAA_ETAS", (0.1, 0.4, 1.0))
    row = run_task(ShiftTask(0, 7, "scaled", 10, CLEAN))
    assert row["unsolved"] == 0
    for model in MODELS:
        scores = row["scores"][model]
        assert set(scores) == set(METRICS)
        assert {len(values) for values in scores.values()} == {len(candidates(model))}
        regrets = [scores[metric] for metric in METRICS if metric.startswith("regret")]
        assert np.min(regrets) > -1e-6


@pytest.mark.slow
def test_a_task_is_the_same_graph_for_every_sample_size():
    rows = [run_task(ShiftTask(0, 7, "scaled", n, CLEAN)) for n in (10, 1000)]
    best = [min(row["scores"][SAA]["regret, none"]) for row in rows]
    assert best[1] < 0.3 * best[0]


def fake_rows(planned, bonus):
    """Regrets with the best candidate at place 2, at 5 under a shift; ``bonus`` by model."""
    rows = []
    for task in planned:
        wiggle = 1e-4 * np.sin(task.trial)
        scores = {}
        for index, model in enumerate(MODELS):
            places = np.arange(len(candidates(model)))
            plain, shifted = 0.1 + 0.01 * abs(places - 2), 0.1 + 0.01 * abs(places - 5)
            own = bonus.get(model, 0.0) + wiggle * index
            scores[model] = {
                metric: (
                    (0.5 - plain + own) if metric == "mcc" else
                    (plain if metric in ("regret, none", "dog") else shifted) - own
                ).tolist()
                for metric in METRICS
            }  # fmt: skip
        rows.append({"scores": scores, "unsolved": 0})
    return rows


def comparisons(bonus):
    planned = tasks(range(4), 0)
    scores = collect(planned, fake_rows(planned, bonus))
    return compare(scores, scores)


def test_tuning_without_the_shift_misses_what_tuning_with_it_finds():
    table = comparisons({})
    drift = table[(table["metric"] == "regret, drift") & (table["model"] == GAUSSIAN)]
    by = drift.groupby("tuning")["baseline"].mean()
    assert by[AWARE] == pytest.approx(0.10, abs=1e-3)
    assert by[UNAWARE] == pytest.approx(0.13, abs=1e-3)


def test_winners_and_losers_are_told_from_noise():
    table = comparisons({GAUSSIAN: 0.02, DEGREE: -0.02})
    words = table.groupby("model")["verdict"].unique().map(list)
    assert words[GAUSSIAN] == ["wins"]
    assert words[DEGREE] == ["loses"]
    assert (table[table["model"] == GAUSSIAN]["gain"] > 0.019).all()
    assert len(table) == len(conditions()) * len(METRICS) * 2 * (len(MODELS) - 1)


def test_command_reports_wins_and_losses(monkeypatch, tmp_path, unpainted):
    def fake(planned, function, *rest):
        assert function is run_task
        return fake_rows(planned, {GAUSSIAN: 0.02})

    monkeypatch.setattr("experiments.study.run_trials", fake)
    arguments = ["study", "shift", "--tuned", "2", "--graphs", "3", "--output", str(tmp_path)]
    assert cli.main(arguments) == 0
    assert (tmp_path / "shift.png").exists()
    report = (tmp_path / "report.md").read_text()
    assert "Made by `wdro study shift --tuned 2 --graphs 3`." in report
    assert "**+2.00 ± " in report
    table = pd.read_csv(tmp_path / "comparisons.csv")
    assert set(table["model"]) == set(MODELS[1:])

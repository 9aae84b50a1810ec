"""The paper's experiments: choices, comparisons, verdicts, and a run from end to end."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from signal_tables import signals

from experiments import cli
from experiments.figures import trials
from experiments.figures.catalogue import EXPERIMENTS
from experiments.figures.chosen import Chosen, beside, choose_by_truth, choose_fairly, told
from experiments.figures.learning import (
    GAUSSIAN,
    GENERAL,
    NORMS,
    PRINTED,
    SAA,
    SIMILARITY,
    TUNED,
    Model,
    communities_of,
)
from experiments.figures.statements import FAILS, HOLDS, OPEN, checks
from experiments.figures.study import chosen_experiments
from experiments.figures.trials import ETA, MODELS, held_out_risks, learn
from solvers import solve
from wdro_cvx import GaussianBall, GraphProblem, Nominal, Singleton, WdroError
from wdro_cvx.generators import rbf_graph, sbm_graph, smooth_signals
from wdro_cvx.graphs.laplacian import complete_graph
from wdro_cvx.metrics import mcc


def fake_table(name, score, count=6):
    """Records of an experiment as ``score(setting, model, place of the candidate)`` has them."""
    models = {
        "norm": trials.NORM_MODELS, "radius": trials.RADIUS_MODELS,
        "reliability": trials.RADIUS_MODELS,
    }.get(name, MODELS)  # fmt: skip
    rows = []
    for setting in trials.GRIDS[name].settings:
        for trial in range(count):
            for label, model in models.items():
                for place, (eta, radius) in enumerate(model.candidates):
                    value = score(setting, label, place / max(len(model.candidates) - 1, 1))
                    wiggle = 1e-3 * np.sin(trial)  # the same for all models: paired
                    rows.append({
                        **setting, "trial": trial, "seed": 0, "model": label,
                        "eta": eta, "radius": radius, "held_out_risk": abs(place - 3),
                        "mcc": value + wiggle, "dog": 1 - value + wiggle, "nmi": value + wiggle,
                        "reliability": min(0.5 + place / 30, 1.0), "clusters": 3,
                    })  # fmt: skip
    return pd.DataFrame(rows)


# --- Choices -------------------------------------------------------------------------------------


def test_one_candidate_is_chosen_for_all_trials_by_the_mean():
    table = pd.DataFrame({
        "n": 5, "model": "A", "trial": [0, 0, 1, 1], "eta": 0.3, "radius": [1.0, 2.0, 1.0, 2.0],
        "mcc": [0.9, 0.5, 0.0, 0.6], "held_out_risk": [1.0, 2.0, 2.0, 1.0],
    })  # fmt: skip
    assert choose_by_truth(table, ["n"])["radius"].tolist() == [2.0, 2.0]  # 0.55 beats 0.45
    assert choose_fairly(table, ["n"])["radius"].tolist() == [1.0, 2.0]  # per trial


def test_fair_choice_sees_no_truth():
    rng = np.random.default_rng(0)
    truth = rbf_graph(8, rng)
    samples = smooth_signals(truth, 12, rng, noise=0.1)
    one = {GAUSSIAN: Model(GaussianBall(1.0), (ETA,), (0.1, 1.0))}
    first = pd.DataFrame(learn(samples, truth, one))
    second = pd.DataFrame(learn(samples, complete_graph(8, 8.0), one))
    pd.testing.assert_series_equal(first["held_out_risk"], second["held_out_risk"])
    assert not np.allclose(first["dog"], second["dog"])


def test_held_out_risk_is_that_of_graphs_that_did_not_see_the_signals():
    samples = signals(9, seed=1)
    model = Model(GaussianBall(1.0), (ETA,), (0.3, 0.6))
    expected = np.zeros(2)
    for fold in (slice(0, 3), slice(3, 6), slice(6, 9)):
        kept = np.delete(samples, fold, axis=0)
        for index, size in enumerate(model.radii):
            problem = GraphProblem(Nominal.from_samples(kept), GaussianBall(size), ETA)
            graph = solve(problem).laplacian
            tests = Nominal.from_samples(samples[fold])
            judged = GraphProblem(tests, Singleton(), ETA)
            expected[index] += judged.value(graph) / 3
    # A gap of 1e-6 in the value leaves about 1e-3 in the graph.
    np.testing.assert_allclose(held_out_risks(model, samples), expected, rtol=1e-3)


def test_learn_scores_the_graphs_of_the_solver():
    rng = np.random.default_rng(2)
    truth = rbf_graph(8, rng)
    samples = smooth_signals(truth, 12, rng, noise=0.1)
    records = learn(samples, truth, tests=samples, with_held_out=False)
    assert len(records) == sum(len(model.candidates) for model in MODELS.values())
    problem = GraphProblem(Nominal.from_samples(samples), Singleton(), ETA)
    assert records[0]["mcc"] == mcc(solve(problem).laplacian, truth)
    assert {record["model"] for record in records} == {SAA, TUNED, GAUSSIAN, GENERAL}
    assert all(0 <= record["reliability"] <= 1 for record in records)


def test_communities_of_separate_blocks_are_found():
    graph, planted = sbm_graph((10, 10, 10), np.random.default_rng(0), 0.9, 0.0)
    found = communities_of(graph)
    assert len(np.unique(found)) == 3
    assert all(len(np.unique(found[planted == block])) == 1 for block in range(3))


def test_community_tables_are_tuned_by_the_score_that_they_show():
    table = pd.DataFrame({
        "n": 5, "model": "A", "trial": [0, 0], "eta": 0.3, "radius": [1.0, 2.0],
        "mcc": [0.9, 0.1], "nmi": [0.2, 0.8],
    })  # fmt: skip
    assert Chosen(table).at({"n": 5}, "A", "nmi").tolist() == [0.8]
    assert Chosen(table).at({"n": 5}, "A", "mcc").tolist() == [0.9]


def test_scores_are_in_the_order_of_trials():
    """Differences are paired, so the order of the rows must not matter."""
    table = pd.DataFrame({
        "n": 5, "trial": [1, 0, 0, 1], "model": ["A", "A", "B", "B"], "eta": 0.3, "radius": 1.0,
        "mcc": [0.9, 0.1, 0.2, 1.0],
    })  # fmt: skip
    first, second = (Chosen(table).at({"n": 5}, model, "mcc") for model in "AB")
    np.testing.assert_allclose(second - first, 0.1)


def test_standard_error():
    assert told(np.array([1.0, 2.0, 3.0, 4.0])) == "2.500 ± 0.645"


# --- Verdicts follow the numbers -----------------------------------------------------------------


def verdicts(name, score):
    table = fake_table(name, score)
    return {check.text: check.on(Chosen(table)).verdict for check in checks(PLACES[name])}


PLACES = {"sample-size": "Figure 3", "radius": "Figure 4", "noise": "Figure 6", "norm": "Table 2"}


@pytest.mark.parametrize(
    ("gains", "expected"),
    [
        ({SAA: 0.0, TUNED: 0.0, GAUSSIAN: 0.1, GENERAL: 0.1}, HOLDS),
        ({SAA: 0.1, TUNED: 0.1, GAUSSIAN: 0.1, GENERAL: 0.1}, OPEN),
        ({SAA: 0.1, TUNED: 0.1, GAUSSIAN: 0.0, GENERAL: 0.0}, FAILS),
    ],
)
def test_sample_size_verdicts_follow_the_numbers(gains, expected):
    def score(setting, model, place):
        return 0.5 + gains[model] / np.sqrt(setting["n"]) + 0.1 * np.log10(setting["n"])

    found = verdicts("sample-size", score)
    for model in (GAUSSIAN, GENERAL):
        assert found[f"{model} beats SAA for small N, MCC"] == expected
        assert found[f"{model} beats SAA for small N, DOG"] == expected
    assert found["SAA improves with N"] == HOLDS


@pytest.mark.parametrize(("lead", "expected"), [(0.1, HOLDS), (-0.1, FAILS)])
def test_noise_verdicts_follow_the_numbers(lead, expected):
    hurt = {SAA: 0.3, TUNED: 0.3, GAUSSIAN: 0.03, GENERAL: 0.03}

    def score(setting, model, place):
        return 0.5 + lead * (model in (GAUSSIAN, GENERAL)) - hurt[model] * setting["noise"]

    found = verdicts("noise", score)
    for model in (GAUSSIAN, GENERAL):
        assert found[f"Noise below 0.5 lowers the MCC of {model} less than SAA's"] == HOLDS
        assert found[f"{model} beats SAA at every level of noise"] == expected


@pytest.mark.parametrize("rises", [True, False])
def test_radius_verdicts_follow_the_numbers(rises):
    def score(setting, model, place):
        best = 0.8 - 0.2 * np.log10(setting["n"])
        return 0.5 - (place - best) ** 2 if rises else 0.5 - place

    found = verdicts("radius", score)
    for model in (GAUSSIAN, GENERAL):
        assert found[f"{model}: MCC rises with ε, then falls"] == (HOLDS if rises else FAILS)
        # A best radius that is the first at every size neither falls nor rises.
        assert found[f"{model}: the best ε decreases with N"] == (HOLDS if rises else OPEN)


def test_a_best_radius_that_rises_with_n_is_told():
    def score(setting, model, place):
        return 0.5 - (place - 0.2 * np.log10(setting["n"])) ** 2

    assert verdicts("radius", score)[f"{GAUSSIAN}: the best ε decreases with N"] == FAILS


def test_a_table_like_the_paper_s_holds():
    paper = PRINTED[SIMILARITY]

    def score(setting, model, place):
        return paper[setting["n"], SAA if model == "p = ∞" else model] - place

    assert set(verdicts("norm", score).values()) == {HOLDS}
    text = beside(Chosen(fake_table("norm", score)), SIMILARITY, [*NORMS, SAA])
    assert "| p = 4 | paper | 0.740 | 0.805 | 0.814 | 0.851 |" in text
    assert "| p = ∞ | paper | 0.627 |" in text
    assert "+0.20" not in text
    far = verdicts("norm", lambda *given: score(*given) + 0.2)
    assert far.pop("The values") == FAILS
    assert set(far.values()) == {HOLDS}


def test_every_model_can_choose_the_baseline():
    for models in (MODELS, trials.NORM_MODELS):
        for model in models.values():
            assert (ETA, 0.0) in model.candidates


@pytest.mark.parametrize(
    "name", [n for n in EXPERIMENTS if n not in ("communities", "gamma", "prior")]
)
def test_figures_and_tables_of_every_experiment(name, tmp_path):
    experiment = EXPERIMENTS[name]
    table = fake_table(name, lambda setting, model, place: 0.5 + 0.1 * place)
    experiment.figure(table).savefig(tmp_path / "figure.png", dpi=40)
    assert (tmp_path / "figure.png").stat().st_size > 2_000
    if experiment.tables is not None:
        text = experiment.tables(table)
        assert " ± " in text
        assert ("ours" in text) == (name in ("norm", "nmi"))  # beside the paper's tables


# --- Running -------------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch):
    """Three experiments that take seconds."""
    small = replace(EXPERIMENTS["reliability"], caption="of {trials} graphs")
    monkeypatch.setitem(EXPERIMENTS, "reliability", small)
    return ["gamma", "communities", "reliability"]


@pytest.mark.slow
def test_command_runs_resumes_and_reports(quick, tmp_path, request):
    arguments = ["figures", *quick, "--trials", "2", "--seed", "3", "--output", str(tmp_path)]
    assert cli.main(arguments) == 0
    for name in quick:
        assert (tmp_path / f"{name}.csv").exists()
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
        assert (tmp_path / f"{name}.pdf").exists()
    report = (tmp_path / "report.md").read_text()
    assert "wdro figures gamma communities reliability --trials 2 --seed 3" in report
    assert "wdro study explain" in report  # which has the verdicts
    assert "*of 2 graphs*" in report
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "cells").rglob("*.json")}
    assert len(before) == 6
    request.getfixturevalue("unpainted")  # the pictures have been seen
    assert cli.main(arguments) == 0
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "cells").rglob("*.json")}
    assert after == before
    assert cli.main([*arguments, "--fresh"]) == 0
    assert all(path.stat().st_mtime_ns > time for path, time in before.items())


def test_unknown_experiments_are_named():
    with pytest.raises(WdroError, match=r"no experiment 'samples'.*sample-size"):
        chosen_experiments(["samples"])

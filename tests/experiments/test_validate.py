"""``wdro study validate``: its data, its scores, how it reports failures."""

import math

import numpy as np
import pandas as pd
import pytest

from experiments import cli
from experiments.studies.validate import methods, sources, study
from experiments.studies.validate.methods import (
    METHODS,
    SCORES,
    Learned,
    average_precision,
    correlation,
    f1,
    nearest_neighbours,
    ours,
    partial_correlation,
    score,
)
from experiments.studies.validate.sources import NETWORKS, RANDOM, KnownGraph, load_source
from experiments.studies.validate.study import OURS, ahead, describe
from experiments.studies.validate.trials import MethodTask, learn_by_method, method_tasks
from solvers import RobustGraph
from wdro_cvx import DataError

SIZES = {"us-growth": (40, 48, 107), "climate": (120, 130, 237), "power-57": (100, 57, 78),
         "power-118": (100, 118, 179)}  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS + RANDOM)
def test_sources_are_standardised_tables_with_a_graph(name):
    source = load_source(name)
    n, d = source.table.shape
    if name in SIZES:
        assert (n, d, int(source.truth.sum()) // 2) == SIZES[name]
    np.testing.assert_allclose(source.table.mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(source.table.std(axis=0), 1.0)
    np.testing.assert_array_equal(source.truth, source.truth.T)
    assert not np.diagonal(source.truth).any()
    assert 0.0 < source.chance < 0.5
    np.testing.assert_array_equal(load_source(name).table, source.table)
    assert not np.array_equal(load_source(name, trial=1).table, source.table)


def test_neighbours_are_neighbours():
    climate = load_source("climate").truth
    assert set(climate.sum(axis=1)) == {2, 3, 4}
    assert climate[0, 1]
    assert climate[0, 13]  # the row below
    assert not climate[12, 13]  # the end of one row, the beginning of the next


def test_a_package_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(sources.importlib.util, "find_spec", lambda name: None)
    for name in NETWORKS:
        with pytest.raises(DataError, match="install wdro-cvx with the extra validate"):
            load_source(name)
    with pytest.raises(DataError, match="there is no source 'brain'"):
        load_source("brain")


def test_scores_by_hand():
    truth = np.array([True, False, True, False])
    assert average_precision(np.array([4.0, 3.0, 2.0, 1.0]), truth) == pytest.approx(5 / 6)
    assert average_precision(np.zeros(4), truth) == pytest.approx(0.5)  # ties are chance
    assert f1(np.array([True, True, False, False]), truth) == pytest.approx(0.5)
    assert f1(np.zeros(4, dtype=bool), truth) == 0.0


def test_the_truth_scores_one_in_everything():
    source = load_source("rbf-200")
    perfect = score(source, Learned(source.truth.astype(float), source.truth))
    assert set(perfect) == set(SCORES)
    assert perfect.pop("edges") == source.truth.sum() / 2
    assert set(perfect.values()) == {1.0}
    # Equal sizes look at the ranking alone.
    unsure = score(source, Learned(source.truth.astype(float), np.ones_like(source.truth)))
    assert unsure["f1_equal"] == 1.0
    assert unsure["f1"] < 0.6


@pytest.mark.parametrize("name", RANDOM)
def test_signs_matter_to_the_rivals(name):
    """Smooth signals carry nothing along 1, so strangers have negative correlations."""
    source = load_source(name)
    pairs = np.triu_indices(len(source.truth), 1)
    for method in (correlation, partial_correlation):
        found = method(source).scores[pairs]
        truth = source.truth[pairs]
        assert average_precision(found, truth) > 0.1 + average_precision(np.abs(found), truth)


def test_neighbours_are_joined_from_either_side():
    source = load_source("rbf-50")
    edges = nearest_neighbours(source).edges
    assert edges.sum(axis=1).min() >= 3  # log 20
    np.testing.assert_array_equal(edges, edges.T)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_symmetric_scores(method):
    source = load_source("rbf-50")
    learned = METHODS[method](source)
    np.testing.assert_allclose(learned.scores, learned.scores.T, atol=1e-8)
    np.testing.assert_array_equal(learned.edges, learned.edges.T)
    assert learned.scores.shape == source.truth.shape


def test_tests_of_correlations_find_what_is_there():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((200, 6))
    table[:, 1] += table[:, 0]
    source = KnownGraph("x", table, np.zeros((6, 6), dtype=bool))
    expected = np.zeros((6, 6), dtype=bool)
    expected[0, 1] = expected[1, 0] = True
    np.testing.assert_array_equal(correlation(source).edges & ~np.eye(6, dtype=bool), expected)


def test_ours_is_the_estimator():
    source = load_source("rbf-50")
    graph = RobustGraph().fit(source.table)
    learned = ours()(source)
    np.testing.assert_array_equal(learned.scores, graph.adjacency_)
    np.testing.assert_array_equal(learned.edges, graph.support_)


def test_the_comparison_is_as_it_was_fixed():
    tasks = method_tasks()
    assert len(tasks) == 20 * 7 * len(METHODS)


def test_leads_are_paired_by_draw():
    rows = pd.DataFrame(
        [
            {"source": source, "trial": trial, "method": method, "failure": "", "f1": value,
             **dict.fromkeys(("d", "n", "true"), 9), "chance": 0.1,
             **dict.fromkeys(set(SCORES) - {"f1"}, 0.5)}
            for source in ("rbf-20", "climate")
            for trial in range(4)
            for method, value in ((OURS, 0.1 * trial), ("x", 0.1 * trial + 0.2 + 0.01 * trial))
        ]
    )  # fmt: skip
    spread = 0.01 * np.std([0, 1, 2, 3], ddof=1)
    _, lead, error = ahead(rows[rows["source"] == "rbf-20"], "x", "f1")
    assert (lead, error) == (pytest.approx(0.215), pytest.approx(spread / 2))
    # Halves of one table: the deviation itself is the error of the whole table.
    assert ahead(rows[rows["source"] == "climate"], "x", "f1")[2] == pytest.approx(spread)
    assert "| x | **0.365 ± 0.006** | **0.365 ± 0.013** |" in "\n".join(describe(rows))


def test_a_method_that_fails_is_said_to_fail(monkeypatch):
    def failing(source):
        raise FloatingPointError("not positive definite")

    monkeypatch.setitem(methods.METHODS, "correlation", failing)
    row = learn_by_method(MethodTask("rbf-20", 0, "correlation"))
    assert math.isnan(row["f1"])
    rows = pd.DataFrame(
        [{"source": "rbf-20", "trial": 0, "method": name, **row, "mcc": value}
         for name, value in (("correlation", math.nan), (OURS, 0.5))]
    )  # fmt: skip
    assert "| correlation | fails |" in "\n".join(describe(rows))


def test_the_command_writes_table_and_report(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("experiments.study.run_trials", lambda tasks, trial, *_: map(trial, tasks))
    few = [MethodTask("rbf-20", trial, OURS) for trial in (0, 1)]
    monkeypatch.setattr(study, "method_tasks", lambda: few)
    assert cli.main(["study", "validate", "--output", str(tmp_path / "out")]) == 0
    assert len(pd.read_csv(tmp_path / "out" / "methods.csv")) == 2
    for text in (capsys.readouterr().out, (tmp_path / "out" / "report.md").read_text()):
        assert "Average precision of the ranking" in text

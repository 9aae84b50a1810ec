"""The comparison of defaults: its tables, its score, its decision."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from experiments.studies.edges import study
from experiments.studies.edges.tables import FAMILIES, KINDS, NOISES, TRUTHS, Table, draw
from experiments.studies.edges.trial import RULES, Task, learn, tasks
from solvers.selection.preparation import in_unlike_units


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", KINDS)
def test_tables_have_a_connected_truth_and_repeat(family, kind):
    table = Table(family, kind, 20, 30, 1)
    signals, truth = draw(table)
    graph = nx.Graph(list(zip(*(index[truth] for index in np.triu_indices(20, 1)), strict=True)))
    assert len(graph) == 20
    assert nx.is_connected(graph)
    np.testing.assert_array_equal(draw(table)[0], signals)
    assert not np.array_equal(draw(Table(family, kind, 20, 30, 2))[0], signals)


@pytest.mark.parametrize("d", [20, 45])
def test_disconnected_truths_have_two_parts(d):
    signals, truth = draw(Table("grid", "disconnected", d, 30, 1))
    graph = nx.Graph(list(zip(*(index[truth] for index in np.triu_indices(d, 1)), strict=True)))
    parts = list(nx.connected_components(graph))
    assert sorted(map(len, parts)) == {20: [10, 10], 45: [20, 25]}[d]
    for part in parts:
        np.testing.assert_allclose(signals[:, list(part)].sum(axis=1), 0.0, atol=1e-9)


def test_fields_have_the_graph_as_their_partial_correlations_and_a_level():
    signals, truth = draw(Table("grid", "field", 20, 50_000, 1))
    precision = np.linalg.inv(np.cov(signals.T))
    np.testing.assert_allclose(precision.sum(axis=0), 0.3, atol=0.05)
    assert np.array_equal(precision[np.triu_indices(20, 1)] < -0.2, truth)
    parts, truth = draw(Table("grid", "disconnected field", 20, 30, 1))
    assert np.abs(parts.sum(axis=1)).max() > 1.0
    graph = nx.Graph(list(zip(*(index[truth] for index in np.triu_indices(20, 1)), strict=True)))
    assert nx.number_connected_components(graph) == 2


def test_rescaled_columns_are_told_from_columns_in_one_unit():
    found = {
        kind: [
            in_unlike_units(draw(Table(family, kind, d, 200, trial))[0].std(axis=0), 200)
            for family in FAMILIES
            for d in (20, 45)
            for trial in range(4)
        ]
        for kind in ("gaussian", "rescaled")
    }
    assert np.mean(found["gaussian"]) < 0.1
    assert np.mean(found["rescaled"]) > 0.9


def test_lognormal_weights_keep_the_edges_of_the_graph():
    signals, truth = draw(Table("grid", "lognormal", 20, 5000, 1))
    assert truth.sum() == 31
    weights = -np.linalg.pinv(signals.T @ signals / 5000)[np.triu_indices(20, 1)]
    assert np.ptp(np.log(np.maximum(weights[truth], 1e-6))) > np.log(10)  # uniform ones: 3


@pytest.mark.parametrize("kind", NOISES)
def test_noise_has_no_edges(kind):
    signals, truth = draw(Table("noise", kind, 20, 50, 0))
    assert signals.shape == (50, 20)
    assert not truth.any()


def test_the_comparison_is_as_it_was_fixed():
    planned = tasks()
    tables = {task.table for task in planned}
    slow = [task for task in planned if task.rule in ("former default", "cut, bootstrap")]
    assert {task.table.trial for task in slow} == {0, 1}
    assert len(planned) - len(slow) == len(tables) * (len(RULES) - 2)
    clean = [t for t in tables if t.family != "noise" and t.kind == "gaussian"]
    assert len(clean) == 5 * 2 * 4 * 10
    assert {t.n for t in tables if t.kind in ("rows", "cells", "student-5", *TRUTHS)} == {200}


def test_one_trial_is_scored_by_hand():
    row = learn(Task(Table("grid", "gaussian", 20, 200, 0), "cut"))
    assert row["true"] == 31
    right = row["found"] - row["false"]
    assert row["f1"] == pytest.approx(2 * right / (row["found"] + 31))
    assert row["mcc"] > 0.7


def rows(rule, mcc, spoilt, noise, cpu):
    known = {
        "d": 20,
        "n": 50,
        "trial": 0,
        "rule": rule,
        "f1": mcc,
        "true": 10,
        "false": 3,
        "cpu_s": cpu,
    }
    made = [("grid", "gaussian", mcc), ("grid", "rows", spoilt)]
    graphs = [known | {"family": f, "kind": k, "mcc": m, "found": 9, "pairs": 190}
              for f, k, m in made]  # fmt: skip
    empty = {"family": "noise", "kind": "gaussian", "mcc": 0.0, "true": 0}
    return [*graphs, known | empty | {"found": noise, "pairs": 100}]


def test_a_rule_that_saw_few_tables_is_compared_on_those():
    easy, hard = rows("all", 0.9, 0.9, 0, 1.0), rows("all", 0.5, 0.5, 0, 1.0)
    for row in hard:
        row["trial"] = 1
    found = study.scores(pd.DataFrame([*easy, *hard, *rows("some", 0.8, 0.9, 4, 1.0)]))
    assert found.loc["all", "mcc"] == pytest.approx(0.7)
    assert found.loc["some", "mcc"] == pytest.approx(0.6)  # 0.1 below the other on one table
    assert found.loc["some", "noise"] == pytest.approx(0.04)


def decided(*lines):
    return study.decide(study.scores(pd.DataFrame([row for line in lines for row in line])))


def test_the_decision():
    good = rows("good", 0.80, 0.70, 5, 0.2)
    assert decided(good, rows("noisy", 0.95, 0.70, 6, 0.1)) == "good"
    assert decided(good, rows("fragile", 0.95, 0.67, 0, 0.1)) == "good"
    assert decided(good, rows("better", 0.81, 0.69, 0, 9.0)) == "better"
    assert decided(good, rows("as good", 0.796, 0.70, 0, 0.1)) == "as good"
    assert decided(good, rows("cut, radius 0", 0.804, 0.70, 0, 0.1)) == "good"
    assert decided(good, rows("cut, radius 0", 0.806, 0.70, 0, 0.1)) == "cut, radius 0"
    assert decided(rows("noisy", 0.95, 0.70, 6, 0.1)) is None
    text = "\n".join(study.describe(pd.DataFrame(good)))
    assert "The winner is **good**" in text
    assert "| good | 0.800 |" in text

"""Partial correlations as tests of edges: their value, when they apply, and what they cure."""

import networkx as nx
import numpy as np
import pytest

from solvers import RobustGraph
from solvers.selection.partial import partial_z_scores
from solvers.selection.signals import Signals

# Tables of independent columns deserve warnings too.
pytestmark = pytest.mark.filterwarnings("ignore::solvers.selection.tables.TableWarning")


def pairs(d):
    return np.triu_indices(d, 1)


def scores(table, weights=None):
    return partial_z_scores(Signals(table, weights), *pairs(table.shape[1]))


def mixed(n=120, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d))


def test_scores_are_fishers_of_the_residuals_of_regressions():
    table = mixed()
    n, d = table.shape
    centred = table - table.mean(axis=0)
    for (i, j), score in zip(np.transpose(pairs(d)), scores(table), strict=True):
        others = np.delete(centred, (i, j), axis=1)
        left, right = (
            column - others @ np.linalg.lstsq(others, column, rcond=None)[0]
            for column in (centred[:, i], centred[:, j])
        )
        usual = np.arctanh(np.corrcoef(left, right)[0, 1]) * np.sqrt(n - d - 1)
        assert abs(score) <= abs(usual) * (1 + 1e-9)
        assert score == pytest.approx(usual, rel=0.35)  # less if products vary more than usual


def test_gaussian_rows_have_the_usual_scores():
    table = mixed(n=200_000)
    n, d = table.shape
    precision = np.linalg.inv(np.cov(table.T))
    size = np.sqrt(np.diag(precision))
    usual = np.arctanh(-(precision / np.outer(size, size))[pairs(d)]) * np.sqrt(n - d - 1)
    np.testing.assert_allclose(scores(table), usual, rtol=0.01)


def test_units_and_repetitions_do_not_matter():
    table = mixed()
    np.testing.assert_allclose(scores(table * np.geomspace(1e-9, 1e9, 6)), scores(table), rtol=1e-6)
    np.testing.assert_allclose(scores(table + 1e3), scores(table), rtol=1e-6)
    counts = np.ones(len(table))
    counts[:60] = 0.0
    np.testing.assert_allclose(scores(table, counts), scores(table[60:]), rtol=1e-9)


def test_a_column_that_never_changes_is_left_aside():
    table = np.insert(mixed(), 2, 7.0, axis=1)
    heads, tails = pairs(7)
    moving = (heads != 2) & (tails != 2)
    found = partial_z_scores(Signals(table), heads[moving], tails[moving])
    np.testing.assert_allclose(found, scores(mixed()), rtol=1e-9)


def test_outliers_lower_the_scores():
    table = np.random.default_rng(0).standard_normal((1000, 6))
    table[:3] *= 30.0
    usual = np.arctanh(np.corrcoef(table.T)[pairs(6)]) * np.sqrt(1000)
    assert np.abs(scores(table)).max() < 0.5 * np.abs(usual).max()


def test_they_need_rows_and_a_level():
    table = np.random.default_rng(2).standard_normal((24, 6))
    table += np.linspace(-2.0, 2.0, 24)[:, np.newaxis]
    assert scores(table) is not None
    assert scores(table[:-1]) is None  # fewer than four rows per column
    level = mixed().mean(axis=1, keepdims=True)
    assert scores(mixed() - level) is None  # every row sums to zero
    even = np.random.default_rng(1).standard_normal((200, 6))
    for share, said in ((0.2, True), (0.5, False)):  # of the level that is taken away
        assert (scores(even - share * even.mean(axis=1, keepdims=True)) is not None) == said


def true_edges(seed, d=20, negative=0.0):
    """Return a sparse precision matrix, some of whose partial correlations are negative."""
    rng = np.random.default_rng(seed)
    graph = nx.random_labeled_tree(d, seed=seed)
    graph.add_edges_from(rng.choice(d, 2, replace=False) for _ in range(6))
    weights = np.zeros((d, d))
    for i, j in graph.edges:
        weights[i, j] = weights[j, i] = rng.uniform(0.5, 1.5)
    signs = np.triu(np.where(rng.random((d, d)) < negative, -1.0, 1.0), 1)
    return np.diag(weights.sum(axis=0) + 0.3) - weights * (signs + signs.T), rng


def false_share(graph, truth):
    found = np.asarray(graph.support_)[pairs(len(truth))]
    return np.count_nonzero(found & ~truth[pairs(len(truth))]) / max(found.sum(), 1)


@pytest.mark.parametrize(("negative", "unit"), [(0.0, 1.0), (0.3, 1.0), (0.0, 2.0)])
def test_the_rate_is_kept_with_opposites_and_in_any_unit(negative, unit):
    shares = []
    for seed in range(6):
        precision, rng = true_edges(seed, negative=negative)
        table = rng.multivariate_normal(np.zeros(20), np.linalg.inv(precision), size=1000)
        table *= np.exp(rng.uniform(-np.log(unit), np.log(unit), 20))
        shares.append(false_share(RobustGraph(fdr=0.1).fit(table), precision < 0.0))
    assert np.mean(shares) < 0.1


@pytest.mark.parametrize("n", [200, 2000])
def test_independent_columns_beside_two_pairs(n):
    shares, clear = [], []
    for seed in range(4):
        table = np.random.default_rng(seed).standard_normal((n, 20))
        table[:, 1] += table[:, 0]
        table[:, 3] += table[:, 2]
        truth = np.zeros((20, 20), dtype=bool)
        truth[0, 1] = truth[2, 3] = True
        shares.append(false_share(RobustGraph(fdr=0.1).fit(table), truth))
        graph = RobustGraph().fit(table)
        clear.append(int((graph.edges_["q_value"] <= 0.1).sum()))
        assert any("selected edges are shown clearly" in note for note in graph.graph_.notes)
    assert np.mean(shares) <= 0.25
    assert max(clear) <= 4  # of more than seventy selected edges

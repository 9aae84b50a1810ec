"""Robust second moments: what outliers cannot change, and what every moment keeps."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from solvers import solve
from wdro_cvx import DataError, GraphProblem, Nominal, WassersteinBall, judge
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.moments.robust import MOMENTS, robust_table

ROBUST = [name for name in MOMENTS if name != "sample"]


def signals(n=60, d=8, seed=0):
    rng = np.random.default_rng(seed)
    return smooth_signals(rbf_graph(d, rng), n, rng, noise=0.1)


def moment(table, name):
    return Nominal.from_samples(table, moment=name).second_moment


def centred(matrix):
    keep = np.eye(len(matrix)) - 1 / len(matrix)
    return keep @ matrix @ keep


@pytest.mark.parametrize("name", ROBUST)
def test_a_few_huge_signals_hardly_change_a_robust_moment(name):
    table = signals()
    spoilt = table.copy()
    spoilt[:5] *= 1e6
    change = np.linalg.norm(centred(moment(spoilt, name)) - centred(moment(table, name)))
    # Five of sixty rows; the sample moment changes by a factor of 1e11.
    assert change < 0.5 * np.linalg.norm(centred(moment(table, name)))


@pytest.mark.parametrize("name", ROBUST)
def test_levels_of_signals_and_vertices_do_not_matter(name):
    table = signals()
    rng = np.random.default_rng(1)
    moved = table + rng.standard_normal((len(table), 1)) + rng.standard_normal(table.shape[1])
    found, expected = (centred(moment(t, name)) for t in (moved, table))
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


def test_the_sign_moment_is_the_mean_of_unit_rows():
    table = signals()
    rows = table - table.mean(axis=1, keepdims=True)
    rows -= np.median(rows, axis=0)
    rows -= rows.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(rows, axis=1)
    unit = rows / lengths[:, None]
    expected = np.median(lengths) ** 2 * unit.T @ unit / len(table)
    np.testing.assert_allclose(centred(moment(table, "sign")), expected, atol=1e-12)


@pytest.mark.parametrize("n", [2, 9, 10, 100, 101])
def test_kendalls_moment_uses_all_pairs_of_a_small_table(n):
    table = signals(n=n)
    rows = table - table.mean(axis=1, keepdims=True)
    pairs = [(a - b) / np.linalg.norm(a - b) for i, a in enumerate(rows) for b in rows[:i]]
    assert len(pairs) == pdist(rows).size
    expected = np.mean([np.outer(pair, pair) for pair in pairs], axis=0)
    found = centred(moment(table, "kendall"))
    np.testing.assert_allclose(found / np.trace(found), expected, atol=1e-12)


def test_the_trimmed_moment_leaves_out_the_longest_tenth():
    table = np.array([[1.0, -1.0], [-1.0, 1.0]] * 9 + [[50.0, -50.0], [-60.0, 60.0]])
    np.testing.assert_array_equal(np.abs(robust_table(table, "trimmed")), np.ones((18, 2)))


@pytest.mark.parametrize("name", ROBUST)
def test_a_ball_around_a_robust_moment_is_certified(name):
    nominal = Nominal.from_samples(signals(), moment=name)
    problem = GraphProblem(nominal, WassersteinBall(0.3), eta=0.3)
    assert judge(problem, solve(problem)).solved(1e-6)


@pytest.mark.parametrize("name", ROBUST)
@pytest.mark.parametrize("table", [np.zeros((4, 3)), np.eye(3)[:1], np.ones((2, 2))])
def test_tables_without_variation_are_taken(name, table):
    assert np.isfinite(moment(table, name)).all()


def test_bad_moments_are_refused():
    with pytest.raises(DataError, match="moment must be one of sample, sign"):
        Nominal.from_samples(np.eye(3), moment="tukey")
    with pytest.raises(DataError, match="takes no weights"):
        Nominal.from_samples(np.eye(3), weights=[1, 2, 3], moment="sign")

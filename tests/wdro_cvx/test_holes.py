"""Tables with missing values: pairs of columns, the nearest moment, errors that name columns."""

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from wdro_cvx import (
    DataError,
    EdgeBounds,
    GraphProblem,
    KLBall,
    MomentUncertainty,
    Nominal,
    ProblemError,
    Singleton,
    WassersteinBall,
)
from wdro_cvx.graphs.laplacian import complete_graph
from wdro_cvx.moments.holes import moment_of, nearest_moment, nominal_with_holes, pair_squares


def table(seed, n=12, d=5, share=0.2):
    rng = np.random.default_rng(seed)
    found = rng.standard_normal((n, d)) + 3.0 * rng.standard_normal((n, 1))
    found[rng.random((n, d)) < share] = np.nan
    return found


def squares_by_hand(found, weights):
    d = found.shape[1]
    result, count = np.zeros((d, d)), np.zeros((d, d))
    for i in range(d):
        for j in range(d):
            both = ~np.isnan(found[:, i]) & ~np.isnan(found[:, j])
            count[i, j] = weights[both].sum()
            if i != j and count[i, j] > 0:
                terms = weights[both] * (found[both, i] - found[both, j]) ** 2
                result[i, j] = terms.sum() / count[i, j]
    return result, count


@examples(50)
@given(st.integers(0, 10**6), st.floats(-1e3, 1e3))
def test_pairs_are_compared_where_both_are_present(seed, level):
    found = table(seed)
    weights = np.random.default_rng(seed).random(len(found))
    expected, count = squares_by_hand(found, weights)
    pairs = pair_squares(found + level, weights)
    # Adding a level rounds the data in the thirteenth digit of their differences.
    np.testing.assert_allclose(pairs.squares, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pairs.weight, count, rtol=1e-12, atol=1e-12)
    assert pairs.squares.min() >= 0.0


@examples(50)
@given(st.integers(0, 10**6))
def test_the_moment_has_the_squares_for_its_costs(seed):
    squares = pair_squares(table(seed, n=40)).squares
    moment = moment_of(squares)
    sizes = np.diagonal(moment)
    costs = sizes[:, np.newaxis] + sizes[np.newaxis, :] - 2 * moment
    np.testing.assert_allclose(costs, squares, atol=1e-12)
    np.testing.assert_allclose(moment.sum(axis=1), 0.0, atol=1e-11)


def test_without_holes_nothing_is_moved_and_the_problem_is_the_same():
    found = table(0, share=0.0)
    nominal, moved = nominal_with_holes(found)
    assert moved < 1e-14
    laplacian = complete_graph(5, 5.0)
    for ball in (Singleton(), WassersteinBall(0.4), MomentUncertainty(0.5, 1.0, 1.0)):
        whole = GraphProblem(Nominal.from_samples(found), ball, 0.3).value(laplacian)
        pairs = GraphProblem(nominal, ball, 0.3).value(laplacian)
        assert pairs == pytest.approx(whole, rel=1e-11)


def test_a_moment_that_is_none_is_moved_to_the_nearest():
    vectors = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    matrix = vectors @ np.diag([3.0, 1.0, 0.0, -4.0]) @ vectors.T
    rows, moved = nearest_moment(matrix)
    np.testing.assert_allclose(rows.T @ rows, vectors @ np.diag([3.0, 1.0, 0, 0]) @ vectors.T,
                               atol=1e-13)  # fmt: skip
    assert moved == pytest.approx(4.0 / np.sqrt(26.0))
    assert nearest_moment(np.zeros((3, 3)))[1] == 0.0


@examples(50)
@given(st.integers(0, 10**6))
def test_the_covariance_of_a_table_with_holes_is_one(seed):
    found = table(seed, n=30, share=0.4)
    nominal, _ = nominal_with_holes(found)
    size = np.linalg.norm(nominal.second_moment)
    assert np.linalg.eigvalsh(nominal.covariance)[0] >= -1e-12 * size


def test_too_little_in_common_is_named():
    found = np.array([[1.0, 2.0, np.nan], [2.0, 1.0, np.nan], [np.nan, 3.0, 1.0], [np.nan, 1, 2]])
    with pytest.raises(DataError, match=r"2 rows in common; Oslo and Rome have fewer"):
        nominal_with_holes(found, names=["Oslo", "Turku", "Rome"])
    found[:, 0] = np.nan
    with pytest.raises(DataError, match="no value at all in column 0"):
        nominal_with_holes(found)
    found[0, 0] = np.inf
    with pytest.raises(DataError, match="infinite"):
        nominal_with_holes(found)


def test_sets_that_reweigh_samples_say_that_there_are_none():
    nominal, _ = nominal_with_holes(table(1, n=40))
    with pytest.raises(ProblemError, match="reweighs samples"):
        KLBall(0.1).worst_case(nominal, complete_graph(5, 5.0))


# --- Weights of samples, bounds by name ----------------------------------------------------------


@examples(50)
@given(st.integers(0, 10**6))
def test_weights_are_repetitions(seed):
    rng = np.random.default_rng(seed)
    samples = rng.standard_normal((6, 4))
    counts = rng.integers(0, 4, 6)
    counts[0] += 1
    repeated = Nominal.from_samples(np.repeat(samples, counts, axis=0))
    weighted = Nominal.from_samples(samples, 0.7 * counts)
    for name in ("mean", "second_moment", "covariance"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-13)
    scaled = weighted.scaled(3.0)
    np.testing.assert_allclose(scaled.second_moment, 9.0 * repeated.second_moment, atol=1e-12)


def test_equal_weights_keep_the_samples():
    samples = table(0, share=0.0)
    same = Nominal.from_samples(samples, np.full(12, 5.0))
    np.testing.assert_array_equal(same.samples, Nominal.from_samples(samples).samples)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "one entry for each of the 12"),
        (np.zeros(12), "not all zero"),
        (-np.ones(12), "nonnegative"),
        (np.full(12, np.nan), "NaN"),
    ],
)
def test_bad_weights_are_named(weights, message):
    with pytest.raises(DataError, match=message):
        Nominal.from_samples(table(0, share=0.0), weights)


def test_bounds_take_names():
    named = EdgeBounds.from_edges(
        ["a", "b", "c"], absent=[("c", "a")], present=[("a", "b")], least=0.2
    )
    numbered = EdgeBounds.from_edges(3, absent=[(0, 2)], present=[(0, 1)], least=0.2)
    np.testing.assert_array_equal(named.lower, numbered.lower)
    np.testing.assert_array_equal(named.upper, numbered.upper)
    with pytest.raises(
        ProblemError, match=r"\(a, z\) is not an edge of a graph with vertices a to c"
    ):
        EdgeBounds.from_edges(["a", "b", "c"], absent=[("a", "z")])
    with pytest.raises(ProblemError, match="give each its own name"):
        EdgeBounds.from_edges(["a", "a"])

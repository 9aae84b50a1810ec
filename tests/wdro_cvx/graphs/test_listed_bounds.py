"""Bounds from a list of possible edges: the same as bounds on all pairs, without all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import random_nominal, seeds
from scipy import sparse

from wdro_cvx import EdgeBounds, GraphProblem, LogDegree, ProblemError, Singleton
from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.graphs.listed_bounds import ListedBounds


@given(seeds, st.integers(2, 12), st.booleans())
def test_a_list_is_what_the_matrices_say(seed, d, limited):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 2 * d))
    heads = rng.integers(0, d, count)
    tails = (heads + rng.integers(1, d, count)) % d  # in either direction, some of them twice
    lower = rng.uniform(0, 0.1, count) if limited else np.zeros(count)
    upper = rng.uniform(0.1, 1.0, count) if limited else np.full(count, np.inf)
    found = EdgeBounds.from_list(d, np.column_stack([heads, tails]), lower=lower, upper=upper)
    low, high = np.zeros((d, d)), np.zeros((d, d))
    for one, other, least, most in zip(heads, tails, lower, upper, strict=True):
        for place in ((one, other), (other, one)):
            high[place] = min(most, high[place] or np.inf)
            low[place] = max(least, low[place])
    expected = EdgeBounds.from_matrices(low, high)
    assert found.d == d
    np.testing.assert_array_equal(found.lower, expected.lower)
    np.testing.assert_array_equal(found.upper, expected.upper)
    np.testing.assert_allclose(found.most_degrees(), expected.most_degrees(), rtol=1e-14)
    np.testing.assert_array_equal(found.matrices()[1], expected.matrices()[1])
    order = edge_index(d)
    keys = found.heads * d + found.tails
    np.testing.assert_array_equal(keys, (order[0] * d + order[1])[expected.upper > 0.0])


def test_names_and_matrices_are_lists_too():
    by_name = EdgeBounds.from_list(["a", "b", "c"], [("c", "a"), ("b", "c")])
    matrix = sparse.csr_array(np.array([[1.0, 0, 5], [0, 0, 2], [0, 0, 0]]))
    by_matrix = EdgeBounds.from_list(3, matrix)
    for found in (by_name, by_matrix):
        np.testing.assert_array_equal(found.upper, [0.0, np.inf, np.inf])
    assert "2 edges possible" in repr(by_name)


@pytest.mark.parametrize(
    ("d", "pairs", "keywords", "message"),
    [
        (3, [(0, 3)], {}, r"\(0, 3\) is not an edge"),
        (3, [(1, 1)], {}, r"\(1, 1\) is not an edge"),
        (3, [(-1, 1)], {}, r"\(-1, 1\) is not an edge"),
        (3, [], {}, "names no edge"),
        (3, [0, 1], {}, "shape"),
        (3, [(0.5, 1.0)], {}, "whole numbers"),
        (3, 7, {}, "pairs of vertices"),
        (3, sparse.csr_array((2, 2)), {}, "shape"),
        (["a", "b"], [("a", "z")], {}, "'z'"),
        (["a", "a"], [("a", "a")], {}, "same name"),
        (["a", "b"], [3], {}, "pairs of names"),
        (3, [(0, 1), (2, 1)], {"lower": [0.0, -1.0]}, r"at least 0: edge \(1, 2\)"),
        (3, [(0, 1)], {"lower": 2.0, "upper": 1.0}, r"exceeds .* edge \(0, 1\)"),
        (3, [(0, 1), (1, 0)], {"lower": [2.0, 0.0], "upper": [3.0, 1.0]}, "lower=2 and upper=1"),
        (3, [(0, 1)], {"upper": [1.0, 2.0]}, "one for each of the 1 pairs"),
        (3, [(0, 1)], {"upper": np.nan}, "NaN"),
    ],
)
def test_what_is_no_list_is_said(d, pairs, keywords, message):
    with pytest.raises(ProblemError, match=message):
        EdgeBounds.from_list(d, pairs, **keywords)


def test_problems_that_no_list_allows():
    nominal = random_nominal(np.random.default_rng(0), 4, 9)
    pair = EdgeBounds.from_list(4, [(0, 1)], upper=1.0)
    with pytest.raises(ProblemError, match="no graph has this trace"):
        GraphProblem(nominal, Singleton(), 0.3, bounds=pair)
    with pytest.raises(ProblemError, match="vertex 2 without an edge"):
        GraphProblem(nominal, Singleton(), prior=LogDegree(1.0, 1.0, pair))


def test_many_vertices_are_told_to_list_their_edges():
    with pytest.raises(ProblemError, match="from_list"):
        EdgeBounds.from_edges(50_000, absent=[(0, 1)])
    bounds = EdgeBounds.from_list(50_000, [(0, 49_999)])
    assert bounds.d == 50_000
    with pytest.raises(ProblemError, match="at most 20000"):
        _ = bounds.upper


@pytest.mark.parametrize(
    ("heads", "tails", "least", "most", "told"),
    [
        ([1, 0], [2, 1], [0.0, 0.0], [1.0, 1.0], "sorted"),
        ([0, 0], [1, 1], [0.0, 0.0], [1.0, 1.0], "without repetition"),
        ([1, 2], [0, 1], [0.0, 0.0], [1.0, 1.0], "smaller vertex first"),
        ([0, 2], [1, 4], [0.0, 0.0], [1.0, 1.0], "from 0 to 3"),
        ([0, 1], [1, 2], [0.0, 2.0], [1.0, 1.0], "lower exceeds upper"),
        ([0, 1], [1, 2], [0.0, -1.0], [1.0, 1.0], "at least 0"),
        ([0, 1], [1, 2], [0.0, 0.0], [1.0, np.nan], "NaN"),
        ([0, 1], [1, 2], [0.0], [1.0, 1.0], "one length"),
    ],
)
def test_a_list_built_by_its_attributes_is_checked(heads, tails, least, most, told):
    """A search in an unsorted list misses pairs, and the judge would take their weights for 0."""
    ends = np.array(heads, np.int32), np.array(tails, np.int32)
    with pytest.raises(ProblemError, match=told):
        ListedBounds(4, *ends, np.array(least), np.array(most))

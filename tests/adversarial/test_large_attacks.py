"""Attacks that once broke the judge of sparse graphs, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from wdro_cvx import (
    Certificate,
    EdgeBounds,
    GraphProblem,
    MahalanobisBall,
    Nominal,
    ProblemError,
    Singleton,
    WassersteinBall,
    judge,
)
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.graphs.laplacian import complete_graph
from wdro_cvx.judging.sparse.top import eigenvalue_bound


def listed(d, heads, tails, weights):
    ends = np.asarray(heads, np.int32), np.asarray(tails, np.int32)
    return EdgeList(d, *ends, np.asarray(weights, float)).laplacian()


@pytest.mark.parametrize("size", [1e-130, 1e-90, 1e90, 1e152])
def test_scales_whose_squares_are_no_numbers_are_refused(size):
    with pytest.raises(ProblemError, match="the largest of scales must lie between"):
        MahalanobisBall(1.0 / size, scales=(size,) * 5)


@pytest.mark.parametrize("size", [1e-280, 1e-150, 1.0, 1e150])
def test_eigenvalues_of_matrices_of_any_size_are_bounded(size):
    weights = size * np.array([1.0, 2.0, 3.0])
    laplacian = listed(4, [0, 1, 2], [1, 2, 3], weights)
    top = np.linalg.eigvalsh(laplacian.toarray() / size)[-1]
    assert top <= eigenvalue_bound(laplacian) / size <= 1.05 * top


@pytest.mark.parametrize("d", [500, 1000])
def test_degrees_of_many_neighbours_do_not_lower_the_value(d):
    """Without data the complete graph is optimal, and its cost is ηT²/(d-1) exactly."""
    problem = GraphProblem(Nominal.from_samples(np.zeros((1, d))), Singleton(), eta=1.0)
    value = judge(problem, sparse.csr_array(complete_graph(d, float(d)))).value
    assert Fraction(value) >= Fraction(d) ** 2 / (d - 1)
    assert value <= d**2 / (d - 1) * (1 + 1e-11)


def test_a_star_of_dust_is_not_cheaper_than_it_is():
    """Weights that a sum one by one forgets beside the first; pinned, so that there is no other."""
    d = 4000
    pairs = np.column_stack([np.zeros(d - 1, int), np.arange(1, d)])
    weights = np.full(d - 1, 1.05e-16)
    weights[0] = 1.0
    bounds = EdgeBounds.from_list(d, pairs, lower=weights, upper=weights)
    nominal = Nominal.from_samples(np.zeros((1, d)))
    problem = GraphProblem(nominal, Singleton(), 1.0, 2.0, 1e-6, bounds)
    exact = [Fraction(float(weight)) for weight in weights]
    hub, squares = sum(exact), sum(weight * weight for weight in exact)
    objective = 3 * squares + hub**2 + Fraction(1e-6) * (2 * hub - 2) ** 2
    assert Fraction(judge(problem, listed(d, *pairs.T, weights)).value) >= objective


def test_pairs_next_to_the_mean_are_charged_for_the_rounding_of_the_data():
    """Two pairs cost the same; rounding the table's rows makes the second seem to cost more."""
    third = np.sqrt(3.0)
    found = []
    for a in range(40):
        for k in range(90_000, 90_200, 5):
            first, second = 1 + a * 2.0**-52, 1 + (a + k) * 2.0**-52
            seen = 3 * (first / third - second / third) ** 2 / (second - first) ** 2
            found.append((seen, first, second))
    seen, first, second = max(found)
    delta = second - first
    excess = seen / (3 * (delta / third) ** 2 / delta**2) - 1.0
    row = np.array([0.0, delta, first, second, -1.5, -2.5, -3.5, -4.5, 19.0])
    eta = 0.5 * excess * delta**2 / 8
    problem = GraphProblem(Nominal.from_samples(np.vstack([row] * 3)), Singleton(), eta, trace=2.0)
    verdict = judge(problem, listed(9, [0], [1], [1.0]))
    shared = Fraction(delta) ** 2 + 2 * Fraction(eta)  # half of the weight on each pair
    assert Fraction(verdict.bound) <= shared


@pytest.mark.parametrize("trace", [1e-161, 1e-158, 1e155, 1e190])
def test_ratios_beyond_the_range_of_numbers_are_refused_by_name(trace):
    nominal = Nominal.from_samples(np.random.default_rng(0).standard_normal((4, 6)))
    problem = GraphProblem(nominal, WassersteinBall(0.5), eta=0.1, trace=trace)
    with pytest.raises(ProblemError, match="trace"):
        judge(problem, listed(6, [0, 1], [1, 2], [1.0, 1.0]))


class Liar:
    """Says that it has d numbers, and has many more."""

    def __init__(self, d):
        self.shape = (d,)

    def __array__(self, dtype=None, copy=None):
        return np.full(self.shape[0] + 1000, -0.1)


@pytest.mark.parametrize("large", [False, True])
def test_multipliers_that_lie_about_their_shape_are_refused(large):
    nominal = Nominal.from_samples(np.random.default_rng(0).standard_normal((4, 6)))
    problem = GraphProblem(nominal, WassersteinBall(0.5), eta=0.1)
    certificate = Certificate(problem.ambiguity.membership(nominal).centre, np.zeros(6))
    object.__setattr__(certificate, "degree_multipliers", Liar(6))
    laplacian = complete_graph(6, 6.0)
    with pytest.raises(ProblemError, match="degree_multipliers must have shape"):
        judge(problem, sparse.csr_array(laplacian) if large else laplacian, certificate)


def test_what_is_no_certificate_and_no_real_matrix_is_refused_by_name():
    nominal = Nominal.from_samples(np.random.default_rng(0).standard_normal((4, 6)))
    problem = GraphProblem(nominal, WassersteinBall(0.5), eta=0.1)
    laplacian = sparse.csr_array(complete_graph(6, 6.0))
    with pytest.raises(ProblemError, match="certificate must be a Certificate"):
        judge(problem, laplacian, "hello")
    with pytest.raises(ProblemError, match="real entries"):
        judge(problem, laplacian.astype(complex))

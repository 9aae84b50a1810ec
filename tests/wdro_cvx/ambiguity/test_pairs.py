"""The ball with a radius for every pair of vertices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, random_laplacian, random_nominal, seeds
from scipy.optimize import linprog

from solvers import solve
from wdro_cvx import GraphProblem, PairBall, ProblemError, Singleton
from wdro_cvx.graphs.laplacian import adjoint, weights_from_laplacian

radii = st.sampled_from([1e-3, 0.1, 1.0, 20.0])


def random_ball(rng, radius, d):
    return PairBall(radius, rng.uniform(0.2, 3.0, d * (d - 1) // 2))


@given(seeds, dimensions, radii)
def test_every_pair_differs_as_much_as_it_may(seed, d, radius):
    rng = np.random.default_rng(seed)
    ball, nominal = random_ball(rng, radius, d), random_nominal(rng, d, 4)
    worst = ball.worst_case(nominal, random_laplacian(rng, d))
    change = adjoint(worst.second_moment - nominal.second_moment)
    np.testing.assert_allclose(change, radius * np.array(ball.scales), rtol=1e-6, atol=1e-12)
    assert ball.membership(nominal).distance(worst.moment) == pytest.approx(radius, rel=1e-13)


def test_the_risk_is_a_linear_program_over_the_differences():
    rng = np.random.default_rng(1)
    ball, nominal = random_ball(rng, 0.7, 5), random_nominal(rng, 5, 9)
    laplacian = random_laplacian(rng, 5)
    costs, reach = adjoint(nominal.second_moment), 0.7 * np.array(ball.scales)
    box = np.column_stack([costs - reach, costs + reach])
    found = linprog(-weights_from_laplacian(laplacian), bounds=box)
    assert ball.worst_case(nominal, laplacian).risk == pytest.approx(-found.fun, rel=1e-9)


def test_pairs_that_are_known_alike_leave_the_graph_of_the_sample_average():
    nominal = random_nominal(np.random.default_rng(2), 6, 9)
    plain = solve(GraphProblem(nominal, Singleton(), 0.1), 1e-9)
    robust = solve(GraphProblem(nominal, PairBall(3.0), 0.1), 1e-9)
    np.testing.assert_allclose(robust.laplacian, plain.laplacian, atol=1e-4)
    assert robust.value == pytest.approx(plain.value + 3.0 * 6 / 2, rel=1e-8)


def test_a_pair_that_is_known_badly_loses_its_edge():
    nominal = random_nominal(np.random.default_rng(2), 6, 9)
    plain = solve(GraphProblem(nominal, Singleton(), 0.1), 1e-9)
    best = int(weights_from_laplacian(plain.laplacian).argmax())
    scales = np.full(15, 1e-3)
    scales[best] = 10.0
    robust = solve(GraphProblem(nominal, PairBall(1.0, scales), 0.1), 1e-9)
    assert weights_from_laplacian(robust.laplacian)[best] == 0.0


def test_scales_from_overlaps():
    counts = np.array([[9.0, 4.0, 9.0], [4.0, 4.0, 1.0], [9.0, 1.0, 9.0]])
    assert PairBall(1.0).for_overlaps(counts).scales == pytest.approx((1.5, 1.0, 3.0))
    own = PairBall(1.0, (1.0, 2.0, 3.0))
    assert own.for_overlaps(counts) is own


@pytest.mark.parametrize(
    ("scales", "message"),
    [
        ((1.0, 1.0), r"d\(d-1\)/2"),
        ((1.0, 0.0, 1.0), "pair 0, 2 is 0"),
        ((1.0, np.nan, 1.0), "NaN"),
        ((1e-30, 1.0, 1.0), "within a factor"),
    ],
)
def test_bad_scales_are_named(scales, message):
    with pytest.raises(ProblemError, match=message):
        PairBall(1.0, scales)


def test_scales_of_other_vertices_are_named():
    nominal = random_nominal(np.random.default_rng(0), 5, 4)
    with pytest.raises(ProblemError, match="10 in all; there are 3"):
        solve(GraphProblem(nominal, PairBall(1.0, (1.0, 1.0, 1.0)), 0.1))

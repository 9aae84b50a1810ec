"""The ball whose transport cost has a scale per vertex."""

import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, random_laplacian, random_nominal, seeds

from wdro_cvx import GaussianBall, MahalanobisBall, Nominal, ProblemError, WassersteinBall

radii = st.sampled_from([1e-3, 0.1, 1.0, 20.0])


def random_ball(rng, radius, d):
    return MahalanobisBall(radius, rng.uniform(0.2, 3.0, d))


@given(seeds, dimensions, radii, st.sampled_from([1e-3, 7.0, 1e3]))
def test_only_radius_times_scales_counts(seed, d, radius, factor):
    rng = np.random.default_rng(seed)
    ball = random_ball(rng, radius, d)
    nominal, laplacian = random_nominal(rng, d, 4), random_laplacian(rng, d)
    risk = ball.worst_case(nominal, laplacian).risk
    other = MahalanobisBall(radius / factor, factor * np.array(ball.scales))
    assert other.worst_case(nominal, laplacian).risk == pytest.approx(risk, rel=1e-9)


@given(seeds, dimensions, radii)
def test_equal_scales_are_the_euclidean_balls(seed, d, radius):
    rng = np.random.default_rng(seed)
    nominal, laplacian = random_nominal(rng, d, 5), random_laplacian(rng, d)
    worst = MahalanobisBall(radius, (1.0,) * d).worst_case(nominal, laplacian)
    expected = GaussianBall(radius).worst_case(nominal, laplacian)
    assert worst.risk == pytest.approx(expected.risk, rel=1e-12)
    assert np.allclose(worst.second_moment, expected.second_moment, rtol=1e-10)


def test_worst_distribution_by_discrete_optimal_transport():
    rng = np.random.default_rng(2)
    nominal, laplacian = random_nominal(rng, 4, 12), random_laplacian(rng, 4)
    scales = np.array([0.5, 1.0, 2.0, 4.0])
    worst = MahalanobisBall(0.6, scales).worst_case(nominal, laplacian)
    moved = worst.distribution
    uniform = np.full(12, 1 / 12)
    cost = ot.dist(nominal.samples / scales, moved.points / scales)
    assert np.sqrt(ot.emd2(uniform, moved.weights, cost)) == pytest.approx(0.6, rel=1e-9)
    assert np.vdot(moved.second_moment, laplacian) == pytest.approx(worst.risk)
    # The worst sensor moves the most.
    travel = np.mean((moved.points - nominal.samples) ** 2, axis=0)
    plain = WassersteinBall(0.6).worst_case(nominal, laplacian).distribution.points
    ordinary = np.mean((plain - nominal.samples) ** 2, axis=0)
    assert travel[3] / travel[0] > 10 * ordinary[3] / ordinary[0]


def test_moments_are_enough():
    rng = np.random.default_rng(3)
    nominal, laplacian = random_nominal(rng, 4, 12), random_laplacian(rng, 4)
    moments = Nominal.from_moments(nominal.mean, nominal.covariance)
    ball = random_ball(rng, 0.5, 4)
    worst = ball.worst_case(moments, laplacian)
    assert worst.risk == pytest.approx(ball.worst_case(nominal, laplacian).risk, rel=1e-10)
    assert np.allclose(worst.distribution.second_moment, worst.second_moment)


def test_bad_scales_are_named():
    with pytest.raises(ProblemError, match=r"scales.*vertex 1 is 0"):
        MahalanobisBall(1.0, (1.0, 0.0))
    with pytest.raises(ProblemError, match=r"scales.*axes"):
        MahalanobisBall(1.0, 2.0)
    nominal = random_nominal(np.random.default_rng(0), 3, 4)
    with pytest.raises(ProblemError, match=r"each of the 3 vertices.*has 2"):
        MahalanobisBall(1.0, (1.0, 1.0)).worst_case(nominal, np.eye(3))
    assert MahalanobisBall(1.0, [1, 2]) == MahalanobisBall(1.0, np.array([1.0, 2.0]))


def test_what_signals_leave_of_the_budget_is_spread_in_the_unit_of_the_vertices():
    """Equal entries are smooth on every graph: nothing moves, and all of the radius is spread."""
    rng = np.random.default_rng(3)
    nominal, laplacian = Nominal.from_samples(np.ones((3, 5))), random_laplacian(rng, 5)
    worst = random_ball(rng, 2.0, 5).worst_case(nominal, laplacian)
    assert worst.moment.spread is not None
    assert np.allclose(worst.moment.second_moment, worst.second_moment)
    assert np.vdot(worst.moment.second_moment, laplacian) == pytest.approx(worst.risk)

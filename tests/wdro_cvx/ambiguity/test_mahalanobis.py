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


@given(seeds, dimensions, st.sampled_from([1, 3, 20]), radii)
def test_worst_case_is_in_the_set_and_attains_the_risk(seed, d, n, radius):
    rng = np.random.default_rng(seed)
    ball = random_ball(rng, radius, d)
    nominal, laplacian = random_nominal(rng, d, n), random_laplacian(rng, d)
    worst = ball.worst_case(nominal, laplacian)
    assert np.vdot(worst.second_moment, laplacian) == pytest.approx(worst.risk, rel=1e-9)
    size = np.sqrt(np.trace(nominal.second_moment))
    # A distance is a sum of d² rounded terms of the size of the data over the least scale.
    assert ball.proved_distance(nominal, worst.moment) == pytest.approx(
        radius, rel=1e-7, abs=1e-11 * size
    )
    bare = ball.distance(nominal, worst.second_moment)
    assert radius * (1 - 1e-9) - 1e-11 * size <= bare <= radius * (1 + 1e-6) + 1e-6 * size


@given(seeds, dimensions, radii)
def test_risk_is_a_support_function(seed, d, radius):
    rng = np.random.default_rng(seed)
    ball, nominal = random_ball(rng, radius, d), random_nominal(rng, d, 4)
    first, second = random_laplacian(rng, d), random_laplacian(rng, d)

    def risk(laplacian):
        return ball.worst_case(nominal, laplacian).risk

    assert risk(3.0 * first) == pytest.approx(3.0 * risk(first), rel=1e-9)
    assert risk((first + second) / 2) <= (risk(first) + risk(second)) / 2 * (1 + 1e-9)
    other = ball.worst_case(nominal, second).second_moment
    assert np.vdot(other, first) <= risk(first) * (1 + 1e-9)


@given(seeds, st.integers(3, 9), radii)
def test_gradient_by_finite_differences(seed, d, radius):
    rng = np.random.default_rng(seed)
    ball, nominal = random_ball(rng, radius, d), random_nominal(rng, d, 3 * d)
    laplacian = random_laplacian(rng, d, density=1.0)
    direction = random_laplacian(rng, d) - laplacian
    step = 1e-6
    moment = ball.worst_case(nominal, laplacian).second_moment
    ahead = ball.worst_case(nominal, laplacian + step * direction).risk
    behind = ball.worst_case(nominal, laplacian - step * direction).risk
    expected = (ahead - behind) / (2 * step)
    scale = abs(expected) + np.linalg.norm(moment) * np.linalg.norm(direction)
    assert np.vdot(moment, direction) == pytest.approx(expected, abs=1e-5 * scale)


@given(seeds, dimensions, radii, st.sampled_from([1e-3, 7.0, 1e3]))
def test_units_do_not_matter(seed, d, radius, factor):
    rng = np.random.default_rng(seed)
    ball = random_ball(rng, radius, d)
    nominal, laplacian = random_nominal(rng, d, 4), random_laplacian(rng, d)
    risk = ball.worst_case(nominal, laplacian).risk
    scaled = ball.scaled(factor).worst_case(nominal.scaled(factor), laplacian).risk
    assert scaled == pytest.approx(factor**2 * risk, rel=1e-9)
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


def test_radius_zero_is_the_sample_average():
    rng = np.random.default_rng(5)
    nominal, laplacian = random_nominal(rng, 5, 3), random_laplacian(rng, 5)
    worst = random_ball(rng, 0.0, 5).worst_case(nominal, laplacian)
    assert worst.risk == pytest.approx(np.vdot(nominal.second_moment, laplacian), rel=1e-14)
    assert np.array_equal(worst.second_moment, nominal.second_moment)


def test_bad_scales_are_named():
    with pytest.raises(ProblemError, match=r"scales.*vertex 1 is 0"):
        MahalanobisBall(1.0, (1.0, 0.0))
    with pytest.raises(ProblemError, match=r"scales.*axes"):
        MahalanobisBall(1.0, 2.0)
    nominal = random_nominal(np.random.default_rng(0), 3, 4)
    with pytest.raises(ProblemError, match=r"each of the 3 vertices.*has 2"):
        MahalanobisBall(1.0, (1.0, 1.0)).worst_case(nominal, np.eye(3))
    assert MahalanobisBall(1.0, [1, 2]) == MahalanobisBall(1.0, np.array([1.0, 2.0]))

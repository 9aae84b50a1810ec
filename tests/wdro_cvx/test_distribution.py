"""Worst-case distributions: POT, not our code, computes their optimal-transport distances."""

import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import random_laplacian, random_nominal, seeds

from wdro_cvx import (
    Discrete,
    Gaussian,
    GaussianBall,
    MomentBall,
    Nominal,
    ProblemError,
    Singleton,
    WassersteinBall,
)

# Exact transport of a few dozen points, by the network simplex, is good to rounding.
EXACT = 1e-9


def transport_distance(first, second):
    """The type-2 Wasserstein distance of two discrete distributions, from the optimal plan."""
    costs = ot.dist(first.points, second.points, metric="sqeuclidean")
    return np.sqrt(ot.emd2(first.weights, second.weights, costs))


def empirical(samples):
    return Discrete(samples, np.full(len(samples), 1 / len(samples)))


@given(seeds, st.integers(2, 6), st.integers(1, 12), st.sampled_from([0.01, 0.5, 3.0, 30.0]))
def test_transported_samples_attain_the_risk_at_the_radius(seed, d, n, radius):
    rng = np.random.default_rng(seed)
    nominal, laplacian = random_nominal(rng, d, n), random_laplacian(rng, d)
    worst = WassersteinBall(radius).worst_case(nominal, laplacian)
    moved = worst.distribution
    assert moved.weights.sum() == pytest.approx(1)
    smoothness = np.einsum("ni,ij,nj->n", moved.points, laplacian, moved.points)
    assert moved.weights @ smoothness == pytest.approx(worst.risk, rel=EXACT)
    np.testing.assert_allclose(
        moved.second_moment, worst.second_moment, atol=EXACT * np.abs(worst.second_moment).max()
    )
    # Small moves of large signals: squared distances lose the digits of (signal/radius)².
    size = np.abs(nominal.samples).max()
    distance = transport_distance(empirical(nominal.samples), moved)
    assert distance == pytest.approx(radius, rel=EXACT * (1 + size / radius) ** 2)


@given(seeds, st.integers(2, 6), st.integers(1, 20), st.sampled_from([0.1, 0.5, 3.0, 30.0]))
def test_worst_gaussian_attains_the_risk_at_the_radius(seed, d, n, radius):
    rng = np.random.default_rng(seed)
    nominal, laplacian = random_nominal(rng, d, n), random_laplacian(rng, d)
    worst = GaussianBall(radius).worst_case(nominal, laplacian)
    moved = worst.distribution
    assert isinstance(moved, Gaussian)
    assert np.linalg.eigvalsh(moved.covariance).min() >= -1e-9 * np.trace(moved.covariance)
    assert np.vdot(moved.second_moment, laplacian) == pytest.approx(worst.risk, rel=EXACT)
    np.testing.assert_allclose(
        moved.second_moment, worst.second_moment, atol=EXACT * np.abs(worst.second_moment).max()
    )
    if n < 3 * d or d == 2:
        # Two vertices less their median are one number, so that the covariance is singular, and
        # POT takes roots of matrices that rounding may have left slightly indefinite.
        return
    distance = ot.gaussian.bures_wasserstein_distance(
        nominal.mean, moved.mean, nominal.covariance, moved.covariance
    )
    # The trace formula subtracts numbers of the size of the covariance, and takes roots of roots.
    size = np.sqrt(np.trace(nominal.covariance) + np.trace(moved.covariance))
    assert distance == pytest.approx(radius, rel=1e-7 * (1 + size / radius) ** 2)


def test_hard_case_splits_each_sample_in_two():
    """No signal at all: the whole budget goes along a top eigenvector, both ways."""
    laplacian = random_laplacian(np.random.default_rng(0), 5)
    nominal = Nominal.from_samples(np.zeros((1, 5)))
    worst = WassersteinBall(2.0).worst_case(nominal, laplacian)
    assert worst.distribution.points.shape == (2, 5)
    assert transport_distance(empirical(nominal.samples), worst.distribution) == pytest.approx(2)
    for ball in (WassersteinBall(2.0), GaussianBall(2.0)):
        spread = ball.worst_case(nominal, laplacian).distribution.second_moment
        np.testing.assert_allclose(spread, worst.second_moment, atol=1e-12)
    np.testing.assert_allclose(worst.distribution.mean, np.zeros(5), atol=1e-12)
    assert worst.risk == pytest.approx(4 * np.linalg.eigvalsh(laplacian)[-1])


@pytest.mark.parametrize("ball", [WassersteinBall(0.0), Singleton()])
def test_radius_zero_leaves_the_samples_alone(ball):
    nominal = random_nominal(np.random.default_rng(1), 4, 6)
    worst = ball.worst_case(nominal, random_laplacian(np.random.default_rng(2), 4))
    np.testing.assert_allclose(worst.distribution.points, nominal.samples, rtol=1e-14)
    np.testing.assert_allclose(worst.distribution.mean, nominal.mean)


@pytest.mark.parametrize("ball", [GaussianBall(0.0), Singleton()])
def test_a_nominal_known_by_moments_is_a_gaussian(ball):
    nominal = Nominal.from_moments([1.0, 2.0, 3.0], np.eye(3))
    worst = ball.worst_case(nominal, random_laplacian(np.random.default_rng(3), 3))
    np.testing.assert_array_equal(worst.distribution.mean, nominal.mean)
    np.testing.assert_allclose(worst.distribution.second_moment, nominal.second_moment)


def test_sets_without_a_worst_distribution_say_so():
    laplacian = random_laplacian(np.random.default_rng(4), 3)
    nominal = Nominal.from_moments(np.zeros(3), np.eye(3))
    with pytest.raises(ProblemError, match="from_samples"):
        _ = WassersteinBall(0.5).worst_case(nominal, laplacian).distribution
    with pytest.raises(ProblemError, match="only a second moment"):
        _ = MomentBall(0.5).worst_case(nominal, laplacian).distribution

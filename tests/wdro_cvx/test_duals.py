"""The formulas of docs/sets.md, written out as they stand there, against the oracles."""

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import random_laplacian, random_nominal
from scipy.optimize import minimize_scalar

from wdro_cvx import (
    ChiSquareBall,
    GaussianBall,
    KLBall,
    MahalanobisBall,
    MomentBall,
    MomentUncertainty,
    Nominal,
    PairBall,
    Singleton,
    WassersteinBall,
)

SEEDS = st.integers(0, 2**32 - 1)
# A minimum that is found to x has a value that is right to x², so that 1e-9 is easily met.
AGREES = {"rel": 1e-9, "abs": 1e-12}


def drawn(seed, d=5, n=12):
    rng = np.random.default_rng(seed)
    samples = rng.standard_normal((n, d)) + rng.standard_normal(d)
    return rng, Nominal.from_samples(samples), random_laplacian(rng, d)


def infimum(function, least=0.0):
    """Return the infimum over (least, ∞) of a convex function, by its logarithmic distance."""
    found = minimize_scalar(
        lambda log: function(least + np.exp(log)), bounds=(-25.0, 25.0), method="bounded",
        options={"xatol": 1e-12, "maxiter": 2000},
    )  # fmt: skip
    return found.fun


def premium(laplacian, theta, metric, radius):
    least = np.linalg.eigvals(np.linalg.solve(metric, laplacian)).real.max()

    def dual(gamma):
        inner = np.linalg.solve(gamma * metric - laplacian, laplacian)
        return gamma * radius**2 + np.trace(laplacian @ inner @ theta)

    return infimum(dual, least)


@pytest.mark.parametrize("kind", [GaussianBall, WassersteinBall])
@given(seed=SEEDS, radius=st.floats(0.05, 5.0))
@examples(15)
def test_transport(kind, seed, radius):
    _, nominal, laplacian = drawn(seed)
    theta, eye = nominal.second_moment, np.eye(nominal.d)
    worst = kind(radius).worst_case(nominal, laplacian)
    assert worst.risk == pytest.approx(
        np.vdot(theta, laplacian) + premium(laplacian, theta, eye, radius), **AGREES
    )
    values, vectors = np.linalg.eigh(laplacian)
    masses = np.einsum("ij,ik,kj->j", vectors, theta, vectors)
    secular = np.sum(masses * values**2 / (worst.multiplier - values) ** 2)
    assert secular == pytest.approx(radius**2, rel=1e-7)  # its slope is large near the pole
    move = worst.multiplier * np.linalg.inv(worst.multiplier * eye - laplacian)
    assert worst.second_moment == pytest.approx(move @ theta @ move, rel=1e-8, abs=1e-10)
    root = np.sqrt(np.trace(laplacian @ theta @ laplacian))
    low, high = 2 * radius * root, radius**2 * values[-1]
    assert max(low, high) <= (worst.risk - np.vdot(theta, laplacian)) * (1 + 1e-6)
    assert worst.risk - np.vdot(theta, laplacian) <= (low + high) * (1 + 1e-6)


@given(seed=SEEDS, radius=st.floats(0.05, 5.0))
@examples(15)
def test_transport_with_scales(seed, radius):
    rng, nominal, laplacian = drawn(seed)
    scales = rng.uniform(0.3, 3.0, nominal.d)
    theta, metric = nominal.second_moment, np.diag(scales**-2.0)
    worst = MahalanobisBall(radius, scales=scales).worst_case(nominal, laplacian)
    assert worst.risk == pytest.approx(
        np.vdot(theta, laplacian) + premium(laplacian, theta, metric, radius), **AGREES
    )
    gamma = worst.multiplier
    move = gamma * np.linalg.solve(gamma * metric - laplacian, metric)
    moved = nominal.samples @ move.T
    assert worst.distribution.points == pytest.approx(moved, rel=1e-7, abs=1e-9)


@given(seed=SEEDS, radius=st.floats(0.05, 5.0), p=st.sampled_from([1.5, 2.0, 3.0]))
@examples(15)
def test_norm_of_the_moment(seed, radius, p):
    _, nominal, laplacian = drawn(seed)
    q = p / (p - 1)
    norm = np.sum(np.abs(laplacian) ** q) ** (1 / q)
    worst = MomentBall(radius, p=p).worst_case(nominal, laplacian)
    assert worst.risk == pytest.approx(
        np.vdot(nominal.second_moment, laplacian) + radius * norm, **AGREES
    )
    shift = radius * np.sign(laplacian) * np.abs(laplacian) ** (q - 1) / norm ** (q - 1)
    assert worst.second_moment - nominal.second_moment == pytest.approx(shift, abs=1e-10)


@given(seed=SEEDS, radius=st.floats(0.05, 5.0))
def test_a_radius_for_every_pair(seed, radius):
    rng = np.random.default_rng(seed)
    nominal, laplacian = random_nominal(rng, 5, 8), random_laplacian(rng, 5)
    scales = rng.uniform(0.1, 2.0, (5, 5))
    scales = np.triu(scales, 1) + np.triu(scales, 1).T
    pairs = np.triu_indices(5, 1)
    worst = PairBall(radius, scales[pairs]).worst_case(nominal, laplacian)
    theta, weights = nominal.second_moment, -laplacian
    expected = np.vdot(theta, laplacian) + radius * np.sum(scales[pairs] * weights[pairs])
    assert worst.risk == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(worst.second_moment, theta - radius * scales / 2)


@given(seed=SEEDS, radius=st.floats(0.1, 3.0))
@examples(15)
def test_mean_and_covariance(seed, radius):
    rng, nominal, laplacian = drawn(seed)
    first, second = rng.uniform(0.1, 2.0, 2)
    worst = MomentUncertainty(radius, first, second).worst_case(nominal, laplacian)
    size, eye = np.linalg.norm(laplacian), np.eye(nominal.d)
    mean = nominal.mean
    expected = np.vdot(nominal.second_moment, laplacian) + radius * second * size
    expected += premium(laplacian, np.outer(mean, mean), eye, radius * first)
    assert worst.risk == pytest.approx(expected, **AGREES)
    assert worst.moment.shift == pytest.approx(radius * second * laplacian / size, abs=1e-10)
    move = worst.multiplier * np.linalg.inv(worst.multiplier * eye - laplacian)
    assert mean + worst.moment.change == pytest.approx(move @ mean, rel=1e-7, abs=1e-9)


CONJUGATES = {
    KLBall: lambda s: np.expm1(np.minimum(s, 300.0)),
    ChiSquareBall: lambda s: np.where(s >= -2, s + s**2 / 4, -1.0),
}


@pytest.mark.parametrize("kind", list(CONJUGATES))
@given(seed=SEEDS, radius=st.floats(0.05, 1.5))
@examples(10)
def test_divergences(kind, seed, radius):
    _, nominal, laplacian = drawn(seed)
    losses = np.einsum("ij,jk,ik->i", nominal.samples, laplacian, nominal.samples)
    conjugate = CONJUGATES[kind]
    worst = kind(radius).worst_case(nominal, laplacian)

    def inner(t):
        def dual(level):
            return level + t * radius + t * np.mean(conjugate((losses - level) / t))

        ends = (losses.min() - 5 * t - np.ptp(losses), losses.max() + 5 * t)
        found = minimize_scalar(dual, bounds=ends, method="bounded", options={"xatol": 1e-12})
        return found.fun, found.x

    scale = np.ptp(losses)
    found = minimize_scalar(
        lambda log: inner(scale * np.exp(log))[0], bounds=(-8.0, 8.0), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    # Two searches, one in the other: each leaves some 1e-8 of the root of what it has lost.
    assert worst.risk == pytest.approx(found.fun, rel=1e-8)
    t = worst.multiplier
    ratios = worst.distribution.weights * len(losses)
    if kind is KLBall:
        tilted = np.exp((losses - losses.max()) / t)
        assert ratios == pytest.approx(tilted / tilted.mean(), rel=1e-6)
        eliminated = t * radius + t * np.log(np.mean(np.exp((losses - losses.max()) / t)))
        assert worst.risk == pytest.approx(eliminated + losses.max(), rel=1e-8)
    else:
        level = inner(t)[1]
        linear = np.maximum(1 + (losses - level) / (2 * t), 0.0)
        assert ratios == pytest.approx(linear, abs=1e-5)  # level by a search: half of the digits
        if ratios.min() > 1e-9:
            assert worst.risk == pytest.approx(
                losses.mean() + np.sqrt(radius * losses.var()), rel=1e-9
            )


def test_the_sample_average_is_the_mean_of_the_samples():
    _, nominal, laplacian = drawn(0)
    losses = np.einsum("ij,jk,ik->i", nominal.samples, laplacian, nominal.samples)
    assert Singleton().worst_case(nominal, laplacian).risk == pytest.approx(losses.mean())

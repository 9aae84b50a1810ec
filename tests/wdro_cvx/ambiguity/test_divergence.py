"""Balls of reweighed samples: Kullback-Leibler and chi-square."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, random_laplacian, random_nominal, seeds
from scipy.optimize import minimize, minimize_scalar

from wdro_cvx import ChiSquareBall, KLBall, Nominal, ProblemError

balls = st.sampled_from([KLBall, ChiSquareBall])
counts = st.sampled_from([1, 3, 20, 60])
radii = st.sampled_from([1e-6, 1e-2, 0.3, 2.0, 30.0])


def losses_of(nominal, laplacian):
    return np.array([x @ laplacian @ x for x in nominal.samples])


def divergence(ball, weights):
    """The definitions, in the plain."""
    n = weights.size
    if isinstance(ball, ChiSquareBall):
        return np.sum((n * weights - 1) ** 2) / n
    positive = weights[weights > 0]
    return np.sum(positive * np.log(n * positive))


@given(seeds, dimensions, counts, radii, balls)
def test_worst_weights_are_in_the_ball_and_attain_the_risk(seed, d, n, radius, kind):
    rng = np.random.default_rng(seed)
    nominal, laplacian = random_nominal(rng, d, n), random_laplacian(rng, d)
    ball = kind(radius)
    worst = ball.worst_case(nominal, laplacian)
    weights = worst.distribution.weights
    assert weights.min() >= 0.0
    assert weights.sum() == pytest.approx(1.0, rel=1e-12)
    assert divergence(ball, weights) <= radius * (1 + 1e-8) + 1e-14
    assert np.allclose(worst.distribution.second_moment, worst.second_moment, rtol=1e-12)
    assert weights @ losses_of(nominal, laplacian) == pytest.approx(worst.risk, rel=1e-10)
    assert np.vdot(worst.second_moment, laplacian) == pytest.approx(worst.risk, rel=1e-10)


@given(seeds, st.integers(2, 40), radii)
def test_kl_risk_is_its_dual(seed, n, radius):
    rng = np.random.default_rng(seed)
    nominal, laplacian = random_nominal(rng, 4, n), random_laplacian(rng, 4)
    losses = losses_of(nominal, laplacian)
    top, spread = losses.max(), np.ptp(losses)

    def dual(log_t):
        t = spread * np.exp(log_t)
        return radius * t + top + t * np.log(np.mean(np.exp((losses - top) / t)))

    best = minimize_scalar(dual, bounds=(-30, 10), method="bounded", options={"xatol": 1e-10})
    risk = KLBall(radius).worst_case(nominal, laplacian).risk
    assert risk == pytest.approx(best.fun, rel=1e-8)


@given(seeds, st.integers(2, 40), radii)
def test_chi_square_risk_is_its_dual(seed, n, radius):
    """inf over ν of ν + √(1 + ε)·√(mean (l - ν)₊²), a form that no code of ours uses."""
    rng = np.random.default_rng(seed)
    nominal, laplacian = random_nominal(rng, 4, n), random_laplacian(rng, 4)
    losses = losses_of(nominal, laplacian)
    top, spread = losses.max(), np.ptp(losses)

    def dual(log_slack):
        above = np.maximum(losses - top + spread * np.exp(log_slack), 0.0)
        level = top - spread * np.exp(log_slack)
        return level + np.sqrt((1 + radius) * np.mean(above**2))

    # The dual has two regimes, weights at zero and none; it is convex in ν, so unimodal here.
    best = minimize_scalar(dual, bounds=(-30, 12), method="bounded", options={"xatol": 1e-10})
    risk = ChiSquareBall(radius).worst_case(nominal, laplacian).risk
    assert risk <= best.fun * (1 + 1e-9)
    # At the hard limit the dual is flat to rounding and the minimiser may stop early.
    assert risk == pytest.approx(best.fun, rel=1e-6)


@given(seeds, st.sampled_from([0.01, 0.3, 1.0]), balls)
def test_multiplier_is_the_derivative_in_the_radius(seed, radius, kind):
    rng = np.random.default_rng(seed)
    nominal, laplacian = random_nominal(rng, 5, 40), random_laplacian(rng, 5)
    step = 1e-5 * radius
    ahead, behind = (kind(radius + s).worst_case(nominal, laplacian).risk for s in (step, -step))
    multiplier = kind(radius).worst_case(nominal, laplacian).multiplier
    # At the hard limit both are zero up to the rounding of the difference.
    floor = 1e-9 * ahead / step
    assert multiplier == pytest.approx((ahead - behind) / (2 * step), rel=1e-4, abs=floor)


@pytest.mark.parametrize(("kind", "limit"), [(KLBall, np.log(6 / 2)), (ChiSquareBall, 6 / 2 - 1)])
def test_hard_limit_shares_all_weight_among_the_maximisers(kind, limit):
    rows = np.array([[3.0, 0.0], [-3.0, 0.0], [1.0, 0.0], [1.0, 0.5], [0.0, 0.0], [2.0, 0.0]])
    nominal, laplacian = Nominal.from_samples(rows), np.array([[1.0, -1.0], [-1.0, 1.0]])
    for radius in (limit, 1.5 * limit, 100.0):
        worst = kind(radius).worst_case(nominal, laplacian)
        assert worst.risk == pytest.approx(9.0, rel=1e-12)
        assert np.allclose(worst.distribution.weights, [0.5, 0.5, 0, 0, 0, 0], atol=1e-12)
    below = kind(0.9 * limit).worst_case(nominal, laplacian)
    assert below.risk < 9.0 - 1e-3
    assert below.multiplier > 0.0


def test_chi_square_without_binding_signs_is_mean_plus_deviation():
    rng = np.random.default_rng(1)
    nominal, laplacian = random_nominal(rng, 5, 20), random_laplacian(rng, 5)
    losses = losses_of(nominal, laplacian)
    radius = 1e-3
    risk = ChiSquareBall(radius).worst_case(nominal, laplacian).risk
    assert risk == pytest.approx(losses.mean() + np.sqrt(radius) * losses.std(), rel=1e-12)


@given(seeds, dimensions, counts, radii, balls, st.sampled_from([1, 3]))
def test_distance_accepts_mixtures_of_worst_cases(seed, d, n, radius, kind, atoms):
    rng = np.random.default_rng(seed)
    ball, nominal = kind(radius), random_nominal(rng, d, n)
    shares = rng.dirichlet(np.ones(atoms))
    moment = sum(
        share * ball.worst_case(nominal, random_laplacian(rng, d)).second_moment for share in shares
    )
    # A digit for the weights, which the moment determines up to its condition number.
    assert ball.distance(nominal, moment) <= radius * (1 + 1e-7)


@given(seeds, st.integers(2, 5), st.sampled_from([2, 4, 15, 40]), balls)
def test_distance_never_understates(seed, d, n, kind):
    """By weak duality: whatever the moment says of any matrix, the ball of this radius allows."""
    rng = np.random.default_rng(seed)
    nominal = random_nominal(rng, d, n)
    weights = rng.dirichlet(np.full(n, 0.5))
    moment = (nominal.samples.T * weights) @ nominal.samples
    distance = kind(1.0).distance(nominal, moment)
    assert distance <= divergence(kind(1.0), weights) * (1 + 1e-9) + 1e-12
    claimed = kind(distance)
    for _ in range(10):
        direction = rng.standard_normal((d, d))
        direction += direction.T
        allowed = claimed.worst_case(nominal, direction).risk
        rounding = 1e-12 * np.linalg.norm(moment) * np.linalg.norm(direction)
        assert np.vdot(moment, direction) <= allowed + 1e-9 * abs(allowed) + rounding


@pytest.mark.parametrize("kind", [KLBall, ChiSquareBall])
def test_distance_is_least_among_many_representations(kind):
    """More samples than the moment has entries: against a general optimiser."""
    rng = np.random.default_rng(3)
    nominal = random_nominal(rng, 2, 9)
    weights = rng.dirichlet(np.ones(9))
    moment = (nominal.samples.T * weights) @ nominal.samples
    x, _ = nominal.samples.T  # less their median the entries are each other's negatives
    rows = np.stack([np.ones(9), x * x])
    target = rows @ weights
    found = minimize(
        lambda q: divergence(kind(1.0), np.maximum(q, 1e-12)),
        weights,
        method="SLSQP",
        bounds=[(0, 1)] * 9,
        constraints={"type": "eq", "fun": lambda q: rows @ q - target},
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert kind(1.0).distance(nominal, moment) == pytest.approx(found.fun, rel=1e-5)
    assert found.fun < 0.9 * divergence(kind(1.0), weights)


@pytest.mark.parametrize("kind", [KLBall, ChiSquareBall])
@pytest.mark.parametrize("n", [4, 40])
def test_distance_refuses_what_no_weights_have(kind, n):
    nominal = random_nominal(np.random.default_rng(4), 3, n)
    theta = nominal.second_moment
    assert kind(1.0).distance(nominal, theta) <= 1e-20
    assert kind(1.0).distance(nominal, 1e3 * theta) == np.inf
    assert kind(1.0).distance(nominal, theta - 2 * np.trace(theta) * np.eye(3)) == np.inf
    if n < 6:  # fewer samples than entries: almost every matrix is out of reach
        assert kind(1.0).distance(nominal, theta + 1e-9 * np.eye(3)) == np.inf


@pytest.mark.parametrize("kind", [KLBall, ChiSquareBall])
def test_equal_and_zero_samples_work(kind):
    rng = np.random.default_rng(5)
    laplacian = random_laplacian(rng, 4)
    for rows in (np.ones((3, 4)), np.zeros((3, 4)), np.repeat(rng.standard_normal((5, 4)), 3, 0)):
        nominal, ball = Nominal.from_samples(rows), kind(0.4)
        worst = ball.worst_case(nominal, laplacian)
        assert np.isfinite(worst.risk)
        assert ball.distance(nominal, worst.second_moment) <= 0.4 * (1 + 1e-9)


@pytest.mark.parametrize("kind", [KLBall, ChiSquareBall])
@pytest.mark.parametrize("radius", [1.0, 5.0])
def test_repeated_samples_share_their_weight(kind, radius):
    """Where weights reach zero, rounding must not deal the rest unevenly among equal samples."""
    for seed in range(2, 6):
        rng = np.random.default_rng(seed)
        rows = np.repeat(random_nominal(rng, 8, 33).samples, 3, axis=0)
        nominal, ball = Nominal.from_samples(rows), kind(radius)
        worst = ball.worst_case(nominal, random_laplacian(rng, 8))
        assert ball.distance(nominal, worst.second_moment) <= radius * (1 + 1e-7)


@pytest.mark.parametrize("kind", [KLBall, ChiSquareBall])
def test_moments_alone_cannot_be_reweighed(kind):
    nominal = Nominal.from_moments(np.zeros(3), np.eye(3))
    for use in (kind(1.0).worst_case, kind(1.0).distance):
        with pytest.raises(ProblemError, match=rf"{kind.__name__}.*from_samples"):
            use(nominal, np.eye(3))
    with pytest.raises(ProblemError, match="radius"):
        kind(-0.1)


@given(seeds, st.integers(2, 40), radii, balls, st.sampled_from([0.3, 1.0, 4.0]))
def test_the_ceiling_is_above_the_risk_at_every_multiplier_and_next_to_it_at_the_best(
    seed, n, radius, kind, factor
):
    """The judge's value is never understated because of it."""
    losses = np.random.default_rng(seed).exponential(size=n)
    losses /= np.ptp(losses)
    ball = kind(radius)
    ratios, multiplier = ball.tilt(losses)
    risk = np.mean(ratios * losses)
    ceiling = ball.ceiling(losses, ratios, factor * multiplier)
    assert ceiling >= risk - 1e-12
    if factor == 1.0:
        assert ceiling == pytest.approx(risk, rel=1e-8)

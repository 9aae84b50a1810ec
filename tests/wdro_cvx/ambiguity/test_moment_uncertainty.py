"""Mean and covariance within radii of their own."""

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, random_laplacian, random_nominal, seeds
from scipy.optimize import minimize

from wdro_cvx import MomentUncertainty, Nominal, ProblemError
from wdro_cvx.graphs.laplacian import complete_graph

radii = st.sampled_from([1e-3, 0.1, 1.0, 10.0])
shapes = st.sampled_from([(0.3, 1.0), (1.0, 0.1), (0.01, 1.0)])
means = st.sampled_from([0.0, 1.0, 30.0])


@examples(25)  # every distance is a sequence of descents
@given(seeds, dimensions, radii, shapes, means, st.sampled_from([1, 3]))
def test_distance_accepts_mixtures_of_worst_cases(seed, d, radius, shape, mean, atoms):
    rng = np.random.default_rng(seed)
    nominal, ball = random_nominal(rng, d, 6, mean=mean), MomentUncertainty(radius, *shape)
    moment = sum(
        share * ball.worst_case(nominal, random_laplacian(rng, d)).second_moment
        for share in rng.dirichlet(np.ones(atoms))
    )
    distance = ball.distance(nominal, moment)
    assert distance <= radius * (1 + 1e-6)
    if atoms == 1:  # a worst case is on the boundary
        assert distance >= radius * (1 - 1e-6)


@examples(25)
@given(seeds, st.integers(2, 5), shapes)
def test_distance_never_understates(seed, d, shape):
    """By weak duality: whatever the moment says of any matrix, the set of this radius allows."""
    rng = np.random.default_rng(seed)
    nominal = random_nominal(rng, d, 6)
    rows = rng.standard_normal((d, d))
    moment = rows.T @ rows
    distance = MomentUncertainty(1.0, *shape).distance(nominal, moment)
    claimed = MomentUncertainty(distance, *shape)
    for _ in range(10):
        factor = rng.standard_normal((d, d))
        direction = factor @ factor.T
        allowed = claimed.worst_case(nominal, direction).risk
        assert np.vdot(moment, direction) <= allowed * (1 + 1e-9)


def test_distance_of_a_shifted_covariance_and_of_a_shifted_mean():
    nominal = Nominal.from_moments(np.zeros(3), np.eye(3))
    ball = MomentUncertainty(1.0, mean_radius=0.5, covariance_radius=2.0)
    # A negative shift cannot come from the mean.
    down = nominal.second_moment - 0.3 * np.eye(3)
    assert ball.distance(nominal, down) == pytest.approx(0.3 * np.sqrt(3) / 2.0, rel=1e-6)
    assert ball.distance(nominal, nominal.second_moment) <= 1e-15
    # A mean at 0.5 and a covariance 2/√3 larger all round: both radii are used up.
    up = nominal.second_moment + np.diag([0.25, 0.0, 0.0]) + 2.0 / np.sqrt(3) * np.eye(3)
    assert ball.distance(nominal, up) <= 1.0 + 1e-9


@examples(15)
@given(seeds, st.integers(2, 4), st.sampled_from([0.1, 1.0]))
def test_risk_by_direct_search(seed, d, radius):
    """The worst mean by ascent from many starts, the worst covariance by its definition."""
    rng = np.random.default_rng(seed)
    nominal, laplacian = random_nominal(rng, d, 6), random_laplacian(rng, d)
    reach = radius * 0.7

    def negative(step):
        inside = step * min(1.0, reach / max(np.linalg.norm(step), 1e-12))
        mean = nominal.mean + inside
        return -mean @ laplacian @ mean

    starts = rng.standard_normal((6, d)) * reach
    best = -min(minimize(negative, start, method="Nelder-Mead").fun for start in starts)
    shift = radius * 0.4 * np.linalg.norm(laplacian)
    expected = np.vdot(nominal.covariance, laplacian) + shift + best
    risk = MomentUncertainty(radius, 0.7, 0.4).worst_case(nominal, laplacian).risk
    assert risk == pytest.approx(expected, rel=1e-4)


def test_mean_zero_is_the_hard_case():
    nominal = Nominal.from_moments(np.zeros(4), np.eye(4))
    laplacian = complete_graph(4, 4.0)
    top = np.linalg.eigvalsh(laplacian)[-1]
    worst = MomentUncertainty(2.0, 0.5, 0.25).worst_case(nominal, laplacian)
    assert worst.risk == pytest.approx(4.0 + 0.5 * np.linalg.norm(laplacian) + top)


def test_distance_has_no_unit():
    rng = np.random.default_rng(1)
    ball, nominal = MomentUncertainty(0.5, 0.3, 1.0), random_nominal(rng, 5, 8)
    moment = ball.worst_case(nominal, random_laplacian(rng, 5)).second_moment
    for factor in (1e-3, 1e3):
        distance = ball.scaled(factor).distance(nominal.scaled(factor), factor**2 * moment)
        assert distance == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((-1.0, 1.0, 1.0), "radius"), ((1.0, 0.0, 1.0), "mean_radius.*MomentBall"),
     ((1.0, 1.0, 0.0), "covariance_radius"), ((1.0, np.inf, 1.0), "mean_radius")],
)  # fmt: skip
def test_bad_radii_are_named(arguments, message):
    with pytest.raises(ProblemError, match=message):
        MomentUncertainty(*arguments)

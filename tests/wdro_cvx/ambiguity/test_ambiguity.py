import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, exponents, random_laplacian, random_nominal, seeds
from scipy.optimize import minimize_scalar

from wdro_cvx import (
    GaussianBall,
    MomentBall,
    Nominal,
    ProblemError,
    Singleton,
    WassersteinBall,
    WorstCase,
)
from wdro_cvx.ambiguity.secular import solve_secular, solve_seculars
from wdro_cvx.graphs.laplacian import complete_graph

radii = st.sampled_from([1e-3, 0.1, 1.0, 20.0])
kinds = st.integers(0, 7)


@given(seeds, dimensions, radii)
def test_gelbrich_risk_is_the_infimum_over_gamma(seed, d, radius):
    """Theorem 1's inner problem, by a general scalar minimiser and dense inverses."""
    rng = np.random.default_rng(seed)
    nominal, laplacian = random_nominal(rng, d, 3 * d), random_laplacian(rng, d)
    worst = GaussianBall(radius).worst_case(nominal, laplacian)
    theta = nominal.second_moment
    top = np.linalg.eigvalsh(laplacian)[-1]

    def dual(log_shift):
        gamma = top + np.exp(log_shift)
        moved = np.linalg.solve(gamma * np.eye(d) - laplacian, laplacian)
        return gamma * radius**2 + np.vdot(laplacian @ moved, theta) + np.vdot(theta, laplacian)

    best = minimize_scalar(dual, bounds=(-25, 15), method="bounded", options={"xatol": 1e-10})
    assert worst.risk == pytest.approx(best.fun, rel=1e-8)


@given(seeds, dimensions, st.sampled_from([0.05, 0.5, 5.0]))
def test_sandwich_bound_of_the_premium(seed, d, radius):
    rng = np.random.default_rng(seed)
    nominal, laplacian = random_nominal(rng, d, 3), random_laplacian(rng, d)
    nominal_risk = np.vdot(nominal.second_moment, laplacian)
    premium = GaussianBall(radius).worst_case(nominal, laplacian).risk - nominal_risk
    linear = 2 * radius * np.linalg.norm(nominal.factor @ laplacian)
    quadratic = radius**2 * np.linalg.eigvalsh(laplacian)[-1]
    slack = 1e-9 * (nominal_risk + linear + quadratic)
    assert max(linear, quadratic) <= premium + slack
    assert premium <= linear + quadratic + slack


def test_sandwich_is_exact_for_one_edge():
    nominal = random_nominal(np.random.default_rng(0), 2, 6)
    laplacian = np.array([[1.0, -1.0], [-1.0, 1.0]])
    radius = 0.7
    premium = GaussianBall(radius).worst_case(nominal, laplacian).risk - np.vdot(
        nominal.second_moment, laplacian
    )
    exact = 2 * radius * np.linalg.norm(nominal.factor @ laplacian) + radius**2 * 2
    assert premium == pytest.approx(exact, rel=1e-12)


def test_gaussian_distance_against_pot():
    rng = np.random.default_rng(1)
    first, second = (random_nominal(rng, 5, 20, mean=0.0) for _ in range(2))
    # Around the origin the Gelbrich distance of second moments is Gaussian transport.
    zero = np.zeros(5)
    expected = ot.gaussian.bures_wasserstein_distance(
        zero, zero, first.second_moment, second.second_moment
    )
    found = GaussianBall(1.0).distance(first, second.second_moment)
    # It may overstate by the root of the rounding in the matrix, and never understates.
    assert float(expected) * (1 - 1e-9) <= found <= float(expected) * (1 + 1e-6)
    membership = GaussianBall(1.0).membership(first)
    exact = membership.explain(second.second_moment)
    proved = membership.distance(exact)
    assert proved == pytest.approx(float(expected), rel=1e-9)


def test_transported_samples_are_at_the_radius_by_discrete_optimal_transport():
    rng = np.random.default_rng(2)
    nominal, laplacian = random_nominal(rng, 4, 12), random_laplacian(rng, 4)
    worst = WassersteinBall(0.6).worst_case(nominal, laplacian)
    gamma = worst.multiplier
    moved = nominal.samples @ (gamma * np.linalg.inv(gamma * np.eye(4) - laplacian))
    uniform = np.full(12, 1 / 12)
    squared = ot.emd2(uniform, uniform, ot.dist(nominal.samples, moved))
    assert np.sqrt(squared) == pytest.approx(0.6, rel=1e-9)
    assert np.mean(np.einsum("ni,ij,nj->n", moved, laplacian, moved)) == pytest.approx(worst.risk)


def test_hard_case_puts_the_rest_on_a_top_eigenvector():
    """A sample in the kernel of L: no mass anywhere, the budget goes along the top eigenvector."""
    nominal = Nominal.from_samples(np.ones((1, 4)))
    laplacian = complete_graph(4, 4.0)
    top = np.linalg.eigvalsh(laplacian)[-1]
    worst = WassersteinBall(2.0).worst_case(nominal, laplacian)
    assert worst.multiplier == pytest.approx(top)
    assert worst.risk == pytest.approx(4.0 * top)
    assert np.vdot(worst.second_moment, laplacian) == pytest.approx(worst.risk)
    assert WassersteinBall(2.0).distance(nominal, worst.second_moment) == pytest.approx(2.0)


def test_secular_root_with_mass_only_below_the_top():
    """Large radius: hard case with part of the budget spent. Small radius: an ordinary root."""
    values, masses = np.array([0.0, 1.0, 2.0]), np.array([1.0, 4.0, 0.0])
    hard = solve_secular(values, masses, 3.0)
    assert hard.multiplier == 2.0
    assert hard.leftover == pytest.approx(9.0 - 4.0)
    easy = solve_secular(values, masses, 1.0)
    assert easy.leftover == 0.0
    assert 4.0 / (easy.multiplier - 1.0) ** 2 == pytest.approx(1.0)


@given(seeds, dimensions, st.sampled_from([1e-6, 0.1, 10.0]), st.sampled_from([0.0, 1e-3, 10.0]))
def test_the_secular_root_solves_its_equation_from_any_start(seed, d, radius, spread):
    """A start above the root would not be noticed: the iteration only ever goes up."""
    rng = np.random.default_rng(seed)
    values = np.sort(1.0 + spread * rng.random(d))
    masses = rng.random(d) * 10.0 ** rng.integers(-6, 3, d)
    root = solve_secular(values, masses, radius)
    spent = np.sum(masses * values**2 / (root.shift + values[-1] - values) ** 2)
    assert spent == pytest.approx(radius**2, rel=1e-9)
    [stacked] = solve_seculars(values[np.newaxis], masses[np.newaxis], np.array([radius])).shift
    assert stacked == pytest.approx(root.shift, rel=1e-9)


@given(seeds, dimensions, exponents, st.sampled_from([0.01, 1.0, 30.0]))
def test_moment_ball_is_the_dual_norm(seed, d, p, radius):
    rng = np.random.default_rng(seed)
    nominal, laplacian = random_nominal(rng, d, 5), random_laplacian(rng, d)
    ambiguity = MomentBall(radius, p=p)
    expected = np.vdot(nominal.second_moment, laplacian) + radius * np.linalg.norm(
        laplacian.ravel(), ambiguity.q
    )
    worst = ambiguity.worst_case(nominal, laplacian)
    assert worst.risk == pytest.approx(expected, rel=1e-12)


def test_distance_does_not_vanish_for_large_p():
    nominal = Nominal.from_samples(np.eye(3))
    shifted = nominal.second_moment + 5e-4 * np.eye(3)
    assert MomentBall(1e-4, p=100.0).distance(nominal, shifted) >= 5e-4


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0, 3.0])
def test_order_of_transport_changes_the_multiplier_only(alpha):
    rng = np.random.default_rng(3)
    nominal, laplacian = random_nominal(rng, 5, 5), random_laplacian(rng, 5)
    reference = MomentBall(0.4, p=3.0).worst_case(nominal, laplacian)
    worst = MomentBall(0.4, p=3.0, alpha=alpha).worst_case(nominal, laplacian)
    assert worst.risk == reference.risk
    norm = np.linalg.norm(laplacian.ravel(), 1.5)
    assert worst.multiplier == pytest.approx(norm / (alpha * 0.4 ** (alpha - 1)))


def test_ends_of_the_norm_scale_on_laplacians():
    rng = np.random.default_rng(4)
    nominal, laplacian = random_nominal(rng, 6, 5), random_laplacian(rng, 6)
    nominal_risk = np.vdot(nominal.second_moment, laplacian)
    flat = MomentBall(0.5, p=np.inf).worst_case(nominal, laplacian)
    assert flat.risk - nominal_risk == pytest.approx(0.5 * 2 * 6)
    # Its worst case does not depend on the graph, absent edges included.
    shift = (flat.second_moment - nominal.second_moment) / 0.5
    assert np.allclose(shift, 2 * np.eye(6) - 1)
    sharp = MomentBall(0.5, p=1.0).worst_case(nominal, laplacian)
    assert sharp.risk - nominal_risk == pytest.approx(0.5 * np.diagonal(laplacian).max())


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: GaussianBall(-1.0), "radius.*≥ 0.*-1"),
        (lambda: WassersteinBall(np.nan), "radius"),
        (lambda: WassersteinBall(np.inf), "radius"),
        (lambda: WassersteinBall("big"), "radius.*number"),
        (lambda: WassersteinBall(True), "radius.*number"),
        (lambda: MomentBall(1.0, p=0.5), "p must be.*0.5"),
        (lambda: MomentBall(1.0, p=np.nan), "p must be"),
        (lambda: MomentBall(1.0, alpha=0.9), "alpha.*0.9"),
        (lambda: Singleton(0.3), "radius must be 0"),
    ],
)
def test_bad_parameters_are_named(build, message):
    with pytest.raises(ProblemError, match=message):
        build()


@pytest.mark.parametrize("number", [np.float64(2.0), np.float32(2.0), np.array(2.0), np.int64(2)])
def test_the_numbers_of_a_worst_case_are_plain(number):
    """Formulas of NumPy return its scalars, and comparisons with these are no plain booleans."""
    worst = WorstCase(number, np.eye(2), number, rounding=number)
    assert [type(found) for found in (worst.risk, worst.multiplier, worst.rounding)] == [float] * 3
    assert worst.risk == worst.multiplier == worst.rounding == 2.0
    assert WorstCase(number, np.eye(2), np.inf).rounding is None


@pytest.mark.parametrize("wrong", [None, "2", True, 2j, np.ones(1), np.eye(2)])
def test_a_risk_that_is_no_number_is_named(wrong):
    with pytest.raises(ProblemError, match="WorstCase: risk must be a number; it is"):
        WorstCase(wrong, np.eye(2), 0.0)

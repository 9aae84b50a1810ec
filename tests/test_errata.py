"""Around the errata: what the two general scenarios share, and where printed forms lose digits.

The errata themselves are propositions of the ledger (experiments/propositions), which
tests/experiments/test_propositions.py tries and breaks.
"""

import numpy as np
import pytest

from experiments.propositions import convexity
from experiments.propositions.drawn import Drawn
from experiments.propositions.routes import BETA, numerical_gradient
from formulations import (
    GaussianClosedForm,
    GaussianSDP,
    GeneralRegularized,
    GeneralSDP,
    RobustPremium,
)
from solvers import ProjectedGradient
from solvers.paper.printed_objectives import _vector_norm, gaussian_objective
from wdro_cvx import (
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    WassersteinBall,
    judge,
)
from wdro_cvx.graphs.laplacian import degrees, laplacian_from_weights, weights_from_laplacian

ETA = 0.1


def random_samples(rng, n, d):
    """Correlated signals with a mean, so that neither Σ nor μ is special."""
    mixing = np.eye(d) + 0.4 * rng.standard_normal((d, d))
    return rng.standard_normal((n, d)) @ mixing + 0.5 * rng.standard_normal(d)


def random_weights(rng, d):
    """Uneven positive weights with Tr L = d; even ones nearly commute with everything."""
    weights = rng.uniform(0.2, 1.0, d * (d - 1) // 2) ** 3
    return weights * (d / (2 * weights.sum()))


def relative_error(found, expected):
    return np.linalg.norm(np.subtract(found, expected)) / np.linalg.norm(expected)


def optimum(formulation, nominal, ball):
    return formulation(GraphProblem(nominal, ball, ETA)).solve().value


def test_no_conversion_of_the_radius_reconciles_them():
    """Theorem 3 charges two relabelled graphs alike, whatever ε; Proposition 3 does not."""
    rng = np.random.default_rng(0)
    nominal = Nominal.from_samples(random_samples(rng, 30, 6))
    laplacian = laplacian_from_weights(random_weights(rng, 6))
    order = rng.permutation(6)
    relabelled = laplacian[np.ix_(order, order)]

    def premiums(ball):
        return [
            ball.worst_case(nominal, graph).risk - np.vdot(nominal.second_moment, graph)
            for graph in (laplacian, relabelled)
        ]

    for radius in (0.1, 0.5, 2.0):
        first, second = premiums(MomentBall(radius))
        assert first == pytest.approx(second, rel=1e-9)
        first, second = premiums(WassersteinBall(radius))
        assert abs(first - second) > 0.005 * first


@pytest.mark.parametrize("radius", [0.02, 0.5])
def test_each_form_is_right_for_its_own_ball(radius):
    """The worst moment of Theorem 3 is ε away as a matrix but not in transport distance."""
    rng = np.random.default_rng(1)
    nominal = Nominal.from_samples(random_samples(rng, 30, 6))
    laplacian = laplacian_from_weights(random_weights(rng, 6))
    matrices, signals = MomentBall(radius), WassersteinBall(radius)
    for own, other in ((matrices, signals), (signals, matrices)):
        worst = own.worst_case(nominal, laplacian)
        assert np.vdot(worst.second_moment, laplacian) == pytest.approx(worst.risk, rel=1e-9)
        assert own.membership(nominal).distance(worst.moment) == pytest.approx(radius, rel=1e-6)
        assert abs(other.distance(nominal, worst.second_moment) / radius - 1) > 0.1


def test_only_the_second_moment_counts():
    """Mixing the samples changes their mean and covariance, keeps Θ and keeps every value."""
    rng = np.random.default_rng(3)
    samples = random_samples(rng, 12, 6)
    mixing, _ = np.linalg.qr(rng.standard_normal((12, 12)))
    before, after = Nominal.from_samples(samples), Nominal.from_samples(mixing @ samples)
    assert relative_error(after.mean, before.mean) > 0.5
    for formulation, ball in ((GaussianSDP, GaussianBall(0.5)), (GeneralSDP, WassersteinBall(0.5))):
        values = [optimum(formulation, nominal, ball) for nominal in (before, after)]
        assert values[0] == pytest.approx(values[1], rel=1e-6)


def test_like_is_to_be_compared_with_like():
    """Algorithm 4's value is that of the penalised program and not of the constrained one."""
    nominal = Nominal.from_samples(random_samples(np.random.default_rng(10), 30, 7))
    penalised = GraphProblem(nominal, MomentBall(0.5), ETA, trace_penalty=10.0)
    found = ProjectedGradient(tol=1e-9).solve(penalised).value
    assert found == pytest.approx(GeneralRegularized(penalised).solve().value, rel=1e-7)
    assert found < 0.999 * optimum(GeneralRegularized, nominal, MomentBall(0.5))


def test_theorem_1_holds_for_fewer_samples_than_vertices():
    """Theorem 1 equals Proposition 2 for singular Σ, and is the limit of Σ + δI from above."""
    nominal = Nominal.from_samples(random_samples(np.random.default_rng(15), 4, 6))
    ball = GaussianBall(0.3)
    closed = optimum(GaussianClosedForm, nominal, ball)
    assert optimum(GaussianSDP, nominal, ball) == pytest.approx(closed, rel=1e-6)

    excess = []
    for delta in (1e-2, 1e-4, 1e-6):
        ridged = Nominal.from_moments(nominal.mean, nominal.covariance + delta * np.eye(6))
        excess.append(optimum(GaussianClosedForm, ridged, ball) / closed - 1)
    assert excess[0] > 3 * excess[1] > 9 * excess[2] > 0
    assert excess[2] < 1e-3


def test_small_radius_costs_the_printed_forms_their_digits():
    """At radius 1e-3 two terms of size γ·Tr Θ cancel in the paper's forms, not in the premium."""
    samples = np.random.default_rng(0).standard_normal((20, 8))
    nominal = Nominal.from_samples(samples)

    def error(formulation, ball):
        problem = GraphProblem(nominal, ball, ETA)
        solution = formulation(problem).solve("CLARABEL")
        judged = judge(problem, solution.laplacian, solution.certificate)
        assert judged.gap < 1e-4  # the graph is right; the reported value need not be
        return abs(solution.value / judged.value - 1)

    printed = [
        (GaussianClosedForm, GaussianBall),
        (GaussianSDP, GaussianBall),
        (GeneralSDP, WassersteinBall),
    ]
    for form, ball in [*printed, (RobustPremium, GaussianBall)]:
        assert error(form, ball(0.5)) < 1e-8
    assert error(RobustPremium, GaussianBall(1e-3)) < 1e-8
    for form, ball in printed:
        assert error(form, ball(1e-3)) > 1e-8
    assert max(error(form, ball(1e-3)) for form, ball in printed) > 1e-6


def test_printed_gradient_holds_when_l_and_theta_commute():
    """With Θ a function of L the two formulas of E3 are one, so the slip is the commutation."""
    laplacian = laplacian_from_weights(1.1 * random_weights(np.random.default_rng(4), 6))
    nominal = Nominal.from_moments(np.zeros(6), np.linalg.inv(laplacian + np.eye(6)))
    drawn = Drawn(nominal, laplacian, 0.5, ETA)
    gamma, weights = 1.2 * drawn.top, weights_from_laplacian(laplacian)
    problem = drawn.problem(GaussianBall, BETA)
    printed = gaussian_objective(problem, gamma, as_printed=True)(weights)[1]()
    truth = numerical_gradient(
        lambda point: convexity.penalised_objective(drawn, gamma, point), weights
    )
    assert relative_error(printed, truth) < 1e-7


@pytest.mark.parametrize("q", [2, 4])
def test_printed_power_holds_for_odd_exponents(q):
    """Where q - 1 is odd the power of E4 keeps the sign by itself, p = 2 among them."""
    weights = random_weights(np.random.default_rng(5), 6)
    truth = numerical_gradient(
        lambda point: np.linalg.norm(laplacian_from_weights(point).ravel(), q), weights
    )
    _, printed = _vector_norm(weights, degrees(weights), q, as_printed=True)
    assert relative_error(printed(), truth) < 1e-7

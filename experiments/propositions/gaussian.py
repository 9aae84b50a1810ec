"""The claims of sections II and III: Gaussian distributions, their dual, its closed form."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import ot
from scipy import optimize

from experiments.propositions.claims import Trial, claim, deviation
from experiments.propositions.draw import (
    RANGES,
    REGULAR,
    SINGULAR,
    Drawn,
    conic_optimum,
    draw,
    draw_regular,
    draw_signals,
    draw_singular,
    monge_distance,
    worst_moment_risk,
)
from formulations import GaussianClosedForm, GaussianSDP
from solvers import solve
from wdro_cvx import GaussianBall, GraphProblem
from wdro_cvx.moments.nominal import symmetric_root
from wdro_cvx.validation import Array

_CONIC = "Clarabel's and our solver's relative gap, 1e-7 each, with room for cancellation"


def printed_distance(mean: Array, first: Array, other: Array, second: Array) -> float:
    """Return equation 14: the type-2 Wasserstein distance of two Gaussians."""
    root = symmetric_root(second)
    overlap = symmetric_root(root @ first @ root)
    return float(np.sqrt(np.sum((mean - other) ** 2) + np.trace(first + second - 2 * overlap)))


@claim(
    "Proposition 1",
    "The type-2 Wasserstein distance of two Gaussians is given by their first two moments "
    "(equation 14).",
    "It is.",
    "the printed formula; POT's closed form; POT's exact plan between points with these moments",
    "covariances with condition up to about 100",
    1e-7,
    "roots of matrices lose half the digits of small eigenvalues",
)
def proposition_1(rng: np.random.Generator, d: int) -> Trial:
    """Compare the printed distance with POT's."""
    means = rng.standard_normal((2, d))
    roots = rng.standard_normal((2, d, d)) + np.eye(d)
    covariances = [root @ root.T + 0.05 * np.eye(d) for root in roots]
    formula = printed_distance(means[0], covariances[0], means[1], covariances[1])
    closed = ot.gaussian.bures_wasserstein_distance(means[0], means[1], *covariances)
    plan = monge_distance(rng, (means[0], covariances[0]), (means[1], covariances[1]))
    worst = max(deviation(formula, float(closed)), deviation(formula, plan))
    return Trial(worst, {"means": means, "covariances": np.stack(covariances)})


def dual_function(drawn: Drawn, gamma: float) -> float:
    """Return ``h(γ, L) + γ(ε² - Tr Σ)`` of Lemma 1, its supremum over Σ by an SDP."""
    d, nominal = drawn.d, drawn.nominal
    mean, covariance = nominal.mean, nominal.covariance
    shifted = drawn.laplacian - gamma * np.eye(d)
    best = np.linalg.solve(-shifted, gamma * mean)
    by_mean = float(best @ drawn.laplacian @ best - gamma * np.sum((best - mean) ** 2))
    joint = cp.Variable((2 * d, 2 * d), PSD=True)  # Tr √(Σₙ^½ Σ Σₙ^½) = max Tr C
    gain = cp.trace(shifted @ joint[d:, d:]) + 2 * gamma * cp.trace(joint[:d, d:])
    problem = cp.Problem(cp.Maximize(gain), [joint[:d, :d] == covariance])
    by_covariance = conic_optimum(problem)
    return by_mean + by_covariance + gamma * (drawn.radius**2 - float(np.trace(covariance)))


@claim(
    "Lemma 1",
    "The worst-case risk over Gaussians is the infimum over γ of its dual function.",
    "It is.",
    "the risk as a primal SDP over joint moments and as that of one Gaussian at distance ε; "
    "the dual function by an SDP, at the best γ and at two others",
    REGULAR,
    1e-6,
    _CONIC,
)
def lemma_1(rng: np.random.Generator, d: int) -> Trial:
    """Compare primal and dual, and see that other multipliers only bound the risk."""
    drawn = draw_regular(rng, d)
    worst = GaussianBall(drawn.radius).worst_case(drawn.nominal, drawn.laplacian)
    risk = worst_moment_risk(drawn)
    attained = float(np.vdot(worst.distribution.second_moment, drawn.laplacian))
    gamma, top = worst.multiplier, drawn.top
    beside = [dual_function(drawn, other) for other in ((gamma + top) / 2, 1.5 * gamma)]
    worst_case = max(
        deviation(attained, risk),
        deviation(dual_function(drawn, gamma), risk),
        max(risk - value for value in beside) / risk,
    )
    return Trial(worst_case, drawn.data())


@claim(
    "Lemma 1, N < d",
    "The same, whatever the data.",
    "It does; with few samples the infimum may be a limit, γ → λmax.",
    "the risk as a primal SDP; the dual function at the best γ, or just above λmax",
    SINGULAR,
    1e-4,
    "where γ* = λmax it is taken 1e-6 above, and the dual function has a pole nearby",
    dimensions=(3, 6),
)
def lemma_1_few_samples(rng: np.random.Generator, d: int) -> Trial:
    """Compare primal and dual where the covariance is singular."""
    drawn = draw_singular(rng, d)
    worst = GaussianBall(drawn.radius).worst_case(drawn.nominal, drawn.laplacian)
    gamma = max(worst.multiplier, drawn.top * (1 + 1e-6))
    return Trial(deviation(dual_function(drawn, gamma), worst_moment_risk(drawn)), drawn.data())


def printed_objective(drawn: Drawn, gamma: float, laplacian: Array) -> float:
    """Return ``g(γ, L)`` of equation 25, literally."""
    theta = drawn.nominal.second_moment
    inverse = np.linalg.inv(gamma * np.eye(drawn.d) - laplacian)
    linear = gamma * (drawn.radius**2 - np.trace(theta))
    return float(linear + gamma**2 * np.trace(inverse @ theta) + drawn.eta * np.sum(laplacian**2))


def closed_form_risk(drawn: Drawn) -> float:
    """Return the infimum over γ of Theorem 1 at one Laplacian, by a scalar search."""
    top = drawn.top

    def objective(logarithm: float) -> float:
        return printed_objective(drawn, top * (1 + np.exp(logarithm)), drawn.laplacian)

    grid = np.linspace(-16, 8, 200)
    best = float(grid[int(np.argmin([objective(point) for point in grid]))])
    around = (best - 0.2, best + 0.2)
    found = optimize.minimize_scalar(objective, bounds=around, options={"xatol": 1e-9})
    return float(found.fun) - drawn.eta * float(np.sum(drawn.laplacian**2))


@claim(
    "Theorem 1",
    "The worst-case risk over Gaussians is inf over γ of γ(ε² - Tr Σₓ) + γ²Tr((γI - L)⁻¹Σₓ).",
    "It is, for fewer samples than vertices too.",
    "at one L: the printed function, minimised over γ by search, against the primal SDP; "
    "at the optimum: CVXPY on the closed form against the certified solver",
    RANGES,
    1e-6,
    _CONIC,
)
def theorem_1(rng: np.random.Generator, d: int) -> Trial:
    """Compare the closed form with the primal SDP, and its optimum with the certified one."""
    drawn = draw(rng, d)
    problem = drawn.problem(GaussianBall(drawn.radius))
    optimum = GaussianClosedForm(problem).solve().value
    worst = max(
        deviation(closed_form_risk(drawn), worst_moment_risk(drawn)),
        deviation(optimum, solve(problem, tol=1e-8).value),
    )
    return Trial(worst, drawn.data())


@claim(
    "Proposition 2",
    "The Gaussian scenario is an SDP with two matrix-fractional LMIs.",
    "It is.",
    "CVXPY on the printed SDP against the certified solver",
    RANGES,
    1e-6,
    _CONIC,
)
def proposition_2(rng: np.random.Generator, d: int) -> Trial:
    """Compare the SDP's optimum with the certified one."""
    drawn = draw(rng, d)
    problem = drawn.problem(GaussianBall(drawn.radius))
    found = GaussianSDP(problem).solve().value
    return Trial(deviation(found, solve(problem, tol=1e-8).value), drawn.data())


def by_scs(problem: GraphProblem) -> float:
    """Return the optimum of Proposition 2's SDP by a first-order conic solver."""
    return GaussianSDP(problem).solve("SCS", tol=1e-6).value


@claim(
    "Proposition 2, larger",
    "The Gaussian scenario is an SDP with two matrix-fractional LMIs.",
    "It is, at sizes that interior-point methods take minutes for too.",
    "SCS on the printed SDP against the certified solver",
    "paper-like signals, N d/2–2d, ε 0.1–2, η 0.1–1",
    1e-4,
    "SCS stops at 1e-6 of its own residuals, and γ Tr Σₓ is many times the value",
    dimensions=(10, 40),
    most=20,
)
def proposition_2_larger(rng: np.random.Generator, d: int) -> Trial:
    """Compare the SDP's optimum with the certified one."""
    drawn = draw_signals(rng, d, int(rng.integers(d // 2, 2 * d + 1)))
    problem = drawn.problem(GaussianBall(drawn.radius))
    return Trial(deviation(by_scs(problem), solve(problem, tol=1e-8).value), drawn.data())

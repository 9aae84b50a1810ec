"""Sections II and III: Gaussian distributions, their dual, its closed form, their worst cases."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import ot
from scipy import optimize

from experiments.propositions.drawn import ANY, REGULAR, SINGULAR, Drawn, signals, sized
from experiments.propositions.proposition import Attempt, proposition
from experiments.propositions.routes import (
    CONIC,
    by_cvxpy,
    certified,
    conic_optimum,
    deviation,
    monge_distance,
    transport_distance,
    worst_moment_risk,
)
from formulations import GaussianClosedForm, GaussianSDP
from wdro_cvx import Discrete, Gaussian, GaussianBall, WassersteinBall, WorstCase
from wdro_cvx.moments.distribution import uniform
from wdro_cvx.moments.nominal import symmetric_root
from wdro_cvx.validation import Array


@proposition(
    "Proposition 1",
    "The type-2 Wasserstein distance of two Gaussians is given by their first two moments "
    "(equation 14).",
    "It is.", sized("covariances with condition up to about 100"),
    (1e-7, "roots of matrices lose half the digits of small eigenvalues"),
)  # fmt: skip
def proposition_1(d: int, rng: np.random.Generator) -> Attempt:
    """Compare the printed formula with POT's closed form and with POT's plan between points."""
    means = rng.standard_normal((2, d))
    roots = rng.standard_normal((2, d, d)) + np.eye(d)
    covariances = [root @ root.T + 0.05 * np.eye(d) for root in roots]
    first, second = covariances
    root = symmetric_root(second)
    overlap = symmetric_root(root @ first @ root)
    squares = np.sum((means[0] - means[1]) ** 2) + np.trace(first + second - 2 * overlap)
    closed = float(ot.gaussian.bures_wasserstein_distance(*means, first, second))
    plan = monge_distance(rng, means[0], first, means[1], second)
    worst = max(deviation(float(np.sqrt(squares)), other) for other in (closed, plan))
    return Attempt(worst, {"means": means, "covariances": np.stack(covariances)})


def dual_function(drawn: Drawn, gamma: float) -> float:
    """Return ``h(γ, L) + γ(ε² - Tr Σ)`` of Lemma 1, its supremum over Σ by an SDP."""
    d, mean, covariance = drawn.d, drawn.nominal.mean, drawn.nominal.covariance
    shifted = drawn.laplacian - gamma * np.eye(d)
    best = np.linalg.solve(-shifted, gamma * mean)
    by_mean = float(best @ drawn.laplacian @ best - gamma * np.sum((best - mean) ** 2))
    joint = cp.Variable((2 * d, 2 * d), PSD=True)  # Tr √(Σₙ^½ Σ Σₙ^½) = max Tr C
    gain = cp.trace(shifted @ joint[d:, d:]) + 2 * gamma * cp.trace(joint[:d, d:])
    by_covariance = conic_optimum(cp.Problem(cp.Maximize(gain), [joint[:d, :d] == covariance]))
    return by_mean + by_covariance + gamma * (drawn.radius**2 - float(np.trace(covariance)))


@proposition(
    "Lemma 1",
    "The worst-case risk over Gaussians is the infimum over γ of its dual function.", "It is.",
    REGULAR, CONIC,
)  # fmt: skip
def lemma_1(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the risk, a primal SDP over joint moments, with the dual function at the best γ.

    One Gaussian must attain the risk, and at two other γ the dual function must not be smaller.
    """
    worst, risk = drawn.worst(GaussianBall), worst_moment_risk(drawn)
    attained = float(np.vdot(worst.distribution.second_moment, drawn.laplacian))
    gamma = worst.multiplier
    beside = [dual_function(drawn, other) for other in ((gamma + drawn.top) / 2, 1.5 * gamma)]
    largest = max(
        deviation(attained, risk),
        deviation(dual_function(drawn, gamma), risk),
        max(risk - value for value in beside) / risk,
    )
    return Attempt(largest, drawn.data)


@proposition(
    "Lemma 1, N < d", "The same, whatever the data.",
    "It holds. With few samples the infimum may be a limit, γ → λmax.", SINGULAR,
    (1e-4, "if γ* = λmax, γ is taken 1e-6 above it, close to a pole of the dual function"),
    dimensions=(3, 6),
)  # fmt: skip
def lemma_1_few_samples(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare a primal SDP with the dual function at the best γ, or just above λmax."""
    gamma = max(drawn.worst(GaussianBall).multiplier, drawn.top * (1 + 1e-6))
    return Attempt(deviation(dual_function(drawn, gamma), worst_moment_risk(drawn)), drawn.data)


def printed_objective(drawn: Drawn, gamma: float, laplacian: Array) -> float:
    """Return ``g(γ, L)`` of equation 25, literally."""
    inverse = drawn.resolvent(gamma, laplacian)
    linear = gamma * (drawn.radius**2 - np.trace(drawn.theta))
    smooth = linear + gamma**2 * np.trace(inverse @ drawn.theta)
    return float(smooth + drawn.eta * np.sum(laplacian**2))


def closed_form_risk(drawn: Drawn) -> float:
    """Return the infimum over γ of Theorem 1 at one Laplacian, by a scalar search."""

    def objective(logarithm: float) -> float:
        return printed_objective(drawn, drawn.top * (1 + np.exp(logarithm)), drawn.laplacian)

    found = optimize.minimize_scalar(objective, bounds=(-16.0, 8.0), options={"xatol": 1e-9})
    return float(found.fun) - drawn.eta * float(np.sum(drawn.laplacian**2))


@proposition(
    "Theorem 1",
    "The worst-case risk over Gaussians is inf over γ of γ(ε² - Tr Σₓ) + γ²Tr((γI - L)⁻¹Σₓ).",
    "It is, also for fewer samples than vertices.", ANY, CONIC,
)  # fmt: skip
def theorem_1(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the printed function at one L, minimised over γ by search, with a primal SDP.

    Compare its optimum over L, by CVXPY, with the certified solver.
    """
    problem = drawn.problem(GaussianBall)
    optimum = by_cvxpy(GaussianClosedForm, problem)
    risks = deviation(closed_form_risk(drawn), worst_moment_risk(drawn))
    return Attempt(max(risks, deviation(optimum, certified(problem))), drawn.data)


_SDP = "The Gaussian scenario is an SDP with two matrix-fractional LMIs."


@proposition("Proposition 2", _SDP, "It is.", ANY, CONIC)
def proposition_2(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare CVXPY on the printed SDP with the certified solver."""
    problem = drawn.problem(GaussianBall)
    return Attempt(deviation(by_cvxpy(GaussianSDP, problem), certified(problem)), drawn.data)


@proposition(
    "Proposition 2, larger", _SDP,
    "It is, also at sizes for which interior-point methods take minutes.",
    signals("d/2–2d", lambda rng, d: int(rng.integers(d // 2, 2 * d + 1))),
    (1e-4, "SCS stops at 1e-6 of its own residuals, and γ Tr Σₓ is many times the value"),
    dimensions=(10, 40), most=20,
)  # fmt: skip
def proposition_2_larger(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare SCS on the printed SDP with the certified solver."""
    problem = drawn.problem(GaussianBall)
    found = by_cvxpy(GaussianSDP, problem, "SCS", tol=1e-6)
    return Attempt(deviation(found, certified(problem)), drawn.data)


@proposition(
    "Worst-case samples", "(nothing)",
    "Moving every sample x to γ(γI - L)⁻¹x attains the worst-case risk at distance ε.", ANY,
    (1e-6, "POT's plan is exact; squared distances lose digits if ε is small against the signals"),
    ours=True,
)  # fmt: skip
def worst_samples(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the distance by POT's exact plan with ε, and the risk with our oracle's."""
    worst = drawn.worst(WassersteinBall)
    assert isinstance(worst.distribution, Discrete)
    distance = transport_distance(uniform(drawn.samples), worst.distribution)
    return _attained(drawn, distance, worst)


@proposition(
    "Worst-case Gaussian", "(nothing)",
    "The Gaussian with μ* = γ(γI - L)⁻¹μ and Σ* = γ²(γI - L)⁻¹Σ(γI - L)⁻¹ attains the worst-case "
    "risk at distance ε.", REGULAR,
    (1e-6, "roots of matrices lose digits if ε is small against the signals"), ours=True,
)  # fmt: skip
def worst_gaussian(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare its distance, by POT between points with its moments, with ε, and its risk."""
    nominal, worst = drawn.nominal, drawn.worst(GaussianBall)
    moved = worst.distribution
    assert isinstance(moved, Gaussian)
    moments = nominal.mean, nominal.covariance, moved.mean, moved.covariance
    return _attained(drawn, monge_distance(rng, *moments), worst)


def _attained(drawn: Drawn, distance: float, worst: WorstCase) -> Attempt:
    risk = float(np.vdot(worst.distribution.second_moment, drawn.laplacian))
    largest = max(deviation(distance, drawn.radius), deviation(risk, worst.risk))
    return Attempt(largest, drawn.data)


def adversary(drawn: Drawn, rng: np.random.Generator) -> float:
    """Search the ball of moved samples for a larger risk, by gradient ascent from random starts.

    The risk is convex in the moves, so the longest step along the gradient that stays in the ball
    never descends.
    """
    samples = drawn.samples
    length = drawn.radius * np.sqrt(len(samples))
    best = -np.inf
    for _ in range(5):
        moves = rng.standard_normal(samples.shape)
        for _ in range(5000):
            gradient = (samples + moves) @ drawn.laplacian
            new = gradient * (length / np.linalg.norm(gradient))
            change = float(np.abs(new - moves).max())
            moves = new
            if change <= 1e-12 * length:
                break
        moved = samples + moves
        best = max(best, float(np.vdot(moved @ drawn.laplacian, moved)) / len(samples))
    return best


@proposition(
    "Adversary", "(nothing)",
    "Gradient ascent over the ball reaches the worst-case risk and never exceeds it.",
    REGULAR, (1e-6, "the ascent's linear convergence in 5000 steps"), ours=True,
)  # fmt: skip
def adversary_never_wins(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare ascent over the moves of the samples, from five random starts, with our oracle."""
    risk = drawn.worst(WassersteinBall).risk
    return Attempt(deviation(adversary(drawn, rng), risk), drawn.data)


def sandwich(drawn: Drawn) -> tuple[float, float]:
    """Return the lower and the upper bound of the premium."""
    root = float(np.linalg.norm(drawn.nominal.factor @ drawn.laplacian))
    by_data, by_graph = 2 * drawn.radius * root, drawn.radius**2 * drawn.top
    return max(by_data, by_graph), by_data + by_graph


@proposition(
    "Sandwich", "(nothing)",
    "max(2ε‖LΘ^½‖, ε²λmax) ≤ premium ≤ 2ε‖LΘ^½‖ + ε²λmax; for one edge the right side is exact.",
    ANY, (1e-9, "rounding"), ours=True,
)  # fmt: skip
def sandwich_bound(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare both bounds with our oracle; for d = 2 the upper one must be equal."""
    premium = drawn.worst(WassersteinBall).risk - float(np.vdot(drawn.theta, drawn.laplacian))
    low, high = sandwich(drawn)
    largest = max(low - premium, premium - high, 0.0) / premium
    if drawn.d == 2:
        largest = max(largest, deviation(premium, high))
    return Attempt(largest, drawn.data)

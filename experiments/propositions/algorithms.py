"""Algorithms 1 to 4: whether they converge to the optimum, as printed and improved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from experiments.propositions.convexity import (
    BETA,
    corrected_gradient_r,
    fixed_gamma_objective,
    fixed_gamma_optimum,
    printed_gradient_r,
    printed_slope,
)
from experiments.propositions.drawn import (
    FEWEST,
    REGULAR,
    Drawn,
    Family,
    also,
    log_uniform,
    signals,
    with_choice,
    with_gamma,
    with_radius,
)
from experiments.propositions.proposition import Attempt, Ruling, proposition
from experiments.propositions.routes import CONIC, by_cvxpy, certified, deviation
from formulations import GeneralRegularized, RobustPremium
from solvers import BlockDescent, ProjectedGradient, bisect_multiplier, solve
from wdro_cvx import GaussianBall, GraphProblem, MomentBall, Nominal
from wdro_cvx.graphs.laplacian import (
    adjoint,
    degrees,
    laplacian_from_weights,
    weights_from_laplacian,
)
from wdro_cvx.validation import Array

_ANY_RADIUS = with_radius(REGULAR, 0.003, 50.0)
_BISECTION = (1e-6, "bisection to 1e-9, the condition of the root")
_STEPS = 5000
#: Algorithm 1 takes b and a from the user; these are generous.
_BRACKET = (0.1, 10.0)


def printed_bisection(drawn: Drawn, b: float, a: float) -> float:
    """Return Algorithm 1's γ; NaN once a round leaves its bracket unchanged, so it never ends."""

    def sign(gamma: float) -> float:
        return float(np.sign(printed_slope(drawn, gamma)[1]))

    low, high = drawn.top + b, a * drawn.top
    while high - low > 1e-9 * high:
        before, middle = (low, high), (low + high) / 2
        if sign(low) * sign(middle) < 0:
            high = middle
        if sign(high) * sign(middle) < 0:
            low = middle
        if (low, high) == before:
            return float("nan")
    return (low + high) / 2


@proposition(
    "Algorithm 1", "Bisection on [λmax + b, aλmax], a and b given, finds γ.",
    "It does, given a and b that bracket the root.", _ANY_RADIUS, _BISECTION,
)  # fmt: skip
def algorithm_1(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the printed bisection with the root of the secular equation.

    Its bracket starts half way to the root (b) and ends at twice the root (a).
    """
    gamma = drawn.worst(GaussianBall).multiplier
    found = printed_bisection(drawn, (gamma - drawn.top) / 2, 2 * gamma / drawn.top)
    return Attempt(deviation(found, gamma), drawn.data)


@proposition(
    "Algorithm 1, one bracket", "(a and b are inputs; the paper does not say how to choose them)",
    "No pair serves all radii: with a = 10, b = 0.1 the root lies outside for small and for large "
    "radii, and the printed loop never ends. A bracket that is widened first always contains it.",
    _ANY_RADIUS, _BISECTION, known=Ruling.CORRECTED, erratum="E6", ours=True,
)  # fmt: skip
def one_bracket(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the root of the secular equation with the bracket, and with our bisection."""
    gamma = drawn.worst(GaussianBall).multiplier
    low, high = drawn.top + _BRACKET[0], _BRACKET[1] * drawn.top
    outside = max(low / gamma - 1.0, gamma / high - 1.0, 0.0)
    widened = bisect_multiplier(drawn.theta, drawn.laplacian, drawn.radius)
    return Attempt(outside, drawn.data, deviation(widened, gamma))


def _without_top(rng: np.random.Generator, d: int) -> Drawn:
    """Draw data without mass on the top eigenvector, and a radius too large for the rest."""
    drawn = REGULAR.draw(rng, d)
    values, vectors = np.linalg.eigh(drawn.laplacian)
    silent = drawn.samples - np.outer(drawn.samples @ vectors[:, -1], vectors[:, -1])
    masses = np.mean((silent @ vectors[:, :-1]) ** 2, axis=0)
    used = float(np.sqrt(np.sum(masses * (values[:-1] / (values[-1] - values[:-1])) ** 2)))
    return replace(drawn, nominal=Nominal.from_samples(silent), radius=1.5 * used)


@proposition(
    "Algorithm 1, hard case", "γ* lies between λmax and infinity, so that g_γ has a root there.",
    "If the data have no mass on the top eigenvector and the radius is large, g_γ is positive for "
    "all γ > λmax: there is no root, and γ* = λmax.",
    Family("N d+2–3d, no mass on the top eigenvector, ε 1.5 times what the rest can use",
           _without_top),
    (1e-6, "rounding"), known=Ruling.FAILS, dimensions=(3, 6), erratum="E6",
)  # fmt: skip
def no_root(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the smallest g_γ on a fine grid above λmax, relative to ε², with zero."""
    grid = drawn.top * (1 + np.geomspace(1e-6, 1e3, 60))
    least = min(printed_slope(drawn, gamma)[1] for gamma in grid) / drawn.radius**2
    return Attempt(max(least, 0.0), drawn.data)


def printed_descent(
    drawn: Drawn, gamma: float, gradient: Callable[[Drawn, float, Array], Array]
) -> float:
    """Return the objective that Algorithm 2 ends with: projected gradient, backtracking."""

    def objective(weights: Array) -> float:
        top = np.linalg.eigvalsh(laplacian_from_weights(weights))[-1]
        return fixed_gamma_objective(drawn, gamma, weights) if top < gamma else np.inf

    weights = 0.5 * weights_from_laplacian(drawn.laplacian)
    value, step = objective(weights), 1.0
    for _ in range(_STEPS):
        slope = gradient(drawn, gamma, weights)
        while step > 1e-14:
            trial = np.maximum(weights - step * slope, 0.0)
            trial_value = objective(trial)
            change = trial - weights
            if trial_value <= value + slope @ change + change @ change / (2 * step):
                break
            step /= 2
        else:
            return value  # no step along this direction descends
        weights, value = trial, trial_value
        if np.linalg.norm(change) <= 1e-10 * np.linalg.norm(weights):
            return value
        step *= 2
    return value


@proposition(
    "Algorithm 2", "Projected gradient with ∇r finds L for fixed γ.",
    "It does with the corrected ∇r, started below γ.", with_gamma(REGULAR, 1.2, 2.0), CONIC,
    known=Ruling.CORRECTED, dimensions=(3, 6), erratum="E3",
)  # fmt: skip
def algorithm_2(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the algorithm, with either gradient, with CVXPY."""
    gamma = drawn["gamma"]
    optimum = fixed_gamma_optimum(drawn, gamma)
    printed = deviation(printed_descent(drawn, gamma, printed_gradient_r), optimum)
    corrected = deviation(printed_descent(drawn, gamma, corrected_gradient_r), optimum)
    return Attempt(printed, drawn.data, corrected)


def block_descent(problem: GraphProblem) -> float:
    """Return the value that the improved version of Algorithm 3 ends with."""
    return BlockDescent(max_iterations=200).solve(problem).value


@proposition(
    "Algorithm 3", "Block descent on (γ, L) converges to the optimum.",
    "It does if the data have full rank.", REGULAR, CONIC,
)  # fmt: skip
def algorithm_3(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the algorithm with CVXPY on the premium form, with exact and with penalised trace."""
    problem = drawn.problem(GaussianBall, BETA if rng.random() < 0.5 else None)
    optimum = by_cvxpy(RobustPremium, problem)
    return Attempt(deviation(block_descent(problem), optimum), drawn.data)


@proposition(
    "Algorithm 3, hard case",
    "The minimum lies in the open domain γ > λmax, and the iterates converge to it.",
    "With few samples and a large radius it lies on γ = λmax, and block descent stalls above it.",
    with_radius(FEWEST, 1.0, 5.0), CONIC, known=Ruling.FAILS, dimensions=(3, 6), erratum="E15",
)  # fmt: skip
def algorithm_3_hard_case(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the algorithm with the certified solver, for few samples and a large radius."""
    problem = drawn.problem(GaussianBall)
    optimum = certified(problem)
    return Attempt(deviation(block_descent(problem), optimum), drawn.data)


@proposition(
    "Algorithm 4", "Projected gradient converges to the optimum of Theorem 3's problem.",
    "It does for 1 < p < ∞, with the corrected ∇m.",
    with_choice(REGULAR, "p", "p", (4 / 3, 1.5, 2.0, 3.0, 4.0)), (2e-6, CONIC[1]),
)  # fmt: skip
def algorithm_4(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare the algorithm, with the corrected gradient, with CVXPY; the trace is penalised."""
    problem = drawn.problem(MomentBall, BETA, p=drawn["p"])
    optimum = by_cvxpy(GeneralRegularized, problem)
    return Attempt(deviation(ProjectedGradient().solve(problem).value, optimum), drawn.data)


def largest_degree_descent(drawn: Drawn) -> float:
    """Return where Algorithm 4 ends for p = 1, where the norm is the largest degree.

    Its gradient is equation 45 in the limit q → ∞: all of it at the largest entry of L, a degree.
    """

    def objective(weights: Array) -> float:
        laplacian = laplacian_from_weights(weights)
        smooth = float(np.vdot(drawn.theta, laplacian))
        smooth += drawn.eta * float(np.sum(laplacian**2))
        penalty = BETA * (float(np.trace(laplacian)) - drawn.d) ** 2
        return smooth + drawn.radius * float(degrees(weights).max()) + penalty

    def gradient(weights: Array) -> Array:
        laplacian = laplacian_from_weights(weights)
        slack = float(np.trace(laplacian)) - drawn.d
        matrix = drawn.theta + 2 * drawn.eta * laplacian
        matrix = matrix + 2 * BETA * slack * np.eye(drawn.d)
        largest = int(np.argmax(np.diagonal(laplacian)))
        matrix[largest, largest] += drawn.radius
        return adjoint(matrix)

    weights = np.full(drawn.d * (drawn.d - 1) // 2, 1.0 / (drawn.d - 1))
    value = objective(weights)
    for _ in range(_STEPS):
        slope, step = gradient(weights), 1.0
        while True:
            trial = np.maximum(weights - step * slope, 0.0)
            change = trial - weights
            new = objective(trial)
            if new <= value + 1e-4 * float(slope @ change):  # Nocedal and Wright's share
                break
            step /= 2
            if step < 1e-14:
                return value
        weights, value = trial, new
        if float(np.linalg.norm(change)) < 1e-9:
            break
    return value


@proposition(
    "Algorithm 4, p = 1", "Any p ≥ 1; convergence is guaranteed since the problem is convex.",
    "For p = 1 the norm is the largest degree, which has a kink where two degrees are equal. The "
    "descent stalls there, several percent above the optimum if the radius is large.",
    with_radius(signals("2d", lambda rng, d: 2 * d), 0.1, 10.0),
    (2e-6, "Clarabel's and our solver's relative gap"),
    known=Ruling.FAILS, dimensions=(4, 12), erratum="E14",
)  # fmt: skip
def kink(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compare where the printed algorithm ends with the larger of CVXPY's and our value."""
    problem = drawn.problem(MomentBall, BETA, p=1.0)
    # Neither of the two can make the algorithm look worse than it is.
    optimum = max(by_cvxpy(GeneralRegularized, problem), certified(problem))
    return Attempt(deviation(largest_degree_descent(drawn), optimum), drawn.data)


@proposition(
    "Penalty", "(nothing: the paper calls the penalty a relaxation)",
    "2β(d - Tr L)Tr L = R(L) + 2η‖L‖² at its optimum, so the trace is short by O(1/β).",
    also(REGULAR, "β 1–30", "beta", lambda rng, _: log_uniform(rng, 1.0, 30.0)),
    (1e-3, "a gap of 1e-10 leaves 1e-5 in the trace, which the left side multiplies by 2βd"),
    erratum="E7", ours=True,
)  # fmt: skip
def penalty_bias(drawn: Drawn, rng: np.random.Generator) -> Attempt:
    """Compute both sides for the certified solver's graph: stationarity along the ray through L."""
    problem = drawn.problem(GaussianBall if rng.random() < 0.5 else MomentBall, drawn["beta"])
    laplacian = solve(problem, tol=1e-10).laplacian
    trace = float(np.trace(laplacian))
    left = 2 * drawn["beta"] * (problem.target_trace - trace) * trace
    risk = problem.ambiguity.worst_case(problem.nominal, laplacian).risk
    right = risk + 2 * drawn.eta * float(np.sum(laplacian**2))
    return Attempt(deviation(left, right), drawn.data)

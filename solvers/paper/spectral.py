"""Spectral projected gradient, the inner loop of the improved versions of Algorithms 2 to 4.

The trial step is the Barzilai-Borwein step (spectral projected gradient; Birgin, Martínez and
Raydan, SIAM J. Optim. 2000), and the line search backtracks along the projection arc. Plain steps
need a number of iterations proportional to d, because 𝒯*𝒯 has condition number d.

The stopping rule uses strong convexity: if ``ξ`` is a subgradient of the constrained objective at
the iterate, then ``f - f* ≤ ‖ξ‖²/8η``. The printed rule tests the length of a step. A small step
size passes this test far from the optimum.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from solvers.bracket.limits import Clock
from solvers.paper.step import proximal_step
from wdro_cvx import GraphProblem
from wdro_cvx.solution import Status
from wdro_cvx.validation import Array

#: Value and gradient of the smooth part of the objective, without the trace penalty.
Oracle = Callable[[Array], tuple[float, Array]]

_MEMORY = 10  # the line search compares with the largest of this many recent values
_DECREASE = 1e-4
_SHRINK = 0.5
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Descent:
    """The result of projected gradient.

    Attributes
    ----------
    weights : array (m,)
    value : float
        The objective at the weights, including the penalty.
    subgradient : array (m,)
        A subgradient of the objective plus the indicator function of the feasible set.
    rounding : float
        A bound on the error of the subgradient from rounding. Without it, a step lost in the last
        digit of the weights would look like a zero subgradient.
    suboptimality : float
        ``(‖subgradient‖ + rounding)²/8η``, an upper bound on ``value - optimum``.
    status : Status
        ``INACCURATE`` if no descent was left in double precision.
    """

    weights: Array
    value: float
    subgradient: Array
    rounding: float
    suboptimality: float
    status: Status
    iterations: int
    history: list[dict[str, float]]


def strong_convexity_bound(problem: GraphProblem, subgradient: Array, rounding: float) -> float:
    """Return ``(‖ξ‖ + rounding)²/8η``, a bound on ``f - f*`` at a point with subgradient ξ."""
    return (float(np.linalg.norm(subgradient)) + rounding) ** 2 / (8 * problem.prior.beta)


def spectral_descent(
    problem: GraphProblem,
    oracle: Oracle,
    start: Array,
    target: float,
    max_iterations: int,
    clock: Clock,
) -> Descent:
    """Minimise over the feasible weights until ``f - f* ≤ target·|f|`` is proved.

    Parameters
    ----------
    problem : GraphProblem
        Gives the feasible set, the trace penalty and ``4η``, the modulus of strong convexity.
    oracle : callable
        The objective without the penalty; its value is infinite outside its domain.
    start : array (m,), feasible
    target : float
        Relative accuracy.
    max_iterations : int
    clock : Clock
        Its time limit ends the descent with the best point so far.
    """
    proximal = proximal_step(problem)
    weights = start
    smooth, gradient = oracle(weights)
    penalty = problem.prior.trace.penalty
    recent: deque[float] = deque([smooth + penalty(2 * float(weights.sum()))], maxlen=_MEMORY)
    history: list[dict[str, float]] = []
    best = Descent(
        weights,
        recent[0],
        gradient,
        np.inf,
        np.inf,
        Status.ITERATION_LIMIT,
        max_iterations,
        history,
    )
    step = 1.0 / (4 * problem.prior.beta * problem.d)
    for iteration in range(1, max_iterations + 1):
        while True:
            if clock.seconds > clock.limit:
                return replace(best, status=Status.TIME_LIMIT, iterations=iteration)
            moved = proximal(weights - step * gradient, step)
            change = moved - weights
            smooth, moved_gradient = oracle(moved)
            value = smooth + penalty(2 * float(moved.sum()))
            length = float(change @ change)
            if value <= max(recent) - _DECREASE / (2 * step) * length:
                break
            step *= _SHRINK
            # Stop if rounding hides the actual or, as projections round too, the intended step.
            asked = step**2 * float(gradient @ gradient)
            if min(length, asked) <= (4 * _EPS) ** 2 * float(weights @ weights):
                return replace(best, status=Status.INACCURATE, iterations=iteration)
        subgradient = moved_gradient - gradient - change / step
        rounding = 2 * _EPS * float(np.linalg.norm(weights)) / step
        suboptimality = strong_convexity_bound(problem, subgradient, rounding)
        history.append({"value": value, "suboptimality": suboptimality, "step": step})
        if suboptimality < best.suboptimality:
            best = replace(
                best, weights=moved, value=value, subgradient=subgradient, rounding=rounding,
                suboptimality=suboptimality,
            )  # fmt: skip
            if suboptimality <= target * abs(value):
                return replace(best, status=Status.SOLVED, iterations=iteration)
        curvature = float(change @ (moved_gradient - gradient))
        step = length / curvature if curvature > 0.0 else 2 * step
        weights, gradient = moved, moved_gradient
        recent.append(value)
    return best

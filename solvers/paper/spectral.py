"""Spectral projected gradient, the inner loop of the improved versions of Algorithms 2 to 4.

The trial step is Barzilai and Borwein's (Birgin, Martínez and Raydan's spectral projected
gradient, SIAM J. Optim. 2000) and the line search backtracks along the projection arc. Plain steps
need a number of iterations in proportion to d, because 𝒯*𝒯 has condition number d.

Stopping is by strong convexity and not, as printed, by the length of a step, which a short step
passes anywhere: with ``ξ`` a subgradient of the constrained objective at the iterate,
``f - f* ≤ ‖ξ‖²/8η``.
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

#: Value and gradient of the smooth part of the objective, the trace penalty left out.
Oracle = Callable[[Array], tuple[float, Array]]

_MEMORY = 10  # the line search compares with the worst of this many last values
_DECREASE = 1e-4
_SHRINK = 0.5
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Descent:
    """Where projected gradient ended.

    Attributes
    ----------
    weights : array (m,)
    value : float
        The objective there, penalty included.
    subgradient : array (m,)
        An element of the subdifferential of objective plus constraint.
    rounding : float
        How far rounding may have moved the subgradient: a step that is lost in the last digit of
        the weights would otherwise look like a zero.
    suboptimality : float
        ``(‖subgradient‖ + rounding)²/8η``, a bound of ``value - optimum``.
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
    """Return ``(‖ξ‖ + rounding)²/8η``: a point with subgradient ξ misses by at most this."""
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
        The objective without the penalty; an infinite value is outside its domain.
    start : array (m,), feasible
    target : float
        Relative accuracy.
    max_iterations : int
    clock : Clock
        Its limit ends the descent with what it has.
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
            # Lost in rounding: what moved, or (the projection has rounding of its own) what was to.
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

"""Projected gradient with backtracking, as printed in Algorithms 2 and 4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from solvers.bracket.limits import Clock
from wdro_cvx.solution import Status
from wdro_cvx.validation import Array

#: A value and a function for the gradient, computed on demand: most trial points are rejected.
Evaluation: TypeAlias = tuple[float, Callable[[], Array]]
Objective: TypeAlias = Callable[[Array], Evaluation]

#: The evaluation of a point outside the domain.
OUTSIDE: Evaluation = (np.inf, lambda: np.empty(0))
_DECREASE = 1e-4


@dataclass(frozen=True)
class PlainDescent:
    """The result of plain projected gradient.

    Attributes
    ----------
    weights : array (m,)
    status : Status
        ``INACCURATE`` if the paper's rule ended the run, because that rule proves nothing;
        ``FAILED`` if the gradient was not finite.
    history : list of mappings
        For every step, the ``value`` after it, its ``length`` ``‖v_{k+1} - v_k‖`` and the ``step``
        size s.
    """

    weights: Array
    status: Status
    history: list[dict[str, float]] = field(repr=False)


def plain_descent(
    objective: Objective, start: Array, tol: float, max_iterations: int, clock: Clock
) -> PlainDescent:
    """Iterate ``v ← (v - s∇f(v))₊`` until a step is shorter than ``tol``.

    The line search halves s from 1 until ``f((v - s∇f)₊) ≤ f(v) + c⟨∇f, (v - s∇f)₊ - v⟩`` with
    ``c = 1e-4``: Armijo's condition along the projection arc. If no s decreases f, rounding ends
    the search with a step of length 0, which also ends the descent.

    Parameters
    ----------
    objective : callable
        Returns value and gradient; the value is infinite outside the domain.
    start : array (m,), nonnegative
    tol : float > 0
        The paper's error.
    max_iterations : int
        The paper's maxIter.
    clock : Clock
        Its time limit ends the descent.
    """
    weights = start
    value, gradient_of = objective(weights)
    history: list[dict[str, float]] = []
    for _ in range(max_iterations):
        gradient = gradient_of()
        if not np.isfinite(gradient).all():
            return PlainDescent(weights, Status.FAILED, history)
        step = 1.0
        while True:
            if clock.seconds > clock.limit:
                return PlainDescent(weights, Status.TIME_LIMIT, history)
            trial = np.maximum(weights - step * gradient, 0.0)
            change = trial - weights
            trial_value, trial_gradient_of = objective(trial)
            if trial_value <= value + _DECREASE * float(gradient @ change):
                break
            step /= 2
        weights, value, gradient_of = trial, trial_value, trial_gradient_of
        length = float(np.linalg.norm(change))
        history.append({"value": value, "length": length, "step": step})
        if length < tol:
            return PlainDescent(weights, Status.INACCURATE, history)
    return PlainDescent(weights, Status.ITERATION_LIMIT, history)

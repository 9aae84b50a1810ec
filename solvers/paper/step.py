"""The proximal step onto the feasible edge weights of a problem.

With an exact trace, this is the projection onto ``{w ≥ 0, 1ᵀw = T/2}``. With the paper's trace
penalty, the printed algorithms project onto ``w ≥ 0`` and put ``β(Tr L - T)²`` into the gradient.
Its curvature ``8β·d(d-1)/2`` then forces very short steps if β is large. Here the penalty is part
of the step instead; the minimiser has the same form ``(v - θ)₊``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wdro_cvx import GraphProblem, ProblemError
from wdro_cvx.graphs.laplacian import project_simplex, weights_from_laplacian
from wdro_cvx.validation import Array

Proximal = Callable[[Array, float], Array]


def check_step(problem: GraphProblem) -> None:
    """Raise ProblemError if the weights have bounds and the trace is not fixed."""
    if problem.bounds is not None and not problem.prior.trace.fixed:
        raise ProblemError(
            "projected gradient does not combine bounds with a trace penalty. Use "
            "CertifiedSolver, or the exact trace."
        )


def proximal_step(problem: GraphProblem) -> Proximal:
    """Return ``(v, s) ↦ argmin_{w feasible} ‖w - v‖²/2s + β(2·1ᵀw - T)²``."""
    check_step(problem)
    prior, rule = problem.prior, problem.prior.trace
    if prior.bounds is not None:
        return lambda point, step: prior.clipped(point)
    if rule.fixed:
        return lambda point, step: project_simplex(point, rule.target / 2)

    def step_to(point: Array, step: float) -> Array:
        shift = _penalty_shift(point, 8 * rule.stiffness * step, rule.target / 2)
        return np.maximum(point - shift, 0.0)

    return step_to


def start_weights(problem: GraphProblem) -> Array:
    """Return the weights of the complete graph, or the nearest weights within the bounds."""
    return weights_from_laplacian(problem.prior.start(problem.d))


def _penalty_shift(point: Array, stiffness: float, half_trace: float) -> float:
    """Return the solution θ of ``θ = stiffness·(Σ(v - θ)₊ - T/2)``, by sorting."""
    ordered = -np.sort(-point)
    counts = np.arange(1, ordered.size + 1)
    shifts = stiffness * (np.cumsum(ordered) - half_trace) / (1 + stiffness * counts)
    positive = np.flatnonzero(ordered > shifts)
    return float(shifts[positive[-1]]) if positive.size else -stiffness * half_trace

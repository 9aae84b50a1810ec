"""The feasible set of a problem: how far a matrix is from it, and the way back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wdro_cvx.bounds import project_box
from wdro_cvx.laplacian import (
    Residuals,
    laplacian_from_weights,
    nearest_feasible,
    residuals,
    weights_from_laplacian,
)
from wdro_cvx.problem import GraphProblem
from wdro_cvx.validation import Array


def infeasibility(problem: GraphProblem, laplacian: Array) -> Residuals:
    """Measure by how much each constraint of a problem is violated."""
    trace = problem.target_trace
    found = residuals(laplacian, trace, fixed_trace=problem.trace_penalty is None)
    if problem.bounds is None:
        return found
    weights = weights_from_laplacian(laplacian / 2 + laplacian.T / 2)
    miss = np.maximum(problem.bounds.lower - weights, weights - problem.bounds.upper)
    return replace(found, bounds=max(float(miss.max()), 0.0) / trace)


def repaired(problem: GraphProblem, laplacian: Array) -> Array:
    """Return a Laplacian that is feasible to rounding, close to the given matrix."""
    bounds, exact = problem.bounds, problem.trace_penalty is None
    if bounds is None:
        return nearest_feasible(laplacian, problem.target_trace if exact else None)
    weights = weights_from_laplacian(laplacian / 2 + laplacian.T / 2)
    if exact:
        return laplacian_from_weights(project_box(weights, bounds, problem.target_trace / 2))
    return laplacian_from_weights(np.clip(weights, bounds.lower, bounds.upper))

"""Parts of the Hessian on a few free edges, stored as matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvers.likelihood.model import Point


def prior_matrix(
    point: Point, heads: NDArray[np.intp], tails: NDArray[np.intp], kind: type = np.float64
) -> NDArray[Any]:
    """Return the Hessian of the prior and of a penalty on the trace, on the free edges."""
    prior, rule = point.model.prior, point.model.prior.trace
    if prior.kappa > 0.0:
        one: NDArray[Any] = np.eye(point.degrees.size, dtype=kind)
        ends = np.ascontiguousarray((one[heads] + one[tails]).T)
        matrix = 2 * prior.kappa * (ends[heads] + ends[tails])
        matrix = matrix.astype(kind, copy=False)
    else:
        matrix = np.zeros((heads.size, heads.size), kind)
    matrix.flat[:: heads.size + 1] += 4 * prior.beta
    return matrix if rule.fixed or rule.free else matrix + kind(8 * rule.stiffness)


def between(matrix: NDArray[Any], heads: NDArray[np.intp], tails: NDArray[np.intp]) -> NDArray[Any]:
    """Return ``b_eᵀMb_f`` for all pairs of edges."""
    columns = np.ascontiguousarray((matrix[heads] - matrix[tails]).T)
    return columns[heads] - columns[tails]

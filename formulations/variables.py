"""The shared pieces of every model: the Laplacian as a CVXPY variable, and what is linear in it.

The Laplacian is stated over the m = d(d-1)/2 edge weights or over the symmetric matrix itself.
Over weights the Laplacian constraints become ``w ≥ 0`` and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from wdro_cvx.graphs.laplacian import adjoint, incidence, laplacian_operator
from wdro_cvx.validation import Array


@dataclass(frozen=True)
class LaplacianVariable:
    """A Laplacian to be found.

    Attributes
    ----------
    matrix : cvxpy.Expression (d, d)
        Use this in a new model; the other two are cheaper forms of parts of it.
    degrees : cvxpy.Expression (d,)
        The diagonal.
    weights : cvxpy.Expression (m,)
        The edge weights, the negated upper triangle.
    constraints : list of cvxpy.Constraint
        What makes it a Laplacian, the trace aside.
    """

    matrix: cp.Expression
    degrees: cp.Expression
    weights: cp.Expression
    constraints: list[cp.Constraint]

    @property
    def squared_norm(self) -> cp.Expression:
        """``‖L‖_F²``, as ``2‖w‖² + ‖deg‖²``."""
        return 2 * cp.sum_squares(self.weights) + cp.sum_squares(self.degrees)

    @property
    def trace(self) -> cp.Expression:
        """``Tr L``."""
        return cp.sum(self.degrees)


def laplacian_variable(d: int, over: str = "weights") -> LaplacianVariable:
    """Declare a Laplacian over edge ``"weights"`` or over the symmetric ``"matrix"``."""
    if over == "weights":
        weights = cp.Variable(d * (d - 1) // 2, name="weights", nonneg=True)
        matrix = cp.reshape(laplacian_operator(d) @ weights, (d, d), order="C")
        return LaplacianVariable(matrix, incidence(d) @ weights, weights, [])
    matrix = cp.Variable((d, d), name="laplacian", symmetric=True)
    weights = -cp.vec(cp.upper_tri(matrix), order="F")
    constraints = [weights >= 0, cp.sum(matrix, axis=1) == 0]
    return LaplacianVariable(matrix, cp.diag(matrix), weights, constraints)


def smoothness(second_moment: Array, laplacian: LaplacianVariable) -> cp.Expression:
    """``⟨M, L⟩``, the expected smoothness of signals with this second moment."""
    return np.asarray(adjoint(second_moment)) @ laplacian.weights

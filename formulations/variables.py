"""The Laplacian as a CVXPY variable, and the expected smoothness, for all programs.

The variable is either the m = d(d-1)/2 edge weights or the symmetric matrix. Over weights, the only
Laplacian constraint is ``w ≥ 0``.
"""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from wdro_cvx.graphs.laplacian import adjoint, incidence, laplacian_operator
from wdro_cvx.validation import Array


@dataclass(frozen=True)
class LaplacianVariable:
    """The Laplacian of a program, as CVXPY expressions.

    Attributes
    ----------
    matrix : cvxpy.Expression (d, d)
        The Laplacian itself. ``degrees`` and ``weights`` are cheaper where they suffice.
    degrees : cvxpy.Expression (d,)
        The diagonal.
    weights : cvxpy.Expression (m,)
        The edge weights: the negated upper triangle, row by row.
    constraints : list of cvxpy.Constraint
        The constraints that make it a Laplacian. The prior adds the trace and the bounds.

    Examples
    --------
    >>> from formulations import laplacian_variable
    >>> laplacian = laplacian_variable(4)
    >>> laplacian.matrix.shape, laplacian.degrees.shape, laplacian.weights.shape
    ((4, 4), (4,), (6,))
    """

    matrix: cp.Expression
    degrees: cp.Expression
    weights: cp.Expression
    constraints: list[cp.Constraint]

    @property
    def squared_norm(self) -> cp.Expression:
        """The squared Frobenius norm ``‖L‖_F² = 2‖w‖² + ‖deg‖²``."""
        return 2 * cp.sum_squares(self.weights) + cp.sum_squares(self.degrees)

    @property
    def trace(self) -> cp.Expression:
        """The trace ``Tr L``, which is the sum of the degrees."""
        return cp.sum(self.degrees)


def laplacian_variable(d: int, over: str = "weights") -> LaplacianVariable:
    """Return a Laplacian over edge weights or over the symmetric matrix.

    Parameters
    ----------
    d : int
        Number of vertices.
    over : {"weights", "matrix"}
        The form of the CVXPY variable.

    Returns
    -------
    LaplacianVariable

    Examples
    --------
    >>> from formulations import laplacian_variable
    >>> len(laplacian_variable(4).constraints), len(laplacian_variable(4, "matrix").constraints)
    (0, 2)
    """
    if over == "weights":
        weights = cp.Variable(d * (d - 1) // 2, name="weights", nonneg=True)
        matrix = cp.reshape(laplacian_operator(d) @ weights, (d, d), order="C")
        return LaplacianVariable(matrix, incidence(d) @ weights, weights, [])
    matrix = cp.Variable((d, d), name="laplacian", symmetric=True)
    weights = -cp.vec(cp.upper_tri(matrix), order="F")
    constraints = [weights >= 0, cp.sum(matrix, axis=1) == 0]
    return LaplacianVariable(matrix, cp.diag(matrix), weights, constraints)


def smoothness(second_moment: Array, laplacian: LaplacianVariable) -> cp.Expression:
    """Return ``⟨M, L⟩``, the expected smoothness of signals with second moment M.

    Parameters
    ----------
    second_moment : array (d, d)
    laplacian : LaplacianVariable

    Returns
    -------
    cvxpy.Expression
        A scalar, linear in the edge weights.

    Examples
    --------
    >>> import numpy as np
    >>> from formulations import laplacian_variable, smoothness
    >>> laplacian = laplacian_variable(3)
    >>> laplacian.weights.value = np.array([1.0, 0.0, 2.0])
    >>> float(smoothness(np.diag([1.0, 2.0, 3.0]), laplacian).value)
    13.0
    """
    return np.asarray(adjoint(second_moment)) @ laplacian.weights

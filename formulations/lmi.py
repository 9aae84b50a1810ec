"""Matrix-fractional terms as linear matrix inequalities, with their dual in reach.

``Tr(XᵀP⁻¹X) = min Tr Z`` subject to ``[[P, X], [Xᵀ, Z]] ⪰ 0``. CVXPY's ``matrix_frac`` is the same
inequality, but keeps its dual to itself, and the dual is the worst-case second moment.
"""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from wdro_cvx.validation import Array


@dataclass(frozen=True)
class FractionalTerm:
    """``Tr(XᵀP⁻¹X)`` as ``value`` under one ``constraint``."""

    value: cp.Expression
    constraint: cp.Constraint
    rows: int

    def dual_blocks(self) -> tuple[Array, Array]:
        """Return the dual of ``P`` and that of ``X``, as in ``[[U, V], [Vᵀ, ·]]``."""
        dual = np.asarray(self.constraint.dual_value)
        dual = (dual + dual.T) / 2
        return dual[: self.rows, : self.rows], dual[: self.rows, self.rows :]


def fractional_term(numerator: cp.Expression, denominator: cp.Expression) -> FractionalTerm:
    """State ``Tr(XᵀP⁻¹X)`` for ``X = numerator`` (d × r) and ``P = denominator`` (d × d)."""
    rows, columns = numerator.shape
    corner = cp.Variable((columns, columns), symmetric=True)
    block = cp.bmat([[denominator, numerator], [numerator.T, corner]])
    return FractionalTerm(cp.trace(corner), block >> 0, rows)

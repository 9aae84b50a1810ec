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


@dataclass(frozen=True)
class TransportPremium:
    """``inf_γ γε² + Tr(L(γG - L)⁻¹LΘ)``, what transport at the ground cost G adds to ``⟨Θ, L⟩``."""

    value: cp.Expression
    multiplier: cp.Expression
    term: FractionalTerm
    factor: Array
    unit: float

    @property
    def constraint(self) -> cp.Constraint:
        """The LMI."""
        return self.term.constraint

    def shift(self) -> Array:
        """Return what it adds to Θ, from the dual; L is in both ``γG - L`` and ``LΘ^½``."""
        upper, side = self.term.dual_blocks()
        cross = side @ self.factor
        return upper / self.unit - cross - cross.T


def transport_premium(
    matrix: cp.Expression,
    factor: Array,
    radius_squared: cp.Expression,
    typical: float,
    metric: Array | None = None,
) -> TransportPremium:
    """State the premium.

    Parameters
    ----------
    matrix : cvxpy.Expression (d, d)
        The Laplacian.
    factor : array (r, d)
        ``FᵀF = Θ``; thin when there are few samples.
    radius_squared : cvxpy.Expression
    typical : float > 0
        The size of γ to be expected, for the scaling.
    metric : array (d,), optional
        The diagonal of G; ones if not given.
    """
    diagonal = np.ones(factor.shape[1]) if metric is None else metric
    size = float(diagonal.max())
    unit = typical * size
    share = cp.Variable(name="gamma_share", nonneg=True)
    slack = share * np.diag(diagonal / size) - matrix / unit
    term = fractional_term(matrix @ factor.T, slack)
    gamma = typical * share
    return TransportPremium(gamma * radius_squared + term.value / unit, gamma, term, factor, unit)

"""Matrix-fractional terms as linear matrix inequalities (LMIs) whose duals can be read.

``Tr(XᵀP⁻¹X) = min Tr Z`` subject to ``[[P, X], [Xᵀ, Z]] ⪰ 0``. CVXPY's ``matrix_frac`` states the
same inequality but hides its dual, which holds the worst-case second moment.
"""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from wdro_cvx.validation import Array


@dataclass(frozen=True)
class FractionalTerm:
    """The term ``Tr(XᵀP⁻¹X)`` of an objective, with its LMI.

    Attributes
    ----------
    value : cvxpy.Expression
        Equal to the term at the optimum of a minimisation.
    constraint : cvxpy.Constraint
        The LMI.
    rows : int
        The order of P.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import numpy as np
    >>> from formulations import fractional_term
    >>> x = cp.Variable((1, 1))
    >>> term = fractional_term(x, cp.Constant(np.array([[2.0]])))  # x²/2
    >>> value = cp.Problem(cp.Minimize(term.value), [term.constraint, x == 3]).solve("CLARABEL")
    >>> round(float(value), 4)
    4.5
    >>> dual_of_denominator, _ = term.dual_blocks()
    >>> round(float(dual_of_denominator[0, 0]), 2)  # x²/P² = 9/4
    2.25
    """

    value: cp.Expression
    constraint: cp.Constraint
    rows: int

    def dual_blocks(self) -> tuple[Array, Array]:
        """Return the blocks U of P and V of X in the dual ``[[U, V], [Vᵀ, ·]]`` of the LMI."""
        dual = np.asarray(self.constraint.dual_value)
        dual = (dual + dual.T) / 2
        return dual[: self.rows, : self.rows], dual[: self.rows, self.rows :]


def fractional_term(numerator: cp.Expression, denominator: cp.Expression) -> FractionalTerm:
    """Return the term ``Tr(XᵀP⁻¹X)`` with its LMI.

    Parameters
    ----------
    numerator : cvxpy.Expression (d, r)
        X.
    denominator : cvxpy.Expression (d, d)
        P.

    Returns
    -------
    FractionalTerm

    Examples
    --------
    >>> import cvxpy as cp
    >>> import numpy as np
    >>> from formulations import fractional_term
    >>> term = fractional_term(cp.Constant(np.ones((2, 1))), cp.Constant(np.diag([1.0, 2.0])))
    >>> value = cp.Problem(cp.Minimize(term.value), [term.constraint]).solve("CLARABEL")
    >>> round(float(value), 4)
    1.5
    """
    rows, columns = numerator.shape
    corner = cp.Variable((columns, columns), symmetric=True)
    block = cp.bmat([[denominator, numerator], [numerator.T, corner]])
    return FractionalTerm(cp.trace(corner), block >> 0, rows)


@dataclass(frozen=True)
class TransportPremium:
    """The premium ``inf_γ γε² + Tr(L(γG - L)⁻¹LΘ)`` that transport adds to ``⟨Θ, L⟩``.

    Attributes
    ----------
    value : cvxpy.Expression
        Equal to the premium at the optimum of a minimisation.
    multiplier : cvxpy.Expression
        γ.
    term : FractionalTerm
        The matrix-fractional part.
    factor : array (r, d)
        ``FᵀF = Θ``.
    unit : float
        The unit of γ in the LMI.

    Examples
    --------
    One sample ``(1, -1)``, one edge of weight 1, and radius 1. The worst case moves the sample to
    ``(1, -1)(1 + 1/√2)``, whose smoothness exceeds the nominal 4 by ``2 + 4√2``:

    >>> import cvxpy as cp
    >>> import numpy as np
    >>> from formulations import transport_premium
    >>> laplacian = cp.Constant(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    >>> premium = transport_premium(laplacian, np.array([[1.0, -1.0]]), cp.Constant(1.0), 2.0)
    >>> value = cp.Problem(cp.Minimize(premium.value), [premium.constraint]).solve("CLARABEL")
    >>> round(float(value), 4)
    7.6569
    """

    value: cp.Expression
    multiplier: cp.Expression
    term: FractionalTerm
    factor: Array
    unit: float

    @property
    def constraint(self) -> cp.Constraint:
        """The LMI of the premium."""
        return self.term.constraint

    def shift(self) -> Array:
        """Return the shift of Θ to the worst-case second moment, read from the dual.

        It adds two derivatives, since L enters both ``γG - L`` and ``LΘ^½``.
        """
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
    """Return the premium ``inf_γ γε² + Tr(L(γG - L)⁻¹LΘ)`` of transport at the ground cost G.

    Parameters
    ----------
    matrix : cvxpy.Expression (d, d)
        The Laplacian.
    factor : array (r, d)
        ``FᵀF = Θ``; few samples make it thin.
    radius_squared : cvxpy.Expression
    typical : float > 0
        The expected size of γ, which scales the variable.
    metric : array (d,), optional
        The diagonal of G; ones by default.

    Returns
    -------
    TransportPremium

    Examples
    --------
    Doubling the ground cost and the squared radius halves γ and leaves the premium as it is:

    >>> import cvxpy as cp
    >>> import numpy as np
    >>> from formulations import transport_premium
    >>> laplacian, sample = cp.Constant(2 * np.eye(2) - 1), np.array([[1.0, -1.0]])
    >>> near = transport_premium(laplacian, sample, cp.Constant(0.5), 2.0)
    >>> far = transport_premium(laplacian, sample, cp.Constant(1.0), 2.0, metric=np.full(2, 2.0))
    >>> for premium in (near, far):
    ...     program = cp.Problem(cp.Minimize(premium.value), [premium.constraint])
    ...     print(round(float(program.solve("CLARABEL")), 4), round(premium.multiplier.value, 2))
    5.0 6.0
    5.0 3.0
    """
    diagonal = np.ones(factor.shape[1]) if metric is None else metric
    size = float(diagonal.max())
    unit = typical * size
    share = cp.Variable(name="gamma_share", nonneg=True)
    slack = share * np.diag(diagonal / size) - matrix / unit
    term = fractional_term(matrix @ factor.T, slack)
    gamma = typical * share
    return TransportPremium(gamma * radius_squared + term.value / unit, gamma, term, factor, unit)

"""Dual programs: maximise the sample average's optimum over the second moments of a set.

``min_L max_M = max_M min_L``, so the set itself, stated as constraints on M, defines a program. The
inner minimum is replaced by the dual of the Laplacian QP, and the edge weights are the multipliers
of its prices.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import cvxpy as cp
import numpy as np

from formulations.priors import PriorParameters
from formulations.variables import LaplacianVariable
from wdro_cvx.graphs.laplacian import incidence, laplacian_from_weights, laplacian_operator
from wdro_cvx.priors import DegreePrior
from wdro_cvx.terms import Term
from wdro_cvx.validation import Array


@dataclass(frozen=True)
class MomentSet:
    """The second moments of an ambiguity set, whose support function is the risk.

    Attributes
    ----------
    moment : cvxpy.Expression (d, d)
        The second moment M, in normalised units.
    constraints : list of cvxpy.Constraint
        The constraints that define the set.
    multiplier : cvxpy.Expression, optional
        The multiplier γ of the radius, which the solution reports.
    price : cvxpy.Expression, optional
        The amount subtracted from the risk of a moment: the conjugates of a problem's terms.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import numpy as np
    >>> from formulations import MomentSet
    >>> shift = cp.Variable((3, 3), symmetric=True)
    >>> ball = MomentSet(np.eye(3) + shift, [cp.norm(shift, "fro") <= 0.5])
    >>> ball.moment.shape, len(ball.constraints)
    ((3, 3), 1)
    """

    moment: cp.Expression
    constraints: list[cp.Constraint] = field(default_factory=list)
    multiplier: cp.Expression | None = None
    price: cp.Expression | float = 0.0

    def worst_moment(self) -> Array:
        """Return the moment of the solved program."""
        return np.asarray(self.moment.value)


@dataclass(frozen=True)
class DualProgram:
    """The dual of the Laplacian QP over a set of moments.

    Attributes
    ----------
    cvxpy : cvxpy.Problem
    prices : cvxpy.Constraint
        Its multiplier is the weight of every edge, less its lower bound.
    lower : array (m,)
        The lower bounds of the weights.
    """

    cvxpy: cp.Problem
    prices: cp.Constraint
    lower: Array

    def laplacian(self) -> Array:
        """Return the graph of the solved program."""
        weights = np.asarray(self.prices.dual_value)
        return laplacian_from_weights(self.lower + np.maximum(weights, 0.0))


def with_slopes(moments: MomentSet, terms: tuple[Term, ...]) -> MomentSet:
    """Return the moments ``M + Σ Y`` at the price ``Σ g*(Y)``, with a slope Y for every term."""
    for term in terms:
        slope = cp.Variable(moments.moment.shape, name="slope", symmetric=True)
        price = moments.price + term.conjugate_expression(slope, cp)
        moments = replace(moments, moment=moments.moment + slope, price=price)
    return moments


def dual_program(
    laplacian: LaplacianVariable,
    parameters: PriorParameters,
    prior: DegreePrior,
    moments: MomentSet,
) -> DualProgram:
    """Return the program ``max -2β‖w‖² - Σφ*(ν) + τT/2`` over w, ν, τ and the moments.

    Its prices ``4βw + 𝒯*M + Aᵀν - τ`` are nonnegative; a limited edge adds a discount. A penalised
    trace and bounds add their own terms.
    """
    d, limits = laplacian.degrees.shape[0], prior.bounds
    size = laplacian.weights.shape[0]
    cost, prices = _edge_terms(laplacian, parameters, moments.moment)
    cost = cost + moments.price
    for kind in _degree_terms(d, parameters, prior):
        cost, prices = cost + kind[0], prices + incidence(d).T @ kind[1]
    if not prior.trace.free:
        tau = cp.Variable(name="trace_multiplier")
        cost = cost + prior.trace.curvature * cp.square(tau) - tau * (prior.trace.target / 2)
        prices = prices - tau
    lower = np.zeros(size) if limits is None else limits.lower
    if limits is not None:
        limited = np.flatnonzero(np.isfinite(limits.upper))
        discount = cp.Variable(limited.size, name="discount", nonneg=True)
        place = np.eye(size)[:, limited]
        prices = prices + place @ discount
        cost = cost + limits.upper[limited] @ discount - lower @ prices
    positive = prices >= 0
    constraints = [positive, *laplacian.constraints, *moments.constraints]
    return DualProgram(cp.Problem(cp.Maximize(-cost), constraints), positive, lower)


def _edge_terms(
    laplacian: LaplacianVariable, parameters: PriorParameters, moment: cp.Expression
) -> tuple[cp.Expression, cp.Expression]:
    """Return the cost ``2β‖w‖²`` and the prices ``4βw + 𝒯*M``."""
    adjoint = laplacian_operator(laplacian.degrees.shape[0]).T
    prices = 4 * parameters.beta * laplacian.weights + adjoint @ cp.vec(moment, order="C")
    return 2 * parameters.beta * cp.sum_squares(laplacian.weights), prices


def _degree_terms(
    d: int, parameters: PriorParameters, prior: DegreePrior
) -> list[tuple[cp.Expression, cp.Expression]]:
    """Return ``φ*(ν)`` and ν for each part of φ; their sums are the conjugate of the sum."""
    terms = []
    if prior.kappa > 0.0:
        degrees = cp.Variable(d, name="degrees")  # ν = 2κu
        terms.append((parameters.kappa * cp.sum_squares(degrees), 2 * parameters.kappa * degrees))
    if prior.alpha > 0.0:
        inverse = cp.Variable(d, name="inverse_degrees")  # ν = -α/u
        gain = cp.sum(cp.log(inverse)) + d
        terms.append((-parameters.alpha * gain, -parameters.alpha * inverse))
    return terms

"""The dual of the Laplacian QP without bounds on the weights, in d + 1 unknowns.

    min ⟨M, L⟩ + 2β‖w‖² + Σ φ(u_i),    u = Aw, w ≥ 0

over m = d(d-1)/2 edge weights, with the degrees ``u`` as separate variables, has the concave dual

    D(ν, τ) = -2β‖w‖² - Σ φ*(ν_i) + τT/2 - κτ²,    w_ij = (τ - C_ij - ν_i - ν_j)₊ / 4β

with ``C = 𝒯*M``, ``κ = 1/16·stiffness`` if the trace is penalised, and τ = 0 if it is free. The
slope of an edge in the Hessian is 1 if the edge is active, else 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvers.qp.ascent import Curvature, common_bump
from solvers.qp.qp import LaplacianQP, edge_gains
from solvers.qp.start import best_tau, first_multipliers
from wdro_cvx.stacks import (
    choose,
    column,
    dot,
    flat,
    is_zero,
    number,
    plane,
    set_diagonals,
    sums,
)
from wdro_cvx.validation import Array


def quadratic_point(
    qp: LaplacianQP, start: tuple[Array, Any] | None = None, known: tuple[Array, Any] | None = None
) -> QuadraticPoint:
    """Evaluate a QP's dual at ``start``, or at a guess; a stack needs a start.

    ``known`` are the :func:`relative_gains`, if they are known.
    """
    gains, base = relative_gains(qp) if known is None else known
    if start is None or not qp.prior.has_degrees(start[0]):
        nu, tau = first_multipliers(qp, gains)
        return _evaluate(qp, gains, base, nu, best_tau(qp, gains, nu) if tau is None else tau)
    return _evaluate(qp, gains, base, start[0], start[1] - base)


def relative_gains(qp: LaplacianQP) -> tuple[Array, Any]:
    """Return minus the costs relative to the cheapest edge, and the cost of that edge.

    If the trace is fixed, a cost common to all edges is a constant. Relative costs keep the digits
    of the prices even if β is small. If it is not fixed, nothing is subtracted.
    """
    gains = edge_gains(qp.moment)
    if not qp.prior.trace.fixed:
        return gains, 0.0
    base = -number(flat(gains).max(axis=-1))
    gains += plane(base)
    return gains, base


_LARGE = 200  # vertices; below, the factorisation does not dominate the time
_HELD = 1e-4  # least spring per active edge of a vertex; the error of a step is then about 1e-3


@dataclass(slots=True, eq=False)
class QuadraticPoint:
    """A QP's dual at (ν, τ), or a stack. ``prices`` is ``4β·w`` as a symmetric matrix.

    ``tau`` and ``gains`` are relative to ``base``, the cost of the cheapest edge. ``total`` is the
    sum of the ``degrees``, and ``square`` that of the squared prices.
    """

    qp: LaplacianQP
    gains: Array
    base: Any
    nu: Array
    tau: Any
    prices: Array
    degrees: Array
    total: Any
    square: Any
    value: Any

    @property
    def floor(self) -> Any:
        """The least denominator of a relative gap, for values close to zero."""
        return self.qp.floor

    def moved(self, nu: Array, tau: Any) -> QuadraticPoint:
        """Evaluate the same dual at another point."""
        return _evaluate(self.qp, self.gains, self.base, nu, tau)

    def step_limit(self, d_nu: Array) -> Any:
        """Return the longest multiple of a step that stays in the domain."""
        return self.qp.prior.step_limit(self.nu, d_nu)

    @property
    def level(self) -> Any:
        """The multiplier τ of the original problem."""
        return self.base + self.tau

    def gradient(self) -> tuple[Array, Any]:
        """Return the gradient of the dual in ν and τ."""
        prior, unit = self.qp.prior, 4 * self.qp.prior.beta
        rule = prior.trace
        grad_tau = 0.0
        if not rule.free:
            grad_tau = rule.target / 2 - 2 * rule.curvature * self.tau - self.total / (2 * unit)
        return self.degrees / column(unit) - prior.degrees(self.nu), grad_tau

    def curvature(self) -> Curvature:
        """Return the curvature for a Newton step at this point."""
        prior = self.qp.prior
        rule, unit = prior.trace, 4 * prior.beta
        springs = column(unit) * prior.spring(self.nu)
        d = self.nu.shape[-1]
        edges: NDArray[np.floating]
        if d < _LARGE:
            edges = np.sign(self.prices)
            counts = sums(edges)
        else:
            edges = (self.prices > 0.0).astype(np.float32)  # enough for zeros and ones
            counts = (edges @ np.ones(d, edges.dtype)).astype(float)
            # Single precision is also enough for a step in a large system if the springs hold every
            # vertex: the condition number is at most twice this ratio.
            if float(np.min(springs)) < _HELD * float(counts.max()):
                edges = edges.astype(float)
        return Curvature(
            edges=edges,
            counts=counts,
            vertices=springs,
            tau=np.inf if rule.free else 2 * unit * rule.curvature,
            unit=unit,
            reach=unit * rule.target / 2,
            bump=common_bump(prior, self.nu),
        )

    def primal_value(self) -> Any:
        """Return the objective at the feasible weights of this point, in O(d).

        On active edges ``C_ij = τ - ν_i - ν_j - prices_ij``, so no sum over edges is needed.
        """
        prior, scale = self.qp.prior, self._scale()
        value = scale * self._cost() + scale**2 * self._bend()
        none = self.total == 0.0
        if not is_zero(prior.alpha):
            degrees = column(scale) * self.degrees
            none = degrees.min(axis=-1) <= 0.0
            logs = np.log(np.where(column(none), 1.0, degrees)).sum(axis=-1)
            value -= prior.alpha * number(logs)
        if prior.trace.fixed or not is_zero(prior.alpha):  # a graph without edges is infeasible
            value = choose(none, np.inf, value)
        return value + prior.trace.penalty(scale * self.total)

    def laplacian(self) -> Array:
        """Return the feasible Laplacian of this point."""
        scale = self._scale()
        laplacian = self.prices * -plane(scale)
        set_diagonals(laplacian, self.degrees * column(scale))
        return laplacian

    def _cost(self) -> Any:
        """Return ``⟨M, L⟩`` and the cost of the largest degree, with the prices as weights."""
        paid = dot(self.nu, self.degrees) + self.square / 2
        top = self.qp.prior.top(self.degrees)
        return (self.base + self.tau) * self.total / 2 - paid + top

    def _bend(self) -> Any:
        """Return the prior's squares of weights and degrees, with the prices as weights."""
        prior = self.qp.prior
        return prior.beta * self.square + prior.kappa * dot(self.degrees, self.degrees)

    def _scale(self) -> Any:
        """Return the factor from prices to feasible weights; the best one if the trace is free."""
        prior, some = self.qp.prior, self.total > 0.0
        plain = 1.0 / (4 * prior.beta)
        if prior.trace.fixed:
            return choose(some, prior.trace.target / choose(some, self.total, 1.0), plain)
        if not prior.trace.free:
            return plain
        # The positive root s of cost + 2qs = αd/s, in the form without cancellation.
        cost, logs, bend = self._cost(), prior.alpha * self.qp.d, self._bend()
        root = np.sqrt(cost**2 + 8 * logs * bend)
        best = choose(
            cost >= 0.0,
            2 * logs / choose(some, abs(cost) + root, 1.0),
            (root - cost) / choose(some, 4 * bend, 1.0),
        )
        return choose(some, best, plain)


def _evaluate(qp: LaplacianQP, gains: Array, base: Any, nu: Array, tau: Any) -> QuadraticPoint:
    half = column(tau) / 2 - nu
    prices = half[..., :, np.newaxis] + half[..., np.newaxis, :]
    prices += gains
    np.maximum(prices, 0.0, out=prices)
    degrees, entries = sums(prices), flat(prices)
    square = dot(entries, entries)
    prior, rule = qp.prior, qp.prior.trace
    if nu.ndim == 1 and square == 0.0 and not rule.free:
        # Newton has no curvature without an active edge. A warm start from a problem of another
        # scale may have none. The best τ activates one and cannot lower the dual.
        better = best_tau(qp, gains, nu)
        if better != tau:
            return _evaluate(qp, gains, base, nu, better)
    value = -square / (16 * prior.beta) - prior.conjugate(nu)
    value += (tau + base) * rule.target / 2 - rule.curvature * tau**2
    total = number(sums(degrees))
    return QuadraticPoint(qp, gains, base, nu, tau, prices, degrees, total, square, value)

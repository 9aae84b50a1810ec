"""The dual of the Laplacian QP without bounds on the weights, in d + 1 unknowns.

    min ⟨M, L⟩ + 2β‖w‖² + Σ φ(u_i),    u = Aw, w ≥ 0

over m = d(d-1)/2 edge weights, with the degrees ``u`` as separate variables, has the concave dual

    D(ν, τ) = -2β‖w‖² - Σ φ*(ν_i) + τT/2 - κτ²,    w_ij = (τ - C_ij - ν_i - ν_j)₊ / 4β

with ``C = 𝒯*M``, ``κ = 1/16·stiffness`` if the trace is penalised, and τ = 0 if it is free. The
slope of an edge in the Hessian is 1 if the edge is active, else 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solvers.qp.ascent import Curvature, common_bump
from solvers.qp.qp import LaplacianQP, edge_gains
from solvers.qp.start import best_tau, first_multipliers
from wdro_cvx.validation import Array


def quadratic_point(qp: LaplacianQP, start: tuple[Array, float] | None = None) -> QuadraticPoint:
    """Evaluate a QP's dual at ``start``, or at a guess."""
    gains = edge_gains(qp.moment)
    # If the trace is fixed, a cost common to all edges is a constant. Costs relative to the
    # cheapest edge keep the digits of the prices even if β is small.
    base = -float(gains.max()) if qp.prior.trace.fixed else 0.0
    gains += base
    if start is None or not qp.prior.has_degrees(start[0]):
        nu, tau = first_multipliers(qp, gains)
        return _evaluate(qp, gains, base, nu, best_tau(qp, gains, nu) if tau is None else tau)
    return _evaluate(qp, gains, base, start[0], start[1] - base)


_LARGE = 200  # vertices; below, the factorisation does not dominate the time
_HELD = 1e-4  # least spring per active edge of a vertex; the error of a step is then about 1e-3


@dataclass(slots=True, eq=False)
class QuadraticPoint:
    """A QP's dual at (ν, τ). ``prices`` is ``4β·w`` as a symmetric matrix.

    ``tau`` and ``gains`` are relative to ``base``, the cost of the cheapest edge. ``total`` is the
    sum of the ``degrees``, and ``square`` that of the squared prices.
    """

    qp: LaplacianQP
    gains: Array
    base: float
    nu: Array
    tau: float
    prices: Array
    degrees: Array
    total: float
    square: float
    value: float

    @property
    def floor(self) -> float:
        """The least denominator of a relative gap, for values close to zero."""
        return self.qp.floor

    def moved(self, nu: Array, tau: float) -> QuadraticPoint:
        """Evaluate the same dual at another point."""
        return _evaluate(self.qp, self.gains, self.base, nu, tau)

    def step_limit(self, d_nu: Array) -> float:
        """Return the longest multiple of a step that stays in the domain."""
        return self.qp.prior.step_limit(self.nu, d_nu)

    @property
    def level(self) -> float:
        """The multiplier τ of the original problem."""
        return self.base + self.tau

    def gradient(self) -> tuple[Array, float]:
        """Return the gradient of the dual in ν and τ."""
        prior, unit = self.qp.prior, 4 * self.qp.prior.beta
        rule = prior.trace
        grad_tau = 0.0
        if not rule.free:
            grad_tau = rule.target / 2 - 2 * rule.curvature * self.tau - self.total / (2 * unit)
        return self.degrees / unit - prior.degrees(self.nu), grad_tau

    def curvature(self) -> Curvature:
        """Return the curvature for a Newton step at this point."""
        prior = self.qp.prior
        rule, unit = prior.trace, 4 * prior.beta
        springs = unit * prior.spring(self.nu)
        active = self.prices > 0.0
        edges: NDArray[np.floating]
        if self.nu.size < _LARGE:
            edges = active.astype(float)
            counts = edges @ np.ones(self.nu.size)
        else:
            edges = active.astype(np.float32)  # enough for zeros and ones
            counts = (edges @ np.ones(self.nu.size, edges.dtype)).astype(float)
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

    def primal_value(self) -> float:
        """Return the objective at the feasible weights of this point, in O(d).

        On active edges ``C_ij = τ - ν_i - ν_j - prices_ij``, so no sum over edges is needed.
        """
        prior, scale = self.qp.prior, self._scale()
        if self.total == 0.0:
            return np.inf if prior.trace.fixed or prior.alpha > 0.0 else prior.trace.penalty(0.0)
        degrees = scale * self.degrees
        if prior.alpha > 0.0 and degrees.min() <= 0.0:
            return np.inf
        value = scale * self._cost() + prior.beta * scale**2 * self.square
        value += prior.kappa * float(degrees @ degrees)
        if prior.alpha > 0.0:
            value -= prior.alpha * float(np.log(degrees).sum())
        return value + prior.trace.penalty(scale * self.total)

    def laplacian(self) -> Array:
        """Return the feasible Laplacian of this point."""
        scale = self._scale()
        laplacian = self.prices * -scale
        laplacian.flat[:: len(laplacian) + 1] = self.degrees * scale
        return laplacian

    def _cost(self) -> float:
        """Return ``⟨M, L⟩`` and the cost of the largest degree, with the prices as weights."""
        paid = float(self.nu @ self.degrees) + self.square / 2
        top = self.qp.prior.top(self.degrees)
        return (self.base + self.tau) * self.total / 2 - paid + top

    def _scale(self) -> float:
        """Return the factor from prices to feasible weights; the best one if the trace is free."""
        prior, total = self.qp.prior, self.total
        if total == 0.0:
            return 1.0 / (4 * prior.beta)
        if prior.trace.fixed:
            return prior.trace.target / total
        if not prior.trace.free:
            return 1.0 / (4 * prior.beta)
        # The positive root s of cost + 2qs = αd/s, in the form without cancellation.
        cost, logs = self._cost(), prior.alpha * self.qp.d
        bend = prior.beta * self.square + prior.kappa * float(self.degrees @ self.degrees)
        root = float(np.sqrt(cost**2 + 8 * logs * bend))
        return 2 * logs / (cost + root) if cost >= 0.0 else (root - cost) / (4 * bend)


def _evaluate(qp: LaplacianQP, gains: Array, base: float, nu: Array, tau: float) -> QuadraticPoint:
    half = tau / 2 - nu
    prices = half[:, np.newaxis] + half
    prices += gains
    np.maximum(prices, 0.0, out=prices)
    degrees = prices @ np.ones(nu.size)
    square = float(np.vdot(prices, prices))
    prior, rule = qp.prior, qp.prior.trace
    if square == 0.0 and not rule.free:
        # Newton has no curvature without an active edge. A warm start from a problem of another
        # scale may have none. The best τ activates one and cannot lower the dual.
        better = best_tau(qp, gains, nu)
        if better != tau:
            return _evaluate(qp, gains, base, nu, better)
    value = -square / (16 * prior.beta) - prior.conjugate(nu)
    value += (tau + base) * rule.target / 2 - rule.curvature * tau**2
    total = float(degrees.sum())
    return QuadraticPoint(qp, gains, base, nu, tau, prices, degrees, total, square, value)

"""The dual of the Laplacian QP with bounds on the weights.

It differs from solvers/qp/dense.py in one respect. The weight of an edge is
``(τ - C_ij - ν_i - ν_j)/4β``, clipped to its interval, and its term in the dual is the minimum of
``2βw² - (τ - …)w`` over that interval. An edge strictly between its bounds is active, with slope 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from solvers.qp.ascent import Curvature, common_bump
from solvers.qp.qp import LaplacianQP, edge_gains
from solvers.qp.start import bounded_tau, first_multipliers
from wdro_cvx import EdgeBounds
from wdro_cvx.graphs.exact_sums import shortfall
from wdro_cvx.graphs.laplacian import edge_index, laplacian_from_weights
from wdro_cvx.validation import Array


@dataclass(frozen=True, eq=False)
class _Edges:
    """A QP by edges: costs ``C`` relative to ``base``, bounds and end points."""

    qp: LaplacianQP
    bounds: EdgeBounds
    base: float
    costs: Array
    heads: NDArray[np.intp]
    tails: NDArray[np.intp]

    def prices(self, nu: Array, tau: float) -> Array:
        return np.asarray(tau - self.costs - nu[self.heads] - nu[self.tails])

    def weights(self, prices: Array) -> Array:
        bounds = self.bounds
        return np.asarray(np.clip(prices / (4 * self.qp.prior.beta), bounds.lower, bounds.upper))

    def best_tau(self, nu: Array) -> float:
        bounds, levels = self.bounds, -self.prices(nu, 0.0)
        return bounded_tau(self.qp.prior, levels, bounds.lower, bounds.upper)

    def degrees(self, weights: Array) -> Array:
        d = self.bounds.d
        degrees = np.bincount(self.heads, weights, d) + np.bincount(self.tails, weights, d)
        return np.asarray(degrees)


@dataclass(frozen=True, eq=False)
class BoundedPoint:
    """A bounded QP's dual at (ν, τ)."""

    edges: _Edges
    nu: Array
    tau: float

    @cached_property
    def _prices(self) -> Array:
        return self.edges.prices(self.nu, self.tau)

    @cached_property
    def _weights(self) -> Array:
        return self.edges.weights(self._prices)

    @cached_property
    def _short(self) -> float:
        return shortfall(self._weights, self.edges.qp.prior.trace.target / 2)

    @cached_property
    def value(self) -> float:
        """The dual value, a lower bound on the optimum."""
        prior, weights = self.edges.qp.prior, self._weights
        levels = self.edges.costs + self.nu[self.edges.heads] + self.nu[self.edges.tails]
        edges = float(np.sum((2 * prior.beta * weights + levels) * weights))
        # τ multiplies the shortfall of the weights, so no large terms cancel if τ is large.
        rest = self.tau * self._short if self.tau != 0.0 else 0.0
        rest += self.edges.base * prior.trace.target / 2 - prior.trace.curvature * self.tau**2
        return edges - prior.conjugate(self.nu) + rest

    @property
    def floor(self) -> float:
        """The least denominator of a relative gap, for values close to zero."""
        return self.edges.qp.floor

    @cached_property
    def _feasible(self) -> Array:
        # Unclipped prices still rank the edges at a bound.
        prior = self.edges.qp.prior
        return prior.clipped(self._prices / (4 * prior.beta))

    def primal_value(self) -> float:
        """Return the objective at the feasible weights of this point."""
        prior, weights = self.edges.qp.prior, self._feasible
        value = float(self.edges.costs @ weights) + self.edges.base * float(weights.sum())
        return value + prior.value(weights, self.edges.degrees(weights))

    def gradient(self) -> tuple[Array, float]:
        """Return the gradient of the dual in ν and τ."""
        prior = self.edges.qp.prior
        rule, grad_tau = prior.trace, 0.0
        if not rule.free:
            grad_tau = self._short - 2 * rule.curvature * self.tau
        return self.edges.degrees(self._weights) - prior.degrees(self.nu), grad_tau

    def curvature(self) -> Curvature:
        """Return the curvature for a Newton step at this point."""
        edges, prior = self.edges, self.edges.qp.prior
        rule, unit = prior.trace, 4 * prior.beta
        inside = (self._weights > edges.bounds.lower) & (self._weights < edges.bounds.upper)
        slopes = np.zeros((edges.bounds.d, edges.bounds.d))
        slopes[edges.heads, edges.tails] = slopes[edges.tails, edges.heads] = inside
        return Curvature(
            edges=slopes,
            counts=slopes.sum(axis=1),
            vertices=unit * prior.spring(self.nu),
            tau=np.inf if rule.free else 2 * unit * rule.curvature,
            unit=unit,
            reach=unit * rule.target / 2,
            bump=common_bump(prior, self.nu),
        )

    @property
    def level(self) -> float:
        """The multiplier τ of the original problem."""
        return self.edges.base + self.tau

    def step_limit(self, d_nu: Array) -> float:
        """Return the longest multiple of a step that stays in the domain."""
        return self.edges.qp.prior.step_limit(self.nu, d_nu)

    def moved(self, nu: Array, tau: float) -> BoundedPoint:
        """Evaluate the same dual at another point."""
        return BoundedPoint(self.edges, nu, tau)

    def laplacian(self) -> Array:
        """Return the feasible Laplacian of this point."""
        return laplacian_from_weights(self._feasible)


def bounded_point(
    qp: LaplacianQP, bounds: EdgeBounds, start: tuple[Array, float] | None = None
) -> BoundedPoint:
    """Evaluate a bounded QP's dual at ``start``, or at a guess."""
    edges = _edges(qp, bounds)
    if start is None or not qp.prior.has_degrees(start[0]):
        nu, _ = first_multipliers(qp, edge_gains(qp.moment))
        return BoundedPoint(edges, nu, edges.best_tau(nu))
    return BoundedPoint(edges, start[0], start[1] - edges.base)


def best_bounded_tau(qp: LaplacianQP, bounds: EdgeBounds, nu: Array) -> float:
    """Return the τ that maximises the dual for given ν."""
    edges = _edges(qp, bounds)
    return edges.base + edges.best_tau(nu)


def _edges(qp: LaplacianQP, bounds: EdgeBounds) -> _Edges:
    heads, tails = edge_index(bounds.d)
    costs = -edge_gains(qp.moment)[heads, tails]
    # If the trace is fixed, a cost common to all edges is a constant. Impossible edges are ignored.
    possible = costs[bounds.upper > 0.0]
    base = float(possible.min()) if qp.prior.trace.fixed and possible.size else 0.0
    return _Edges(qp, bounds, base, costs - base, heads, tails)

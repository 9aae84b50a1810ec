"""The dual of the Laplacian QP where the weights have bounds.

As in solvers/qp/dense.py, but an edge's weight is ``clip((τ - C_ij - ν_i - ν_j)/4β)`` to
its interval, and its part of the dual the minimum of ``2βw² - (τ - …)w`` there. It is active, with
slope 1, strictly between its bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from solvers.qp.ascent import Curvature
from solvers.qp.qp import LaplacianQP, edge_gains
from solvers.qp.start import bounded_tau, first_multipliers
from wdro_cvx import EdgeBounds
from wdro_cvx.graphs.exact_sums import shortfall
from wdro_cvx.graphs.laplacian import edge_index, laplacian_from_weights
from wdro_cvx.validation import Array


@dataclass(frozen=True, eq=False)
class _Edges:
    """A QP edge by edge: costs ``C`` counted from ``base``, bounds, end points."""

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
        """The dual, a lower bound of the optimum."""
        prior, weights = self.edges.qp.prior, self._weights
        levels = self.edges.costs + self.nu[self.edges.heads] + self.nu[self.edges.tails]
        edges = float(np.sum((2 * prior.beta * weights + levels) * weights))
        # A large τ is multiplied by what the weights lack, so that nothing large cancels.
        rest = self.tau * self._short if self.tau != 0.0 else 0.0
        rest += self.edges.base * prior.trace.target / 2 - prior.trace.curvature * self.tau**2
        return edges - prior.conjugate(self.nu) + rest

    @property
    def floor(self) -> float:
        """What a gap is relative to where the value is close to zero."""
        return self.edges.qp.floor

    @cached_property
    def _feasible(self) -> Array:
        # Prices outside of the bounds tell which edges are dear.
        prior = self.edges.qp.prior
        return prior.clipped(self._prices / (4 * prior.beta))

    def primal_value(self) -> float:
        """Return the objective at the feasible weights that belong to the point."""
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
        """Return what a Newton step from here needs."""
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
        )

    @property
    def level(self) -> float:
        """τ as the problem has it."""
        return self.edges.base + self.tau

    def step_limit(self, d_nu: Array) -> float:
        """Return how much of a step stays in the domain."""
        return self.edges.qp.prior.step_limit(self.nu, d_nu)

    def moved(self, nu: Array, tau: float) -> BoundedPoint:
        """Evaluate the same dual elsewhere."""
        return BoundedPoint(self.edges, nu, tau)

    def laplacian(self) -> Array:
        """Return the feasible Laplacian that belongs to the point."""
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
    """Maximise the dual over τ for given ν."""
    edges = _edges(qp, bounds)
    return edges.base + edges.best_tau(nu)


def _edges(qp: LaplacianQP, bounds: EdgeBounds) -> _Edges:
    heads, tails = edge_index(bounds.d)
    costs = -edge_gains(qp.moment)[heads, tails]
    # Costs that all edges share are a constant where the trace is fixed; absent ones have no say.
    possible = costs[bounds.upper > 0.0]
    base = float(possible.min()) if qp.prior.trace.fixed and possible.size else 0.0
    return _Edges(qp, bounds, base, costs - base, heads, tails)

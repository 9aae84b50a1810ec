"""The dual of the Laplacian QP where the weights have bounds.

As in solvers/newton.py, but an edge's weight is ``clip((τ - C_ij - ν_i - ν_j)/4η, l_ij, u_ij)`` and
its part of the dual the minimum of ``2ηw² - (τ - …)w`` over its interval. It is active, with
slope 1, strictly between its bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from solvers.dual_ascent import Curvature
from solvers.quadratic import LaplacianQP, edge_gains
from wdro_cvx import EdgeBounds
from wdro_cvx.bounds import project_box
from wdro_cvx.laplacian import edge_index, laplacian_from_weights
from wdro_cvx.validation import Array

_BISECTIONS = 60


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
        return np.asarray(np.clip(prices / (4 * self.qp.eta), bounds.lower, bounds.upper))

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
    def value(self) -> float:
        """The dual, a lower bound of the optimum."""
        qp = self.edges.qp
        edges = float(np.sum((2 * qp.eta * self._weights - self._prices) * self._weights))
        rest = (self.edges.base + self.tau) * qp.trace / 2 - qp.curvature * self.tau**2
        return edges - float(self.nu @ self.nu) / (4 * qp.eta) + rest

    @cached_property
    def _feasible(self) -> Array:
        qp = self.edges.qp
        if qp.trace_penalty is not None:
            return self._weights
        return project_box(self._weights, self.edges.bounds, qp.trace / 2)

    def primal_value(self) -> float:
        """Return the objective at the feasible weights that belong to the point."""
        qp, weights = self.edges.qp, self._feasible
        degrees = self.edges.degrees(weights)
        norm = 2 * float(weights @ weights) + float(degrees @ degrees)
        value = float(self.edges.costs @ weights) + qp.eta * norm
        value += self.edges.base * qp.trace / 2
        if qp.trace_penalty is not None:
            value += qp.trace_penalty * (float(degrees.sum()) - qp.trace) ** 2
        return value

    def gradient(self) -> tuple[Array, float]:
        """Return the gradient of the dual in ν and τ."""
        qp = self.edges.qp
        degrees = self.edges.degrees(self._weights)
        grad_tau = qp.trace / 2 - 2 * qp.curvature * self.tau - float(self._weights.sum())
        return degrees - self.nu / (2 * qp.eta), grad_tau

    def curvature(self) -> Curvature:
        """Return what a Newton step from here needs."""
        qp, edges = self.edges.qp, self.edges
        inside = (self._weights > edges.bounds.lower) & (self._weights < edges.bounds.upper)
        slopes = np.zeros((edges.bounds.d, edges.bounds.d))
        slopes[edges.heads, edges.tails] = slopes[edges.tails, edges.heads] = inside
        return Curvature(
            edges=slopes,
            counts=slopes.sum(axis=1),
            vertices=2.0,
            tau=8 * qp.eta * qp.curvature,
            unit=4 * qp.eta,
            reach=2 * qp.eta * qp.trace,
        )

    @property
    def level(self) -> float:
        """τ as the problem has it."""
        return self.edges.base + self.tau

    def moved(self, nu: Array, tau: float) -> BoundedPoint:
        """Evaluate the same dual elsewhere."""
        return BoundedPoint(self.edges, nu, tau)

    def laplacian(self) -> Array:
        """Return the feasible Laplacian that belongs to the point."""
        return laplacian_from_weights(self._feasible)


def bounded_point(
    qp: LaplacianQP, bounds: EdgeBounds, start: tuple[Array, float] | None = None
) -> BoundedPoint:
    """Evaluate a bounded QP's dual at ``start``, or where all degrees are equal."""
    heads, tails = edge_index(bounds.d)
    costs = -edge_gains(qp.moment)[heads, tails]
    # As in solvers/newton.py; edges that must be absent have no say.
    possible = costs[bounds.upper > 0.0]
    base = float(possible.min()) if qp.trace_penalty is None and possible.size else 0.0
    edges = _Edges(qp, bounds, base, costs - base, heads, tails)
    if start is None:
        nu = np.full(bounds.d, 2.0 * qp.eta * qp.trace / bounds.d)
        return BoundedPoint(edges, nu, _best_tau(edges, nu))
    return BoundedPoint(edges, start[0], start[1] - base)


def _best_tau(edges: _Edges, nu: Array) -> float:
    """Maximise the dual over τ for given ν; its slope falls with τ."""
    qp, levels = edges.qp, -edges.prices(nu, 0.0)

    def slope(tau: float) -> float:
        weights = edges.weights(tau - levels)
        return qp.trace / 2 - 2 * qp.curvature * tau - float(weights.sum())

    reach = 2 * qp.eta * qp.trace + float(np.ptp(levels))
    low, high = float(levels.min()) - reach, float(levels.max()) + reach
    for _ in range(_BISECTIONS):  # a weak trace penalty may put the root far beyond the levels
        if slope(low) >= 0.0 >= slope(high):
            break
        low, high, reach = low - reach, high + reach, 2 * reach
    for _ in range(_BISECTIONS):
        tau = (low + high) / 2
        low, high = (tau, high) if slope(tau) > 0.0 else (low, tau)
    return (low + high) / 2

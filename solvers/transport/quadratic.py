"""The QP of an ADMM step: a Laplacian QP with a weight per edge and vertex, and γ eliminated.

    min ⟨M, L⟩ + 2Σ β_ij w_ij² + Σ κ_i u_i² - c(pᵀu)²    over Laplacians L with weights w, degrees u

The last term results from minimising over γ, and the function is still convex. The dual in (ν, τ)
is that of solvers/qp/dense.py with

    w_ij = clip((τ - C_ij - ν_i - ν_j)/4β_ij, l_ij, u_ij)
    u = ½(ν/κ + cb·bᵀν/(1 - cbᵀp)),    b = p/κ

A Newton step therefore has the slopes ``1/4β_ij`` on edges strictly between their bounds, and one
rank-one term.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from solvers.qp.ascent import Curvature
from wdro_cvx import EdgeBounds
from wdro_cvx.graphs.exact_sums import project_interval
from wdro_cvx.graphs.laplacian import edge_index, laplacian_from_weights
from wdro_cvx.validation import Array


@dataclass(frozen=True, eq=False)
class StepQP:
    """The data of the QP; matrices over edges are symmetric, and their diagonals are not read.

    Attributes
    ----------
    costs : array (d, d)
        ``C = 𝒯*M``.
    edges, vertices : array (d, d), array (d,)
        β and κ.
    coupling, direction, room : float, array (d,), float
        c, p and ``1 - c Σ p²/κ``. The caller computes the last one without cancellation.
    trace, penalty : float, float or None
    lower, upper : array (d, d) or float
    bounds : EdgeBounds or None
    """

    costs: Array
    edges: Array | float
    vertices: Array
    coupling: float
    direction: Array
    room: float
    trace: float
    penalty: float | None
    lower: Array | float
    upper: Array | float
    bounds: EdgeBounds | None


@dataclass(frozen=True, eq=False)
class StepPoint:
    """The dual of a step's QP at (ν, τ)."""

    qp: StepQP
    nu: Array
    tau: float

    floor = 0.0

    def step_limit(self, d_nu: Array) -> float:
        """Return the longest step in the domain: infinite, since the domain is the whole space."""
        return np.inf

    @property
    def _bend(self) -> float:
        """The curvature of the dual in τ that a trace penalty adds."""
        return 0.0 if self.qp.penalty is None else 1.0 / (16.0 * self.qp.penalty)

    @cached_property
    def _prices(self) -> Array:
        half = self.tau / 2 - self.nu
        prices = np.add.outer(half, half)
        prices -= self.qp.costs
        return prices

    @cached_property
    def _weights(self) -> Array:
        weights = self._prices / self.qp.edges
        weights /= 4.0
        np.clip(weights, self.qp.lower, self.qp.upper, out=weights)
        np.fill_diagonal(weights, 0.0)
        return weights

    @cached_property
    def _degrees(self) -> Array:
        return np.asarray(self._weights.sum(axis=1))

    @cached_property
    def _split(self) -> Array:
        """The degrees u that minimise the Lagrangian for ν."""
        qp = self.qp
        along = qp.direction / qp.vertices
        return np.asarray(
            (self.nu / qp.vertices + qp.coupling * float(along @ self.nu) / qp.room * along) / 2
        )

    @cached_property
    def value(self) -> float:
        """The dual value, a lower bound on the optimum."""
        qp = self.qp
        spent = 2 * qp.edges * self._weights - self._prices
        np.fill_diagonal(spent, 0.0)
        edges = float(np.vdot(spent, self._weights)) / 2
        rest = self.tau * qp.trace / 2 - self._bend * self.tau**2
        return edges - float(self.nu @ self._split) / 2 + rest

    @cached_property
    def _feasible(self) -> Array:
        qp, total = self.qp, float(self._degrees.sum())
        if qp.penalty is not None:
            return self._weights
        if qp.bounds is None:
            return self._weights * (qp.trace / total) if total > 0.0 else self._weights
        d = self.nu.size
        # Unclipped prices still rank the edges at a bound.
        point = (self._prices / (4 * qp.edges))[edge_index(d)]
        flat = project_interval(point, qp.bounds.lower, qp.bounds.upper, qp.trace / 2)
        return np.diag(np.diagonal(lap := laplacian_from_weights(flat))) - lap

    def primal_value(self) -> float:
        """Return the objective at the feasible weights of this point."""
        qp, weights = self.qp, self._feasible
        degrees = weights.sum(axis=1)
        total = float(degrees.sum())
        if total == 0.0 and qp.penalty is None:
            return np.inf
        cost = qp.costs + 2 * qp.edges * weights
        np.fill_diagonal(cost, 0.0)
        value = float(np.vdot(cost, weights)) / 2 + float(qp.vertices @ degrees**2)
        value -= qp.coupling * float(qp.direction @ degrees) ** 2
        if qp.penalty is not None:
            value += qp.penalty * (total - qp.trace) ** 2
        return value

    def gradient(self) -> tuple[Array, float]:
        """Return the gradient of the dual in ν and τ."""
        qp = self.qp
        grad_tau = qp.trace / 2 - 2 * self._bend * self.tau - float(self._degrees.sum()) / 2
        return self._degrees - self._split, grad_tau

    def curvature(self) -> Curvature:
        """Return the curvature for a Newton step at this point."""
        qp = self.qp
        inside = (self._weights > qp.lower) & (self._weights < qp.upper)
        slopes = inside / (4 * qp.edges)
        np.fill_diagonal(slopes, 0.0)
        return Curvature(
            edges=slopes,
            counts=slopes.sum(axis=1),
            vertices=1.0 / (2 * qp.vertices),
            tau=2 * self._bend,
            unit=1.0,
            reach=2 * float(np.mean(qp.vertices)) * qp.trace,
            bump=(qp.coupling / (2 * qp.room), qp.direction / qp.vertices, 0.0),
        )

    def moved(self, nu: Array, tau: float) -> StepPoint:
        """Evaluate the same dual at another point."""
        return StepPoint(self.qp, nu, tau)

    def laplacian(self) -> Array:
        """Return the feasible Laplacian of this point."""
        weights = self._feasible
        laplacian = -weights
        np.fill_diagonal(laplacian, weights.sum(axis=1))
        return laplacian

"""The Laplacian QP, exactly: semismooth Newton on its dual in d + 1 unknowns.

    min ⟨M, L⟩ + η‖L‖_F²  over Laplacians of trace T

over m = d(d-1)/2 edge weights has, with ``u = Aw`` split off, the concave dual

    D(ν, τ) = -2η‖w‖² - ‖ν‖²/4η + τT/2 - κτ²,    w_ij = (τ - C_ij - ν_i - ν_j)₊ / 4η

with ``C = 𝒯*M`` and ``κ = 1/16β`` if the trace is penalised by β, else 0. ``D`` is piecewise
quadratic, and the slope of an edge in its Hessian is 1 if it is active, else 0
(solvers/dual_ascent.py). The edges never leave d × d matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.bounded import BoundedPoint, bounded_point
from solvers.dual_ascent import Ascent, Curvature, maximise
from solvers.quadratic import LaplacianQP, QPSolution, edge_gains
from wdro_cvx.laplacian import edge_index
from wdro_cvx.validation import Array

_MAX_STEPS = 200


def solve_laplacian_qp(
    qp: LaplacianQP, start: tuple[Array, float] | None = None, tol: float = 1e-12
) -> QPSolution:
    """Solve a Laplacian QP to the relative gap ``tol``, or to rounding.

    Parameters
    ----------
    qp : LaplacianQP
    start : (nu, tau), optional
        Multipliers of a similar problem.
    tol : float
    """
    if qp.bounds is not None:
        return _solution(maximise(bounded_point(qp, qp.bounds, start), tol, _MAX_STEPS))
    return _solution(maximise(quadratic_point(qp, start), tol, _MAX_STEPS))


def _solution(found: Ascent[QuadraticPoint] | Ascent[BoundedPoint]) -> QPSolution:
    last = found.last
    return QPSolution(
        found.best.laplacian(), found.value, last.value, last.nu, last.level, found.steps
    )


def quadratic_point(qp: LaplacianQP, start: tuple[Array, float] | None = None) -> QuadraticPoint:
    """Evaluate a QP's dual at ``start``, or where all degrees are equal."""
    gains = edge_gains(qp.moment)
    # With the trace fixed, what all edges cost alike is a constant. Counted from the cheapest edge
    # prices keep their digits, however small η is.
    base = -float(gains.max()) if qp.trace_penalty is None else 0.0
    gains += base
    if start is None:
        d = qp.moment.shape[0]
        nu = np.full(d, 2.0 * qp.eta * qp.trace / d)
        return _evaluate(qp, gains, base, nu, best_tau(qp, gains, nu))
    return _evaluate(qp, gains, base, start[0], start[1] - base)


def best_tau(qp: LaplacianQP, gains: Array, nu: Array) -> float:
    """Maximise the dual over τ for given ν: ``Σ(τ - s)₊ = 2ηT - 8ηκτ`` over the edges.

    Drops the edges that are inactive at the τ of those left, until none is (Michelot).
    """
    levels = -gains + nu[:, np.newaxis]
    levels += nu[np.newaxis, :]
    active = levels[edge_index(nu.size)]
    while True:
        tau = (2 * qp.eta * qp.trace + float(active.sum())) / (
            active.size + 8 * qp.eta * qp.curvature
        )
        kept = active[active < tau]
        if kept.size == active.size:
            return tau
        if kept.size == 0:  # a penalised trace may leave no edge worth its price
            return qp.trace / (4 * qp.curvature) if qp.curvature > 0 else tau
        active = kept


@dataclass(frozen=True)
class QuadraticPoint:
    """A QP's dual at (ν, τ). ``prices`` is ``4η·w`` as a symmetric matrix.

    ``tau`` and ``gains`` are counted from ``base``, the cost of the cheapest edge.
    """

    qp: LaplacianQP
    gains: Array
    base: float
    nu: Array
    tau: float
    prices: Array
    degrees: Array
    square: float
    value: float

    def moved(self, nu: Array, tau: float) -> QuadraticPoint:
        """Evaluate the same dual elsewhere."""
        return _evaluate(self.qp, self.gains, self.base, nu, tau)

    @property
    def level(self) -> float:
        """τ as the problem has it."""
        return self.base + self.tau

    def gradient(self) -> tuple[Array, float]:
        """Return the gradient of the dual in ν and τ."""
        qp, unit = self.qp, 4 * self.qp.eta
        grad_tau = qp.trace / 2 - 2 * qp.curvature * self.tau - self.degrees.sum() / (2 * unit)
        return (self.degrees - 2 * self.nu) / unit, float(grad_tau)

    def curvature(self) -> Curvature:
        """Return what a Newton step from here needs."""
        qp = self.qp
        edges = (self.prices > 0.0).astype(float)
        return Curvature(
            edges=edges,
            counts=edges.sum(axis=1),
            vertices=2.0,
            tau=8 * qp.eta * qp.curvature,
            unit=4 * qp.eta,
            reach=2 * qp.eta * qp.trace,
        )

    def primal_value(self) -> float:
        """Return the objective at the weights of the point, scaled to the trace; O(d).

        On active edges ``C_ij = τ - ν_i - ν_j - prices_ij``, so no sum over edges is needed.
        """
        qp, total = self.qp, float(self.degrees.sum())
        if total == 0.0 and qp.trace_penalty is None:
            return np.inf
        scale = self._scale()
        cost = self.tau * total / 2 - float(self.nu @ self.degrees) - self.square / 2
        norm = self.square + float(self.degrees @ self.degrees)
        value = scale * (cost + self.base * total / 2) + qp.eta * scale**2 * norm
        if qp.trace_penalty is not None:
            value += qp.trace_penalty * (scale * total - qp.trace) ** 2
        return value

    def laplacian(self) -> Array:
        """Return the feasible Laplacian that belongs to the point."""
        scale = self._scale()
        laplacian = self.prices * -scale
        np.fill_diagonal(laplacian, self.degrees * scale)
        return laplacian

    def _scale(self) -> float:
        """Return the factor from prices to feasible weights."""
        total = float(self.degrees.sum())
        if self.qp.trace_penalty is not None or total == 0.0:
            return 1.0 / (4 * self.qp.eta)
        return self.qp.trace / total


def _evaluate(qp: LaplacianQP, gains: Array, base: float, nu: Array, tau: float) -> QuadraticPoint:
    half = tau / 2 - nu
    prices = np.add.outer(half, half)
    prices += gains
    np.maximum(prices, 0.0, out=prices)
    degrees = prices.sum(axis=1)
    square = float(np.vdot(prices, prices))
    if square == 0.0:
        # Newton learns nothing without an active edge. A warm start from a problem of another size
        # may have none; its best τ brings one in, and cannot lower the dual.
        better = best_tau(qp, gains, nu)
        if better != tau:
            return _evaluate(qp, gains, base, nu, better)
    value = -square / (16 * qp.eta) - float(nu @ nu) / (4 * qp.eta)
    value += tau * qp.trace / 2 - qp.curvature * tau**2 + base * qp.trace / 2
    return QuadraticPoint(qp, gains, base, nu, tau, prices, degrees, square, value)

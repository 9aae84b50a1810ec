"""The Laplacian QP, exactly: semismooth Newton on its dual in d + 1 unknowns.

    min ⟨M, L⟩ + η‖L‖_F²  over Laplacians of trace T

over m = d(d-1)/2 edge weights has, with ``u = Aw`` split off, the concave dual

    D(ν, τ) = -2η‖w‖² - ‖ν‖²/4η + τT/2 - κτ²,    w_ij = (τ - C_ij - ν_i - ν_j)₊ / 4η

with ``C = 𝒯*M`` and ``κ = 1/16β`` if the trace is penalised by β, else 0. ``D`` is piecewise
quadratic; its generalised Hessian is the signless Laplacian of the active edges plus a diagonal, so
a step is one Cholesky factorisation of size d (the method: Qi and Sun, Math. Program. 1993).
Every ``(ν, τ)`` gives a lower bound, and the edges never leave d × d matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from wdro_cvx.solution import relative_gap
from wdro_cvx.validation import Array

_MAX_STEPS = 200
_MAX_HALVINGS = 30
_EPS = float(np.finfo(float).eps)
_SUFFICIENT = 1e-4  # of the increase that the slope promises


@dataclass(frozen=True)
class LaplacianQP:
    """``min ⟨M, L⟩ + η‖L‖_F²`` over Laplacians of trace ``trace``.

    With ``trace_penalty`` (β) the trace is free and ``β(Tr L - trace)²`` is added.
    """

    moment: Array
    eta: float
    trace: float
    trace_penalty: float | None = None

    @property
    def curvature(self) -> float:
        """κ, the curvature that a trace penalty gives to the dual in τ."""
        return 0.0 if self.trace_penalty is None else 1.0 / (16.0 * self.trace_penalty)


@dataclass(frozen=True)
class QPSolution:
    """The answer to one Laplacian QP.

    Attributes
    ----------
    laplacian : array (d, d)
        Feasible to rounding.
    value, bound : float
        Primal value at ``laplacian`` and dual value at ``(nu, tau)``.
    nu : array (d,)
    tau : float
        The multipliers, which also warm-start a similar QP.
    steps : int
    """

    laplacian: Array
    value: float
    bound: float
    nu: Array
    tau: float
    steps: int

    @property
    def gap(self) -> float:
        """Relative gap between value and bound."""
        return relative_gap(self.value, self.bound)


@dataclass(frozen=True)
class _Point:
    """The dual at (ν, τ). ``prices`` is ``4η·w`` as a symmetric matrix."""

    nu: Array
    tau: float
    prices: Array
    degrees: Array
    square: float
    value: float


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
    diagonal = np.diagonal(qp.moment)
    gains = qp.moment + qp.moment.T  # -C, edge by edge
    gains -= diagonal[:, np.newaxis]
    gains -= diagonal[np.newaxis, :]
    np.fill_diagonal(gains, -np.inf)
    if start is None:
        nu = np.full(diagonal.size, 2.0 * qp.eta * qp.trace / diagonal.size)
        start = nu, best_tau(qp, gains, nu)
    point = _with_edges(qp, gains, _evaluate(qp, gains, *start))
    best, best_value, steps = point, _primal_value(qp, point), 0
    while relative_gap(best_value, point.value) > tol and steps < _MAX_STEPS:
        moved = _newton_step(qp, gains, point)
        if moved is None:
            break  # rounding: no increase is left
        point, steps = _with_edges(qp, gains, moved), steps + 1
        value = _primal_value(qp, point)
        if value < best_value:
            best, best_value = point, value
    laplacian = _laplacian(qp, best)
    return QPSolution(laplacian, best_value, point.value, point.nu, point.tau, steps)


def best_tau(qp: LaplacianQP, gains: Array, nu: Array) -> float:
    """Maximise the dual over τ for given ν: ``Σ(τ - s)₊ = 2ηT - 8ηκτ`` over the edges.

    Drops the edges that are inactive at the τ of those left, until none is (Michelot).
    """
    levels = -gains + nu[:, np.newaxis]
    levels += nu[np.newaxis, :]
    active = levels[np.triu_indices(nu.size, 1)]
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


def _evaluate(qp: LaplacianQP, gains: Array, nu: Array, tau: float) -> _Point:
    half = tau / 2 - nu
    prices = gains + half[:, np.newaxis]
    prices += half[np.newaxis, :]
    np.maximum(prices, 0.0, out=prices)
    degrees = prices.sum(axis=1)
    square = float(np.vdot(prices, prices))
    value = -square / (16 * qp.eta) - float(nu @ nu) / (4 * qp.eta)
    value += tau * qp.trace / 2 - qp.curvature * tau**2
    return _Point(nu, tau, prices, degrees, square, value)


def _with_edges(qp: LaplacianQP, gains: Array, point: _Point) -> _Point:
    """Return the point, with the best τ for its ν if it has no active edge.

    A warm start from a problem of another size may have none, and Newton learns nothing there.
    """
    if point.square > 0.0:
        return point
    return _evaluate(qp, gains, point.nu, best_tau(qp, gains, point.nu))


def _newton_step(qp: LaplacianQP, gains: Array, point: _Point) -> _Point | None:
    """Return the next point, or None if no step increases the dual."""
    grad_nu = point.degrees - 2 * point.nu  # both times 4η
    grad_tau = 2 * qp.eta * (qp.trace - 4 * qp.curvature * point.tau) - point.degrees.sum() / 2
    hessian = (point.prices > 0.0).astype(float)
    counts = hessian.sum(axis=1)
    np.fill_diagonal(hessian, counts + 2.0)
    factor = linalg.cho_factor(hessian, lower=True, overwrite_a=True, check_finite=False)
    sides = linalg.cho_solve(factor, np.column_stack([grad_nu, counts]), check_finite=False)
    # Eliminating ν leaves one equation for τ, singular only if no edge is active, which happens
    # with a trace penalty alone, when the empty graph is optimal.
    pivot = counts.sum() / 2 + 8 * qp.eta * qp.curvature - float(counts @ sides[:, 1])
    if pivot <= 0.0:
        pivot = 1.0
    d_tau = (grad_tau + float(counts @ sides[:, 0])) / pivot
    d_nu = sides[:, 0] + d_tau * sides[:, 1]
    slope = (float(grad_nu @ d_nu) + grad_tau * d_tau) / (4 * qp.eta)
    if slope <= _EPS * abs(point.value):
        return None  # what is left to gain is below rounding
    length = 1.0
    for _ in range(_MAX_HALVINGS):
        trial = _evaluate(qp, gains, point.nu + length * d_nu, point.tau + length * d_tau)
        if trial.value >= point.value + _SUFFICIENT * length * slope and trial.value > point.value:
            return trial
        length /= 2
    return None


def _scale(qp: LaplacianQP, point: _Point) -> float:
    """Return the factor from prices to feasible weights, zero if no edge is active."""
    total = float(point.degrees.sum())
    if qp.trace_penalty is not None or total == 0.0:
        return 1.0 / (4 * qp.eta)
    return qp.trace / total


def _primal_value(qp: LaplacianQP, point: _Point) -> float:
    """Return the objective at the weights of a dual point, scaled to the trace; O(d).

    On active edges ``C_ij = τ - ν_i - ν_j - prices_ij``, so no sum over edges is needed.
    """
    total = float(point.degrees.sum())
    if total == 0.0 and qp.trace_penalty is None:
        return np.inf
    scale = _scale(qp, point)
    cost = point.tau * total / 2 - float(point.nu @ point.degrees) - point.square / 2
    norm = point.square + float(point.degrees @ point.degrees)
    value = scale * cost + qp.eta * scale**2 * norm
    if qp.trace_penalty is not None:
        value += qp.trace_penalty * (scale * total - qp.trace) ** 2
    return value


def _laplacian(qp: LaplacianQP, point: _Point) -> Array:
    scale = _scale(qp, point)
    laplacian = point.prices * -scale
    np.fill_diagonal(laplacian, point.degrees * scale)
    return laplacian

"""The Laplacian QP on candidate edges: semismooth Newton on its dual, with sparse systems.

    D(ν, τ) = -2η‖w‖² - ‖ν‖²/4η + τT/2,    w_ij = (τ - c_ij - ν_i - ν_j)₊ / 4η   on the candidates

Minus its Hessian, times 4η, is ``[[S + 2I, -k], [-kᵀ, Σk/2]]`` with S the signless Laplacian and k
the degrees of the pairs in use. Since ``S1 = 2k``, one solve with the right-hand side 1 eliminates
τ without cancellation; both systems go to conjugate gradients, which need a few dozen steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from solvers.large.structure import Candidates
from wdro_cvx.solution import relative_gap
from wdro_cvx.validation import Array

_MAX_STEPS = 100
_MAX_CG = 500
_SUFFICIENT = 1e-4  # of the increase that the slope promises
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class SparseQP:
    """``min cᵀw + η(2‖w‖² + ‖Aw‖²)`` over ``w ≥ 0`` on the candidates with ``1ᵀw = trace/2``."""

    edges: Candidates
    costs: Array
    eta: float
    trace: float

    def best_tau(self, nu: Array) -> float:
        """Maximise the dual over τ: drop pairs that are not in use until all left are."""
        levels = self.costs + nu[self.edges.heads] + nu[self.edges.tails]
        base = float(levels.min())
        used = levels - base
        while True:
            tau = (2 * self.eta * self.trace + float(used.sum())) / used.size
            kept = used[used < tau]
            if kept.size == used.size:
                return base + tau
            used = kept


@dataclass(frozen=True, eq=False)
class Point:
    """A QP's dual at (ν, τ)."""

    qp: SparseQP
    nu: Array
    tau: float

    @cached_property
    def weights(self) -> Array:
        """The weights that belong to the multipliers."""
        edges = self.qp.edges
        prices = self.tau - self.qp.costs
        prices -= self.nu[edges.heads]
        prices -= self.nu[edges.tails]
        return np.maximum(prices, 0.0, out=prices) / (4 * self.qp.eta)

    @cached_property
    def degrees(self) -> Array:
        """The weighted degrees."""
        return self.qp.edges.degrees(self.weights)

    @cached_property
    def value(self) -> float:
        """The dual, a lower bound of the optimum over the candidates."""
        qp = self.qp
        square = 2 * qp.eta * float(self.weights @ self.weights)
        return self.tau * qp.trace / 2 - square - float(self.nu @ self.nu) / (4 * qp.eta)

    @property
    def feasible(self) -> Array:
        """The weights, scaled to the trace."""
        total = float(self.weights.sum())
        return self.weights * (self.qp.trace / (2 * total)) if total > 0.0 else self.weights

    @cached_property
    def primal(self) -> float:
        """The objective at the feasible weights."""
        total = float(self.weights.sum())
        if total == 0.0:
            return np.inf
        scale = self.qp.trace / (2 * total)
        square = 2 * float(self.weights @ self.weights) + float(self.degrees @ self.degrees)
        return scale * float(self.qp.costs @ self.weights) + self.qp.eta * scale**2 * square

    def direction(self, accuracy: float) -> tuple[Array, float, float]:
        """Return the Newton step in ν and τ, and the slope of the dual along it."""
        qp, unit = self.qp, 4 * self.qp.eta
        grad_nu = self.degrees - self.nu / (2 * qp.eta)
        grad_tau = qp.trace / 2 - float(self.weights.sum())
        used = (self.weights > 0.0).astype(float)
        counts = qp.edges.degrees(used)
        sides = np.column_stack([unit * grad_nu, np.ones_like(counts)])
        free, even = _solved(qp.edges.adjacency(used), counts + 2.0, sides, accuracy).T
        pivot = float(counts @ even)
        push = unit * grad_tau + float(counts @ free)
        d_tau = push / pivot if pivot > 0.0 else 2 * qp.eta * qp.trace
        d_nu = free + d_tau * (0.5 - even)
        return d_nu, d_tau, float(grad_nu @ d_nu) + grad_tau * d_tau


def solve_sparse_qp(
    qp: SparseQP, start: tuple[Array, float] | None = None, tol: float = 1e-10
) -> Point:
    """Climb to the relative gap ``tol``, or until rounding leaves no increase."""
    if start is None:
        nu = np.full(qp.edges.d, 2.0 * qp.eta * qp.trace / qp.edges.d)
        point = Point(qp, nu, qp.best_tau(nu))
    else:
        point = Point(qp, *start)
    for _ in range(_MAX_STEPS):
        gap = relative_gap(point.primal, point.value)
        if gap <= tol:
            break
        moved = _step(point, accuracy=min(1e-2, max(gap, 1e-8)))
        if moved is None:
            break
        point = moved
    return point


def _step(point: Point, accuracy: float) -> Point | None:
    """Return the next point, or None if no step increases the dual."""
    d_nu, d_tau, slope = point.direction(accuracy)
    if slope <= 0.0:  # the systems were solved too roughly
        d_nu, d_tau, slope = point.direction(1e-12)
    length = 1.0
    while length * slope > _EPS * abs(point.value):
        trial = Point(point.qp, point.nu + length * d_nu, point.tau + length * d_tau)
        if trial.value >= point.value + _SUFFICIENT * length * slope:
            return trial
        length /= 2
    return None


def _solved(adjacency: sparse.csr_array, diagonal: Array, sides: Array, accuracy: float) -> Array:
    """Solve ``(adjacency + diag) x = side`` by conjugate gradients, preconditioned by the diagonal.

    The scaled matrix has its eigenvalues between 2/max(diagonal) and 2.
    """
    scale = (1.0 / np.sqrt(diagonal))[:, np.newaxis]
    rest = sides * scale
    found = np.zeros_like(rest)
    along = rest.copy()
    square = np.einsum("ij,ij->j", rest, rest)
    goal = accuracy**2 * square
    for _ in range(_MAX_CG):
        if (square <= goal).all():
            break
        image = scale * (adjacency @ (scale * along)) + along
        step = square / np.maximum(np.einsum("ij,ij->j", along, image), np.finfo(float).tiny)
        found += step * along
        rest -= step * image
        previous, square = square, np.einsum("ij,ij->j", rest, rest)
        along *= square / np.maximum(previous, np.finfo(float).tiny)
        along += rest
    return found * scale

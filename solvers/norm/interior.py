"""An interior-point method for norm balls under any prior, with kinks of the norm and logarithms.

Let ``v`` be the entries of ``L``: the degrees ``u = Aw``, and every weight twice. With
``N = ‖v‖_q``, the conditions are

    c + 4βw + 2εw^{q-1}/N^{q-1} + Aᵀ(φ'(u) + εu^{q-1}/N^{q-1}) - τ1 - z + y = 0
    z(w - l) = y(h - w) = μ        1ᵀw + 2κτ = T/2

The Hessian in w is a diagonal, plus ``Aᵀ(diagonal)A``, minus a rank-one term. A step is therefore
one Cholesky factorisation of size d. The case p = 1 is in solvers/norm/peak.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from solvers.bracket.incumbent import Incumbent
from solvers.qp.minimax import Master
from wdro_cvx import GraphProblem
from wdro_cvx.ambiguity import Norm
from wdro_cvx.graphs.laplacian import adjoint, edge_index, laplacian_from_weights
from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array

_MAX_STEPS = 80
_TO_BOUNDARY = 0.98
_CENTRING = 0.1  # least centring, times the tolerance: the norm bends where weights vanish
_CLOSE = 10.0  # times the tolerance: below it every step is certified
_STUCK = 1e-8
_FREE = 1e10  # κ of a free trace


def solve_norm_ball(incumbent: Incumbent, max_iterations: int) -> None:
    """Improve the incumbent until it is solved or rounding prevents further progress.

    Do nothing unless the set is a norm ball of order 1 < p < ∞.
    """
    problem = incumbent.problem
    norm = problem.structure
    if not isinstance(norm, Norm) or incumbent.laplacian is None or incumbent.solved:
        return
    order = norm.order
    if order == 1.0 or np.isinf(order) or problem.ambiguity.radius == 0.0 or max_iterations < 1:
        return
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # ends the run
        _follow(incumbent, norm.dual_order, min(max_iterations, _MAX_STEPS))


@dataclass(frozen=True, eq=False)
class _NormModel:
    """The problem in units of its value; fixed edges are constants."""

    master: Master
    costs: Array
    radius: float
    q: float
    heads: NDArray[np.intp]
    tails: NDArray[np.intp]

    @classmethod
    def of(cls, problem: GraphProblem, master: Master, q: float) -> _NormModel:
        heads, tails = (ends[master.free] for ends in edge_index(problem.d))
        costs = adjoint(problem.nominal.second_moment)[master.free] / master.unit
        return cls(master, costs, problem.ambiguity.radius / master.unit, q, heads, tails)

    @property
    def prior(self) -> DegreePrior:
        return self.master.prior


@dataclass(frozen=True, eq=False)
class _NormPoint:
    """Weights and the multipliers of the trace and the bounds, or a step in them."""

    model: _NormModel
    w: Array
    tau: float
    z: Array
    y: Array

    @cached_property
    def room(self) -> tuple[Array, Array]:
        """The distances to both bounds; infinite if there is no upper bound."""
        return self.w - self.model.master.lower, self.model.master.upper - self.w

    @cached_property
    def degrees(self) -> Array:
        master = self.model.master
        return np.asarray(master.joins @ self.w + master.degrees)

    @cached_property
    def norm(self) -> float:
        q, master = self.model.q, self.model.master
        entries = np.concatenate([self.degrees, self.w, self.w, master.fixed, master.fixed])
        top = float(entries.max())
        return top * float(np.sum((entries / top) ** q)) ** (1.0 / q)

    @cached_property
    def products(self) -> float:
        """The sum of all complementarity products."""
        low, high = self.room
        capped = np.isfinite(high)
        return float(self.z @ low + self.y[capped] @ high[capped])

    @cached_property
    def nu(self) -> Array:
        """The multipliers of ``u = Aw``."""
        push = self.model.radius * (self.degrees / self.norm) ** (self.model.q - 1.0)
        return self.model.prior.slope(self.degrees) + push

    @cached_property
    def missed(self) -> Array:
        """The residual of stationarity without the multipliers of the bounds."""
        model = self.model
        push = 2 * model.radius * (self.w / self.norm) ** (model.q - 1.0)
        return np.asarray(
            model.costs + 4 * model.prior.beta * self.w + push + model.master.joins.T @ self.nu
            - self.tau
        )  # fmt: skip

    def moved(self, step: _NormPoint, length: float) -> _NormPoint:
        return _NormPoint(
            self.model, self.w + length * step.w, self.tau + length * step.tau,
            self.z + length * step.z, self.y + length * step.y,
        )  # fmt: skip

    def longest(self, step: _NormPoint) -> float:
        """Return the step length, at most 1, that keeps all positive variables positive."""
        low, high = self.room
        falls = np.concatenate([-step.w / low, step.w / high, -step.z / self.z])
        capped = self.y > 0.0
        falls = np.append(falls, -step.y[capped] / self.y[capped])
        worst = float(np.max(falls))
        return min(1.0, _TO_BOUNDARY / worst) if worst > 0.0 else 1.0


class _NormSystem:
    """The Newton system at a point."""

    def __init__(self, point: _NormPoint) -> None:
        model, q, norm = point.model, point.model.q, point.norm
        low, high = point.room
        bend = model.radius * (q - 1.0) / norm
        diagonal = 4 * model.prior.beta + 2 * bend * (point.w / norm) ** (q - 2.0)
        diagonal = diagonal + point.z / low + point.y / high
        springs = model.prior.bend(point.degrees) + bend * (point.degrees / norm) ** (q - 2.0)
        self.point, self.joins, self.omega = point, model.master.joins, 1.0 / diagonal
        d = springs.size
        matrix = np.zeros((d, d))
        matrix[model.tails, model.heads] = self.omega
        np.fill_diagonal(matrix, self.joins @ self.omega + 1.0 / springs)
        self.factor = scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
        aligned = 2 * (point.w / norm) ** (q - 1.0)
        aligned = aligned + self.joins.T @ (point.degrees / norm) ** (q - 1.0)
        pulled = self._without(aligned)
        left = 1.0 - bend * float(aligned @ pulled)
        self.aligned, self.pulled = aligned, bend / max(left, 1e-12) * pulled
        self.ones = self._solve(np.ones_like(point.w))

    def _without(self, right: Array) -> Array:
        """Apply the inverse of the Hessian without its rank-one term."""
        scaled = self.omega * right
        inner = scipy.linalg.cho_solve(self.factor, self.joins @ scaled, check_finite=False)
        return np.asarray(scaled - self.omega * (self.joins.T @ inner))

    def _solve(self, right: Array) -> Array:
        free = self._without(right)
        return free + float(self.aligned @ free) * self.pulled

    def direction(self, target: float, second: _NormPoint | None = None) -> _NormPoint:
        """Return the step towards complementarity products equal to ``target``."""
        point, master = self.point, self.point.model.master
        low, high = point.room
        capped = np.isfinite(high)
        aim_low = target / low - point.z
        aim_high = np.where(capped, target / high - point.y, 0.0)
        if second is not None:
            aim_low = aim_low - second.w * second.z / low
            aim_high = aim_high + np.where(capped, second.w * second.y / high, 0.0)
        right = -(point.missed - point.z + point.y) + aim_low - aim_high
        free = self._solve(right)
        missing = master.total - float(point.w.sum()) - 2 * master.curvature * point.tau
        tau = (missing - float(free.sum())) / (float(self.ones.sum()) + 2 * master.curvature)
        w = free + tau * self.ones
        return _NormPoint(
            point.model, w, tau, aim_low - point.z / low * w, aim_high + point.y / high * w
        )


def _follow(incumbent: Incumbent, q: float, max_steps: int) -> None:
    problem, master, tol = incumbent.problem, incumbent.master(), incumbent.tol
    if master.free.size == 0:
        return
    point = _start(_NormModel.of(problem, master, q))
    count = point.w.size + int(np.count_nonzero(point.y))
    for _ in range(max_steps):
        if point.products <= _CLOSE * tol:
            _certify(incumbent, point)
        incumbent.record()
        if incumbent.solved:
            return
        try:
            system = _NormSystem(point)
            first = system.direction(0.0)
            ahead = point.moved(first, point.longest(first))
            sigma = max((ahead.products / point.products) ** 3, _CENTRING * tol)
            step = system.direction(sigma * point.products / count, first)
            length = point.longest(step)
        except (scipy.linalg.LinAlgError, ValueError):  # no Cholesky factor, or NaNs
            return
        moved = point.moved(step, length)
        if not length > _STUCK or not np.isfinite(moved.products):
            return
        point = moved


def _start(model: _NormModel) -> _NormPoint:
    """Return weights as equal as the bounds allow, and multipliers of the size of the costs."""
    master = model.master
    w = master.start()
    plain = _NormPoint(model, w, 0.0, np.zeros_like(w), np.zeros_like(w))
    slope = plain.missed
    tau = 0.0 if master.curvature >= _FREE else float(slope.mean())
    low, high = plain.room
    level = 1.0 / w.size
    z = np.maximum(slope - tau, 0.0) + level / low
    y = np.where(np.isfinite(high), np.maximum(tau - slope, 0.0) + level / high, 0.0)
    return _NormPoint(model, w, tau, z, y)


def _certify(incumbent: Incumbent, point: _NormPoint) -> None:
    """Update the incumbent's value and bound from the point."""
    problem, master = incumbent.problem, point.model.master
    weights = master.fixed.copy()
    weights[master.free] = point.w
    laplacian = problem.prior.repaired(laplacian_from_weights(weights))
    worst, _ = incumbent.evaluate(laplacian)
    nu = problem.prior.slope(np.diagonal(laplacian))
    tau = 0.0 if problem.prior.trace.free else master.unit * point.tau
    incumbent.evaluate(incumbent.bound_by(worst, (nu, tau)).laplacian)

"""Solve the problem of a few worst cases by interior-point steps in weights and shares (saddle.py).

    min t + 2β‖w‖² + Σ φ(u)    s.t.  ⟨M_k, L⟩ ≤ t for every worst case,  l ≤ w ≤ h,  1ᵀw = T/2

It is a saddle problem with the costs ``Z_k = 𝒯*M_k`` and no divergence limit on the shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from solvers.qp.saddle import SaddlePoint, advance, residual
from solvers.qp.saddle_model import CostTable, SaddleModel, incidence_of
from wdro_cvx.graphs.laplacian import edge_index, incidence
from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array

_MAX_STEPS = 60
_STUCK = 1e-8  # a shorter step ends the run
_FREE = 1e10  # κ of a free trace


class Mixture(NamedTuple):
    """Weights of all edges, shares of the worst cases, multipliers ν and τ."""

    weights: Array
    shares: Array
    nu: Array
    tau: float


@dataclass(frozen=True, eq=False)
class Master:
    """The part of the problem independent of the worst cases; edges with equal bounds are fixed."""

    prior: DegreePrior
    curvature: float
    total: float  # of the free weights
    typical: float  # estimated total of the free weights, if the trace is not fixed
    lower: Array
    upper: Array
    free: NDArray[np.intp]
    fixed: Array  # the weights of all edges, 0 on the free ones
    joins: Array | scipy.sparse.csr_array  # the columns of A for the free edges
    degrees: Array  # contribution of the fixed weights
    unit: float  # of the objective

    @classmethod
    def of(cls, d: int, prior: DegreePrior, unit: float, trace: float) -> Master:
        """Return the master problem for graphs with d vertices.

        ``unit`` is the size of its value, ``trace`` the trace of a graph near its optimum.
        """
        m = d * (d - 1) // 2
        lower, upper = np.zeros(m), np.full(m, np.inf)
        if prior.bounds is not None:
            lower, upper = prior.bounds.lower, prior.bounds.upper
        free = np.flatnonzero(upper > lower)
        fixed = np.where(upper > lower, 0.0, lower)
        joins = incidence(d)
        rule = prior.trace
        return cls(
            prior=prior.scaled(1.0 / unit),
            curvature=_FREE if rule.free else rule.curvature * unit,
            total=0.0 if rule.free else rule.target / 2 - float(fixed.sum()),
            typical=max(trace / 2 - float(fixed.sum()), 1e-3 * trace),
            lower=lower[free],
            upper=upper[free],
            free=free,
            fixed=fixed,
            joins=incidence_of(d, free),
            degrees=np.asarray(joins @ fixed),
            unit=unit,
        )

    def start(self) -> Array:
        """Return free weights strictly inside the bounds and as equal as these allow."""
        spare = max(self.typical - float(self.lower.sum()), 1e-3 * self.typical)
        return self.lower + np.minimum(spare / self.free.size, (self.upper - self.lower) / 2)

    def mix(self, costs: Array, accuracy: float) -> Mixture:
        """Solve the problem of the worst cases with the costs ``Z`` (K, m).

        Stop when complementarity and residuals are at most ``accuracy`` times the unit. With a low
        accuracy the answer is central: far from the corners that a few worst cases create.
        """
        model = self._model(costs)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # ends the run, below
            point = _followed(model, self._first(model), accuracy)
        total = float(point.q.sum())
        shares = point.q / total if 0.0 < total < np.inf else model.ball.shares
        return Mixture(model.weights(point.x), shares, *model.multipliers(point.x, point.tau))

    def _model(self, costs: Array) -> SaddleModel:
        """Return the saddle problem of the worst cases, in units of the objective."""
        lower = self.fixed.copy()
        lower[self.free] = self.lower
        ends = (ends[self.free] for ends in edge_index(self.joins.shape[0]))
        return SaddleModel(
            ball=_AllShares(len(costs)),
            prior=self.prior,
            total=self.total - float(self.lower.sum()),
            softness=2 * self.curvature,
            spread=CostTable(costs[:, self.free] / self.unit, *ends),
            incidence=self.joins,
            free=self.free,
            width=self.upper - self.lower,
            lower=lower,
            losses=costs @ lower / self.unit,
            degrees=self.degrees + self.joins @ self.lower,
            scale=1.0,
            price=self.unit,
        )

    def _first(self, model: SaddleModel) -> SaddlePoint:
        """Return equal shares, and weights inside the bounds and as equal as these allow."""
        x, q = self.start() - self.lower, model.ball.shares
        levels, slope = model.risks(x), model.pull(x, q)
        # The slack of t above the levels: a tenth of their spread, or 1e-3 of the objective.
        apart = max(0.1 * float(np.ptp(levels)), 1e-3, 1e-9 * float(np.abs(levels).max()))
        top, tau = float(levels.max()) + apart, float(slope.mean())
        capped = np.isfinite(model.width)
        room, target = (model.width - x)[capped], 1.0 / (q.size + x.size)
        return SaddlePoint.of(
            (x, np.maximum(slope - tau, 0.0) + target / x),
            (room, np.maximum(tau - slope, 0.0)[capped] + target / room),
            (q, top - levels), (1.0, target), tau, top,
        )  # fmt: skip


@dataclass(frozen=True)
class _AllShares:
    """The whole simplex of shares, as a ball whose divergence is zero everywhere."""

    count: int
    radius: float = 1.0

    @property
    def shares(self) -> Array:
        return np.full(self.count, 1.0 / self.count)

    @property
    def most(self) -> Array:
        return np.full(self.count, np.inf)

    def divergence(self, shares: Array) -> float:
        return 0.0

    def slope(self, shares: Array) -> Array:
        return np.zeros(shares.size)

    bend = slope


def _followed(model: SaddleModel, point: SaddlePoint, accuracy: float) -> SaddlePoint:
    """Follow the path to the given accuracy, or until rounding prevents further progress."""
    for _ in range(_MAX_STEPS):
        if _error(model, point) <= accuracy:
            break
        try:
            moved, length = advance(model, point)
        except (scipy.linalg.LinAlgError, ValueError):  # no Cholesky factor, or NaNs
            break
        if not length > _STUCK or not np.isfinite(_error(model, moved)):
            break
        point = moved
    return point


def _error(model: SaddleModel, point: SaddlePoint) -> float:
    """Return the larger of complementarity and the effect of the residuals on the objective."""
    miss = residual(model, point)
    off = abs(float(miss.edges @ point.x)) + abs(miss.total * point.tau)
    off += abs(miss.mass * point.theta)
    return max(point.complementarity, off, float(np.abs(miss.cases).max()))

"""The central path of the likelihood solver, for kinks that its active sets do not resolve.

Logarithms of the distances to the bounds keep all weights strictly inside. Their weight μ is also
that of the risk's barrier. At a centre no edge has a positive price and the gap is about
``μ(d + m)``, so μ falls until the gap is small enough. Each step factors the Hessian on all free
edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from solvers.likelihood.hessian import between, prior_matrix
from solvers.likelihood.model import Model, Point
from solvers.likelihood.risks import BarrierRisk
from wdro_cvx.validation import Array

MOST_EDGES = 2000  # a factorisation with more takes too long
_MIX = 0.1  # share of the middle in the first point
_INSIDE = 0.95  # share of the way to the nearest bound
_FALL = 8.0
_CENTRED = 2.0  # times the gap of the centre: a gap at which μ falls
_ROUNDING = 1e-8  # squared Newton decrement, relative to μ, at which rounding ends progress
_SHORTEST = 1e-8
_DECREASE = 1e-4


def central_path(point: Point, first: float, last: Callable[[Point], float]) -> Iterator[Point]:
    """Yield points along the path; the barrier's weight falls from ``first`` to ``last(point)``.

    The first point may be any point of the model. Its value can be far above the optimum, so the
    least weight is computed again at every centre.
    """
    walls = _Walls.of(point.model)
    mu, weights, edges = first, walls.inside(point.weights), walls.free.size
    while True:
        model = _with_barrier(point.model, mu)
        here = model.at(weights)
        if here is None:
            return
        for _ in range(50):
            moved, size = _newton(here, walls, mu)
            if moved is None:
                break
            here = moved
            yield here
            near = here.above - here.bound().value <= _CENTRED * mu * (len(here.degrees) + edges)
            if near or size <= _ROUNDING * mu:
                break
        if mu <= last(here):
            return
        mu, weights = mu / _FALL, here.weights


def _with_barrier(model: Model, mu: float) -> Model:
    risk = model.risk
    return replace(model, risk=replace(risk, mu=mu)) if isinstance(risk, BarrierRisk) else model


@dataclass(frozen=True, eq=False)
class _Walls:
    """The edges whose weights can change, and their bounds."""

    free: NDArray[np.intp]
    lower: Array
    upper: Array
    total: float | None
    scale: float

    @classmethod
    def of(cls, model: Model) -> _Walls:
        free = np.flatnonzero(model.lower < model.upper)
        rule, total = model.prior.trace, None
        if rule.fixed:
            fixed = float(model.lower.sum()) - float(model.lower[free].sum())
            total = rule.target / 2 - fixed
        scale = model.prior.trace.target or float(model.d)
        return cls(free, model.lower[free], model.upper[free], total, scale)

    def inside(self, weights: Array) -> Array:
        """Return weights strictly between the bounds, close to the given ones."""
        own = np.clip(weights[self.free], self.lower, self.upper)
        mean = max(float(own.mean()), 1e-12 * self.scale)
        reach = np.minimum(self.upper - self.lower, 2 * mean)
        share = 0.5
        if self.total is not None:
            reach = np.minimum(self.upper - self.lower, 2 * self.total)
            share = (self.total - float(self.lower.sum())) / float(reach.sum())
        moved = weights.copy()
        moved[self.free] = (1 - _MIX) * own + _MIX * (self.lower + share * reach)
        return moved

    def cost(self, weights: Array) -> float:
        """Return minus the sum of the logarithms of the distances to the bounds."""
        own, limited = weights[self.free], np.isfinite(self.upper)
        space = own - self.lower
        room = (self.upper - own)[limited]
        if not (space.min() > 0.0 and (room.size == 0 or room.min() > 0.0)):
            return np.inf
        return -float(np.log(space).sum()) - float(np.log(room).sum())


def _newton(point: Point, walls: _Walls, mu: float) -> tuple[Point | None, float]:
    """Return the next point, or None, and the squared Newton decrement."""
    model, free = point.model, walls.free
    own = point.weights[free]
    space, room = own - walls.lower, walls.upper - own
    gradient = point.gradient[free] - mu / space + mu / room
    matrix = _hessian(point, free)
    matrix.flat[:: free.size + 1] += mu / space**2 + mu / room**2
    scale = 1.0 / np.sqrt(np.diagonal(matrix))
    matrix *= np.multiply.outer(scale, scale)
    matrix.flat[:: free.size + 1] += 1e-14
    factor, failed = scipy.linalg.lapack.dpotrf(matrix, lower=True, overwrite_a=True)
    if failed:
        return None, np.inf

    def solved(side: Array) -> Array:
        found, _ = scipy.linalg.lapack.dpotrs(factor, side * scale, lower=True)
        return np.asarray(found * scale)

    step = -solved(gradient)
    if walls.total is not None:
        level = solved(np.ones_like(own))
        lacking = walls.total - float(own.sum())
        step += (lacking - float(step.sum())) / float(level.sum()) * level
    size = -float(gradient @ step)
    falls, rises = step < 0.0, step > 0.0
    length = 1.0
    if falls.any():
        length = min(length, _INSIDE * float(np.min(-space[falls] / step[falls])))
    if rises.any():
        length = min(length, _INSIDE * float(np.min(room[rises] / step[rises])))
    value = point.value + mu * walls.cost(point.weights)
    while length >= _SHORTEST:
        weights = point.weights.copy()
        weights[free] = own + length * step
        tried = model.at(weights)
        if tried is not None:
            gain = value - (tried.value + mu * walls.cost(weights))
            # Close to a centre rounding hides the gain.
            if gain >= _DECREASE * length * size or abs(size) <= 1e-12 * abs(value):
                return tried, size
        length /= 2.0
    return None, size


def _hessian(point: Point, free: NDArray[np.intp]) -> Array:
    model = point.model
    heads, tails = (ends[free] for ends in model.ends)
    matrix = model.alpha * np.square(between(point.inverse, heads, tails))
    if point.risk.curvature is not None:
        inverse, half, slope, bend = point.risk.curvature
        matrix += 2 * between(inverse, heads, tails) * between(half, heads, tails)
        own = np.diagonal(slope)
        line = own[heads] + own[tails] - 2 * slope[heads, tails]
        matrix -= np.multiply.outer(line, line / bend)
    return np.asarray(matrix + prior_matrix(point, heads, tails))

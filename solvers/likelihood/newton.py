"""A projected Newton step on the edge weights, by preconditioned conjugate gradients.

The step is taken on the edges that are free: those between their bounds, and the most promising of
those at a bound (Bertsekas, SIAM J. Control Optim. 1982). Weights that would leave their bounds are
fixed there, and the conjugate gradients continue with the rest. The Hessian ``α(b_eᵀPb_f)²`` is
stored if few edges are free; otherwise a product with it takes a few d × d matrix products. Both
are in single precision, which is more accurate than the step needs to be.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from solvers.control.deadline import tick
from solvers.likelihood.hessian import between, prior_matrix
from solvers.likelihood.model import Point
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.graphs.exact_sums import project_interval
from wdro_cvx.graphs.laplacian import adjoint
from wdro_cvx.validation import Array

_ENTERING = 2  # times d: the most edges that become free in one step
_PRODUCTS = 60  # conjugate-gradient products per round
_ROUNDS = 12  # in which weights are fixed at their bounds
_STORED = 400  # free edges up to which storing the Hessian is faster
_LARGE, _THIN = 300, 10  # vertices, and free edges each, for which sparse products are faster
_FACTORED = 300  # free edges up to which the Hessian of a barrier is factored
_LIGHT = 0.5  # share of squared degrees in the preconditioner that is worth a factorisation
_RIDGE = 1e-13  # relative to the diagonal
_SHORTEST = 1e-9
_DECREASE = 1e-4
# The largest factor by which a step may raise a diagonal entry of the inverse. A step that nearly
# cuts off some vertices can lower the value, but no later step would lead away from such a graph.
_LOOSER = 20.0


def newton_step(point: Point, accuracy: float) -> Point | None:
    """Return a better point, or None if rounding prevents progress."""
    model = point.model
    rule, gradient = model.prior.trace, point.gradient
    weights, lower, upper = point.weights, model.lower, model.upper
    if rule.fixed:
        inside = weights - lower
        gradient = gradient - float(gradient @ inside) / max(float(inside.sum()), 1e-300)
    free = _free(weights, gradient, lower, upper, model.d)
    if free.size == 0:
        return None
    system = _System.of(point, free)
    for tighter in (1.0, 1e-2, 1e-4):  # a rough step need not descend once weights are fixed
        step = _solve(system, -gradient[free], tighter * accuracy)
        target = np.clip(weights[free] + step, lower[free], upper[free])
        if rule.fixed:
            total = rule.target / 2 - (float(weights.sum()) - float(weights[free].sum()))
            target = project_interval(target, lower[free], upper[free], total)
        found = _search(point, free, target - weights[free])
        if found is not None:
            return found
    return None


def _search(point: Point, free: NDArray[np.intp], change: Array) -> Point | None:
    """Return a better point along a change of the free weights, or None if there is none."""
    model, weights = point.model, point.weights
    lower, upper = model.lower, model.upper
    slope, length = float(point.gradient[free] @ change), 1.0
    if not slope < 0.0:
        return None
    while length >= _SHORTEST:
        tick()
        moved = weights.copy()
        moved[free] = np.clip(weights[free] + length * change, lower[free], upper[free])
        tried = model.at(moved)
        if (
            tried is not None
            and tried.value <= point.value + _DECREASE * length * slope
            and _still_connected(tried, point)
        ):
            return tried if tried.value < point.value else None
        length /= 2.0
    return None


def _still_connected(tried: Point, point: Point) -> bool:
    """Say whether no vertex is much closer to being cut off than before."""
    before, after = np.diagonal(point.inverse), np.diagonal(tried.inverse)
    return bool((after <= _LOOSER * before).all())


def _free(weights: Array, gradient: Array, lower: Array, upper: Array, d: int) -> NDArray[np.intp]:
    """Return the edges between their bounds, and the most promising of the others."""
    inside = (weights > lower) & (weights < upper)
    gains = np.where(weights <= lower, -gradient, gradient)
    gains[inside | (lower >= upper)] = 0.0
    entering = np.flatnonzero(gains > 0.0)
    if entering.size > _ENTERING * d:
        best = np.argpartition(-gains[entering], _ENTERING * d)[: _ENTERING * d]
        entering = entering[best]
    return np.sort(np.concatenate([np.flatnonzero(inside), entering]))


@dataclass(frozen=True, eq=False)
class _System:
    """The Hessian on the free edges, and a preconditioner."""

    point: Point
    heads: NDArray[np.intp]
    tails: NDArray[np.intp]
    space: Array  # how far each weight may fall
    room: Array  # how far it may rise
    diagonal: Array
    inverse: NDArray[np.float32]
    barrier: tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], float] | None
    hessian: NDArray[np.float32] | None
    exact: Array | None

    @classmethod
    def of(cls, point: Point, free: NDArray[np.intp]) -> _System:
        model = point.model
        heads, tails = (ends[free] for ends in model.ends)
        diagonal = model.alpha * point.resistances[free] ** 2 + 4 * model.prior.beta
        barrier = None
        if point.risk.curvature is not None:
            inverse, half, slope, bend = point.risk.curvature
            across = [adjoint(matrix)[free] for matrix in (inverse, half, slope)]
            diagonal = diagonal + np.maximum(2 * across[0] * across[1] - across[2] ** 2 / bend, 0.0)
            single = [np.asarray(matrix, np.float32) for matrix in (inverse, half, slope)]
            barrier = (single[0], single[1], single[2], bend)
        weights, single_inverse = point.weights[free], np.asarray(point.inverse, np.float32)
        hessian, exact = None, None
        if point.risk.curvature is not None and free.size <= _FACTORED:
            exact = model.alpha * np.square(between(point.inverse, heads, tails))
            exact += 2 * between(inverse, heads, tails) * between(half, heads, tails)
            exact -= np.multiply.outer(across[2], across[2] / bend)
            exact += prior_matrix(point, heads, tails)
        elif free.size <= _STORED:
            hessian = model.alpha * np.square(between(single_inverse, heads, tails))
            if barrier is not None:
                around = (between(matrix, heads, tails) for matrix in barrier[:2])
                hessian += 2 * next(around) * next(around)
                line = (across[2] / np.sqrt(bend)).astype(np.float32)
                hessian -= np.multiply.outer(line, line)
            hessian += prior_matrix(point, heads, tails, np.float32)
        return cls(
            point, heads, tails, weights - model.lower[free], model.upper[free] - weights,
            diagonal, single_inverse, barrier, hessian, exact,
        )  # fmt: skip

    def product(self, step: Array) -> Array:
        """Return the Hessian times a step."""
        prior, rule = self.point.model.prior, self.point.model.prior.trace
        if self.exact is not None:
            return np.asarray(self.exact @ step)
        if self.hessian is not None:
            size = float(np.abs(step).max()) or 1.0
            return np.asarray(self.hessian @ (step / size).astype(np.float32), float) * size
        size, flow = float(np.abs(step).max()) or 1.0, self._flow(step)
        found = size * self._smooth(step / size, flow / size)
        if prior.beta > 0.0:
            found += 4 * prior.beta * step
            flow *= 2 * prior.kappa
            found += flow[self.heads] + flow[self.tails]
        if not rule.fixed and not rule.free:
            found += 8 * rule.stiffness * float(step.sum())
        return found

    def _flow(self, step: Array) -> Array:
        """Return the change of the degrees."""
        d = self.point.degrees.size
        return np.asarray(
            np.bincount(self.heads, step, d) + np.bincount(self.tails, step, d), float
        )

    def _smooth(self, step: Array, flow: Array) -> Array:
        """Return the Hessian of risk and log-determinant times a step of ordinary size."""
        d = self.point.degrees.size
        if self.barrier is None and d >= _LARGE and self.heads.size <= _THIN * d:
            heads, tails = self.heads.astype(np.int32), self.tails.astype(np.int32)
            change = EdgeList(d, heads, tails, step).laplacian().astype(np.float32)
            image = change @ self.inverse
            return self._across(self.inverse @ image) * self.point.model.alpha
        matrix = np.zeros((d, d), np.float32)
        below, above = self._places
        entries = matrix.ravel()  # a view; one index is faster than two
        entries[below] = entries[above] = -step
        entries[:: d + 1] = flow
        found = self._across(self.inverse @ matrix @ self.inverse, symmetric=True)
        found *= self.point.model.alpha
        if self.barrier is not None:
            inverse, half, slope, bend = self.barrier
            found += 2 * self._across(inverse @ matrix @ half)
            found -= float(np.vdot(slope, matrix)) / bend * self._across(slope)
        return found

    @cached_property
    def _places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The places of the free edges in a matrix that is stored as a vector."""
        d = self.point.degrees.size
        return self.heads * d + self.tails, self.tails * d + self.heads

    def _across(self, matrix: NDArray[Any], symmetric: bool = False) -> Array:
        """Return 𝒯* of the symmetric part of a matrix on the free edges."""
        own = np.diagonal(matrix).astype(float)
        below, above = self._places
        entries = matrix.ravel()
        both = entries[below].astype(float)
        both += both if symmetric else entries[above]
        return np.asarray(own[self.heads] + own[self.tails] - both)

    def preconditioner(self, free: NDArray[np.bool_]) -> _Preconditioner:
        """Return the inverse of ``D + 2κAᵀA`` on some edges, or of the exact Hessian on these."""
        if self.exact is not None:
            some = np.flatnonzero(free)
            part = self.exact[np.ix_(some, some)]
            part.flat[:: some.size + 1] *= 1.0 + _RIDGE
            factor, failed = scipy.linalg.lapack.dpotrf(part, lower=True, overwrite_a=True)
            if not failed:
                return _Preconditioner(self, free.astype(float), factor, some)
        d, kappa = self.point.degrees.size, self.point.model.prior.kappa
        shares = np.where(free, 1.0 / self.diagonal, 0.0)
        factor = None
        # Where squared degrees weigh little, the diagonal is enough.
        if kappa > 0.0 and 2 * kappa * float(self._flow(shares).max()) > _LIGHT:
            matrix = np.zeros((d, d))
            matrix[self.heads, self.tails] = matrix[self.tails, self.heads] = shares
            own = matrix.sum(axis=1) + 1.0 / (2 * kappa)
            matrix.flat[:: d + 1] = own
            factor, _ = scipy.linalg.lapack.dpotrf(matrix, lower=True, overwrite_a=True)
        return _Preconditioner(self, shares, factor, None)


@dataclass(frozen=True, eq=False)
class _Preconditioner:
    """``(D + 2κAᵀA)⁻¹`` by Woodbury's formula, projected to zero sums if the trace is fixed.

    If ``some`` edges are given, the factor is that of the exact Hessian on these.
    """

    system: _System
    shares: Array
    factor: Array | None
    some: NDArray[np.intp] | None

    def __call__(self, residual: Array) -> Array:
        found = self.plain(residual)
        if self.system.point.model.prior.trace.fixed:
            found = found - float(found.sum()) / float(self.level.sum()) * self.level
        return found

    @cached_property
    def level(self) -> Array:
        """The image of the constant step."""
        return self.plain(np.ones_like(self.shares))

    def plain(self, residual: Array) -> Array:
        """Return the inverse without the projection."""
        if self.some is not None:
            step = np.zeros_like(residual)
            step[self.some], _ = scipy.linalg.lapack.dpotrs(
                self.factor, residual[self.some], lower=True
            )
            return step
        found = self.shares * residual
        if self.factor is None:
            return found
        heads, tails, d = self.system.heads, self.system.tails, len(self.factor)
        sums = np.bincount(heads, found, d) + np.bincount(tails, found, d)
        moved, _ = scipy.linalg.lapack.dpotrs(self.factor, sums, lower=True)
        return np.asarray(found - self.shares * (moved[heads] + moved[tails]))


def _solve(system: _System, side: Array, accuracy: float) -> Array:
    """Return the Newton step within the bounds, up to a relative ``accuracy``."""
    fixed_trace = system.point.model.prior.trace.fixed
    step, free = np.zeros_like(side), np.ones(side.size, bool)
    residual = side.copy()
    first = None
    for _ in range(_ROUNDS):
        ahead = system.preconditioner(free)
        if fixed_trace and abs(lacking := -float(step.sum())) > 0.0:
            level = ahead.level
            if not level.sum() > 0.0:
                break
            step += lacking / float(level.sum()) * level
            residual = side - system.product(step)
        gradient = ahead(np.where(free, residual, 0.0))
        size = float(residual @ gradient)
        first = size if first is None else first
        direction = gradient
        for _ in range(_PRODUCTS):
            if not size > accuracy**2 * first:
                break
            tick()
            image = system.product(direction)
            bend = float(direction @ image)
            if not bend > 0.0:
                break
            step += size / bend * direction
            residual -= size / bend * image
            gradient = ahead(np.where(free, residual, 0.0))
            new = float(residual @ gradient)
            direction, size = gradient + new / size * direction, new
        crossed = free & ((step < -system.space) | (step > system.room))
        if not crossed.any():
            break
        step = np.clip(step, -system.space, system.room)
        free &= ~crossed
        if not free.any():
            break
        residual = side - system.product(step)
    return step

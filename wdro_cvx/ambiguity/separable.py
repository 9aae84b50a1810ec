"""Maximise a linear function under a few separable convex constraints, by an interior point.

    max aᵀv    s.t.  Σ φ_k(v_i) ≤ ε_k for every k,    0 ≤ v ≤ cap,    Σ v = mass (optional)

This is the worst case of an intersection of sets. The Newton system is diagonal, bordered by one
row per constraint, so a step costs a few passes over v. Usually some dozens of steps suffice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wdro_cvx.validation import Array

_MAX_STEPS = 100
_SMALL = 1e-13  # complementarity at which to stop, relative to the value
_CLOSE, _STALL = 1e-9, 0.5  # below _CLOSE, a gap that falls by less than this share is rounding
_BOUNDARY = 0.99  # share of the way to the boundary
_SHORTEST = 1e-8  # a shorter step ends the search

#: Returns φ, φ′ and φ″ of every number; of φ only the sum counts.
Terms = Callable[[Array], tuple[Array, Array, Array]]


@dataclass(frozen=True)
class Constraint:
    """``Σ φ(v_i) ≤ limit``."""

    terms: Terms
    limit: float


@dataclass(frozen=True, eq=False)
class LargestPoint:
    """A point that nearly attains the maximum, and an upper bound of the maximum."""

    point: Array
    ceiling: float


@dataclass(frozen=True, eq=False)
class _Point:
    """``v``, its distance from the cap, the slacks of the constraints, and their multipliers."""

    v: Array
    spare: Array
    slack: Array
    low: Array
    high: Array
    multipliers: Array
    theta: Array  # of the mass; empty if there is none

    @property
    def pairs(self) -> tuple[Array, Array]:
        """The positive variables and their multipliers."""
        return (
            np.concatenate([self.v, self.spare, self.slack]),
            np.concatenate([self.low, self.high, self.multipliers]),
        )

    def moved(self, step: _Point, length: float) -> _Point:
        """Return the point at a multiple of a step."""
        return _Point(*(a + length * b for a, b in zip(_parts(self), _parts(step), strict=True)))


def _parts(point: _Point) -> tuple[Array, ...]:
    return point.v, point.spare, point.slack, point.low, point.high, point.multipliers, point.theta


def maximise_linear(
    gains: Array, constraints: list[Constraint], cap: float, mass: float | None, start: float
) -> LargestPoint:
    """Return a point that nearly attains the maximum, and an upper bound of the maximum.

    ``start`` is a number that all ``v_i`` may have at once, strictly within all constraints.
    """
    unit = float(np.abs(gains).max()) * start * gains.size
    if unit == 0.0:
        return LargestPoint(np.full(gains.size, start), 0.0)
    problem = _Problem(gains / unit, constraints, cap, mass)
    point, ceiling, before = problem.first(start), np.inf, np.inf
    for _ in range(_MAX_STEPS):
        system = _System(problem, point)
        ceiling = min(ceiling, system.ceiling())
        ours, theirs = point.pairs
        products = ours * theirs
        gap, stalled = float(products.sum()), _STALL * before
        if not gap > _SMALL or (stalled < gap < _CLOSE):
            break
        before = gap
        try:
            affine = system.direction(-products)
            ahead = np.multiply(*point.moved(affine, _longest(point, affine)).pairs).sum()
            centring = max(float(ahead) / gap, 0.0) ** 3
            second = np.multiply(*affine.pairs)
            step = system.direction(centring * products.mean() - products - second)
        except np.linalg.LinAlgError:
            break
        length = min(1.0, _BOUNDARY * _longest(point, step))
        following = point.moved(step, length)
        if not length > _SHORTEST or not np.isfinite(following.v).all():
            break
        point = following
    return LargestPoint(point.v, ceiling * unit)


@dataclass(frozen=True, eq=False)
class _Problem:
    gains: Array
    constraints: list[Constraint]
    cap: float
    mass: float | None

    def first(self, start: float) -> _Point:
        """Return the point with equal ``v_i``, and multipliers that make all products equal."""
        n = self.gains.size
        v, spare = np.full(n, start), np.full(n, self.cap - start)
        slack = np.array([one.limit - float(np.sum(one.terms(v)[0])) for one in self.constraints])
        kappa = 1.0 / (2 * n + slack.size)
        theta = np.zeros(0 if self.mass is None else 1)
        return _Point(v, spare, slack, kappa / v, kappa / spare, kappa / slack, theta)


class _System:
    """The Newton system at a point: diagonal in v, bordered by the constraints and the mass."""

    def __init__(self, problem: _Problem, point: _Point) -> None:
        self.problem, self.point = problem, point
        n, found = point.v.size, [one.terms(point.v) for one in problem.constraints]
        limits = np.array([one.limit for one in problem.constraints])
        self.left = limits - np.array([float(np.sum(values)) for values, _, _ in found])
        self.slopes = np.array([slope for _, slope, _ in found]).reshape(-1, n)
        bends = np.array([bend for _, _, bend in found]).reshape(-1, n)
        self.pull = point.multipliers @ self.slopes
        self.diagonal = point.multipliers @ bends + point.low / point.v + point.high / point.spare
        self.border = np.vstack([self.slopes, np.ones((point.theta.size, n))])
        corner = np.concatenate([point.slack / point.multipliers, np.zeros(point.theta.size)])
        self.small = (self.border / self.diagonal) @ self.border.T + np.diag(corner)

    def direction(self, goal: Array) -> _Point:
        """Return the step to zero residuals that changes the products by ``goal``."""
        at, mass = self.point, self.problem.mass
        for_v, for_spare, for_slack = np.split(goal, [at.v.size, 2 * at.v.size])
        stationary = self.pull - self.problem.gains - at.low + at.high + at.theta.sum()
        right = for_v / at.v - for_spare / at.spare - stationary
        missed = at.slack - self.left + for_slack / at.multipliers
        if mass is not None:
            missed = np.append(missed, at.v.sum() - mass)
        duals = np.linalg.solve(self.small, self.border @ (right / self.diagonal) + missed)
        dv = (right - duals @ self.border) / self.diagonal
        multipliers, theta = np.split(duals, [at.slack.size])
        return _Point(
            dv,
            -dv,
            (for_slack - at.slack * multipliers) / at.multipliers,
            (for_v - at.low * dv) / at.v,
            (for_spare + at.high * dv) / at.spare,
            multipliers,
            theta,
        )

    def ceiling(self) -> float:
        """Return an upper bound of the maximum, for any point and any multipliers.

        The constraints lie above their tangents at v, so with ``g = a - Σλφ′(v)`` the maximum is at
        most ``Σλ(ε - φ(v) + φ′(v)ᵀv)`` plus the maximum of ``gᵀu`` over all u that satisfy the cap
        and the mass.
        """
        at, cap, mass = self.point, self.problem.cap, self.problem.mass
        g = self.problem.gains - self.pull
        constant = float(at.multipliers @ self.left) + float(self.pull @ at.v)
        if mass is None:
            return constant + cap * float(np.maximum(g, 0.0).sum())
        filled = np.clip(mass - cap * np.arange(g.size), 0.0, cap)
        return constant + float(np.sort(g)[::-1] @ filled)


def _longest(point: _Point, step: _Point) -> float:
    """Return the longest multiple of a step, up to 1, that keeps everything positive."""
    now, then = np.concatenate(point.pairs), np.concatenate(step.pairs)
    falls = then < 0.0
    return min(1.0, float(np.min(now[falls] / -then[falls]))) if falls.any() else 1.0

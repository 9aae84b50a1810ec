"""Maximise a linear function under a few separable convex constraints, by an interior point.

    max aᵀv    s.t.  Σ φ_k(v_i) ≤ ε_k for every k,    0 ≤ v ≤ cap,    Σ v = mass (optional)

This is the worst case of an intersection of sets. The Newton system is diagonal, bordered by one
row per constraint, so a step costs a few passes over v. Fifteen to thirty steps are usual.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wdro_cvx.validation import Array

_MAX_STEPS = 100
_SMALL = 1e-13  # complementarity at which to stop, relative to the value
_BOUNDARY = 0.99

#: Returns φ, φ′ and φ″ of every number.
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


def maximise_linear(
    gains: Array, constraints: list[Constraint], cap: float, mass: float | None, start: float
) -> LargestPoint:
    """Return the maximum; ``start`` is a number that every ``v_i`` may have, strictly inside."""
    n = gains.size
    unit = float(np.abs(gains).max()) * start * n
    a = gains / unit if unit > 0.0 else gains
    limits = np.array([constraint.limit for constraint in constraints])
    capped, held = np.isfinite(cap), mass is not None
    v = np.full(n, start)
    spare = np.full(n, cap - start) if capped else np.ones(n)
    values, _, _ = _terms(constraints, v)
    slack = limits - values
    pairs = 2 * n if capped else n
    kappa = 1.0 / (pairs + slack.size)
    r, over = kappa / v, (kappa / spare if capped else np.zeros(n))
    multipliers, theta = kappa / slack, 0.0
    ceiling = np.inf
    for _ in range(_MAX_STEPS):
        values, slopes, bends = _terms(constraints, v)
        ceiling = min(ceiling, _ceiling(a, v, multipliers, limits - values, slopes, cap, mass))
        gap = float(v @ r + (spare @ over if capped else 0.0) + slack @ multipliers)
        if gap <= _SMALL or not np.isfinite(gap):
            break
        mu = gap / (pairs + slack.size)
        diagonal = multipliers @ bends + r / v + (over / spare if capped else 0.0)
        border = np.vstack([slopes, np.ones((1, n))]) if held else slopes
        corner = np.zeros((len(border), len(border)))
        corner[np.arange(slack.size), np.arange(slack.size)] = slack / multipliers
        system = (border / diagonal) @ border.T + corner
        missed = np.append(values + slack - limits, [v.sum() - mass] if held else [])
        stationary = multipliers @ slopes - a - r + over + theta

        def step(target: float, second: tuple[Array, ...] | None) -> tuple[Array, ...]:
            for_v = target - v * r
            for_spare = target - spare * over if capped else np.zeros(n)
            for_slack = target - slack * multipliers
            if second is not None:
                for_v = for_v - second[0] * second[3]
                for_spare = for_spare + (second[0] * second[4] if capped else 0.0)
                for_slack = for_slack - second[1] * second[2]
            right = for_v / v - stationary - (for_spare / spare if capped else 0.0)
            rest = missed.copy()
            rest[: slack.size] += for_slack / multipliers
            duals = np.linalg.solve(system, border @ (right / diagonal) + rest)
            dv = (right - duals @ border) / diagonal
            d_multipliers = duals[: slack.size]
            d_slack = (for_slack - slack * d_multipliers) / multipliers
            d_over = (for_spare + over * dv) / spare if capped else np.zeros(n)
            extra = duals[slack.size :]
            return dv, d_slack, d_multipliers, (for_v - r * dv) / v, d_over, extra

        try:
            first = step(0.0, None)
            length = _longest(v, spare, slack, multipliers, r, over, first, capped)
            ahead = (v + length * first[0]) @ (r + length * first[3])
            if capped:
                ahead += (spare - length * first[0]) @ (over + length * first[4])
            ahead += (slack + length * first[1]) @ (multipliers + length * first[2])
            second = step(mu * max(float(ahead) / gap, 0.0) ** 3, first)
        except np.linalg.LinAlgError:
            break
        length = min(
            1.0, _BOUNDARY * _longest(v, spare, slack, multipliers, r, over, second, capped)
        )
        if not length > 1e-8:
            break
        v = v + length * second[0]
        spare = spare - length * second[0] if capped else spare
        slack, multipliers = slack + length * second[1], multipliers + length * second[2]
        r, over = r + length * second[3], over + length * second[4]
        theta += length * float(second[5].sum())
    return LargestPoint(v, ceiling * (unit if unit > 0.0 else 1.0))


def _terms(constraints: list[Constraint], v: Array) -> tuple[Array, Array, Array]:
    """Return the sums, and the derivatives of all constraints (k, n)."""
    found = [constraint.terms(v) for constraint in constraints]
    sums = np.array([float(np.sum(values)) for values, _, _ in found])
    return (
        sums,
        np.stack([slope for _, slope, _ in found]),
        np.stack([bend for _, _, bend in found]),
    )


def _ceiling(
    a: Array, v: Array, multipliers: Array, left: Array, slopes: Array, cap: float,
    mass: float | None,
) -> float:  # fmt: skip
    """Return an upper bound of the maximum for any multipliers.

    The constraints lie above their tangents at v, so with ``g = a - Σλφ′(v)`` the maximum is at
    most ``Σλ(ε - φ(v) + φ′(v)ᵀv)`` plus that of ``gᵀv`` over the box and the mass.
    """
    pull = multipliers @ slopes
    g = a - pull
    constant = float(multipliers @ left) + float(pull @ v)
    if mass is None:
        return constant + cap * float(np.maximum(g, 0.0).sum())
    if not np.isfinite(cap):
        return constant + mass * float(g.max())
    filled = np.clip(mass - cap * np.arange(g.size), 0.0, cap)
    return constant + float(np.sort(g)[::-1] @ filled)


def _longest(
    v: Array, spare: Array, slack: Array, multipliers: Array, r: Array, over: Array,
    step: tuple[Array, ...], capped: bool,
) -> float:  # fmt: skip
    """Return the longest multiple of a step, up to 1, that keeps everything positive."""
    values = [v, slack, multipliers, r]
    moves = [step[0], step[1], step[2], step[3]]
    if capped:
        values += [spare, over]
        moves += [-step[0], step[4]]
    now, then = np.concatenate(values), np.concatenate(moves)
    falls = then < 0.0
    return min(1.0, float(np.min(now[falls] / -then[falls]))) if falls.any() else 1.0

"""Weights within bounds whose sum is exact, not only up to rounding."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)
#: Far above the relative error of pairwise sums of nonnegative numbers.
SURE = 1e-9
_FEW = 1000  # numbers that are summed one by one, or tried for the last correction


def missing(weights: Array, total: float) -> float:
    """Return ``total - Σw``, rounded only once, so its sign is exact."""
    rest, parts = weights[weights != 0.0], [total]
    while rest.size > _FEW:
        # Leading digits, rounded to multiples of a common unit, add up without rounding
        # (Rump, Ogita and Oishi, SIAM J. Sci. Comput. 2008); the remainders are far smaller.
        _, exponent = math.frexp(float(np.abs(rest).max()))
        unit = math.ldexp(1.0, exponent + (rest.size + 2).bit_length())
        leading = (rest + unit) - unit
        parts.append(-float(leading.sum()))
        rest = rest - leading
        rest = rest[rest != 0.0]
    return math.fsum([*parts, *(-rest).tolist()])


def too_little(caps: Array, total: float) -> bool:
    """Say whether caps sum to less than ``total``, decided exactly."""
    caps = np.minimum(caps, total)  # equivalent, and the sum cannot overflow
    return float(caps.sum()) <= total * (1.0 + SURE) and missing(caps, total) > 0.0


def shortfall(weights: Array, total: float) -> float:
    """Return ``total - Σw``, by :func:`missing` if it is small and by a plain sum otherwise."""
    short = total - float(weights.sum())
    return missing(weights, total) if abs(short) <= 1e-6 * total else short


def project_interval(point: Array, lower: Array, upper: Array, total: float) -> Array:
    """Project onto ``{lower ≤ w ≤ upper, Σw = total}``: ``w = clip(point - θ)``.

    The weights are within the bounds. Their exact sum is ``total``, or would be if one positive
    weight changed by less than its own rounding. A point that satisfies this already is returned
    unchanged. If no weights within the bounds have this sum, the sum is as near as they allow.
    """
    weights = np.clip(point, lower, upper)
    if abs(float(weights.sum()) - total) > 4 * _EPS * total:
        weights = _shifted(point, lower, upper, total)
    return _summing_to(point, weights, lower, upper, total)


def nearby_weights(weights: Array, lower: Array, upper: Array, total: float) -> Array:
    """Return weights as :func:`project_interval` does, with new edges only if they are needed.

    A repair does not know the costs, so a new edge could be expensive.
    """
    own = np.where(weights > 0.0, upper, lower)
    if too_little(own, total):
        own = upper
    return project_interval(weights, lower, own, total)


def _shifted(point: Array, lower: Array, upper: Array, total: float) -> Array:
    """Return ``clip(point - θ)`` with the sum ``total``, up to rounding of the point.

    The sum decreases with θ and is piecewise linear. Newton steps, kept in a bracket by bisection,
    find the right piece.
    """
    finite = np.where(np.isfinite(upper), upper, lower + total)
    low, high = float(np.min(point - finite)) - total, float(np.max(point - lower)) + total
    theta = float(np.mean(point)) - total / point.size
    for _ in range(200):
        theta = theta if low < theta < high else (low + high) / 2
        weights = np.clip(point - theta, lower, upper)
        excess = float(weights.sum()) - total
        if abs(excess) <= 4 * _EPS * total:
            break
        low, high = (theta, high) if excess > 0 else (low, theta)
        free = int(np.count_nonzero((weights > lower) & (weights < upper)))
        step = theta + excess / free if free else np.inf
        if step == theta or high - low <= _EPS * max(abs(low), abs(high)):
            break
        theta = step
    return np.asarray(weights)


def _summing_to(point: Array, weights: Array, lower: Array, upper: Array, total: float) -> Array:
    """Add what the sum lacks, or subtract its excess, until it is exact."""
    for _ in range(100):
        short = missing(weights, total)
        if short == 0.0 or not _place(point, weights, lower, upper, total, short):
            break
    return weights


def _place(
    point: Array, weights: Array, lower: Array, upper: Array, total: float, short: float
) -> bool:
    """Change weights to reduce the shortfall of their sum; return False if rounding prevents it.

    Edges strictly within their bounds come first, because their prices are equal in a projection.
    Then come other edges with weight, and last those without. Ties are decided by the point.
    """
    size = abs(short)
    places = np.flatnonzero((weights > lower) & (weights < upper))
    free = places.size > 0
    if free and size <= 64 * _EPS * total:
        places = _few_of(places, weights)
    elif not free:
        open_ = weights < upper if short > 0.0 else weights > lower
        places = np.flatnonzero(open_ & (weights > 0.0))
        places = places if places.size else np.flatnonzero(open_)
        if places.size == 0:
            return False
    own, least, most = weights[places], lower[places], upper[places]
    room = most - own if short > 0.0 else own - least
    if free and size > 64 * _EPS * total:  # spread it over all of them, as far as there is room
        reach = np.minimum(room, size)
        step = np.copysign(min(size / float(reach.sum()), 1.0), short)
        weights[places] = np.clip(own + step * reach, least, most)
        return True
    moved = own + short
    change = moved - own
    error = np.abs((own - (moved - change)) + (short - change))  # the exact rounding error
    gain = np.copysign(1.0, short) * (point[places] - own)
    fits = (moved >= least) & (moved <= most)
    if free and fits.any():
        gain[~fits | (error > error[fits].min())] = -np.inf
    elif (error >= size).any():
        return False  # below the rounding of a weight with room for it
    best = int(np.argmax(gain))
    if not fits[best]:
        order = np.argsort(-gain, kind="stable")
        count = np.searchsorted(np.cumsum(room[order]), size)
        filled = order[: max(int(count), 1)]
        weights[places[filled]] = most[filled] if short > 0.0 else least[filled]
    elif error[best] >= size:
        return False
    else:
        weights[places[best]] = moved[best]
    return True


def _few_of(places: NDArray[np.intp], weights: Array) -> NDArray[np.intp]:
    """Return some of many places: the smallest weights, whose digits are finest, and others."""
    if places.size <= 2 * _FEW:
        return places
    lightest = places[np.argpartition(weights[places], _FEW)[:_FEW]]
    return np.union1d(lightest, places[:: places.size // _FEW])

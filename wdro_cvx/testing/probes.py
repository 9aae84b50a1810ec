"""Moments with a larger risk than a set's worst case; none of them may be in the set."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.validation import Array

VISIBLE = 1e-6  # a premium below this share of the risk may be rounding
_EXCESS = 1e-3
_POWERS = (0.5, 2.0, 4.0)
_NOISES = (0.1, 0.5)  # relative to the worst shift
_RANDOM = 3


def understated(ambiguity: AmbiguitySet, nominal: Nominal, laplacian: Array) -> float:
    """Return by which share ``distance`` is too small at a moment riskier than the worst case.

    The moments are ``Θ + tD``, for directions D in which usual sets extend. The number t is such
    that the premium exceeds that of the worst case by a thousandth.
    """
    worst, centre = ambiguity.worst_case(nominal, laplacian), nominal.second_moment
    premium = worst.risk - float(np.vdot(centre, laplacian))
    excess = premium if premium > VISIBLE * abs(worst.risk) else abs(worst.risk)
    wanted = max(premium, 0.0) + _EXCESS * excess
    missed = 0.0
    for direction in directions(laplacian, worst.second_moment - centre):
        gain = float(np.vdot(direction, laplacian))
        # Otherwise rounding decides whether the risk grows in this direction.
        if gain > VISIBLE * float(np.linalg.norm(direction) * np.linalg.norm(laplacian)):
            distance = ambiguity.distance(nominal, centre + (wanted / gain) * direction)
            missed = max(missed, 1.0 - distance / ambiguity.radius)
    return missed


def directions(laplacian: Array, shift: Array) -> Iterator[Array]:
    """Return symmetric matrices, among them the worst shifts of usual sets."""
    rng, d = np.random.default_rng(0), len(laplacian)
    degrees = np.diag(np.diag(laplacian))
    yield from (laplacian, np.sign(laplacian), degrees, laplacian - degrees, np.eye(d))
    vectors = np.linalg.eigh(laplacian)[1]
    yield from (vectors[:, -k:] @ vectors[:, -k:].T for k in (1, 2, 3))
    largest = int(np.argmax(np.diag(laplacian)))
    at = np.zeros(d)
    at[largest] = 1.0
    cross = np.maximum(at, at[:, np.newaxis])
    yield from (np.outer(at, at), cross * laplacian)
    yield from (np.sign(laplacian) * np.abs(laplacian) ** power for power in _POWERS)
    for _ in range(_RANDOM):
        yield from (sign * _noise(rng, d) for sign in (-1.0, 1.0))
    for size in _NOISES:
        yield shift + size * float(np.abs(shift).max()) * _noise(rng, d)


def _noise(rng: np.random.Generator, d: int) -> Array:
    noise = rng.standard_normal((d, d))
    return np.asarray((noise + noise.T) / 2)

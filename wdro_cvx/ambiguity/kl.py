"""The Kullback-Leibler ball: the samples are accurate, their frequencies are not.

    R(L) = sup {Σ q_i l_i : Σ q_i log(N q_i) ≤ ε} = inf_{t > 0} εt + t log mean exp(l_i / t)

The worst weights are the exponential tilt ``q_i ∝ exp(l_i / t)`` (Ben-Tal, den Hertog, De
Waegenaere, Melenberg and Rennen, Management Science 2013).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy

from wdro_cvx.ambiguity.base import AmbiguitySet, WorstCase, each_worst_case, register_ambiguity
from wdro_cvx.ambiguity.reweighting import stacked_losses
from wdro_cvx.ambiguity.tilting import LAST_STEP, MAX_STEPS, SHARPEST, TiltedBall
from wdro_cvx.moments.distribution import Discrete
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import ReweighedMoment
from wdro_cvx.stacks import column, number
from wdro_cvx.summation import gram
from wdro_cvx.validation import Array

_LARGEST_SCORE = 300.0  # the square of its exponential does not overflow


@register_ambiguity
@dataclass(frozen=True)
class KLBall(TiltedBall):
    """All reweightings ``q`` of the samples with ``KL(q ‖ uniform) ≤ radius``.

    Use it if the signals are accurate but some kinds are over- or underrepresented. Every sample
    keeps a positive weight up to the radius ``log N``, where the worst sample has all weight.

    Parameters
    ----------
    radius : float ≥ 0
        In nats, dimensionless. ``log(1/α)`` allows all weight on a fraction α of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import KLBall, Nominal
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> nominal = Nominal.from_samples([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]])
    >>> worst = KLBall(0.2).worst_case(nominal, edge)
    >>> print(worst.distribution.weights.round(3))
    [0.132 0.237 0.631]
    """

    stackable = True

    def least_sharpness(self) -> float:
        """Return a lower bound of the sharpness: the divergence is at most an eighth of its square.

        The derivative of the divergence is the sharpness times a variance of numbers in [0, 1],
        which is at most 1/4.
        """
        return math.sqrt(8.0 * self.radius)

    def tilted_at(self, deficits: Array, sharpness: float) -> tuple[Array, float, float]:
        """Return the exponential tilt."""
        ratios, count = _tilted(deficits, sharpness), deficits.size
        weighted = ratios * deficits
        slope = float(weighted @ deficits) - float(weighted.sum()) ** 2 / count
        return ratios, slope * (sharpness**2 / count), 1.0 / sharpness

    def ceiling(self, losses: Array, ratios: Array, multiplier: float) -> float:
        """Return ``εt + t log mean exp(l/t)``, which is at least the risk for every t."""
        top = float(losses.max())
        if multiplier <= 0.0:
            return top
        return float(min(top, _dual(losses, top, multiplier, self.radius)))

    def divergence(self, ratios: Array) -> Any:
        """Return ``mean(ρ log ρ - ρ + 1)``."""
        return number(relative_entropy(ratios))

    @staticmethod
    def worst_cases(
        sets: Sequence[AmbiguitySet], nominals: Sequence[Nominal], laplacians: Array
    ) -> list[WorstCase]:
        """Return the worst cases through a stack of tilts."""
        radii = np.array([ball.radius for ball in sets])
        samples = [nominal.samples for nominal in nominals]
        stack = stacked_losses(samples, laplacians) if radii.all() else None
        if stack is None:
            return each_worst_case(sets, nominals, laplacians)
        tables, losses, rounding = stack
        spread, top = np.ptp(losses, axis=-1), losses.max(axis=-1)
        # In units of the spread nothing overflows.
        ratios, multipliers = _tilts(losses / spread[:, np.newaxis], radii)
        multipliers *= spread
        weights = ratios / ratios.sum(axis=-1, keepdims=True)
        risks = (weights * losses).sum(axis=-1)
        dual = _dual(losses, top, np.where(multipliers > 0.0, multipliers, spread), radii)
        ceiling = np.where(multipliers > 0.0, np.minimum(top, dual), top)
        rounding = rounding + np.maximum(ceiling - risks, 0.0)
        moments = gram(tables, weights)
        numbers = risks.tolist(), multipliers.tolist(), rounding.tolist()
        return [
            WorstCase(
                risk,
                moments[place],
                multiplier,
                partial(Discrete, tables[place], weights[place]),
                partial(ReweighedMoment, np.asarray(samples[place]), weights[place]),
                error,
            )
            for place, (risk, multiplier, error) in enumerate(zip(*numbers, strict=True))
        ]

    def slope(self, ratios: Array) -> Array:
        """Return ``log ρ``."""
        return np.asarray(np.log(ratios))

    def bend(self, ratios: Array) -> Array:
        """Return ``1/ρ``."""
        return np.asarray(1.0 / ratios)

    def link(self, scores: Array) -> tuple[Array, Array]:
        """Return ``exp(s)`` and its derivative ``exp(s)``."""
        ratios = np.exp(np.minimum(scores, _LARGEST_SCORE))
        return ratios, ratios


def relative_entropy(ratios: Array) -> Any:
    """Return ``mean(ρ log ρ - ρ + 1)`` of ratios, or of a stack of these.

    Its terms are nonnegative, so their sum does not cancel.
    """
    change = ratios - 1.0
    near = np.abs(change) < 0.5
    logs = np.log1p(np.where(near, change, 0.0))
    entropy = np.where(near, ratios * logs, scipy.special.xlogy(ratios, ratios))
    return (entropy - change).mean(axis=-1)


def _dual(losses: Array, top: Any, multiplier: Any, radius: Any) -> Any:
    """Return ``εt + t log mean exp(l/t)`` for a multiplier t and losses of at most ``top``."""
    scores = (losses - column(top)) / column(multiplier)
    return top + multiplier * (radius + np.log1p(np.expm1(scores).mean(axis=-1)))


def _tilts(losses: Array, radii: Array) -> tuple[Array, Array]:
    """Return the ratios and multipliers of a stack, with the same steps as :meth:`TiltedBall.tilt`.

    Arrays of one element take longer than the plain numbers of a single search, so there are two
    loops.
    """
    radius, count = radii, losses.shape[-1]
    spread = np.ptp(losses, axis=-1)
    deficits = (losses.max(axis=-1, keepdims=True) - losses) / spread[:, np.newaxis]
    worst = deficits == 0.0
    hard = worst * (count / worst.sum(axis=-1, keepdims=True))
    limit = radius >= relative_entropy(hard)
    if np.all(limit):
        return hard, 0.0 * spread

    low, high = 0.5 * np.log(8.0 * radius), np.full_like(spread, math.log(SHARPEST))
    place, settled = low, limit
    for _ in range(MAX_STEPS):
        sharpness = np.exp(place)
        ratios = _tilted(deficits, sharpness)
        spent = relative_entropy(ratios)
        less = spent < radius
        low, high = np.where(less, place, low), np.where(less, high, place)
        settled = settled | ~(low < high)
        if settled.all():
            break
        weighted = ratios * deficits
        slope = np.vecdot(weighted, deficits) - weighted.sum(axis=-1) ** 2 / count
        slope = slope * sharpness**2 / count
        sound = (spent > 0.0) & (slope > 0.0)
        ratio = np.where(sound, spent, 1.0)
        with np.errstate(over="ignore"):  # a step that is too long is not taken
            step = ratio / np.where(sound, slope, 1.0) * np.log(radius / ratio)
        inside = sound & (low <= place + step) & (place + step <= high)
        following = np.where(inside, place + step, (low + high) / 2)
        place = np.where(settled, place, following)
        settled = settled | (inside & (np.abs(step) <= LAST_STEP))
    else:
        limit = limit | (~settled & (high == math.log(SHARPEST)))
    multiplier = np.where(limit, 0.0, spread / sharpness)
    return np.where(limit[:, np.newaxis], hard, ratios), multiplier


def _tilted(deficits: Array, sharpness: Any) -> Array:
    """Return the ratios ``∝ exp(-sharpness·deficits)`` with accurate logarithms."""
    scores = -column(sharpness) * deficits
    mean = np.expm1(scores).mean(axis=-1, keepdims=True)
    return np.asarray(np.exp(scores - np.log1p(mean)))

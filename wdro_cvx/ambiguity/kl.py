"""The Kullback-Leibler ball: the samples are accurate, their frequencies are not.

    R(L) = sup {Σ q_i l_i : Σ q_i log(N q_i) ≤ ε} = inf_{t > 0} εt + t log mean exp(l_i / t)

The worst weights are the exponential tilt ``q_i ∝ exp(l_i / t)`` (Ben-Tal, den Hertog, De
Waegenaere, Melenberg and Rennen, Management Science 2013).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from wdro_cvx.ambiguity.base import register_ambiguity
from wdro_cvx.ambiguity.tilting import TiltedBall
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

    def least_sharpness(self) -> float:
        """Return a lower bound: the variance of numbers in [0, 1] is at most 1/4."""
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
        rise = np.log1p(np.mean(np.expm1((losses - top) / multiplier)))
        return min(top, top + multiplier * (self.radius + float(rise)))

    def divergence(self, ratios: Array) -> float:
        """Return ``mean(ρ log ρ - ρ + 1)``, which has no negative terms to cancel."""
        change = ratios - 1.0
        near = np.abs(change) < 0.5
        logs = np.log1p(np.where(near, change, 0.0))
        entropy = np.where(near, ratios * logs, xlogy(ratios, ratios))
        return float(np.mean(entropy - change))

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


def _tilted(deficits: Array, sharpness: float) -> Array:
    """Return the ratios ``∝ exp(-sharpness·deficits)`` with accurate logarithms."""
    scores = -sharpness * deficits
    return np.asarray(np.exp(scores - np.log1p(np.mean(np.expm1(scores)))))

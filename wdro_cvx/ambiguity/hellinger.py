"""The Hellinger ball: samples are reweighted, and every sample keeps some weight.

    R(L) = sup {Σ q_i l_i : Σ (√q_i - √(1/N))² ≤ ε}
         = inf_{θ > max l, t ≥ 0} θ - (2 - ε)t + t² mean 1/(θ - l_i)

The worst weights are ``q_i ∝ 1/(θ - l_i)²`` (Ben-Tal, den Hertog, De Waegenaere, Melenberg and
Rennen, Management Science 2013).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wdro_cvx.ambiguity.base import register_ambiguity
from wdro_cvx.ambiguity.tilting import TiltedBall
from wdro_cvx.validation import Array

_LARGEST_ROOT = 1e75  # the cube of its square does not overflow


@register_ambiguity
@dataclass(frozen=True)
class HellingerBall(TiltedBall):
    """All reweightings ``q`` of the samples within a squared Hellinger distance ``radius``.

    The distance to the uniform weights is ``Σ (√q_i - √(1/N))²``. Compared with :class:`KLBall`, a
    sample can gain more weight at the same radius, and none loses all of it.

    Parameters
    ----------
    radius : float ≥ 0
        Dimensionless. At ``2 - 2/√N`` the worst sample has all weight.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import HellingerBall, Nominal
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> nominal = Nominal.from_samples([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]])
    >>> worst = HellingerBall(0.1).worst_case(nominal, edge)
    >>> print(worst.distribution.weights.round(3))
    [0.142 0.221 0.636]
    """

    def least_sharpness(self) -> float:
        """Return a lower bound of the sharpness; a fourth of its square bounds the divergence."""
        return math.sqrt(self.radius)

    def tilted_at(self, deficits: Array, sharpness: float) -> tuple[Array, float, float]:
        """Return the ratios ``∝ 1/(θ - l)²``; the sharpness is the inverse of ``θ - max l``."""
        inverse = 1.0 / (1.0 + sharpness * deficits)
        squares = inverse * inverse
        first, second, third = (float(np.mean(x)) for x in (inverse, squares, squares * inverse))
        growth = 2.0 * (first * third / second - second) / math.sqrt(second)
        return squares / second, growth, 1.0 / (sharpness * math.sqrt(second))

    def ceiling(self, losses: Array, ratios: Array, multiplier: float) -> float:
        """Return ``θ - (2 - ε)t + t² mean 1/(θ - l)``, at least the risk for all θ and t.

        With the roots ``√ρ = t/(θ - l)`` it is ``εt + mean l√ρ + (θ - t)(1 - mean √ρ)``, which does
        not cancel.
        """
        top = float(losses.max())
        if multiplier <= 0.0:
            return top
        deficits = top - losses
        least = 1.0 / float(np.sqrt(ratios.max()))
        roots = 1.0 / (least + deficits / multiplier)
        left = multiplier * (least - 1.0) * float(np.mean(1.0 - roots))
        rise = self.radius * multiplier - float(np.mean(roots * deficits)) + left
        return min(top, top + rise)

    def divergence(self, ratios: Array) -> float:
        """Return ``mean (√ρ - 1)²``."""
        return float(np.mean(np.square((ratios - 1.0) / (np.sqrt(ratios) + 1.0))))

    def slope(self, ratios: Array) -> Array:
        """Return ``1 - 1/√ρ``."""
        return np.asarray(1.0 - 1.0 / np.sqrt(ratios))

    def bend(self, ratios: Array) -> Array:
        """Return ``1/2√ρ³``."""
        return np.asarray(0.5 / np.sqrt(ratios) ** 3)

    def link(self, scores: Array) -> tuple[Array, Array]:
        """Return ``1/(1 - s)²`` and its derivative, limited where the score reaches 1."""
        roots = 1.0 / np.maximum(1.0 - scores, 1.0 / _LARGEST_ROOT)
        return roots**2, 2.0 * roots**3

"""The chi-square ball: mean plus standard deviation of the samples' smoothness.

    R(L) = sup {Σ q_i l_i : Σ (N q_i - 1)² / N ≤ ε}

If no weight reaches zero, this is ``mean l + √(ε·Var l)``, a penalty on the variance (Namkoong and
Duchi, NeurIPS 2017; Duchi and Namkoong, JMLR 2019). The divergence is Pearson's, twice theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wdro_cvx.ambiguity.base import register_ambiguity
from wdro_cvx.ambiguity.reweighting import ReweightingBall
from wdro_cvx.validation import Array

_TINY = 1e-300


@register_ambiguity
@dataclass(frozen=True)
class ChiSquareBall(ReweightingBall):
    """All reweightings ``q`` of the samples with ``Σ (N q_i - 1)² / N ≤ radius``.

    For small radii the risk is the mean smoothness plus ``√radius`` standard deviations, so it
    favours graphs over which all signals are about equally smooth. Compared with :class:`KLBall`,
    samples reach weight zero at smaller radii. At the radius ``N - 1`` the worst sample has all
    weight.

    Parameters
    ----------
    radius : float ≥ 0
        The squared relative standard deviation of the weights; dimensionless.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import ChiSquareBall, Nominal
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> nominal = Nominal.from_samples([[0.0, 1.0], [0.0, 2.0]])  # smoothness 1 and 4
    >>> print(round(ChiSquareBall(0.25).worst_case(nominal, edge).risk, 6))  # 2.5 + 0.5 · 1.5
    3.25
    """

    def tilt(self, losses: Array) -> tuple[Array, float]:
        """Return the worst ratios: zero for the smallest losses, linear in the others."""
        order = np.argsort(-losses, kind="stable")
        deficits = losses[order[0]] - losses[order]

        def spent(kept: int) -> float:
            """Return the divergence below which more than ``kept`` samples have weight."""
            slack = np.maximum(deficits[kept] - deficits, 0.0)
            return self.divergence(slack / slack.mean())

        low, high = int(np.count_nonzero(deficits == 0.0)), losses.size
        ratios = np.zeros(losses.size)
        if self.radius >= high / low - 1.0:
            ratios[order[:low]] = high / low
            return ratios, 0.0
        low += 1
        # The divergence grows as fewer samples keep weight; bisect for their number.
        while low < high:
            middle = (low + high) // 2
            if spent(middle) >= self.radius:
                low = middle + 1
            else:
                high = middle
        kept = deficits[:low]
        level = losses.size / low
        deviation = kept.mean() - kept
        scatter = float(np.sum(deviation**2))
        # With losses equal up to rounding the remaining radius may be zero or negative.
        budget = losses.size * max(self.radius - (level - 1.0), _TINY)
        if scatter == 0.0:  # the squares underflow
            ratios[order[:low]] = level
            return ratios, 0.0
        slope = float(np.sqrt(budget / scatter))
        ratios[order[:low]] = np.maximum(level + slope * deviation, 0.0)
        return ratios, 0.5 / slope

    def ceiling(self, losses: Array, ratios: Array, multiplier: float) -> float:
        """Return ``θ + λε + λ·mean φ*((l - θ)/λ)``, an upper bound of the risk for all λ and θ."""
        top = float(losses.max())
        if multiplier <= 0.0:
            return top
        theta = top - 2 * multiplier * (float(ratios[losses.argmax()]) - 1.0)
        scores = np.maximum((losses - theta) / multiplier, -2.0)
        rise = float(np.mean(scores + scores**2 / 4))
        return min(top, theta + multiplier * (self.radius + rise))

    def divergence(self, ratios: Array) -> float:
        """Return ``mean (ρ - 1)²``."""
        return float(np.mean((ratios - 1.0) ** 2))

    def slope(self, ratios: Array) -> Array:
        """Return ``2(ρ - 1)``."""
        return 2.0 * (ratios - 1.0)

    def bend(self, ratios: Array) -> Array:
        """Return 2."""
        return np.full(ratios.shape, 2.0)

    def link(self, scores: Array) -> tuple[Array, Array]:
        """Return ``(1 + s)₊`` and its derivative, the ratios for half of the divergence."""
        return np.maximum(1.0 + scores, 0.0), np.asarray(scores > -1.0, float)

"""The total variation ball: a share of the samples may be replaced by the worst one.

    R(L) = sup {Σ q_i l_i : ½ Σ |q_i - 1/N| ≤ ε}
         = min {θ + ε(max l - θ) + mean (l_i - θ)₊ : θ ≤ max l}

Mass ε moves from the smallest losses to the largest one (Jiang and Guan, Math. Program. 2016). If
losses tie at θ or at the maximum, the worst weights are not unique.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wdro_cvx.ambiguity.base import register_ambiguity
from wdro_cvx.ambiguity.reweighting import PiecewiseBall
from wdro_cvx.ambiguity.structure import Piece
from wdro_cvx.validation import Array


@register_ambiguity
@dataclass(frozen=True)
class TotalVariationBall(PiecewiseBall):
    """All reweightings of the samples within total variation distance ``radius``.

    Use it if a share of the samples may be wrong, and it is not known which samples these are.

    Parameters
    ----------
    radius : float ≥ 0
        The share of the weight that moves; dimensionless. At ``1 - 1/N`` the worst sample has all
        weight.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import Nominal, TotalVariationBall
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> nominal = Nominal.from_samples([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 4.0]])
    >>> print(TotalVariationBall(0.3).worst_case(nominal, edge).distribution.weights.round(3))
    [0.   0.2  0.25 0.55]
    """

    def tilt(self, losses: Array) -> tuple[Array, float]:
        """Return the ratios after mass has moved from the smallest losses to the largest ones.

        The multiplier is ``max l - θ``.
        """
        count = losses.size
        worst = losses == losses.max()
        mass = min(self.radius, 1.0 - np.count_nonzero(worst) / count) * count
        order = np.argsort(losses, kind="stable")
        ratios = np.empty(count)
        ratios[order] = 1.0 - np.clip(mass - np.arange(count), 0.0, 1.0)
        theta = losses[ratios > 0.0].min()
        ratios += worst * (mass / np.count_nonzero(worst))
        return ratios, float(losses.max() - theta)

    def ceiling(self, losses: Array, ratios: Array, multiplier: float) -> float:
        """Return ``θ + ε(max l - θ) + mean (l - θ)₊``, at least the risk if ``θ ≤ max l``."""
        top, theta = float(losses.max()), float(losses[ratios > 0.0].min())
        excess = float(np.mean(np.maximum(losses - theta, 0.0)))
        return min(top, theta + self.radius * (top - theta) + excess)

    def divergence(self, ratios: Array) -> float:
        """Return ``mean |ρ - 1| / 2``."""
        return float(np.mean(np.abs(ratios - 1.0))) / 2

    def pieces(self) -> tuple[Piece, ...]:
        """Return two pieces: up to 1 a ratio costs nothing, above it costs 1 per unit."""
        return Piece(1.0, 0.0), Piece(np.inf, 1.0)

"""The CVaR ball: the mean over the worst subpopulation.

    R(L) = sup {Σ q_i l_i : q_i ≤ (1 + ε)/N} = min_θ θ + (1 + ε) mean (l_i - θ)₊

It is the mean smoothness over the worst ``1/(1 + ε)`` of the samples, their conditional value at
risk (Rockafellar and Uryasev, J. Risk 2000). If losses tie at θ, the worst weights are not unique.
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
class CVaRBall(PiecewiseBall):
    """All reweightings of the samples by density ratios of at most ``1 + radius``.

    The risk is the mean over the worst subpopulation: the share ``1/(1 + radius)`` of the samples
    with the largest smoothness. Use it if the graph must fit every sufficiently large group.

    Parameters
    ----------
    radius : float ≥ 0
        Dimensionless. For the worst share α it is ``1/α - 1``. At ``N - 1`` the worst sample has
        all weight.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import CVaRBall, Nominal
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> nominal = Nominal.from_samples([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 4.0]])
    >>> CVaRBall(1.0).worst_case(nominal, edge).risk  # the mean of 9 and 16, the worst half
    12.5
    """

    def tilt(self, losses: Array) -> tuple[Array, float]:
        """Return ``1 + radius`` on the largest losses, the rest on the next one, and 0 elsewhere.

        The multiplier is ``mean (l - θ)₊``.
        """
        order = np.argsort(-losses, kind="stable")
        cap = min(1.0 + self.radius, float(losses.size))
        before = cap * np.arange(losses.size)
        ratios = np.zeros(losses.size)
        ratios[order] = np.clip(losses.size - before, 0.0, cap)
        theta = losses[ratios > 0.0].min()
        return ratios, float(np.mean(np.maximum(losses - theta, 0.0)))

    def ceiling(self, losses: Array, ratios: Array, multiplier: float) -> float:
        """Return ``θ + (1 + ε) mean (l - θ)₊``, which is at least the risk for every θ."""
        top, theta = float(losses.max()), float(losses[ratios > 0.0].min())
        excess = float(np.mean(np.maximum(losses - theta, 0.0)))
        return min(top, theta + (1.0 + self.radius) * excess)

    def divergence(self, ratios: Array) -> float:
        """Return ``max ρ - 1``."""
        return float(ratios.max()) - 1.0

    def pieces(self) -> tuple[Piece, ...]:
        """Return one piece, which costs nothing up to ``1 + radius``."""
        return (Piece(1.0 + self.radius, 0.0),)

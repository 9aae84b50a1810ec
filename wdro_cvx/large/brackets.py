"""Brackets of the weights of a large graph: for the pairs that matter, and one for all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.graphs.edges import EDGE_THRESHOLD, EdgeBrackets
from wdro_cvx.graphs.listed_bounds import ListedBounds
from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array

_OUTWARD = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class ListedBrackets(EdgeBrackets):
    """Between which weights the listed edges of the optimal graph lie.

    Attributes
    ----------
    heads, tails : arrays (k,)
        The pairs; ``lower`` and ``upper`` are in their order.
    others : float
        No other pair has more weight than this.
    pairs : int
        The number of all pairs.
    """

    heads: NDArray[np.int32]
    tails: NDArray[np.int32]
    others: float
    pairs: int

    def counts(self, threshold: float = EDGE_THRESHOLD) -> dict[str, int]:
        """Return how many of all pairs are present, absent and undecided."""
        found = super().counts(threshold)
        rest = self.pairs - self.heads.size
        found["absent" if self.others < threshold else "undecided"] += rest
        return found


def listed_brackets(
    prior: DegreePrior,
    heads: NDArray[np.int32],
    tails: NDArray[np.int32],
    prices: Array,
    excess: float,
    d: int,
) -> ListedBrackets:
    """Return what a dual point with this excess proves, by the inequalities of graphs/edges.py.

    A pair of price p has ``2β(w - p₊/4β)² ≤ excess``, and if it does not pay
    ``2βw² + |p|w ≤ excess``. With bounds the pairs are the possible ones, and a pair that does not
    pay is pulled to zero only where its lower bound lets it.
    """
    beta, bounds = prior.beta, prior.bounds
    if not np.isfinite(excess):
        excess = np.finfo(float).max / 1e6
    around = float(np.sqrt(excess / (2 * beta)))
    middle = np.maximum(prices, 0.0) / (4 * beta)
    if isinstance(bounds, ListedBounds) and prices.size:
        middle = np.clip(middle, bounds.least, bounds.most)
    below = np.maximum(-prices, 0.0)
    least = 2 * excess / (below + np.sqrt(below**2 + 8 * beta * excess) + np.finfo(float).tiny)
    lower, upper = middle - around, np.where(prices > 0.0, middle + around, least)
    others = around * (1.0 + _OUTWARD)
    if isinstance(bounds, ListedBounds) and prices.size:
        pulled = (prices <= 0.0) & (bounds.least == 0.0)
        upper = np.minimum(np.where(pulled, least, middle + around), bounds.most)
        lower, others = np.maximum(lower, bounds.least), 0.0
    outward = _OUTWARD * (middle + 1.0)
    return ListedBrackets(
        np.maximum(lower - outward, 0.0), upper + outward, heads, tails, others, d * (d - 1) // 2
    )

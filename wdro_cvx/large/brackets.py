"""Brackets of the weights of a large graph: for the pairs that matter, and one for all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.graphs.edges import EDGE_THRESHOLD, EdgeBrackets
from wdro_cvx.large.edge_list import EdgeList
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
    graph: EdgeList,
    heads: NDArray[np.int32],
    tails: NDArray[np.int32],
    prices: Array,
    eta: float,
    excess: float,
) -> ListedBrackets:
    """Return what a dual point with this excess proves, by the inequalities of graphs/edges.py.

    A pair of price p has ``2η(w - p₊/4η)² ≤ excess``, and if it does not pay
    ``2ηw² + |p|w ≤ excess``.
    """
    if not np.isfinite(excess):
        excess = np.finfo(float).max / 1e6
    around = float(np.sqrt(excess / (2 * eta)))
    middle = np.maximum(prices, 0.0) / (4 * eta)
    below = np.maximum(-prices, 0.0)
    least = 2 * excess / (below + np.sqrt(below**2 + 8 * eta * excess) + np.finfo(float).tiny)
    upper = np.where(prices > 0.0, middle + around, least)
    outward = _OUTWARD * (middle + 1.0)
    lower = np.maximum(middle - around - outward, 0.0)
    pairs = graph.d * (graph.d - 1) // 2
    others = around * (1.0 + _OUTWARD)
    return ListedBrackets(lower, upper + outward, heads, tails, others, pairs)

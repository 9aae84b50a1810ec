"""Brackets of the weights of a large graph: one per listed pair, and one for all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.graphs.listed_bounds import ListedBounds
from wdro_cvx.judging.edges import EDGE_THRESHOLD, EdgeBrackets, dual_brackets
from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array

_OUTWARD = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class ListedBrackets(EdgeBrackets):
    """Lower and upper bounds of the weights of listed pairs in the optimal graph.

    Attributes
    ----------
    heads, tails : arrays (k,)
        The pairs; ``lower`` and ``upper`` are in their order.
    others : float
        An upper bound of the weight of every other pair.
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
    """Return the brackets that a dual point with this excess proves; see judging/edges.py.

    Without bounds, pairs that are not listed have no positive price. With bounds, the listed pairs
    are the possible edges, or empty if there is no dual point.
    """
    beta, bounds = prior.beta, prior.bounds
    least: Array | float = 0.0
    most: Array | float = np.inf
    others = np.inf
    if isinstance(bounds, ListedBounds):
        if heads.size:
            least, most, others = bounds.least, bounds.most, 0.0
    elif np.isfinite(excess):
        others = float(np.sqrt(excess / (2 * beta))) * (1.0 + _OUTWARD)
    lower, upper = dual_brackets(beta, prices, least, most, excess)
    return ListedBrackets(lower, upper, heads, tails, others, d * (d - 1) // 2)

"""Which edges the optimal graph has, for certain: brackets of its weights from a gap.

The objective is strongly convex. With ``g`` the gap between the value of a Laplacian and a bound,
the prior alone gives, for the optimal graph,

    2β‖w - w*‖² + κ‖A(w - w*)‖² ≤ g     and so, edge by edge,     |w - w*|² ≤ edge_reach·g

The dual adds that ``2βw*² - pw* + (p₊)²/8β ≤ g`` at the price p of every edge, which holds edges
out whose price is far below zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.graphs.laplacian import weights_from_laplacian
from wdro_cvx.problem import GraphProblem
from wdro_cvx.validation import Array, real_number

#: Edges with less weight than this count as absent, as in the paper.
EDGE_THRESHOLD = 1e-4

_OUTWARD = 1e-12  # what rounding may do to a bracket, relative to the terms that it is made of


@dataclass(frozen=True, eq=False)
class EdgeBrackets:
    """Between which weights every edge of the optimal graph lies.

    Attributes
    ----------
    lower, upper : arrays (m,)
        In the order of ``edge_index(d)``.
    """

    lower: Array
    upper: Array

    def present(self, threshold: float = EDGE_THRESHOLD) -> NDArray[np.bool_]:
        """Return which edges surely have at least this weight in the optimal graph."""
        return np.asarray(self.lower >= _positive(threshold))

    def absent(self, threshold: float = EDGE_THRESHOLD) -> NDArray[np.bool_]:
        """Return which edges surely have less."""
        return np.asarray(self.upper < _positive(threshold))

    def undecided(self, threshold: float = EDGE_THRESHOLD) -> NDArray[np.bool_]:
        """Return the others."""
        return ~(self.present(threshold) | self.absent(threshold))

    def counts(self, threshold: float = EDGE_THRESHOLD) -> dict[str, int]:
        """Return how many edges are present, absent and undecided."""
        kinds = ("present", "absent", "undecided")
        return {kind: int(np.count_nonzero(getattr(self, kind)(threshold))) for kind in kinds}

    def __repr__(self) -> str:
        """Return the counts."""
        counts = ", ".join(f"{count} {kind}" for kind, count in self.counts().items())
        return f"EdgeBrackets({counts})"


def edge_brackets(
    problem: GraphProblem, laplacian: Array, prices: Array, excess: float
) -> EdgeBrackets:
    """Return the brackets that a feasible Laplacian and a dual point with this excess prove.

    Parameters
    ----------
    problem : GraphProblem
    laplacian : array (d, d)
    prices : array (m,)
        Those of the dual point, rounded upwards.
    excess : float
        The value of the Laplacian less that of the dual point.
    """
    weights = weights_from_laplacian(laplacian)
    if not np.isfinite(excess):  # an isolated vertex under logarithms: nothing is known
        return EdgeBrackets(np.zeros_like(weights), np.full_like(weights, np.inf))
    prior, beta = problem.prior, problem.prior.beta
    reach = np.sqrt(prior.edge_reach(problem.d) * excess)
    middle = np.maximum(prices, 0.0) / (4 * beta)
    around = np.sqrt(excess / (2 * beta))
    below = np.maximum(-prices, 0.0)
    least = 2 * excess / (below + np.sqrt(below**2 + 8 * beta * excess) + np.finfo(float).tiny)
    lower, upper = weights - reach, weights + reach
    if prior.bounds is None:
        lower = np.maximum(lower, middle - around)
        upper = np.minimum(upper, np.where(prices > 0.0, middle + around, least))
    else:
        # A price below zero pulls a weight to zero only where its lower bound lets it.
        pulled = (prices <= 0.0) & (prior.bounds.lower == 0.0)
        upper = np.minimum(upper, np.where(pulled, least, prior.bounds.upper))
        lower = np.maximum(lower, prior.bounds.lower)
    outward = _OUTWARD * (weights + middle + float(weights.mean()))
    return EdgeBrackets(np.maximum(lower - outward, 0.0), upper + outward)


def _positive(threshold: float) -> float:
    return real_number("threshold", threshold, 0.0, strict=True)

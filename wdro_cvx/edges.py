"""Which edges the optimal graph has, for certain: brackets of its weights from a gap.

The objective is strongly convex. With ``g`` the gap between the value of a Laplacian and a bound,

    η‖L - L*‖² ≤ g     and, edge by edge,     |w - w*| ≤ √(κg/η),   κ = (d-3)/2(d-1) + 2/d²

for the optimal ``L*`` of the same trace: of all changes of weights that move one edge by t and keep
the trace, the shortest has ``‖ΔL‖² = t²/κ``. The dual adds that ``2ηw*² - pw* + (p₊)²/8η ≤ g`` at
the price p of every edge, which holds edges out whose price is far below zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.laplacian import weights_from_laplacian
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


def edge_reach(d: int, fixed_trace: bool) -> float:
    """Return κ: the square of the most that one weight moves where the Laplacian moves by 1.

    ``𝒯*𝒯`` has the eigenvalues 2, d and 2d, the last for equal changes of all weights, which a
    fixed trace rules out; κ is the sum of an edge's shares in them over the eigenvalues.
    """
    shares = (d - 3) / (2.0 * (d - 1)) + 2.0 / d**2
    return shares if fixed_trace else shares + 1.0 / (d * d * (d - 1.0))


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
    eta = problem.eta
    reach = np.sqrt(edge_reach(problem.d, problem.trace_penalty is None) * excess / eta)
    middle = np.maximum(prices, 0.0) / (4 * eta)
    around = np.sqrt(excess / (2 * eta))
    below = np.maximum(-prices, 0.0)
    least = 2 * excess / (below + np.sqrt(below**2 + 8 * eta * excess) + np.finfo(float).tiny)
    lower, upper = weights - reach, weights + reach
    if problem.bounds is None:
        lower = np.maximum(lower, middle - around)
        upper = np.minimum(upper, np.where(prices > 0.0, middle + around, least))
    else:
        # A price below zero pulls a weight to zero only where its lower bound lets it.
        pulled = (prices <= 0.0) & (problem.bounds.lower == 0.0)
        upper = np.minimum(upper, np.where(pulled, least, problem.bounds.upper))
        lower = np.maximum(lower, problem.bounds.lower)
    outward = _OUTWARD * (weights + middle + problem.target_trace / problem.d)
    return EdgeBrackets(np.maximum(lower - outward, 0.0), upper + outward)


def _positive(threshold: float) -> float:
    return real_number("threshold", threshold, 0.0, strict=True)

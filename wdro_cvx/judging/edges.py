"""Brackets of the weights of the optimal graph, from a duality gap.

The objective is strongly convex. With ``g`` the gap between the value of a Laplacian and a bound,
the prior alone gives, for the optimal graph,

    2β‖w - w*‖² + κ‖A(w - w*)‖² ≤ g     and so, edge by edge,     |w - w*|² ≤ edge_reach·g

For an edge with the price p, let m be p/4β clipped to the bounds of the edge. The dual adds

    2β(w* - m)² + s|w* - m| ≤ g,    s = |4βm - p|

since ``(4βm - p)(w* - m)`` is nonnegative. It proves that edges with strongly negative prices are
absent and that edges with large prices are at their upper bounds.
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

_EPS = float(np.finfo(float).eps)
_OUTWARD = 1e-12  # relative rounding error of a bracket's terms


@dataclass(frozen=True, eq=False)
class EdgeBrackets:
    """Lower and upper bounds of the weight of every edge of the optimal graph.

    Attributes
    ----------
    lower, upper : arrays (m,)
        In the order of ``edge_index(d)``.
    """

    lower: Array
    upper: Array

    def present(self, threshold: float = EDGE_THRESHOLD) -> NDArray[np.bool_]:
        """Return which edges certainly have at least this weight in the optimal graph."""
        return np.asarray(self.lower >= _positive(threshold))

    def absent(self, threshold: float = EDGE_THRESHOLD) -> NDArray[np.bool_]:
        """Return which edges certainly have less than this weight in the optimal graph."""
        return np.asarray(self.upper < _positive(threshold))

    def undecided(self, threshold: float = EDGE_THRESHOLD) -> NDArray[np.bool_]:
        """Return which edges are neither certainly present nor certainly absent."""
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
        The prices of the dual point, rounded upwards.
    excess : float
        The value of the Laplacian minus the value of the dual point.
    """
    prior, weights = problem.prior, weights_from_laplacian(laplacian)
    least: Array | float = 0.0
    most: Array | float = np.inf
    if prior.bounds is not None:
        least, most = prior.bounds.lower, prior.bounds.upper
    lower, upper = dual_brackets(prior.beta, prices, least, most, excess)
    if np.isfinite(excess) and prior.beta > 0.0:
        reach = np.sqrt(prior.edge_reach(problem.d) * excess)
        outward = reach + _OUTWARD * (weights + reach + float(weights.mean()))
        lower = np.maximum(lower, weights - outward)
        upper = np.minimum(upper, weights + outward)
    return EdgeBrackets(lower, upper)


def dual_brackets(
    beta: float, prices: Array, lower: Array | float, upper: Array | float, excess: float
) -> tuple[Array, Array]:
    """Return bounds of the optimal weights, from the prices and bounds of the edges.

    Parameters
    ----------
    beta : float
    prices : array (m,)
        The prices of a dual point, accurate to the last digit.
    lower, upper : arrays (m,) or floats
        The bounds of the weights.
    excess : float
        The value of a feasible graph minus the value of the dual point; infinite if unknown.
    """
    if beta == 0.0:
        return _flat_brackets(prices, lower, upper, excess)
    middle = np.clip(prices / (4 * beta), lower, upper)
    if np.isfinite(excess):
        at_rest = 4 * beta * middle
        slope = np.abs(at_rest - prices) - 4 * _EPS * (at_rest + np.abs(prices))
        slope = np.maximum(slope, 0.0)
        # Without squares: if one overflowed, the brackets would shrink to points.
        root = np.hypot(slope, np.sqrt(8 * beta) * np.sqrt(excess))
        with np.errstate(over="ignore"):
            around = 2 * (excess / (slope + root + np.finfo(float).tiny))
        around = around + _OUTWARD * (around + middle)
    else:  # an isolated vertex under logarithms, or no bound
        around = np.full_like(middle, np.inf)
    # The bounds themselves are exact.
    return np.maximum(middle - around, lower), np.minimum(middle + around, upper)


def _flat_brackets(
    prices: Array, lower: Array | float, upper: Array | float, excess: float
) -> tuple[Array, Array]:
    """Return the brackets for β = 0: ``|p|·|w* - m| ≤ g``, m the bound that the price favours."""
    least, most = np.broadcast_to(lower, prices.shape), np.broadcast_to(upper, prices.shape)
    with np.errstate(divide="ignore", invalid="ignore"):  # NaN is ignored by fmax and fmin
        around = excess / np.abs(prices) * (1.0 + _OUTWARD)
        low = np.where(prices > 0.0, np.fmax(most - around, least), least)
        high = np.where(prices < 0.0, np.fmin(least + around, most), most)
    return np.asarray(low), np.asarray(high)


def _positive(threshold: float) -> float:
    return real_number("threshold", threshold, 0.0, strict=True)

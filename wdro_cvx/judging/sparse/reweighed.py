"""Divergence balls: the worst weights of the samples, from losses over the edges of a graph.

A loss ``x_kᵀLx_k`` is a sum of nonnegative terms over the edges, so its relative error is that of
the summation. The risk is a weighted mean of the losses and has the same relative error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wdro_cvx.ambiguity.reweighting import WeightsBall
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.judging.court import EPS, SUM
from wdro_cvx.judging.edge_costs import weight_error
from wdro_cvx.moments.points import ReweighedMoment
from wdro_cvx.validation import Array

_GATHERED = 1 << 15  # numbers at a time, which stay in the cache


@dataclass(frozen=True, eq=False)
class WorstWeights:
    """An upper bound of the risk, and the moment of the worst weights, in the unit of the data."""

    risk: float
    moment: ReweighedMoment


def worst_weights(ball: WeightsBall, samples: Array, graph: EdgeList) -> WorstWeights:
    """Return the worst weights of the samples for a graph."""
    losses, error = edge_losses(samples, graph)
    weights, _, ceiling = ball.worst_weights(losses)
    risk = max(float(np.sum(weights * losses)), ceiling)
    return WorstWeights(risk * (1.0 + error + SUM), ReweighedMoment(samples, weights))


def edge_losses(samples: Array, graph: EdgeList) -> tuple[Array, float]:
    """Return every sample's loss, and the relative error of each."""
    losses = np.zeros(len(samples))
    step = max(_GATHERED // len(samples), 1)
    count = 0
    for first in range(0, graph.weights.size, step):
        part = slice(first, first + step)
        difference = samples[:, graph.heads[part]] - samples[:, graph.tails[part]]
        losses += np.square(difference) @ graph.weights[part]
        count += 1
    # A product sums up to ``step`` terms in any order; the blocks are added one by one.
    return losses, (min(step, graph.weights.size) + count + 8) * EPS


def columns_error(samples: Array, columns: Array) -> Array:
    """Return a bound of the rounding error of each vertex's row of a reweighted moment.

    The samples are exact. The error of a weight counts half in its root, which adds four roundings
    with the product and the division by the unit.
    """
    error = weight_error(len(samples)) / 2 + 4 * EPS
    return np.asarray(error * np.linalg.norm(columns, axis=1))

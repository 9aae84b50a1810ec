"""The first graph of the likelihood solver: near neighbours and a spanning tree."""

from __future__ import annotations

import numpy as np
import scipy

from solvers.likelihood.model import Model, Point
from wdro_cvx.validation import Array

_NEIGHBOURS = 6
_MORE_NEIGHBOURS = 12  # squared degrees spread the weight over more edges


def start_weights(model: Model, costs: Array) -> Array:
    """Return weights that connect the graph: the roots of ``4βw² + cw = α(d - 1)/|E|``."""
    d, prior = model.d, model.prior
    heads, tails = model.ends
    costs = np.maximum(costs, 1e-9 * float(np.abs(costs).mean()) + 1e-300)
    allowed = model.upper > 0.0
    table = scipy.spatial.distance.squareform(np.where(allowed, costs, np.inf))
    np.fill_diagonal(table, np.inf)
    count = _MORE_NEIGHBOURS if prior.kappa > 0.0 else _NEIGHBOURS
    near = np.argsort(table, axis=1)[:, : min(count, d - 1)]
    chosen = np.zeros((d, d), bool)
    chosen[np.repeat(np.arange(d), near.shape[1]), near.ravel()] = True
    graph = scipy.sparse.csr_array((costs[allowed], (heads[allowed], tails[allowed])), shape=(d, d))
    tree = scipy.sparse.csgraph.minimum_spanning_tree(graph).nonzero()
    chosen[tree] = True
    used = (chosen | chosen.T)[heads, tails] & allowed
    share = model.alpha * (d - 1) / np.count_nonzero(used)
    roots = 2 * share / (costs + np.sqrt(costs**2 + 16 * prior.beta * share))
    weights = np.clip(np.where(used, roots, 0.0), model.lower, model.upper)
    if prior.trace.fixed:
        weights *= prior.trace.target / (2 * float(weights.sum()))
        if prior.bounds is not None:
            # Every used edge keeps some weight, so that the graph stays connected.
            weights = prior.clipped(weights)
    return np.asarray(weights)


def best_factor(point: Point, risk: float) -> float:
    """Return the positive factor of a point's weights with the least value, ignoring bounds.

    With the point's risk r, squares b, trace S and a penalty ``s(tS - T)²`` the value of t times
    the weights is ``rt + bt² + s(tS - T)² - α(d - 1) log t``.
    """
    model, rule = point.model, point.model.prior.trace
    linear = risk
    squares = 2 * model.prior.beta * float(point.weights @ point.weights)
    squares += model.prior.kappa * float(point.degrees @ point.degrees)
    if not rule.free:
        total = 2 * float(point.weights.sum())
        linear -= 2 * rule.stiffness * total * rule.target
        squares += rule.stiffness * total**2
    share = model.alpha * (model.d - 1)
    root = linear + float(np.sqrt(linear**2 + 8 * squares * share))
    return 2 * share / root if root > 0.0 else 1.0

"""The infeasibility of a sparse matrix, and a feasible graph close to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.graphs.exact_sums import nearby_weights
from wdro_cvx.graphs.laplacian import Residuals, graph_size
from wdro_cvx.graphs.listed_bounds import ListedBounds
from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array


def repaired(matrix: sparse.csr_array, prior: DegreePrior) -> tuple[Residuals, EdgeList, float]:
    """Return the residuals of a matrix, a feasible graph close to it, and the distance."""
    if not np.isfinite(matrix.data).all():
        raise ProblemError("laplacian has values that are NaN or infinite; pass finite numbers.")
    rule = prior.trace
    scale = rule.target
    if not rule.fixed:
        scale = graph_size(float(np.abs(matrix.data).max(initial=0.0)), rule.target)
    diagonal = matrix.diagonal()
    off = matrix - sparse.diags_array(diagonal, format="csr")
    skew = matrix - matrix.T
    graph = EdgeList.from_laplacian(sparse.csr_array((matrix + matrix.T) / 2))
    miss = 0.0
    if prior.bounds is not None:
        assert isinstance(prior.bounds, ListedBounds)
        graph, miss = _within(graph, prior.bounds, rule.target / 2 if rule.fixed else None)
    else:
        graph = _positive(graph, rule.target / 2 if rule.fixed else None)
    found = Residuals(
        symmetry=float(np.abs(skew.data).max(initial=0.0)) / scale,
        row_sums=float(np.abs(matrix.sum(axis=1)).max()) / scale,
        sign=float(off.data.max(initial=0.0)) / scale,
        trace=abs(float(diagonal.sum()) - rule.target) / scale if rule.fixed else 0.0,
        bounds=miss / scale,
    )
    distance = float(np.linalg.norm((matrix - graph.laplacian()).data))
    size = float(np.sqrt(graph.square))
    relative = distance / (size if rule.fixed else graph_size(size, rule.target))
    return replace(found, repair=relative), graph, distance


def _positive(graph: EdgeList, total: float | None) -> EdgeList:
    """Drop edges without positive weight, and scale to the sum of the weights if it is fixed."""
    kept = graph.weights > 0.0
    heads, tails, weights = graph.heads[kept], graph.tails[kept], graph.weights[kept]
    if total is None:
        return EdgeList(graph.d, heads, tails, weights)
    if weights.size == 0:  # an empty graph cannot be scaled; a path is feasible
        heads = np.arange(graph.d - 1, dtype=np.int32)
        tails, weights = heads + np.int32(1), np.ones(graph.d - 1)
    weights = weights / weights.max()
    weights *= total / float(weights.sum())
    return EdgeList(graph.d, heads, tails, weights)


def _within(graph: EdgeList, bounds: ListedBounds, total: float | None) -> tuple[EdgeList, float]:
    """Return close weights within the bounds, and the largest violation of the given ones."""
    weights, others = _on_list(graph, bounds)
    outside = np.maximum(bounds.least - weights, weights - bounds.most)
    miss = max(float(outside.max(initial=0.0)), float(others.max(initial=0.0)), 0.0)
    if total is None:
        weights = np.clip(weights, bounds.least, bounds.most)
    else:
        weights = nearby_weights(weights, bounds.least, bounds.most, total)
    kept = weights > 0.0
    return EdgeList(graph.d, bounds.heads[kept], bounds.tails[kept], weights[kept]), miss


def _on_list(graph: EdgeList, bounds: ListedBounds) -> tuple[Array, Array]:
    """Return the weights of the listed pairs, and those of all other edges of the graph."""
    keys, own = bounds.keys, graph.heads.astype(np.int64) * graph.d + graph.tails
    if keys.size == 0:
        return np.zeros(0), graph.weights
    places = np.minimum(np.searchsorted(keys, own), keys.size - 1)
    known = keys[places] == own
    weights = np.zeros(keys.size)
    weights[places[known]] = graph.weights[known]
    return weights, graph.weights[~known]

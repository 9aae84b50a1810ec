"""Starting points for Newton and the search: solvers/qp/start.py on lists instead of matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvers.large.structure import Candidates
from solvers.qp.start import PLENTY, own_slopes, rungs_to
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.graphs.exact_sums import project_interval
from wdro_cvx.priors import DegreePrior
from wdro_cvx.priors.trace import TraceRule
from wdro_cvx.validation import Array

_NEAREST = 32  # cheapest edges per vertex that the guess uses
_SWEEPS = 8  # fixed-point sweeps over the slopes, each damped halfway


def first_multipliers(prior: DegreePrior, edges: Candidates, costs: Array) -> Array:
    """Return ν of equal degrees; with log terms, ν of approximately consistent degrees."""
    if prior.alpha == 0.0:
        return np.full(edges.d, 2.0 * prior.kappa * prior.trace.target / edges.d)
    near, own = _cheapest(edges, costs, _NEAREST)
    slopes = own_slopes(own / 2, prior.alpha * prior.beta / 2)
    for _ in range(_SWEEPS):
        answers = own_slopes(own - slopes[near], prior.alpha * prior.beta)
        slopes = np.sqrt(slopes * answers)
    return prior.slope(prior.alpha / slopes)


def easier_priors(prior: DegreePrior, edges: Candidates, costs: Array) -> list[DegreePrior]:
    """Return a sequence of priors that leads to a small αβ, easiest first; often it is empty."""
    if prior.alpha == 0.0 or prior.kappa > 0.0:
        return []
    own = _cheapest(edges, costs, PLENTY)[1]
    own = own[np.isfinite(own).all(axis=1)]  # too few candidates tell nothing
    return rungs_to(prior, own) if own.size else []


def _cheapest(edges: Candidates, costs: Array, count: int) -> tuple[NDArray[np.int32], Array]:
    """Return other ends and costs of each vertex's cheapest edges; missing edges cost infinity."""
    ends = np.concatenate([edges.heads, edges.tails])
    others = np.concatenate([edges.tails, edges.heads])
    both = np.concatenate([costs, costs])
    order = np.lexsort((both, ends))
    ends, others, both = ends[order], others[order], both[order]
    rank = np.arange(ends.size) - np.searchsorted(ends, np.arange(edges.d))[ends]
    kept = rank < count
    near = np.zeros((edges.d, count), dtype=np.int32)
    own = np.full((edges.d, count), np.inf)
    near[ends[kept], rank[kept]] = others[kept]
    own[ends[kept], rank[kept]] = both[kept]
    return near, own


def carried_weights(
    edges: Candidates,
    box: tuple[Array, Array] | None,
    rule: TraceRule,
    start: EdgeList,
    place: NDArray[np.integer],
) -> Array:
    """Return another problem's weights on the candidates, made feasible for this problem.

    ``place`` maps its vertices to the numbers used here.
    """
    heads, tails = place[start.heads], place[start.tails]
    own = np.minimum(heads, tails).astype(np.int64) * edges.d + np.maximum(heads, tails)
    places = np.minimum(np.searchsorted(edges.keys, own), edges.size - 1)
    known = (edges.keys[places] == own) & (start.weights > 0.0)
    weights = np.zeros(edges.size)
    weights[places[known]] = start.weights[known]
    if box is not None:
        if rule.fixed:
            return project_interval(weights, *box, rule.target / 2)
        return np.asarray(np.clip(weights, *box))
    total = float(weights.sum())
    if rule.fixed and total > 0.0:
        weights *= rule.target / (2 * total)
    return weights

"""The judge's lower bound at scale: the dual of dual_bound.py over the relevant pairs.

With a list of possible edges, these are the relevant pairs. Without bounds, they are the pairs with
a positive price. The best τ over the graph's edges is an upper bound of the best τ over all pairs,
so the pairs with a positive price at the former include all relevant ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.graphs.listed_bounds import ListedBounds
from wdro_cvx.judging.dual_bound import best_dual, best_tau, safe_levels
from wdro_cvx.judging.sparse.prices import Indices, TooManyError, least_costs, pairs_below, shakes
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array

_MOST = 500, 10_000_000  # limits of pairs per vertex and in total; the larger counts
_DOWN = 1.0 - 1e-12


@dataclass(frozen=True, eq=False)
class LargeBound:
    """A bound with the relevant pairs and their prices."""

    value: float
    heads: Indices
    tails: Indices
    prices: Array


@dataclass(frozen=True, eq=False)
class Setting:
    """The data of the bound, in the unit of the problem.

    Attributes
    ----------
    nominal : Nominal
    unit : float
    prior : DegreePrior
        In that unit.
    graph : EdgeList
    columns : array (d, r)
        A moment in the set without the tilt, one row per vertex.
    tilt : float
        The multiple of the graph's Laplacian that a moment ball's worst case adds.
    """

    nominal: Nominal
    unit: float
    prior: DegreePrior
    graph: EdgeList
    columns: Array
    tilt: float

    @cached_property
    def moved(self) -> Array:
        """A bound of the rounding error of each vertex's row."""
        return shakes(self.nominal, self.unit, self.columns)

    def costs(self, heads: Indices, tails: Indices) -> Array:
        """Return the costs of pairs, rounded downwards."""
        found = least_costs(self.columns, heads, tails, self.moved)
        return found + self._tilted(heads, tails) if self.tilt > 0.0 else found

    def _tilted(self, heads: Indices, tails: Indices) -> Array:
        """Return ``tilt·𝒯*L`` on pairs, rounded downwards: ``deg_i + deg_j + 2w_ij``."""
        graph, degrees = self.graph, self.graph.degrees
        keys = graph.heads.astype(np.int64) * graph.d + graph.tails
        wanted = heads.astype(np.int64) * graph.d + tails
        places = np.minimum(np.searchsorted(keys, wanted), max(keys.size - 1, 0))
        weights = np.where(keys[places] == wanted, graph.weights[places], 0.0)
        return np.asarray(self.tilt * _DOWN * (degrees[heads] + degrees[tails] + 2 * weights))


def large_bound(setting: Setting, nu: Array) -> LargeBound:
    """Return the dual at ν and its best τ, rounded downwards; -∞ if it proves nothing."""
    prior, bounds = setting.prior, setting.prior.bounds
    none = np.empty(0, dtype=np.int32)
    nothing = LargeBound(-np.inf, none, none, np.empty(0))
    if not prior.has_degrees(nu):
        return nothing
    if isinstance(bounds, ListedBounds):
        heads, tails, most = bounds.heads, bounds.tails, np.inf
        box = bounds.least, bounds.most
    else:
        most, box = _first_tau(setting, nu), None
        # The term 2w of the tilt is added later.
        charged = nu + setting.tilt * _DOWN * setting.graph.degrees
        limit = max(_MOST[0] * nu.size, _MOST[1])
        try:
            heads, tails = pairs_below(setting.columns, charged, most, limit, setting.moved)
        except TooManyError:
            return nothing
    levels = safe_levels(setting.costs(heads, tails), nu, heads, tails)
    found = best_dual(prior, levels, nu, box, most)
    return LargeBound(found.value, heads, tails, found.prices)


def _first_tau(setting: Setting, nu: Array) -> float:
    """Return the best τ over the edges of the graph."""
    prior, graph = setting.prior, setting.graph
    if prior.trace.free:
        return 0.0
    if graph.weights.size == 0:  # penalised trace; without edges the dual is a parabola
        return prior.trace.target / (4 * prior.trace.curvature)
    costs = setting.costs(graph.heads, graph.tails)
    return best_tau(prior, safe_levels(costs, nu, graph.heads, graph.tails))

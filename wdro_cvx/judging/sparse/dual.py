"""The judge's lower bound at scale: the dual of dual_bound.py over the relevant pairs.

With a list of possible edges, these are the relevant pairs. Without bounds, they are the pairs with
a positive price. Let τ₁ be the best τ over the graph's edges. It is at least the best τ over all
pairs, so the pairs with a positive price at τ₁ include all relevant ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.graphs.listed_bounds import ListedBounds
from wdro_cvx.judging.dual_bound import best_dual, best_tau, safe_levels
from wdro_cvx.judging.sparse.prices import Indices, TooManyError, least_costs, pairs_below
from wdro_cvx.judging.sparse.shift import Charges
from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array

_MOST = 500, 10_000_000  # limits of pairs per vertex and in total; the larger counts


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
    prior : DegreePrior
    graph : EdgeList
    columns : array (d, r)
        The rows of a moment in the set before its shift, one per vertex.
    moved : array (d,)
        A bound of the rounding error of each of them.
    charges : Charges
        What the shift adds to the costs.
    """

    prior: DegreePrior
    graph: EdgeList
    columns: Array
    moved: Array
    charges: Charges

    def costs(self, heads: Indices, tails: Indices) -> Array:
        """Return the costs of pairs, rounded downwards."""
        found = least_costs(self.columns, heads, tails, self.moved)
        found += self.charges.of(heads, tails)
        return found


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
        charges = setting.charges
        charged = nu + charges.ends
        limit = max(_MOST[0] * nu.size, _MOST[1])
        try:
            heads, tails = pairs_below(
                setting.columns, charged, most, limit, setting.moved, charges.beyond
            )
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

"""The working set of the interior-point method: few edges at first, then those that pay.

Optimal graphs are often sparse, and the cost of a step is cubic in the number of edges.
Edges outside the set stay at their lower bounds. Their reduced costs show whether to add them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from solvers.bracket.incumbent import Incumbent
from solvers.transport.edges import FreeEdges
from solvers.transport.system import NewtonSystem
from wdro_cvx.validation import Array

MAX_EDGES = 2500  # a system then takes 50 MB
_CHEAPEST = 5  # initial edges per vertex
_ROOMY = 2.0  # least total width of the intervals, relative to the weight to place
_MOST, _DENSE = 0.5, 0.8  # shares of all edges, chosen or in use, above which all are taken
_ENTERED = 0.3  # share of the initial edges; if more have entered, the path restarts
_BEGINNINGS = 2  # number of paths with a part of the edges
_AHEAD = 2  # edges added at a restart, relative to those that have entered
_ENTRY = 0.3  # largest weight of an entering edge, relative to the mean weight
_SAFE = 0.5  # share of the LMI's slack that entering edges may use
_PAYS = 1e-3  # relative to a typical multiplier: an edge pays if its cost is this far below zero


@dataclass(frozen=True, eq=False)
class WorkingSet:
    """All free edges and the chosen ones; ``begun`` counts the chosen at the start of the path."""

    pool: FreeEdges
    inside: NDArray[np.bool_]
    begun: int
    entered: int = 0
    beginnings: int = 1

    @classmethod
    def of(cls, pool: FreeEdges, inside: NDArray[np.bool_]) -> WorkingSet:
        """Return these edges, or all if these are most of them or too few for the upper bounds."""
        few = pool.room[inside].sum() < _ROOMY * pool.total
        most = inside.size <= MAX_EDGES and np.count_nonzero(inside) > _MOST * inside.size
        if few or most:
            inside = np.ones(inside.size, dtype=bool)
        return cls(pool, inside, int(np.count_nonzero(inside)))

    @classmethod
    def first(cls, incumbent: Incumbent, pool: FreeEdges) -> WorkingSet:
        """Return the edges that look best for the incumbent, with some at every vertex."""
        proof, graph = incumbent.certificate, incumbent.laplacian
        assert proof is not None
        assert proof.degree_multipliers is not None
        assert graph is not None
        nu = proof.degree_multipliers
        costs = pool.adjoint(proof.moment.second_moment) + nu[pool.heads] + nu[pool.tails]
        inside = _cheapest(pool, costs)
        weights = -(graph - pool.base)[pool.heads, pool.tails]
        heaviest = np.argsort(-weights, kind="stable")[: _CHEAPEST * len(graph)]
        inside[heaviest[weights[heaviest] > 0.0]] = True
        dense = proof.trace_multiplier is not None and np.mean(costs < proof.trace_multiplier)
        if min(float(dense), float(np.mean(weights > 0.0))) > _DENSE:
            inside[:] = True
        return cls.of(pool, inside)

    @property
    def edges(self) -> FreeEdges:
        """The edges in the working set."""
        return self.pool.among(self.inside)

    @property
    def size(self) -> int:
        """The number of edges in the working set."""
        return int(np.count_nonzero(self.inside))

    @property
    def whole(self) -> bool:
        """Whether the working set contains all free edges."""
        return bool(self.inside.all())

    @property
    def strayed(self) -> bool:
        """Whether so many edges have entered that the path should restart."""
        return self.entered > _ENTERED * self.begun

    def grown(self, system: NewtonSystem) -> WorkingSet:
        """Return a larger set for a restart: the next cheapest edges, or all on the third path."""
        if self.beginnings == _BEGINNINGS and self.inside.size <= MAX_EDGES:
            return WorkingSet.of(self.pool, np.ones_like(self.inside))
        costs = self.pool.adjoint(system.gradient)
        costs[self.inside] = -np.inf
        inside = np.zeros_like(self.inside)
        inside[np.argsort(costs, kind="stable")[: self.size + _AHEAD * self.entered]] = True
        return replace(WorkingSet.of(self.pool, inside), beginnings=self.beginnings + 1)

    def joined(
        self, system: NewtonSystem, level: float, least: float
    ) -> tuple[WorkingSet, NewtonSystem]:
        """Return the working set and the system with all edges that pay.

        ``level`` is the mean complementarity product, ``least`` the least gain that is worth an
        edge.
        """
        at = system.at
        costs = self.pool.adjoint(system.gradient) - at.tau
        mean = float(at.excess.mean())
        paying = ~self.inside & (costs < -max(_PAYS * level / mean, least))
        if not paying.any():
            return self, system
        inside = self.inside | paying
        newcomers = self.pool.among(paying)
        entry = np.minimum(level / -costs[paying], _ENTRY * mean)
        entry = np.minimum(entry, newcomers.room / 2)
        entry *= min(1.0, _SAFE / system.consumed(newcomers.combined(entry)))
        left = newcomers.room - entry
        upper = np.where(np.isfinite(left), level / left, 0.0)

        def whole(old: Array, new: Array) -> Array:
            both = np.zeros(inside.size)
            both[self.inside], both[paying] = old, new
            return both[inside]

        entered = self.entered + int(np.count_nonzero(paying))
        changed = replace(self, inside=inside, entered=entered)
        moved = replace(
            at,
            excess=whole(at.excess, entry),
            lower=whole(at.lower, level / entry),
            upper=whole(at.upper, upper),
        )
        return changed, NewtonSystem(system.lmi, changed.edges, moved)


def _cheapest(pool: FreeEdges, costs: Array) -> NDArray[np.bool_]:
    """Return a mask of the edges that are among the cheapest at one of their end points."""
    d = len(pool.base)
    table = np.full((d, d), np.inf)
    table[pool.heads, pool.tails] = table[pool.tails, pool.heads] = costs
    near = np.zeros((d, d), dtype=bool)
    order = np.argsort(table, axis=1, kind="stable")[:, :_CHEAPEST]
    np.put_along_axis(near, order, True, axis=1)
    near |= near.T
    return np.asarray(near[pool.heads, pool.tails])

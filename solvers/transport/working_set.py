"""Which edges the interior point works with: few at first, and those that turn out to pay.

Optimal graphs are often sparse, and an interior point costs the cube of the number of its edges.
What is left out stays at its least weight; its reduced cost says whether it should.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from solvers.bracket.incumbent import Incumbent
from solvers.transport.edges import FreeEdges
from solvers.transport.system import NewtonSystem
from wdro_cvx.validation import Array

MAX_EDGES = 2500  # a system takes 50 MB and a tenth of a second
_CHEAPEST = 5  # edges of every vertex to begin with
_ROOMY = 2.0  # times the weight that has to find room within the caps
_MOST, _DENSE = 0.5, 0.8  # of all edges: so many may as well be all; so many say that all are used
_ENTERED = 0.3  # of the edges of the beginning
_BEGINNINGS = 2  # with a part of the edges
_AHEAD = 2  # times as many are taken in advance at a new beginning
_ENTRY = 0.3  # of a mean weight, at the most, for an edge that enters
_SAFE = 0.5  # of the slack of the LMI, which edges that enter may take
_PAYS = 1e-3  # of a typical multiplier: a reduced cost this far below zero


@dataclass(frozen=True, eq=False)
class WorkingSet:
    """All edges that may move, and which of them do; ``begun`` is with how many the path began."""

    pool: FreeEdges
    inside: NDArray[np.bool_]
    begun: int
    entered: int = 0
    beginnings: int = 1

    @classmethod
    def of(cls, pool: FreeEdges, inside: NDArray[np.bool_]) -> WorkingSet:
        """Begin with these edges, or with all if these are most of them or too few for the caps."""
        few = pool.room[inside].sum() < _ROOMY * pool.total
        most = inside.size <= MAX_EDGES and np.count_nonzero(inside) > _MOST * inside.size
        if few or most:
            inside = np.ones(inside.size, dtype=bool)
        return cls(pool, inside, int(np.count_nonzero(inside)))

    @classmethod
    def first(cls, incumbent: Incumbent, pool: FreeEdges) -> WorkingSet:
        """Return the edges that look best at the bracket so far, every vertex having some."""
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
        """Those inside."""
        return self.pool.among(self.inside)

    @property
    def size(self) -> int:
        """How many they are."""
        return int(np.count_nonzero(self.inside))

    @property
    def whole(self) -> bool:
        """Whether all edges are inside."""
        return bool(self.inside.all())

    @property
    def strayed(self) -> bool:
        """Whether so many have entered that the path is better begun anew."""
        return self.entered > _ENTERED * self.begun

    def grown(self, system: NewtonSystem) -> WorkingSet:
        """Return these edges and the next ones, for a new beginning; all, the third time."""
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
        """Let in what pays.

        ``level`` is the product of complementary pairs, ``least`` a gain that is worth an edge.
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
    """Return which edges are among the cheapest of one of their vertices."""
    d = len(pool.base)
    table = np.full((d, d), np.inf)
    table[pool.heads, pool.tails] = table[pool.tails, pool.heads] = costs
    near = np.zeros((d, d), dtype=bool)
    order = np.argsort(table, axis=1, kind="stable")[:, :_CHEAPEST]
    np.put_along_axis(near, order, True, axis=1)
    near |= near.T
    return np.asarray(near[pool.heads, pool.tails])

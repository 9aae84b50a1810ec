"""The edges that an interior point moves: those whose bounds leave them an inside.

``L = base + 𝒯x`` with ``0 < x < room`` on a list of n edges, and ``base`` the least weights of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wdro_cvx import GraphProblem
from wdro_cvx.graphs.laplacian import edge_index, laplacian_from_weights
from wdro_cvx.validation import Array

_PINNED = 1e-12  # of the trace: an interval without an inside


@dataclass(frozen=True, eq=False)
class FreeEdges:
    """The list.

    Attributes
    ----------
    heads, tails : array (n,) of int
        The end points.
    base : array (d, d)
        The Laplacian of the least weights of all edges.
    room : array (n,)
        How far a weight may exceed the least; infinite where it has no limit.
    total : float
        What the excesses sum to, or aim at.
    """

    heads: NDArray[np.intp]
    tails: NDArray[np.intp]
    base: Array
    room: Array
    total: float

    @classmethod
    def of(cls, problem: GraphProblem) -> FreeEdges:
        """Return the edges of a problem that may move."""
        d, bounds = problem.d, problem.bounds
        heads, tails = edge_index(d)
        total = problem.prior.trace.target / 2
        if bounds is None:
            return cls(heads, tails, np.zeros((d, d)), np.full(heads.size, np.inf), total)
        room = bounds.upper - bounds.lower
        free = room > _PINNED * problem.target_trace
        base = laplacian_from_weights(bounds.lower)
        total -= float(bounds.lower.sum())
        return cls(heads[free], tails[free], base, room[free], total)

    def combined(self, excess: Array) -> Array:
        """Return ``𝒯x``."""
        d = len(self.base)
        laplacian = np.zeros((d, d))
        laplacian[self.heads, self.tails] = laplacian[self.tails, self.heads] = -excess
        np.fill_diagonal(
            laplacian, np.bincount(self.heads, excess, d) + np.bincount(self.tails, excess, d)
        )
        return laplacian

    def adjoint(self, matrix: Array) -> Array:
        """Return ``bᵀMb`` for every edge b of the list, M symmetric."""
        diagonal = np.diagonal(matrix)
        return np.asarray(
            diagonal[self.heads] + diagonal[self.tails] - 2 * matrix[self.heads, self.tails]
        )

    def pairs(self, matrix: Array) -> Array:
        """Return ``bᵀMb'`` for all pairs of edges of the list, M symmetric."""
        half = matrix[:, self.heads] - matrix[:, self.tails]
        found = half[self.heads]  # whole rows at a time, four times as fast as columns
        found -= half[self.tails]
        return np.asarray(found)

    def joined(self, vertices: Array) -> Array:
        """Return for all pairs of edges the sum of the numbers of the vertices they share."""
        # Signed, the pairs of edges that share a vertex have its number once, with either sign.
        return np.abs(self.pairs(np.diag(vertices)))

    @cached_property
    def shared(self) -> Array:
        """The squares of ``bᵀb'``: 4 for an edge with itself, 1 for two that share a vertex."""
        found = self.pairs(np.eye(len(self.base)))
        found *= found
        return found

"""The free edges of the interior-point method: those with an interval of nonempty interior.

``L = base + 𝒯x`` with ``0 < x < room`` on a list of n edges. ``base`` is the Laplacian of all lower
bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wdro_cvx import GraphProblem
from wdro_cvx.graphs.laplacian import edge_index, laplacian_from_weights
from wdro_cvx.validation import Array

_PINNED = 1e-12  # relative to the trace: a shorter interval counts as a point


@dataclass(frozen=True, eq=False)
class FreeEdges:
    """A list of free edges.

    Attributes
    ----------
    heads, tails : array (n,) of int
        The end points.
    base : array (d, d)
        The Laplacian of the lower bounds of all edges.
    room : array (n,)
        The width of each interval; infinite if there is no upper bound.
    total : float
        The required sum of the excesses, or its target under a trace penalty.
    """

    heads: NDArray[np.intp]
    tails: NDArray[np.intp]
    base: Array
    room: Array
    total: float

    @classmethod
    def of(cls, problem: GraphProblem) -> FreeEdges:
        """Return the free edges of a problem."""
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

    def among(self, chosen: NDArray[np.bool_]) -> FreeEdges:
        """Return the chosen edges; the others stay at their lower bounds."""
        if chosen.all():
            return self
        return replace(
            self, heads=self.heads[chosen], tails=self.tails[chosen], room=self.room[chosen]
        )

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
        """Return ``bᵀMb`` for every edge b of the list and a symmetric M."""
        diagonal = np.diagonal(matrix)
        return np.asarray(
            diagonal[self.heads] + diagonal[self.tails] - 2 * matrix[self.heads, self.tails]
        )

    def products(self, first: Array, second: Array, scale: Array) -> Array:
        """Return ``(BᵀFB) ∘ (BᵀSB)`` with scaled rows and columns; B holds the edges of the list.

        Only the lower triangle is filled, and there is space for one more row and column. Edges
        with the same head are consecutive, so a block of rows is a difference of two rows of
        ``FB`` and ``SB``.
        """
        n = self.heads.size
        found = np.empty((n + 1, n + 1))
        left = (first[:, self.heads] - first[:, self.tails]) * scale
        right = second[:, self.heads] - second[:, self.tails]
        ends = np.flatnonzero(np.diff(self.heads, append=-1)) + 1
        begin = 0
        for end in ends.tolist():
            head, tails = self.heads[begin], self.tails[begin:end]
            block = left[head, :end] - left[tails, :end]
            block *= right[head, :end] - right[tails, :end]
            np.multiply(block, scale[begin:end, np.newaxis], out=found[begin:end, :end])
            begin = end
        return found

    @cached_property
    def meetings(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Pairs of edges that share a vertex: the later edge, the earlier one, the vertex."""
        d, n = len(self.base), self.heads.size
        ends = np.concatenate([self.heads, self.tails])
        order = np.argsort(ends, kind="stable")
        edges = np.tile(np.arange(n), 2)[order]
        later, earlier, shared = [], [], []
        begin = 0
        for vertex, degree in enumerate(np.bincount(ends, minlength=d)):
            mine = edges[begin : begin + degree]
            low, high = np.tril_indices(degree, -1)
            pair = mine[low], mine[high]
            later.append(np.maximum(*pair))
            earlier.append(np.minimum(*pair))
            shared.append(np.full(low.size, vertex))
            begin += degree
        return np.concatenate(later), np.concatenate(earlier), np.concatenate(shared)

"""The candidate edges of a restricted problem, laid out for sparse products."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from wdro_cvx.validation import Array

Vertices = NDArray[np.int32]
_CHUNK = 1 << 15  # numbers in one gathered block, small enough for the cache


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs ``heads < tails`` of d vertices, sorted and without duplicates."""

    d: int
    heads: Vertices
    tails: Vertices

    @classmethod
    def from_pairs(
        cls, d: int, heads: NDArray[np.integer], tails: NDArray[np.integer]
    ) -> Candidates:
        """Return the candidates of pairs in any order, with or without duplicates."""
        low, high = np.minimum(heads, tails), np.maximum(heads, tails)
        keys = np.sort(low.astype(np.int64) * d + high)
        keys = keys[np.diff(keys, prepend=-1) > 0]  # faster here than np.unique
        return cls(d, (keys // d).astype(np.int32), (keys % d).astype(np.int32))

    @property
    def size(self) -> int:
        """The number of pairs."""
        return int(self.heads.size)

    @property
    def keys(self) -> NDArray[np.int64]:
        """One number for each pair, in increasing order."""
        return self.heads.astype(np.int64) * self.d + self.tails

    def joined(self, heads: Vertices, tails: Vertices) -> Candidates:
        """Return the union of these pairs and others."""
        return Candidates.from_pairs(
            self.d, np.concatenate([self.heads, heads]), np.concatenate([self.tails, tails])
        )

    def carried(self, values: Array, old: Candidates) -> Array:
        """Extend values from the pairs of ``old``, a subset of these, by zeros."""
        found = np.zeros(self.size)
        found[np.searchsorted(self.keys, old.keys)] = values
        return found

    @cached_property
    def _pattern(self) -> sparse.csr_array:
        """The adjacency matrix whose entries are edge indices."""
        numbers = np.arange(self.size, dtype=np.int32)
        rows = np.concatenate([self.heads, self.tails])
        columns = np.concatenate([self.tails, self.heads])
        shape = (self.d, self.d)
        return sparse.csr_array((np.tile(numbers, 2), (rows, columns)), shape=shape)

    def adjacency(self, values: Array) -> sparse.csr_array:
        """Return the symmetric matrix with these values on the pairs."""
        pattern = self._pattern
        data = values.take(pattern.data)
        return sparse.csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape)

    def among(self, chosen: NDArray[np.bool_]) -> Candidates:
        """Return the chosen pairs."""
        return Candidates(self.d, self.heads[chosen], self.tails[chosen])

    def degrees(self, values: Array) -> Array:
        """Return the sum of the values over each vertex's pairs."""
        degrees = np.bincount(self.heads, values, self.d) + np.bincount(self.tails, values, self.d)
        return np.asarray(degrees, float)

    def laplacian(self, weights: Array) -> sparse.csr_array:
        """Return the Laplacian of the pairs with positive weight."""
        used = weights > 0.0
        kept = self.among(used)
        adjacency = kept.adjacency(-weights[used])
        return sparse.csr_array(
            adjacency + sparse.diags_array(kept.degrees(weights[used]), format="csr")
        )


def squared_distances(points: Array, heads: Vertices, tails: Vertices) -> Array:
    """Return ``‖g_i - g_j‖²`` for pairs of rows of ``points``."""
    found = np.empty(heads.size)
    step = max(_CHUNK // points.shape[1], 1)
    for first in range(0, heads.size, step):
        part = slice(first, first + step)
        difference = points.take(heads[part], axis=0)
        difference -= points.take(tails[part], axis=0)
        found[part] = np.einsum("ij,ij->i", difference, difference)
    return found

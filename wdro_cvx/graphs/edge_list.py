"""A weighted graph as an edge list and as a sparse Laplacian."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from wdro_cvx.validation import Array

Vertices = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class EdgeList:
    """Edges with their weights, each listed once with its smaller vertex first.

    Attributes
    ----------
    d : int
        The number of vertices.
    heads, tails : arrays (m,) of int
        The end points, ``heads < tails``, sorted by pair.
    weights : array (m,)
    """

    d: int
    heads: Vertices
    tails: Vertices
    weights: Array

    @classmethod
    def from_laplacian(cls, laplacian: Array | scipy.sparse.csr_array) -> EdgeList:
        """Read the edges off the upper triangle of a Laplacian, dense or sparse."""
        upper = scipy.sparse.coo_array(
            scipy.sparse.triu(scipy.sparse.csr_array(laplacian), 1, format="csr")
        )
        kept = upper.data != 0.0
        heads, tails = (index[kept].astype(np.int32) for index in upper.coords)
        return cls(int(laplacian.shape[0]), heads, tails, -upper.data[kept])

    @property
    def degrees(self) -> Array:
        """The weighted degree of every vertex."""
        ends = self.heads, self.tails
        first, second = (np.bincount(end, self.weights, self.d) for end in ends)
        return np.asarray(first + second, float)

    @property
    def square(self) -> float:
        """``‖L‖_F² = 2‖w‖² + ‖deg‖²``."""
        return 2 * float(np.sum(self.weights**2)) + float(np.sum(self.degrees**2))

    @property
    def relative(self) -> EdgeList:
        """The graph in units of its largest weight, so that squares do not underflow."""
        largest = float(self.weights.max(initial=0.0))
        if not 0.0 < largest < np.inf:
            return self
        return EdgeList(self.d, self.heads, self.tails, self.weights / largest)

    def laplacian(self) -> scipy.sparse.csr_array:
        """Return the Laplacian as a sparse array."""
        every = np.arange(self.d, dtype=np.int32)
        rows = np.concatenate([self.heads, self.tails, every])
        columns = np.concatenate([self.tails, self.heads, every])
        values = np.concatenate([-self.weights, -self.weights, self.degrees])
        return scipy.sparse.csr_array((values, (rows, columns)), shape=(self.d, self.d))

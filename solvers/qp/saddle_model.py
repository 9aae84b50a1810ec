"""A saddle problem in edge weights and shares of cases.

    min_w max_q  qᵀZw + 2β‖w‖² + Σ φ(deg),    f(q) ≤ ε,    q ≤ most,    lower ≤ w ≤ upper

The cases are the atoms of a set (solvers/atoms) or worst cases found so far (minimax.py). The trace
constraint is ``1ᵀw + softness·τ = total`` with the multiplier τ. ``softness`` is 0 if the trace is
fixed. If the trace is free, it is so large that τ is negligible.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from wdro_cvx.graphs.laplacian import incidence
from wdro_cvx.priors import DegreePrior
from wdro_cvx.stacks import column
from wdro_cvx.validation import Array

#: The most vertices for which a dense incidence matrix is faster than a sparse one.
DENSE = 40


def incidence_of(d: int, free: NDArray[np.intp]) -> Array | scipy.sparse.csr_array:
    """Return the columns of A for some edges."""
    if d > DENSE:
        return scipy.sparse.csr_array(incidence(d)[:, free])
    ends = _dense_incidence(d)
    return ends if free.size == ends.shape[1] else ends[:, free]


@lru_cache(maxsize=DENSE)
def _dense_incidence(d: int) -> Array:
    ends = np.asarray(incidence(d).toarray())
    ends.flags.writeable = False
    return ends


def at_vertices(ends: Array | scipy.sparse.csr_array, values: Array) -> Array:
    """Return ``Av``: the sums of the values of the edges at every vertex."""
    if isinstance(ends, np.ndarray):
        return np.asarray(values @ ends.T)
    return np.asarray((ends @ values.T).T)


class EdgeCosts(ABC):
    """The matrix Z of the costs of every edge in each of ``count`` cases, in tiles."""

    heads: NDArray[np.intp]
    tails: NDArray[np.intp]
    tall: bool = False  # whether Z has more rows than columns

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of cases."""

    @abstractmethod
    def tiles(self) -> Iterator[tuple[slice, slice, Array]]:
        """Yield ranges of cases and edges with their part of Z."""

    def ends(self, values: Array) -> Array:
        """Return ``Aᵀu``: the sum of the values at the two ends of every edge."""
        return values.take(self.heads, axis=-1) + values.take(self.tails, axis=-1)

    def losses(self, weights: Array) -> Array:
        """Return ``Zw``."""
        found = np.zeros((*weights.shape[:-1], self.count))
        for cases, edges, tile in self.tiles():
            found[..., cases] += (tile @ weights[..., edges, np.newaxis])[..., 0]
        return found

    def costs(self, shares: Array) -> Array:
        """Return ``Zᵀq``."""
        found = np.zeros((*shares.shape[:-1], self.heads.size))
        for cases, edges, tile in self.tiles():
            found[..., edges] += (shares[..., np.newaxis, cases] @ tile)[..., 0, :]
        return found


@dataclass(frozen=True, eq=False)
class CostTable(EdgeCosts):
    """A matrix Z stored as one array, or a stack of these."""

    table: Array
    heads: NDArray[np.intp]
    tails: NDArray[np.intp]

    @property
    def count(self) -> int:
        """The number of cases."""
        return int(self.table.shape[-2])

    def tiles(self) -> Iterator[tuple[slice, slice, Array]]:
        """Yield the whole matrix."""
        yield slice(None), slice(None), self.table


class ShareBall(Protocol):
    """The shares q with ``f(q) ≤ radius`` and ``q ≤ most``."""

    @property
    def shares(self) -> Array:
        """The shares to start from, strictly inside."""

    @property
    def most(self) -> Array:
        """The largest share of every case; infinite if it has no limit."""

    @property
    def radius(self) -> Any:
        """The largest divergence."""

    def divergence(self, shares: Array, /) -> Any:
        """Return ``f(q)``."""

    def slope(self, shares: Array, /) -> Array:
        """Return ``f′(q)``."""

    def bend(self, shares: Array, /) -> Array:
        """Return ``f″(q)``."""


@dataclass(frozen=True, eq=False)
class SaddleModel:
    """The data of the interior-point method, for one problem or a stack.

    The unknowns are the excesses of the ``free`` edges over their lower bounds, at most ``width``,
    in units of ``scale``. Multipliers of weights are in units of ``price``. ``lower`` holds the
    lower bounds of all edges, in the unit of the problem. Their contributions are the constants
    ``losses`` and ``degrees``, and their sum is subtracted from ``total``.
    """

    ball: ShareBall
    prior: DegreePrior
    total: Any
    softness: float
    spread: EdgeCosts
    incidence: Array | scipy.sparse.csr_array
    free: NDArray[np.intp]
    width: Array
    lower: Array
    losses: Array
    degrees: Array
    scale: float
    price: float

    def weights(self, excess: Array) -> Array:
        """Return the weights of all edges, in the unit of the problem."""
        weights = self.lower.copy()
        weights[self.free] += excess * self.scale
        return weights

    def multipliers(self, excess: Array, tau: float) -> tuple[Array, float]:
        """Return the multipliers ν and τ of degrees and trace, in the unit of the problem."""
        slopes = self.prior.slope(self.vertices(excess))
        return slopes * self.price, tau * self.price

    def pull(self, excess: Array, probabilities: Array) -> Array:
        """Return the gradient of the saddle function in the free weights."""
        weights = excess + self.lower[self.free] / self.scale
        pull = self.spread.costs(probabilities) + 4.0 * column(self.prior.beta) * weights
        return np.asarray(pull + self.spread.ends(self.prior.slope(self.vertices(excess))))

    def vertices(self, excess: Array) -> Array:
        """Return the degrees."""
        return np.asarray(self.degrees + at_vertices(self.incidence, excess))

    def risks(self, excess: Array) -> Array:
        """Return the gradient of the saddle function in the shares: the losses of the cases."""
        return np.asarray(self.losses + self.spread.losses(excess))

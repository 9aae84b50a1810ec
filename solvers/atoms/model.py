"""A problem of finite atoms as the interior point sees it, in units in which it has order d.

    min_w max_q  qᵀZw + 2β‖w‖² + Σ φ(deg),   Z_ke = (x_ki - x_kj)²,   f(q) ≤ ε,   lower ≤ w ≤ upper

Edges that bounds leave no choice are constants. The trace is ``1ᵀw + softness·τ = total`` with the
multiplier τ; ``softness`` is 0 where it is fixed, ``1/8s`` where s penalises it, and so large that
nothing is left of τ where it is free.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from solvers.qp.bordered import EdgeCosts
from wdro_cvx import GraphProblem
from wdro_cvx.ambiguity import Atoms
from wdro_cvx.graphs.laplacian import edge_index, incidence, weights_from_laplacian
from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array

_STORED = 2**24  # numbers in Z that are kept; beyond that they are computed anew, tile by tile
_TILE = 2**22
_FREE = 1e10


@dataclass(frozen=True, eq=False)
class Differences(EdgeCosts):
    """The matrix Z (K × edges), in tiles of all its rows or, if ``tall``, all its columns."""

    signals: Array
    heads: NDArray[np.intp]
    tails: NDArray[np.intp]
    tall: bool

    @property
    def count(self) -> int:
        """The number of atoms."""
        return len(self.signals)

    @cached_property
    def _ranges(self) -> list[tuple[slice, slice]]:
        atoms, edges = self.signals.shape[0], self.heads.size
        cut, whole = (atoms, edges) if self.tall else (edges, atoms)
        size = max(_TILE // max(whole, 1), 1)
        parts = [slice(start, min(start + size, cut)) for start in range(0, cut, size)]
        rest = slice(0, whole)
        return [(part, rest) if self.tall else (rest, part) for part in parts]

    @cached_property
    def _stored(self) -> list[Array] | None:
        if self.signals.shape[0] * self.heads.size > _STORED:
            return None
        return [self._tile(*ranges) for ranges in self._ranges]

    def _tile(self, atoms: slice, edges: slice) -> Array:
        signals = self.signals[atoms]
        return np.asarray((signals[:, self.heads[edges]] - signals[:, self.tails[edges]]) ** 2)

    def tiles(self) -> Iterator[tuple[slice, slice, Array]]:
        """Yield ranges of atoms and edges with their part of Z."""
        stored = self._stored
        for place, (atoms, edges) in enumerate(self._ranges):
            yield atoms, edges, self._tile(atoms, edges) if stored is None else stored[place]


@dataclass(frozen=True, eq=False)
class SaddleModel:
    """The data of the interior point.

    Unknown is by how much each ``free`` edge exceeds its lower bound, at most ``width``, in units
    of ``scale``; multipliers of weights are in units of ``price``. ``lower`` are the lower bounds
    of all edges, in the unit of the problem; what they contribute are the constants ``losses`` and
    ``degrees``, and it is subtracted from ``total``.
    """

    atoms: Atoms
    prior: DegreePrior
    total: float
    softness: float
    spread: Differences
    incidence: sparse.csr_array
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
        slopes = self.prior.slope(self.degrees + self.incidence @ excess)
        return slopes * self.price, tau * self.price

    def pull(self, excess: Array, probabilities: Array) -> Array:
        """Return the gradient of the saddle function in the free weights."""
        degrees = self.degrees + self.incidence @ excess
        weights = excess + self.lower[self.free] / self.scale
        pull = self.spread.costs(probabilities) + 4.0 * self.prior.beta * weights
        return np.asarray(pull + self.spread.ends(self.prior.slope(degrees)))

    def risks(self, excess: Array) -> Array:
        """Return its gradient in the probabilities: the losses of the atoms."""
        return np.asarray(self.losses + self.spread.losses(excess))


def build_model(problem: GraphProblem, atoms: Atoms, laplacian: Array, value: float) -> SaddleModel:
    """Normalise a problem by a Laplacian near its optimum and the value there."""
    d = problem.d
    heads, tails = edge_index(d)
    bounds = problem.bounds
    lower = np.zeros(heads.size) if bounds is None else bounds.lower
    upper = np.full(heads.size, np.inf) if bounds is None else bounds.upper
    free = np.flatnonzero(upper > lower)
    total = float(weights_from_laplacian(laplacian).sum())
    scale = 2.0 * (total if total > 0.0 else problem.target_trace / 2) / d
    unit = max(abs(value), problem.floor) / d
    signals = atoms.signals - atoms.signals.mean(axis=1, keepdims=True)
    signals *= np.sqrt(scale / unit)
    factor = scale**2 / unit
    given, rule = problem.prior, problem.prior.trace
    # In these units the degrees of a graph are of order 1, and so is the objective per vertex.
    prior = DegreePrior(given.beta * factor, given.kappa * factor, given.alpha / unit, rule)
    softness = _FREE if rule.free else 2 * rule.scaled(factor).curvature
    ends, fixed = incidence(d), lower / scale
    count = len(signals)
    return SaddleModel(
        atoms=atoms,
        prior=prior,
        total=0.0 if rule.free else (rule.target / 2 - float(lower.sum())) / scale,
        softness=softness,
        spread=Differences(signals, heads[free], tails[free], tall=count > free.size),
        incidence=sparse.csr_array(ends[:, free]),
        free=free,
        width=(upper - lower)[free] / scale,
        lower=lower,
        losses=Differences(signals, heads, tails, tall=count > heads.size).losses(fixed),
        degrees=np.asarray(ends @ fixed),
        scale=scale,
        price=unit / scale,
    )

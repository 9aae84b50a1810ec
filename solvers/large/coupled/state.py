"""The LMI of a transport ball on candidate edges, and matrices of the form LMI plus low rank.

    X(w, γ, C) = [[γI - L, LF], [FᵀL, C]] ⪰ 0      (F has one row per vertex; the radius is 1)

This is the LMI of solvers/transport/lmi.py. Its multiplier is a coupling whose rank is N plus the
multiplicity of λmax. So every matrix in the ADMM is ``X + H diag(s) Hᵀ`` with a thin H, and its
negative part can be found by matrix products alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from solvers.large.sparse_qp import WeightLimits
from solvers.large.structure import Candidates, squared_distances
from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array


@dataclass(frozen=True, eq=False)
class SparseLMI:
    """Candidates, with the data (one row per vertex) and the prior in units of the radius."""

    edges: Candidates
    factor: Array
    prior: DegreePrior
    box: WeightLimits | None

    @cached_property
    def costs(self) -> Array:
        """The candidates' costs under the data."""
        return squared_distances(self.factor, self.edges.heads, self.edges.tails)

    def laplacian(self, weights: Array) -> sparse.csr_array:
        """Return the Laplacian of weights of either sign."""
        degrees = sparse.diags_array(self.edges.degrees(weights), format="csr")
        return sparse.csr_array(self.edges.adjacency(-weights) + degrees)


@dataclass(frozen=True, eq=False)
class LowRankState:
    """``X(w, γ, C) + H diag(s) Hᵀ``."""

    lmi: SparseLMI
    weights: Array
    gamma: float
    corner: Array
    thin: Array
    signs: Array

    @cached_property
    def laplacian(self) -> sparse.csr_array:
        """The Laplacian L of the weights."""
        return self.lmi.laplacian(self.weights)

    @cached_property
    def side(self) -> Array:
        """The product LF."""
        return np.asarray(self.laplacian @ self.lmi.factor)

    def product(self, block: Array) -> Array:
        """Return the matrix times a block of columns."""
        d = self.lmi.edges.d
        first, second = block[:d], block[d:]
        upper = self.gamma * first - self.laplacian @ first + self.side @ second
        found = np.concatenate([upper, self.side.T @ first + self.corner @ second])
        found += self.thin @ (self.signs[:, np.newaxis] * (self.thin.T @ block))
        return found

    def plus(self, thin: Array, sign: float) -> LowRankState:
        """Return this matrix plus ``sign·HHᵀ``."""
        signs = np.concatenate([self.signs, np.full(thin.shape[1], sign)])
        joined = np.hstack([self.thin, thin])
        return LowRankState(self.lmi, self.weights, self.gamma, self.corner, joined, signs)

    def compressed(self, error: float) -> LowRankState:
        """Return the matrix without low-rank eigenvalues of absolute value up to ``error``."""
        basis, triangle = np.linalg.qr(self.thin)
        values, vectors = np.linalg.eigh((triangle * self.signs) @ triangle.T)
        kept = np.abs(values) > error
        thin = basis @ vectors[:, kept]
        return LowRankState(self.lmi, self.weights, self.gamma, self.corner, thin, values[kept])

    def on(self, lmi: SparseLMI) -> LowRankState:
        """Return the state on other candidates; weights of removed candidates are dropped."""
        old, new = self.lmi.edges, lmi.edges
        places = np.minimum(np.searchsorted(new.keys, old.keys), new.size - 1)
        known = new.keys[places] == old.keys
        weights = np.zeros(new.size)
        weights[places[known]] = self.weights[known]
        return LowRankState(lmi, weights, self.gamma, self.corner, self.thin, self.signs)


def combined(states: list[LowRankState], shares: Array) -> LowRankState:
    """Return the sum of the states, weighted by ``shares``."""
    pairs = list(zip(states, shares.tolist(), strict=True))
    return LowRankState(
        states[0].lmi,
        np.asarray(sum(share * state.weights for state, share in pairs)),
        float(sum(share * state.gamma for state, share in pairs)),
        np.asarray(sum(share * state.corner for state, share in pairs)),
        np.hstack([state.thin for state in states]),
        np.concatenate([share * state.signs for state, share in pairs]),
    )

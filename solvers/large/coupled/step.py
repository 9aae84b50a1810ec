"""The ADMM step in L and γ: quadratic programs on the candidates.

    min ⟨FFᵀ, L⟩ + prior(L) + γ + Tr C + ρ/2‖X(L, γ, C) - target‖²

This is solvers/transport/step.py for a fixed trace, for which γ has a closed form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.large.coupled.state import LowRankState, SparseLMI
from solvers.large.sparse_qp import SparseQP, solve_sparse_qp
from solvers.large.structure import squared_distances
from wdro_cvx.validation import Array

_MAX_STEPS = 50  # usually one or two suffice
_FORGET = 0.9  # decay of the curvature from one step to the next
_QP_TOL = 1e-12  # tight, because step errors add up over the iterations
_CHUNK = 1 << 13


@dataclass
class GraphStep:
    """The step, with the state that one call leaves to the next."""

    weights: Array
    curvature: float = 1.0  # local curvature of 2‖LF‖²
    multipliers: tuple[Array, float] | None = None

    def take(self, target: LowRankState, rho: float, allowed: float) -> LowRankState:
        """Return the optimal X to within about ``allowed``."""
        lmi = target.lmi
        d, n = lmi.factor.shape
        first, second = target.thin[:d], target.thin[d:]
        upper = -_curved(lmi, target.weights) + _thin_costs(lmi, first, target.signs)
        trace = target.gamma * d - 2 * float(target.weights.sum())
        trace += float(target.signs @ np.einsum("ij,ij->j", first, first))
        side = target.side + first @ (target.signs[:, np.newaxis] * second.T)
        corner = target.corner + (second * target.signs) @ second.T - np.eye(n) / rho
        self.curvature *= _FORGET
        centre = self.weights
        for _ in range(_MAX_STEPS):
            pull = _crossed(lmi, lmi.laplacian(centre) @ lmi.factor - side)
            slope = upper + pull - self.curvature * _curved(lmi, centre)
            prior = lmi.prior.proximal(rho * (1.0 + self.curvature))
            qp = SparseQP(lmi.edges, lmi.costs + rho * slope, prior, lmi.box)
            point = solve_sparse_qp(qp, self.multipliers, _QP_TOL)
            self.multipliers, answer = (point.nu, point.tau), point.feasible
            change = answer - centre
            length = float(change @ _curved(lmi, change))
            bend = 2 * float(np.sum((lmi.laplacian(change) @ lmi.factor) ** 2))
            if bend > (1.0 + 1e-9) * self.curvature * length:
                self.curvature = max(2 * self.curvature, bend / length)
                continue
            previous, self.weights = self.weights, answer
            root = float(np.sqrt(1.0 + self.curvature))
            if root * np.sqrt(length) <= allowed:
                break
            centre = answer + (root - 1.0) / (root + 1.0) * (answer - previous)
        gamma = (2 * float(self.weights.sum()) + trace - 1.0 / rho) / d
        empty = np.empty((d + n, 0)), np.empty(0)
        return LowRankState(lmi, self.weights, gamma, corner, *empty)


def _curved(lmi: SparseLMI, weights: Array) -> Array:
    """Return ``𝒯*L`` on the candidates: ``2w_ij + deg_i + deg_j``."""
    edges, degrees = lmi.edges, lmi.edges.degrees(weights)
    return np.asarray(2 * weights + degrees[edges.heads] + degrees[edges.tails])


def _thin_costs(lmi: SparseLMI, thin: Array, signs: Array) -> Array:
    """Return ``𝒯*(H diag(s) Hᵀ)`` on the candidates."""
    edges, found = lmi.edges, np.zeros(lmi.edges.size)
    for sign in (1.0, -1.0):
        chosen = sign * signs > 0.0
        scaled = thin[:, chosen] * np.sqrt(np.abs(signs[chosen]))
        if chosen.any():
            found += sign * squared_distances(scaled, edges.heads, edges.tails)
    return found


def _crossed(lmi: SparseLMI, rows: Array) -> Array:
    """Return ``𝒯*(GFᵀ + FGᵀ)`` on the candidates."""
    heads, tails, factor = lmi.edges.heads, lmi.edges.tails, lmi.factor
    found = np.empty(heads.size)
    for first in range(0, heads.size, _CHUNK):
        head, tail = heads[first : first + _CHUNK], tails[first : first + _CHUNK]
        found[first : first + _CHUNK] = 2 * np.einsum(
            "ij,ij->i", rows[head] - rows[tail], factor[head] - factor[tail]
        )
    return found

"""The negative part of a sparse matrix plus low rank, by filtered subspace iteration."""

from __future__ import annotations

import numpy as np

from solvers.large.coupled.state import LowRankState
from wdro_cvx.validation import Array

_DEGREE = 8  # of the Chebyshev polynomial that damps positive eigenvalues
_POWER_STEPS = 6
_ROOM = 16  # columns beyond the negative ones
_SAFETY = 1.05  # factor on the largest eigenvalue, which is estimated from below
_CUT = 1e-3, 0.5  # range in which damping may begin, relative to the largest eigenvalue


class Negative:
    """The negative parts of a sequence of matrices, each close to the previous one."""

    def __init__(self, size: int, columns: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.basis = np.linalg.qr(rng.standard_normal((size, min(columns, size))))[0]
        self.vector = rng.standard_normal(size)
        self.cut = np.inf

    def __call__(self, state: LowRankState, passes: int = 1) -> Array:
        """Return B such that ``-BBᵀ`` is approximately the negative part."""
        top = self._largest(state)
        for _ in range(passes):
            cut = float(np.clip(self.cut, _CUT[0] * top, _CUT[1] * top))
            basis, _ = np.linalg.qr(_filtered(state, self.basis, cut, top))
            form = basis.T @ state.product(basis)
            values, vectors = np.linalg.eigh((form + form.T) / 2)
            self.basis, self.cut = basis @ vectors, float(values[-1])
        negative = values < 0.0
        found = self.basis[:, negative] * np.sqrt(-values[negative])
        size, columns = self.basis.shape
        if negative.sum() > columns - _ROOM and columns + _ROOM <= size:
            fresh = self.rng.standard_normal((size, _ROOM)) / np.sqrt(size)
            self.basis = np.hstack([self.basis, fresh])
        return np.asarray(found)

    def _largest(self, state: LowRankState) -> float:
        for _ in range(_POWER_STEPS):
            self.vector /= np.linalg.norm(self.vector)
            self.vector = state.product(self.vector[:, np.newaxis])[:, 0]
        return _SAFETY * float(np.linalg.norm(self.vector))


def _filtered(state: LowRankState, block: Array, low: float, high: float) -> Array:
    """Return a Chebyshev polynomial of the matrix, small on [low, high], times a block."""
    middle, reach = (high + low) / 2, (high - low) / 2
    before, found = block, (state.product(block) - middle * block) / reach
    for _ in range(_DEGREE - 1):
        following = (2 / reach) * (state.product(found) - middle * found) - before
        before, found = found, following
    return found

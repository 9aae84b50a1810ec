"""The expected smoothness ``⟨Θ, L⟩`` of the nominal distribution, with what rounding may have done.

Signals that are large for their smoothness cancel in the matrix product. Where that would cost
digits that count, the sum is taken over the edges, of squared differences, which cancel nothing.
"""

from __future__ import annotations

import numpy as np

from wdro_cvx.graphs.laplacian import BLOCK, edge_blocks, inner
from wdro_cvx.nominal import Nominal
from wdro_cvx.validation import Array

#: The relative error of a sum from which differences are worth their time.
CANCELLATION = 1e-11

_EPS = float(np.finfo(float).eps)


def nominal_risk(nominal: Nominal, laplacian: Array) -> tuple[float, float]:
    """Return ``⟨Θ, L⟩`` and by how much rounding may have lowered it."""
    theta = nominal.second_moment
    risk = inner(theta, laplacian)
    top = 2 * float(np.diagonal(laplacian).max())
    rounding = accumulation(nominal) * top * float(np.trace(theta))
    if rounding <= CANCELLATION * risk or not is_laplacian(laplacian):
        return risk, rounding
    rows, risk = nominal.factor, 0.0
    for heads, tails, weights in edge_blocks(laplacian):
        risk += float(np.sum(np.square(rows[:, heads] - rows[:, tails]) @ weights))
    # Differences of rows keep the digits that the rows have; what they lost before is that of the
    # data, to first order in the root of the risk.
    data = accumulation(nominal) * float(np.sqrt(top * np.trace(theta) * max(risk, 0.0)))
    return risk, (BLOCK + len(rows) + 64) * _EPS * risk + 2 * data


def accumulation(nominal: Nominal) -> float:
    """Return how far sums over vertices and samples may be off, relative to their terms.

    Products of matrices add up in blocks of some hundred, so that the number of samples counts by
    its share of blocks.
    """
    samples = 0 if nominal.samples is None else len(nominal.samples)
    return (nominal.d + 16 + min(samples, 512 + samples / 256)) * _EPS


def is_laplacian(matrix: Array) -> bool:
    """Say whether the rows of a matrix sum to zero, so that differences are all it sees."""
    size = float(np.abs(matrix).max())
    return bool(np.abs(matrix.sum(axis=1)).max() <= 1e-12 * size * matrix.shape[0])

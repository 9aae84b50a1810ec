"""The expected smoothness ``⟨Θ, L⟩`` of the nominal distribution, with its rounding error.

If signals are large compared with their smoothness, the matrix product cancels. In that case
squared differences are summed over the edges, which does not cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.stacks import flat, largest_degree, number
from wdro_cvx.summation import chosen_sums, pair_sums, roundings
from wdro_cvx.validation import Array

#: The relative error of the product above which to sum over differences.
CANCELLATION = 1e-11
_WORK = 50_000_000  # number of differences that takes a fraction of a second

_EPS = float(np.finfo(float).eps)


def nominal_risks(nominals: Sequence[Nominal], laplacians: Array) -> tuple[Array, Array]:
    """Return :func:`nominal_risk` for a stack of Laplacians."""
    errors = np.array([accumulation(nominal) * nominal.trace for nominal in nominals])
    theta = np.stack([nominal.second_moment for nominal in nominals])
    risk, top = _product(theta, laplacians)
    rounding = errors * top
    for place in np.flatnonzero(rounding > CANCELLATION * risk).tolist():
        risk[place], rounding[place] = nominal_risk(nominals[place], laplacians[place])
    return risk, rounding


def _product(theta: Array, laplacian: Array) -> tuple[Any, Any]:
    """Return ``⟨Θ, L⟩`` and a bound of L's largest eigenvalue."""
    return number(flat(theta * laplacian).sum(axis=-1)), 2 * largest_degree(laplacian)


def nominal_risk(nominal: Nominal, laplacian: Array) -> tuple[float, float]:
    """Return ``⟨Θ, L⟩`` and by how much rounding may have lowered it."""
    risk, top = _product(nominal.second_moment, laplacian)
    rounding = accumulation(nominal) * nominal.trace * top
    if rounding <= CANCELLATION * risk or not is_laplacian(laplacian):
        return risk, rounding
    heads, tails = edge_index(nominal.d)
    weights = -laplacian[heads, tails]
    used = np.flatnonzero(weights)
    costs, error = pair_costs(nominal, heads[used], tails[used])
    risk = float(np.sum(costs * weights[used]))
    rounding = (error + 64 * _EPS) * abs(risk)
    if not reads_table(nominal, used.size):
        # The rounding error of the factor adds to the root of the risk, which is a norm.
        shaken = accumulation(nominal) * float(np.sqrt(top * nominal.trace))
        rounding += shaken * (2 * float(np.sqrt(max(risk, 0.0))) + shaken)
    return risk, rounding


def pair_costs(
    nominal: Nominal, heads: NDArray[np.intp], tails: NDArray[np.intp]
) -> tuple[Array, float]:
    """Return ``Θ_ii + Θ_jj - 2Θ_ij`` of pairs from differences, and the relative error of each.

    The differences come from the table if that is not too much work, and then the data are exact.
    Otherwise they come from the factor, whose columns have the error :func:`accumulation`.
    """
    rows, shares = nominal.factor, None
    if reads_table(nominal, heads.size):
        assert nominal.signals is not None
        rows, shares = nominal.signals, nominal.shares
    every = heads.size == nominal.d * (nominal.d - 1) // 2
    costs = pair_sums(rows, shares) if every else chosen_sums(rows, heads, tails, shares)
    if rows is nominal.signals and shares is None:
        costs /= len(rows)
    # A share has about thirty roundings, because its denominator is a sum.
    return costs, (roundings(len(rows)) + 48) * _EPS


def reads_table(nominal: Nominal, pairs: int) -> bool:
    """Say whether :func:`pair_costs` uses the table rather than its factor."""
    table = nominal.signals
    if table is None:
        return False
    return len(table) <= 2 * nominal.d or len(table) * pairs <= _WORK


def accumulation(nominal: Nominal) -> float:
    """Return a bound of the relative rounding error of sums over vertices and samples."""
    return nominal.accumulation


def data_error(nominal: Nominal, scales: Array) -> float:
    """Return a bound of the Frobenius error of the factor, divided by the vertices' scales."""
    return accumulation(nominal) * float(np.linalg.norm(nominal.lengths / scales))


def is_laplacian(matrix: Array) -> bool:
    """Say whether the rows of a matrix sum to zero, so that it depends on differences only."""
    size = float(np.abs(matrix).max())
    return bool(np.abs(matrix.sum(axis=1)).max() <= 1e-12 * size * matrix.shape[0])

"""The pairs with a positive price, found among all pairs.

A pair has a positive price if ``‖g_i - g_j‖² + ν_i + ν_j < τ``, that is, if ``g_i·g_j > h_i + h_j``
with ``h = (‖g‖² + ν - τ/2)/2``. Products in single precision select the pairs to compute in double
precision. With u the unit of rounding, their error is at most the sum of ``(r + 8)u(‖g‖² + |h|)``
over the two vertices, and h is lowered by it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.ambiguity.smoothness import accumulation
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)
_SINGLE = float(np.finfo(np.float32).eps) / 2
_SIDE = 768  # the fastest in measurements
_GATHERED = 1 << 15  # numbers at a time, which stay in the cache

Indices = NDArray[np.int32]


class TooManyError(Exception):
    """Raised if more pairs have positive prices than a sparse graph needs."""


def shakes(nominal: Nominal, unit: float, columns: Array) -> Array:
    """Return a bound of the rounding error of each vertex's row from levelling and factoring."""
    sizes = np.linalg.norm(nominal.factor, axis=0) / unit, np.linalg.norm(columns, axis=1)
    return np.asarray(accumulation(nominal) * np.maximum(*sizes))


def pairs_below(
    columns: Array,
    nu: Array,
    tau: float,
    most: int,
    moved: Array | float = 0.0,
    beyond: Callable[[slice, slice], NDArray[np.float32] | None] | None = None,
) -> tuple[Indices, Indices]:
    """Return all pairs ``i < j`` with ``‖g_i - g_j‖² + ν_i + ν_j < τ``, and a few others.

    Pairs that satisfy it after rounding errors of at most m = ``moved`` are included. Costs
    decrease by up to ``(m_i + m_j)(2‖g_i‖ + 2‖g_j‖ + m_i + m_j)``, which is below the sum of ``2m²
    + 4·max(m)·‖g‖`` over the two vertices.

    Parameters
    ----------
    columns : array (d, r)
        A row per vertex.
    nu : array (d,)
    tau : float
    most : int
        The largest number of pairs.
    moved : array (d,) or float
        The result of :func:`shakes`.
    beyond : callable, optional
        Returns half of the additional costs of the pairs of a block, rounded downwards; None if
        there are none. The sign of a difference of two numbers in single precision is exact.

    Raises
    ------
    TooManyError
        If there are more than ``most`` pairs.
    """
    d, r = columns.shape
    # Products of (g, -h, 1) with (g, 1, -h) are positive for every pair that may have a positive
    # price. The last two columns are swapped for the left factor.
    single, sizes = np.empty((d, r + 2), dtype=np.float32), np.empty(d)
    middle = columns.mean(axis=0)
    for first in range(0, d, _SIDE):
        centred = columns[first : first + _SIDE] - middle
        single[first : first + _SIDE, :r] = centred
        sizes[first : first + _SIDE] = np.einsum("ij,ij->i", centred, centred)
    levels = (sizes + nu - tau / 2) / 2
    levels -= 1.01 * (np.square(moved) + 2 * float(np.max(moved)) * np.sqrt(sizes))
    levels -= 4 * _EPS * (np.abs(nu) + abs(tau) / 2)  # of these sums, if ν and τ nearly cancel
    # 1e-30 covers underflow in single precision.
    levels -= (r + 8) * 1.01 * _SINGLE * (sizes + np.abs(levels)) + 1e-30
    single[:, r], single[:, r + 1] = 1.0, -levels
    swapped = np.concatenate([np.arange(r), [r + 1, r]])
    products = np.empty((_SIDE, _SIDE), dtype=np.float32)  # reused: it stays in the cache
    heads: list[NDArray[np.int32]] = []
    tails: list[NDArray[np.int32]] = []
    count = 0
    for first in range(0, d, _SIDE):
        rows = single[first : first + _SIDE, swapped]
        for second in range(first, d, _SIDE):
            others = single[second : second + _SIDE]
            block = products[: len(rows), : len(others)]
            np.matmul(rows, others.T, out=block)
            ranges = slice(first, first + len(rows)), slice(second, second + len(others))
            extra = None if beyond is None else beyond(*ranges)
            if extra is not None:
                block -= extra
            if block.max() <= 0.0:
                continue
            # The negation also keeps NaN from overflow in single precision.
            head, tail = np.divmod(np.flatnonzero(~(block <= 0.0)), len(others))
            if second == first:
                head, tail = head[head < tail], tail[head < tail]
            count += head.size
            if count > most:
                raise TooManyError
            heads.append((head + first).astype(np.int32))
            tails.append((tail + second).astype(np.int32))
    none = np.empty(0, dtype=np.int32)
    return np.concatenate([none, *heads]), np.concatenate([none, *tails])


def least_costs(columns: Array, heads: Indices, tails: Indices, moved: Array) -> Array:
    """Return ``‖g_i - g_j‖²`` of pairs, less a bound of all rounding errors.

    These are the errors of this function and of levelling and factoring the data, as in
    wdro_cvx/judging/edge_costs.py.
    """
    costs = np.empty(heads.size)
    step = max(_GATHERED // columns.shape[1], 1)
    for first in range(0, heads.size, step):
        part = slice(first, first + step)
        costs[part] = np.sum((columns[heads[part]] - columns[tails[part]]) ** 2, axis=1)
    slack = (columns.shape[1] + 4) * _EPS * costs
    shaken = moved[heads] + moved[tails]
    return np.asarray(costs - slack - shaken * (2 * np.sqrt(costs + slack) + shaken))

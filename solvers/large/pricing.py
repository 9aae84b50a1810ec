"""Find the pairs that pay among all d(d-1)/2: exact pricing in blocks of single precision.

A pair pays if its price ``τ - ‖g_i - g_j‖² - ν_i - ν_j`` is positive; in some sets a charge of the
pair is subtracted too (charges.py). One matrix product of vectors with two extra entries prices a
block of pairs, with an error of at most ``e_i + e_j``. Prices above minus this error are computed
again in double precision. So no pair is missed, and the result does not depend on which worker
computed a block.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from solvers.bracket.run import Executor
from solvers.large.blocks import Single, price_block, priced_blocks
from solvers.large.charges import Charges
from solvers.large.neighbours import Cell
from solvers.large.structure import Vertices, squared_distances
from wdro_cvx.validation import Array

_BLOCK = 2304  # vertices per block: three tiles
_UNIT = 2.0**-24  # unit roundoff in single precision
_SAMPLE, _SAMPLED = 256, 1 << 26  # largest number of sampled vertices, and of their prices
_TOLD = 8  # blocks between two calls of ``tell``


def paying_pairs(
    points: Array,
    nu: Array,
    tau: float,
    margin: float = 0.0,
    executor: Executor | None = None,
    tell: Callable[[float], None] | None = None,
    charges: Charges | None = None,
) -> tuple[Vertices, Vertices, Array]:
    """Return all pairs whose price exceeds ``-margin``, with their prices.

    Parameters
    ----------
    points : array (d, r)
        One row per vertex.
    nu : array (d,)
    tau : float
    margin : float ≥ 0
    executor : optional
        Computes the blocks; without one, they are computed locally, one after another.
    tell : callable, optional
        Called now and then with the share of the blocks that is done.
    charges : Charges, optional
        What the pairs pay beyond their squared distances.
    """
    columns = _columns(points, nu, tau + margin - _least(charges))
    heads, tails = [], []
    strips = -(-columns.shape[0] // _BLOCK)
    blocks = strips * (strips + 1) // 2
    for number, (first, second, found) in enumerate(
        priced_blocks(columns, _BLOCK, executor, charges)
    ):
        if tell is not None and number % _TOLD == 0:
            tell(number / blocks)
        rows, others = np.divmod(found, min(_BLOCK, columns.shape[0] - second))
        heads.append(first + rows)
        tails.append(second + others)
    pairs = np.concatenate(heads), np.concatenate(tails)
    return _priced(points, nu, tau, margin, pairs, charges)


def paying_within(
    points: Array,
    nu: Array,
    tau: float,
    margin: float,
    cells: list[Cell],
    charges: Charges | None = None,
) -> tuple[Vertices, Vertices, Array]:
    """Return the paying pairs within cells only; a pair may appear several times."""
    columns = _columns(points, nu, tau + margin - _least(charges))
    heads, tails = [], []
    for cell in cells:
        members = columns[cell]
        extra = None if charges is None else charges.beyond(cell, cell)
        rows, others = np.divmod(price_block(members, members, True, extra), cell.size)
        heads.append(cell[rows])
        tails.append(cell[others])
    pairs = np.concatenate(heads), np.concatenate(tails)
    return _priced(points, nu, tau, margin, pairs, charges)


def crowding(
    points: Array,
    nu: Array,
    tau: float,
    margin: float,
    most: float,
    rng: np.random.Generator,
    charges: Charges | None = None,
) -> float:
    """Return the least price, at least ``-margin``, that at most about ``most`` pairs exceed.

    Far from the optimum, nearly all pairs may pay. The price is estimated on sampled vertices.
    """
    d = points.shape[0]
    count = min(_SAMPLE, max(_SAMPLED // d, 1), d)
    chosen = rng.choice(d, count, replace=False)
    columns = _columns(points, nu, tau - _least(charges))
    left = np.column_stack([2 * columns[chosen, :-2], columns[chosen, -1], columns[chosen, -2]])
    parts = []
    for part in np.array_split(np.arange(d), -(-d // _BLOCK)):
        prices = left @ columns[part].T
        extra = None if charges is None else charges.beyond(chosen, part)
        if extra is not None:
            prices -= extra
        parts.append(prices[prices > -margin])
    paying = np.concatenate(parts)
    allowed = int(2 * most * chosen.size / d) + chosen.size  # a vertex pays with itself
    if paying.size <= allowed:
        return -margin
    return float(-np.partition(-paying, allowed)[allowed])


def _priced(
    points: Array,
    nu: Array,
    tau: float,
    margin: float,
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
    charges: Charges | None,
) -> tuple[Vertices, Vertices, Array]:
    """Return the pairs whose price in double precision exceeds ``-margin``, sorted."""
    heads, tails = pairs
    low, high = np.minimum(heads, tails), np.maximum(heads, tails)
    order = np.argsort(low.astype(np.int64) * points.shape[0] + high, kind="stable")
    head, tail = low[order].astype(np.int32), high[order].astype(np.int32)
    prices = tau - squared_distances(points, head, tail) - nu[head] - nu[tail]
    if charges is not None:
        prices -= charges.of(head, tail)
    kept = prices > -margin
    return head[kept], tail[kept], prices[kept]


def _least(charges: Charges | None) -> float:
    return 0.0 if charges is None else charges.least


def _columns(points: Array, nu: Array, tau: float) -> Single:
    """Return ``(g, 1, τ/2 - ‖g‖² - ν + e)`` for every vertex; two of them give a pair's price.

    A sum of k products of rounded numbers has an error of at most ``(k + 2)·unit`` times the sum of
    their absolute values, for any order of summation, up to second-order terms.
    """
    d, r = points.shape
    columns, sizes = np.empty((d, r + 2), dtype=np.float32), np.empty(d)
    middle = points.mean(axis=0)
    for first in range(0, d, _BLOCK):
        part = slice(first, first + _BLOCK)
        centred = points[part] - middle
        columns[part, :-2] = centred
        sizes[part] = np.einsum("ij,ij->i", centred, centred)
    levels = tau / 2 - sizes - nu
    allowed = (r + 8) * 1.01 * _UNIT * (sizes + np.abs(levels)) + 1e-30
    columns[:, -2] = 1.0
    columns[:, -1] = levels + allowed
    return columns

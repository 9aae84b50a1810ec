"""Sums over the rows of a table with errors that hardly grow with the number of rows.

A matrix product adds k terms in an unspecified order; its error is at most k units of rounding
relative to the terms. Rows are therefore summed in blocks, and the blocks pairwise, which costs one
unit per level. :func:`roundings` counts the units.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from wdro_cvx.validation import Array

#: Rows per block.
BLOCK_ROWS = 512
_COLUMNS = 64  # per block of a factorisation
_PAIRS = 2048  # pairs per block
_NUMBERS = 1 << 17  # per block of a table; they stay in the cache


def roundings(count: int, d: int = 0) -> float:
    """Return a bound of the error of sums over ``count`` rows, in units of rounding of the terms.

    With ``d`` it includes the steps of :func:`triangular`, each a factorisation with d columns.
    """
    levels = math.ceil(math.log2(max(count / BLOCK_ROWS, 1.0)))
    return min(count, BLOCK_ROWS) + levels * (d + 16)


def exact_levels(table: Array) -> Array:
    """Return a level for every row whose subtraction from the row is exact; NaN is ignored.

    The level is the row's median if its subtraction is exact, else the median rounded to a multiple
    of the last digit of the row's largest entry, else zero. If the level is far above the spread,
    one of the first two is exact: numbers within a factor of two of each other have an exact
    difference.
    """
    levels = np.zeros(len(table))
    step = max(_NUMBERS // table.shape[1], 1)
    for first in range(0, len(table), step):
        part = table[first : first + step]
        known = np.flatnonzero(~np.isnan(part).all(axis=1))
        if known.size:
            levels[first + known] = _levels(part[known])
    return levels


def _levels(rows: Array) -> Array:
    holes = np.isnan(rows)
    middle = np.nanmedian(rows, axis=1) if holes.any() else np.median(rows, axis=1)
    rows = np.where(holes, middle[:, np.newaxis], rows)
    unit = np.spacing(np.abs(rows).max(axis=1))
    levels = np.zeros(len(rows))
    open_rows = np.arange(len(rows))
    for level in (middle, np.round(middle / unit) * unit):
        exact = _exact(rows[open_rows], level[open_rows, np.newaxis])
        levels[open_rows[exact]] = level[open_rows[exact]]
        open_rows = open_rows[~exact]
        if open_rows.size == 0:
            break
    return levels


def _exact(rows: Array, level: Array) -> NDArray[np.bool_]:
    """Say for which rows ``rows - level`` has no rounding error (Knuth's two-sum)."""
    difference = rows - level
    taken = difference - rows
    error = (rows - (difference - taken)) - (level + taken)
    return np.asarray((error == 0.0).all(axis=1))


def mean_of(table: Array, shares: Array | None = None) -> Array:
    """Return the mean of the rows, summed pairwise; ``shares`` are weights that sum to one."""
    parts = table / len(table) if shares is None else table * shares[:, np.newaxis]
    while len(parts) > 1:
        half = (len(parts) + 1) // 2
        parts[: len(parts) - half] += parts[half:]
        parts = parts[:half]
    return np.asarray(parts[0].copy())


def gram(rows: Array, shares: Array | None = None) -> Array:
    """Return ``Σ share·xxᵀ`` over the rows, or ``Σ xxᵀ``; also for stacks of rows."""

    def part(block: slice) -> Array:
        found = rows[..., block, :]
        if shares is not None:
            found = found * np.sqrt(shares[..., block])[..., np.newaxis]
        return np.asarray(found.mT @ found)

    return _pairwise(map(part, _blocks(rows.shape[-2])))


def pair_sums(rows: Array, shares: Array | None = None) -> Array:
    """Return ``Σ share·(x_i - x_j)²`` over the rows for all pairs of columns, ``i < j``.

    Differences are taken first, so the error is relative to the sum itself.
    """

    def part(block: slice) -> Array:
        columns = np.ascontiguousarray(rows[block].T)
        if shares is None:
            return np.asarray(scipy.spatial.distance.pdist(columns, "sqeuclidean"))
        return np.asarray(scipy.spatial.distance.pdist(columns, "sqeuclidean", w=shares[block]))

    return _pairwise(map(part, _blocks(len(rows))))


def chosen_sums(
    rows: Array, heads: NDArray[np.intp], tails: NDArray[np.intp], shares: Array | None = None
) -> Array:
    """Return :func:`pair_sums` for some pairs only."""
    found = np.empty(heads.size)
    for first in range(0, heads.size, _PAIRS):
        pairs = slice(first, first + _PAIRS)

        def part(block: slice, pairs: slice = pairs) -> Array:
            few = rows[block]
            squares = np.square(few[:, heads[pairs]] - few[:, tails[pairs]])
            weights = np.ones(len(few)) if shares is None else shares[block]
            return np.asarray(weights @ squares)

        found[pairs] = _pairwise(map(part, _blocks(len(rows))))
    return found


def triangular(rows: Array) -> Array:
    """Return at most d rows with the same second moment, by QR factorisations of blocks."""
    d = rows.shape[1]
    step = max(BLOCK_ROWS, 2 * d)
    while len(rows) > step:
        whole = len(rows) // step * step
        parts = np.asarray(np.linalg.qr(rows[:whole].reshape(-1, step, d), mode="r"))
        rows = np.vstack([parts.reshape(-1, d), rows[whole:]])
    if len(rows) <= d:
        return rows
    # LAPACK itself, because NumPy's checks take longer than a small factorisation.
    factored, *_ = scipy.linalg.lapack.dgeqrf(rows, lwork=_COLUMNS * d)
    return np.ascontiguousarray(factored[:d]) * _upper(d)


@lru_cache(maxsize=8)
def _upper(d: int) -> Array:
    return np.triu(np.ones((d, d)))


def _blocks(count: int) -> Iterable[slice]:
    return (slice(first, first + BLOCK_ROWS) for first in range(0, count, BLOCK_ROWS))


def _pairwise(parts: Iterable[Array]) -> Array:
    """Return the pairwise sum of some arrays; at most log n partial sums are kept."""
    kept: list[tuple[int, Array]] = []
    for part in parts:
        level, total = 0, part
        while kept and kept[-1][0] == level:
            level, total = level + 1, kept.pop()[1] + total
        kept.append((level, total))
    total = kept.pop()[1]
    while kept:
        total = kept.pop()[1] + total
    return total

"""Second moments of a table with missing values, estimated from pairs of columns.

A Laplacian depends on the data through ``D_ij = E(x_i - x_j)²`` only. ``D_ij`` is estimated from
the rows in which columns i and j have values. ``Θ = -½JDJ`` with ``J = I - 11ᵀ/d`` has these
squared differences. With missing values Θ need not be positive semidefinite, so it is replaced by
the nearest matrix that is. The stored rows R, for which ``RᵀR`` is this matrix up to rounding,
define the nominal distribution. A table is refused if rounding changes its squared differences
noticeably.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from wdro_cvx.errors import DataError
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.summation import exact_levels, pair_sums
from wdro_cvx.validation import Array, ordinary_size

_SHOWN = 3
_CANCELLED = 1e4  # ratio of terms to their difference above which it is recomputed
_NUMBERS = 1 << 21  # per block
_WRONG = 1e-6  # allowed error, relative to the squared difference of nearest columns


@dataclass(frozen=True, eq=False)
class Pairs:
    """Squared differences of all pairs of columns.

    Attributes
    ----------
    squares : array (d, d)
        The mean of ``(x_i - x_j)²`` over the rows that have both values; 0 if there are none.
    weight : array (d, d)
        The total weight of these rows; their number if all weights are equal.
    """

    squares: Array
    weight: Array


def pair_squares(table: Array, weights: Array | None = None) -> Pairs:
    """Return the squared differences of every pair of columns over the rows that have both.

    Parameters
    ----------
    table : array (N, d)
        NaN for missing values.
    weights : array (N,), optional
        The weight of every row.
    """
    present, values = levelled(table)
    weighted = present if weights is None else present * weights[:, np.newaxis]
    count = weighted.T @ present
    shares = (weighted * values**2).T @ present
    ends = shares + shares.T
    squares = ends - 2 * (weighted * values).T @ values
    # Differences that have lost digits to cancellation are recomputed directly.
    heads, tails = np.nonzero(np.triu(squares * _CANCELLED < ends, 1))
    squares[heads, tails] = squares[tails, heads] = _differences(values, weighted, heads, tails)
    squares = np.maximum(squares, 0.0) / np.where(count > 0.0, count, 1.0)
    np.fill_diagonal(squares, 0.0)
    return Pairs((squares + squares.T) / 2, count)


def _differences(
    values: Array, weighted: Array, heads: NDArray[np.intp], tails: NDArray[np.intp]
) -> Array:
    """Return ``Σ weight·(x_i - x_j)²`` over the rows that have both values, for some pairs."""
    found = np.empty(heads.size)
    step = max(_NUMBERS // len(values), 1)
    for first in range(0, heads.size, step):
        i, j = heads[first : first + step], tails[first : first + step]
        both = np.minimum(weighted[:, i], weighted[:, j])  # zero if one is missing
        found[first : first + step] = np.sum(both * np.square(values[:, i] - values[:, j]), axis=0)
    return found


def levelled(table: Array) -> tuple[Array, Array]:
    """Return an indicator of present values, and the values less an exact level per row."""
    missing = np.isnan(table)
    values = table - exact_levels(table)[:, np.newaxis]
    values[missing] = 0.0
    return (~missing).astype(float), values


def moment_of(squares: Array) -> Array:
    """Return ``-½JDJ``, the centred moment with these squared differences."""
    rows = squares.mean(axis=1)
    return -(squares - rows[:, np.newaxis] - rows[np.newaxis, :] + rows.mean()) / 2


def nearest_moment(matrix: Array) -> tuple[Array, float]:
    """Return rows ``R`` of the nearest positive semidefinite matrix ``RᵀR``, and its distance.

    The distance is in the Frobenius norm, relative to the matrix.
    """
    rows, _, moved = _split(matrix)
    return rows, moved


def _split(matrix: Array) -> tuple[Array, Array, float]:
    """Return ``R`` and ``Q`` with ``RᵀR - QᵀQ`` the matrix, and the relative size of ``QᵀQ``."""
    values, vectors = np.linalg.eigh(matrix)
    size = float(np.linalg.norm(values))
    if size == 0.0:
        return np.zeros((1, len(matrix))), np.zeros((1, len(matrix))), 0.0
    kept = values > len(matrix) * np.finfo(float).eps * float(values[-1])
    moved = float(np.linalg.norm(values[~kept])) / size
    roots = np.sqrt(np.abs(values))[:, np.newaxis] * vectors.T
    return roots[kept], roots[values < 0.0], moved


def _check_digits(squares: Array, rows: Array, dropped: Array) -> None:
    """Raise DataError if rounding has changed the squared differences noticeably.

    The squared differences of the kept rows exceed the given ones by those of the dropped rows.
    Centring and eigenvectors lose about 1e-16 of the largest square, which may exceed a small one.
    """
    given = scipy.spatial.distance.squareform(squares, checks=False)
    made = pair_sums(rows)
    if len(dropped):
        made = made - pair_sums(dropped)
    wrong = float(np.abs(made - given).max())
    near = np.where(squares > 0.0, squares, np.inf).min(axis=1)
    near = near[np.isfinite(near)]
    if near.size and wrong > _WRONG * float(np.median(near)):
        raise DataError(
            f"columns differ by up to {float(given.max()) ** 0.5:.3g} in root mean square, and the "
            f"nearest by {float(np.median(near)) ** 0.5:.3g}: with missing values, rounding leaves "
            "too few digits of the latter. Subtract the mean of every column, measure the columns "
            "in similar units, or impute the missing values."
        )


def nominal_with_holes(
    table: Array,
    weights: Array | None = None,
    names: Sequence[str] | None = None,
    least_overlap: int = 2,
) -> tuple[Nominal, float]:
    """Return the nominal distribution of a table with missing values.

    Parameters
    ----------
    table : array (N, d)
        NaN for missing values.
    weights : array (N,), optional
        The weight of every row.
    names : sequence of str, optional
        The names of the columns, for errors.
    least_overlap : int
        The least number of rows that every pair of columns must share.

    Returns
    -------
    nominal : Nominal
        Without samples, so sets that reweight samples cannot be used.
    moved : float
        The relative change that made the moment positive semidefinite.

    Raises
    ------
    DataError
        If a value is infinite, two columns share too few rows, or rounding is too large.
    """
    if np.isinf(table).any():
        raise DataError("samples has infinite values; a missing value is NaN.")
    ordinary_size("samples", np.nan_to_num(table))
    _check_overlap(table, names, least_overlap)
    squares = pair_squares(table, weights).squares
    rows, dropped, moved = _split(moment_of(squares))
    _check_digits(squares, rows, dropped)
    present, values = levelled(table)
    weighted = present if weights is None else present * weights[:, np.newaxis]
    mean = (weighted * values).sum(axis=0) / weighted.sum(axis=0)
    nominal = Nominal.from_rows(_admissible(mean - mean.mean(), rows), rows)
    values[present == 0.0] = np.nan
    kept = None if weights is None else np.array(weights, dtype=float)
    return nominal.with_table(values, kept), moved


def _admissible(mean: Array, rows: Array) -> Array:
    """Return the mean, shortened if no distribution with this second moment has it.

    ``Θ - μμᵀ`` is positive semidefinite if and only if μ is ``Rᵀa`` with ``‖a‖ ≤ 1``.
    """
    share = np.linalg.lstsq(rows.T, mean, rcond=None)[0]
    size = float(np.linalg.norm(share))
    return np.asarray(rows.T @ share / max(size, 1.0))


def _check_overlap(table: Array, names: Sequence[str] | None, least: int) -> None:
    present = (~np.isnan(table)).astype(np.float32)
    common = present.T @ present
    label = [str(i) for i in range(table.shape[1])] if names is None else [str(n) for n in names]
    empty = np.flatnonzero(np.diagonal(common) == 0)
    if empty.size:
        raise DataError(f"samples has no value at all in column {label[empty[0]]}; leave it out.")
    few: NDArray[np.intp] = np.argwhere(np.triu(common < least, 1))
    if few.size:
        shown = "; ".join(f"{label[i]} and {label[j]}" for i, j in few[:_SHOWN])
        more = f" and {len(few) - _SHOWN} more pairs" if len(few) > _SHOWN else ""
        raise DataError(
            f"columns must have at least {least} rows in common; {shown}{more} have fewer. "
            "Leave out the column with the most missing values, or impute them first."
        )

"""Second moments of a table with missing values, from what pairs of columns have in common.

A Laplacian sees no more of the data than ``D_ij = E(x_i - x_j)²``, and a pair of columns estimates
it from the rows where both are present. ``Θ = -½JDJ`` with ``J = I - 11ᵀ/d`` has these costs. With
holes it need not be positive semidefinite, which every distribution's is; the nearest one is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.errors import DataError
from wdro_cvx.nominal import Nominal
from wdro_cvx.validation import Array, ordinary_size

_SHOWN = 3


@dataclass(frozen=True, eq=False)
class Pairs:
    """What every pair of columns has in common.

    Attributes
    ----------
    squares : array (d, d)
        The mean of ``(x_i - x_j)²`` over the rows that have both; 0 where there is none.
    weight : array (d, d)
        The weight of these rows together; their number if they count alike.
    """

    squares: Array
    weight: Array


def pair_squares(table: Array, weights: Array | None = None) -> Pairs:
    """Compare every pair of columns where both are present.

    Parameters
    ----------
    table : array (N, d)
        NaN where a value is missing.
    weights : array (N,), optional
        How much every row counts.
    """
    present, values = levelled(table)
    weighted = present if weights is None else present * weights[:, np.newaxis]
    count = weighted.T @ present
    squares = (weighted * values**2).T @ present
    squares = squares + squares.T - 2 * (weighted * values).T @ values
    # Rounding leaves the squares of equal columns a little beside zero, on either side.
    squares = np.maximum(squares, 0.0) / np.where(count > 0.0, count, 1.0)
    np.fill_diagonal(squares, 0.0)
    return Pairs((squares + squares.T) / 2, count)


def levelled(table: Array) -> tuple[Array, Array]:
    """Return where values are present, as 0 and 1, and the values less their row's median."""
    missing = np.isnan(table)
    rows = ~missing.all(axis=1)
    values = np.zeros_like(table)
    values[rows] = table[rows] - np.nanmedian(table[rows], axis=1, keepdims=True)
    values[missing] = 0.0
    return (~missing).astype(float), values


def moment_of(squares: Array) -> Array:
    """Return ``-½JDJ``, the moment without a level that has these squared differences."""
    rows = squares.mean(axis=1)
    return -(squares - rows[:, np.newaxis] - rows[np.newaxis, :] + rows.mean()) / 2


def nearest_moment(matrix: Array) -> tuple[Array, float]:
    """Return rows ``R`` with ``RᵀR`` the nearest positive semidefinite matrix, and its distance.

    The distance is in the Frobenius norm, relative to the matrix.
    """
    values, vectors = np.linalg.eigh(matrix)
    size = float(np.linalg.norm(values))
    if size == 0.0:
        return np.zeros((1, len(matrix))), 0.0
    kept = values > len(matrix) * np.finfo(float).eps * float(values[-1])
    moved = float(np.linalg.norm(values[~kept])) / size
    return np.sqrt(values[kept])[:, np.newaxis] * vectors[:, kept].T, moved


def nominal_with_holes(
    table: Array,
    weights: Array | None = None,
    names: Sequence[str] | None = None,
    least_overlap: int = 2,
) -> tuple[Nominal, float]:
    """Return the nominal distribution of a table with missing values, by its moments.

    Parameters
    ----------
    table : array (N, d)
        NaN where a value is missing.
    weights : array (N,), optional
        How much every row counts.
    names : sequence of str, optional
        Of the columns, for errors.
    least_overlap : int
        Every pair of columns must share that many rows.

    Returns
    -------
    nominal : Nominal
        Without samples: sets that reweigh samples have none to reweigh.
    moved : float
        How far the moment was moved to be one, relative to it.
    """
    if np.isinf(table).any():
        raise DataError("samples has infinite values; a missing value is NaN.")
    ordinary_size("samples", np.nan_to_num(table))
    _check_overlap(table, names, least_overlap)
    rows, moved = nearest_moment(moment_of(pair_squares(table, weights).squares))
    present, values = levelled(table)
    weighted = present if weights is None else present * weights[:, np.newaxis]
    mean = (weighted * values).sum(axis=0) / weighted.sum(axis=0)
    return Nominal.from_rows(_admissible(mean - mean.mean(), rows), rows), moved


def _admissible(mean: Array, rows: Array) -> Array:
    """Return the mean, shortened where no distribution with this second moment has it.

    ``Θ - μμᵀ`` must be positive semidefinite, so that μ is ``Rᵀa`` with ``‖a‖ ≤ 1``.
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

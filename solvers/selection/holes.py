"""The standard error of debiased weights if values are missing.

Without missing values, errors of the entries of S cancel in ``ΩSΩ``, because all entries come from
the same rows. With missing values every pair has its own rows, and the error is larger than that of
equally many complete rows. It is therefore computed from the rows themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from wdro_cvx import Nominal
from wdro_cvx.moments.holes import pair_squares
from wdro_cvx.validation import Array

_MOST = 100_000_000  # rows times pairs; of larger tables, evenly spaced rows are used
_LEAST = 50  # rows


def error_with_holes(
    nominal: Nominal,
    omega: sparse.csr_array,
    heads: NDArray[np.intp],
    tails: NDArray[np.intp],
) -> Array:
    """Return the standard errors of entries of ``ΩSΩ``.

    ``S = -½JDJ``, where D are the mean squared differences over the rows that have both values, and
    ``ΩJ = Ω``. A row of weight s changes the result by ``-½ΩAΩ`` with ``A_kl = s((x_k - x_l)² -
    D_kl)/n_kl`` for the pairs that it has, n their total weights. The squared error is the sum of
    the squares of these changes.

    Parameters
    ----------
    nominal : Nominal
        Its table has missing values.
    omega : sparse array (d, d)
        A Laplacian.
    heads, tails : arrays (m,) of int
        The entries.
    """
    table = nominal.table
    assert table is not None
    weights = np.ones(len(table)) if nominal.weights is None else nominal.weights
    pairs, most = pair_squares(table, weights), max(_MOST // nominal.d**2, _LEAST)
    some = np.unique(np.linspace(0, len(table) - 1, min(len(table), most)).astype(int))
    total = np.zeros(len(heads))
    for row, weight in zip(table[some], weights[some], strict=True):
        known = np.flatnonzero(~np.isnan(row))
        own, x = np.ix_(known, known), row[known]
        change = ((x[:, np.newaxis] - x) ** 2 - pairs.squares[own]) / pairs.weight[own]
        half = omega[:, known]
        total += (weight / 2 * (half @ (half @ change).T)[heads, tails]) ** 2
    return np.asarray(np.sqrt(total * (np.sum(weights**2) / np.sum(weights[some] ** 2))))

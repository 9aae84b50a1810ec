"""Fill missing values by the graph."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from wdro_cvx.validation import Array

# A weak pull towards the row's mean, relative to the mean degree: it decides only the values of
# vertices without a path to an observed one.
_PULL = 1e-9


def impute(table: Array, laplacian: Array | sparse.csr_array) -> Array:
    """Return the table with every missing value equal to the weighted mean of its neighbours.

    These values minimise ``xᵀLx`` given the others. A vertex that no path joins to an observed one
    gets the mean of its row; a row without any value stays missing.

    Parameters
    ----------
    table : array (N, d)
        Missing values are NaN.
    laplacian : array or sparse array (d, d)

    Examples
    --------
    >>> import numpy as np
    >>> chain = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
    >>> impute(np.array([[1.0, np.nan, 3.0]]), chain).round(6).tolist()
    [[1.0, 2.0, 3.0]]
    """
    filled = np.array(table, dtype=float)
    matrix = sparse.csr_array(laplacian)
    pull = _PULL * float(matrix.diagonal().mean() or 1.0)
    gaps = np.isnan(filled)
    patterns: dict[bytes, list[int]] = {}
    for row in np.flatnonzero(gaps.any(axis=1) & ~gaps.all(axis=1)):
        patterns.setdefault(gaps[row].tobytes(), []).append(int(row))
    for places in patterns.values():  # rows with the same gaps share one system
        rows = np.array(places)
        lost = np.flatnonzero(gaps[rows[0]])
        seen = np.flatnonzero(~gaps[rows[0]])
        values = filled[np.ix_(rows, seen)]
        middle = values.mean(axis=1)
        system = sparse.csc_array(matrix[lost][:, lost] + pull * sparse.eye_array(lost.size))
        right = -(matrix[lost][:, seen] @ (values - middle[:, np.newaxis]).T)
        found = np.asarray(spsolve(system, right)).reshape(lost.size, len(rows))
        filled[np.ix_(rows, lost)] = found.T + middle[:, np.newaxis]
    return filled

"""Tables whose second moment resists outlying signals.

A ball around a second moment that outliers have spoilt contains the truth only if it is large.
These estimators change the table instead, so every ambiguity set can be used with them.
Certificates then refer to the changed table.

All but ``sample`` first subtract the mean of every row, on which no graph depends, and the median
of every column. Each keeps the typical length of a signal, so radii keep their meaning.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wdro_cvx.errors import DataError
from wdro_cvx.validation import Array

_TRIMMED = 0.1  # share of the rows that a trimmed moment leaves out
_PAIRS = 50  # differences per row for Kendall's moment; more change it by less than its own error


def robust_table(table: Array, moment: str) -> Array:
    """Return the table whose second moment is the robust one.

    Parameters
    ----------
    table : array (N, d)
    moment : str
        ``"sample"``: the table itself. ``"sign"``: all signals scaled to one length, the spatial
        sign covariance. ``"kendall"``: differences of signals scaled to one length, the spatial
        Kendall covariance, which needs no centre. ``"trimmed"``: the longest tenth of the signals
        is left out.

    Returns
    -------
    array
        It has the same number of columns, and of rows unless signals are left out or paired.

    Raises
    ------
    DataError
        If there is no such moment.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[1.0, -1.0], [-1.0, 1.0], [3.0, -3.0], [-300.0, 300.0]])
    >>> robust_table(table, "sign").round(6).tolist()
    [[2.0, -2.0], [-2.0, 2.0], [2.0, -2.0], [-2.0, 2.0]]
    """
    if moment not in MOMENTS:
        raise DataError(f"moment must be one of {', '.join(MOMENTS)}; it is {moment!r}.")
    return MOMENTS[moment](table)


def _centred(table: Array) -> Array:
    rows = table - table.mean(axis=1, keepdims=True)
    rows = rows - np.median(rows, axis=0)
    return np.asarray(rows - rows.mean(axis=1, keepdims=True))


def _of_one_length(rows: Array, length: float) -> Array:
    sizes = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows * np.divide(length, sizes, out=np.zeros_like(sizes), where=sizes > 0.0))


def _typical_length(rows: Array) -> float:
    return float(np.median(np.linalg.norm(rows, axis=1)))


def _sign(table: Array) -> Array:
    rows = _centred(table)
    return _of_one_length(rows, _typical_length(rows))


def _kendall(table: Array) -> Array:
    rows = _centred(table)
    n = len(rows)
    if n == 1:  # one signal has no difference
        return _sign(table)
    differences = [rows - np.roll(rows, lag, axis=0) for lag in range(1, min(_PAIRS, n // 2) + 1)]
    if n <= 2 * _PAIRS and n % 2 == 0:  # the last lag has every pair twice
        differences[-1] = differences[-1][: n // 2]
    return _of_one_length(np.concatenate(differences), _typical_length(rows))


def _trimmed(table: Array) -> Array:
    rows = _centred(table)
    kept = max(len(rows) - int(_TRIMMED * len(rows)), 1)
    shortest = np.argsort(np.linalg.norm(rows, axis=1), kind="stable")[:kept]
    return rows[np.sort(shortest)]


#: The estimators by name.
MOMENTS: dict[str, Callable[[Array], Array]] = {
    "sample": lambda table: table, "sign": _sign, "kendall": _kendall, "trimmed": _trimmed,
}  # fmt: skip

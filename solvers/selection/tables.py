"""Recognise tables that do not mean what a graph needs, and say what to do.

Text, dates and long format are errors. Row numbers, constant and equal columns and columns in
different units are warnings: a graph can be learned, but it may not be the one that was meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvers.selection.preparation import column_spread, in_unlike_units
from solvers.selection.signals import Signals
from wdro_cvx import DataError
from wdro_cvx.validation import Array

_LOOKED_AT = 20  # cells that decide whether text is a date
_COUNTED = 10  # rows from which a rising sequence of integers is a row number
#: Columns up to which all correlations are computed.
MOST_COMPARED = 1000
# A pair is opposite if its correlation is at most minus the first and, given all others, at most
# minus the second. The ridge steadies the inverse if there are few rows.
_OPPOSITE, _DIRECTLY, _RIDGE = 0.6, 0.4, 0.1
_NAMED = 5  # names that a sentence lists


class TableWarning(UserWarning):
    """The table may not mean what a graph needs."""


def check_frame(table: Any) -> None:
    """Refuse a data frame with text or dates; the message names the column and the remedy.

    Parameters
    ----------
    table : object
        Anything but a pandas data frame is left to later checks.

    Raises
    ------
    DataError
        If a column is not numeric.

    Examples
    --------
    >>> import pandas as pd
    >>> check_frame(pd.DataFrame({"city": ["Oslo", "Rome"], "warmth": [3.0, 15.0]}))
    Traceback (most recent call last):
    ...
    wdro_cvx.errors.DataError: X has text in column 'city', such as 'Oslo'; a graph is learned ...
    """
    if not (hasattr(table, "iloc") and hasattr(table, "columns")):
        return
    kinds = {name: _kind(table.iloc[:, place]) for place, name in enumerate(table.columns)}
    texts = [name for name, kind in kinds.items() if kind == "text"]
    dates = [name for name, kind in kinds.items() if kind == "date"]
    numbers = [name for name, kind in kinds.items() if kind == "number"]
    if texts and len(numbers) == 1 and table[texts[0]].duplicated().any():
        when = repr(dates[0]) if dates else "…"
        raise DataError(
            f"X is in long format: {texts[0]!r} repeats names and {numbers[0]!r} holds the values. "
            f"Give it one column per vertex: X.pivot(index={when}, columns={texts[0]!r}, "
            f"values={numbers[0]!r})."
        )
    if dates:
        raise DataError(
            f"X has dates in column {dates[0]!r}, which is no vertex. Make it the index, "
            f"X.set_index({dates[0]!r}), or drop it."
        )
    if texts:
        example = table[texts[0]].dropna().iloc[0]
        raise DataError(
            f"X has text in column {texts[0]!r}, such as {str(example)[:30]!r}; a graph is learned "
            f"from numbers. Drop it, X.drop(columns=[{texts[0]!r}]), or encode it as numbers."
        )


def _kind(column: Any) -> str:
    import pandas as pd
    from pandas.api import types

    if types.is_numeric_dtype(column) or types.is_bool_dtype(column):
        return "number"
    if types.is_datetime64_any_dtype(column) or isinstance(column.dtype, pd.PeriodDtype):
        return "date"
    cells = column.dropna().head(_LOOKED_AT)
    if pd.to_numeric(cells, errors="coerce").notna().all():
        return "number"  # scikit-learn converts these
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "text"
    parsed = pd.to_datetime(cells.astype(str), errors="coerce", format="ISO8601")
    return "date" if parsed.notna().all() else "text"


def describe_table(signals: Signals, spread: Array, standardise: bool | str) -> list[str]:
    """Return what should be said about a table before it is used.

    Parameters
    ----------
    signals : Signals
        As given.
    spread : array (d,)
        The deviations of the columns, without outliers if these are clipped.
    standardise : "auto" or bool

    Returns
    -------
    list of str
    """
    if len(signals) < 2:
        return []
    names = signals.labels
    said = []
    counting = [names[place] for place in np.flatnonzero(_row_numbers(signals))]
    if counting:
        said.append(
            f"{_listed(counting)} rises or falls by whole numbers with every row, like a row "
            "number or a year; drop it if it is not a vertex."
        )
    still = [names[place] for place in np.flatnonzero(spread == 0.0)]
    if still:
        said.append(f"{_listed(still)} never changes, so it gets no edge; drop it.")
    if in_unlike_units(spread, len(signals)) and standardise is not True:
        moving = np.where(spread > 0.0, spread, np.nan)
        low, high = names[int(np.nanargmin(moving))], names[int(np.nanargmax(moving))]
        done = (
            "all columns were divided by their deviations."
            if standardise == "auto"
            else "the largest columns decide the graph. Use standardise=True."
        )
        said.append(
            f"The columns are in different units: {high!r} varies "
            f"{np.nanmax(moving) / np.nanmin(moving):.3g} times as much as {low!r}; {done}"
        )
    return said


def describe_copies(signals: Signals) -> list[str]:
    """Return what should be said about columns that are copies of each other."""
    if len(signals) < 3 or signals.d > MOST_COMPARED:
        return []
    copies = np.argwhere(np.triu(correlations(signals), 1) >= 1.0 - 1e-9)
    if not len(copies):
        return []
    names = signals.labels
    first, second = (names[place] for place in copies[0])
    more = f" (and {len(copies) - 1} more pairs)" if len(copies) > 1 else ""
    return [f"{first!r} and {second!r} are copies of each other{more}; drop one."]


def correlations(signals: Signals) -> Array:
    """Return the correlations of columns; zero for constant ones."""
    table = signals.divided(signals.unit()).filled
    values = table - table.mean(axis=0)
    lengths = np.linalg.norm(values, axis=0)
    values = values / np.where(lengths > 1e-12 * lengths.max(initial=0.0), lengths, np.inf)
    return np.asarray(values.T @ values)


def describe_opposites(signals: Signals) -> list[str]:
    """Return what should be said about columns that vary in opposite directions.

    Distant vertices of a graph are negatively correlated too, but hardly given all others. A common
    shift of the inverse correlations comes from rows that sum to zero, and is removed.
    """
    n, d = len(signals), signals.d
    if n < 3 or d > MOST_COMPARED:
        return []
    alike, pairs = correlations(signals), np.triu_indices(d, 1)
    ridge = (_RIDGE * min(1.0, d / n) + 1e-3) * np.eye(d)
    np.fill_diagonal(alike, 1.0)
    inverse = np.linalg.inv(alike + ridge)
    shift = float(np.median(inverse[pairs])) if d > 3 else 0.0
    size = np.sqrt(np.diag(inverse))
    given = (shift - inverse) / np.outer(size, size)
    opposed = (alike[pairs] < -max(_OPPOSITE, 4.0 / np.sqrt(n))) & (given[pairs] < -_DIRECTLY)
    if not opposed.any():
        return []
    places = np.flatnonzero(opposed)
    worst = places[int(np.argmin(alike[pairs][places]))]
    first, second = int(pairs[0][worst]), int(pairs[1][worst])
    return [
        f"{signals.labels[first]!r} and {signals.labels[second]!r} vary in opposite directions "
        f"(correlation {alike[first, second]:.2f}). A Laplacian joins what is similar and keeps "
        "opposites apart; absolute=True joins both."
    ]


def moving_columns(signals: Signals) -> NDArray[np.bool_]:
    """Return which columns change at all."""
    return np.asarray(column_spread(signals)[1] > 0.0)


def _row_numbers(signals: Signals) -> NDArray[np.bool_]:
    table = signals.table
    if len(table) < _COUNTED:
        return np.zeros(signals.d, dtype=bool)
    steps = np.diff(table, axis=0)
    whole = np.all(table == np.round(table), axis=0)  # False if a cell is missing
    return np.asarray(whole & (np.all(steps > 0.0, axis=0) | np.all(steps < 0.0, axis=0)))


def _listed(names: Sequence[object]) -> str:
    shown = ", ".join(repr(name) for name in names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more columns"

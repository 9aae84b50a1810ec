"""Refuse data that are no table of numbers, such as text and dates, and say what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from wdro_cvx import DataError
from wdro_cvx.validation import Array

_LOOKED_AT = 20  # cells that decide whether text is a date


def as_table(table: Any) -> Any:
    """Return tables of xarray, polars and others as a pandas data frame, which has their labels.

    Other tables stay as they are.

    Raises
    ------
    DataError
        If an object is no table of two dimensions, but can be made one; the message says how.
    """
    if isinstance(table, (str, PathLike)):
        raise DataError(f"X is text, {str(table)[:60]!r}. If it is a path, pass pd.read_csv(path).")
    columns = isinstance(table, Mapping) and not hasattr(table, "shape")  # as sparse arrays have
    if columns or _are_records(table):
        raise DataError(f"X is {'a dict' if columns else 'a list of dicts'}; pass pd.DataFrame(X).")
    kind = type(table)
    if kind.__name__ == "LazyFrame":
        raise DataError("X is a LazyFrame, which has no values yet; call .collect() first.")
    if kind.__module__.partition(".")[0] == "xarray" and (
        kind.__name__ != "DataArray" or table.ndim != 2
    ):
        found = ", ".join(map(str, table.dims))
        raise DataError(
            f"X is an xarray {kind.__name__} with the dimensions {found}; "
            "give a DataArray with two, signals and then vertices."
        )
    if not hasattr(table, "to_pandas"):
        return table
    try:
        return table.to_pandas()
    except ImportError as error:
        raise DataError(
            f"X, a {kind.__name__}, cannot be converted to pandas ({error}). Install what is "
            "missing, or pass a pandas data frame."
        ) from None


def _are_records(table: Any) -> bool:
    return isinstance(table, (list, tuple)) and bool(table) and isinstance(table[0], Mapping)


def column_names(table: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame as text; None if columns are merely numbered."""
    if not _is_frame(table) or list(table.columns) == list(range(table.shape[1])):
        return None
    return tuple("/".join(map(str, name)) if isinstance(name, tuple) else str(name)
                 for name in table.columns)  # fmt: skip


def _is_frame(table: Any) -> bool:
    return hasattr(table, "iloc") and hasattr(table, "columns")


def check_frame(table: Any) -> None:
    """Refuse a table that does not consist of numbers; the message names a column and a remedy.

    Parameters
    ----------
    table : object
        Anything but a pandas data frame is left to later checks.

    Raises
    ------
    DataError
        If a column is not numeric, or its name is not unique.

    Examples
    --------
    >>> import pandas as pd
    >>> check_frame(pd.DataFrame({"city": ["Oslo", "Rome"], "warmth": [3.0, 15.0]}))
    Traceback (most recent call last):
    ...
    wdro_cvx.errors.DataError: X has text in column 'city', such as 'Oslo'; a graph is learned ...
    """
    if isinstance(table, np.ndarray) and np.iscomplexobj(table):
        raise DataError("Complex data not supported; take real parts or absolute values first.")
    if not _is_frame(table):
        return
    _check_names(table.columns)
    if _is_sparse(table):
        raise DataError("The columns of X are sparse; pass X.sparse.to_dense().")
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
            f"X has dates or times in column {dates[0]!r}, which is no vertex. Make it the index, "
            f"X.set_index({dates[0]!r}), or drop it."
        )
    if texts:
        example = str(table[texts[0]].dropna().iloc[0])[:30]
        remedy = f"Drop it, X.drop(columns=[{texts[0]!r}]), or encode it as numbers."
        if re.fullmatch(r"\s*-?\d+,\d+\s*", example):
            remedy = "If its commas are decimal points, read the file with decimal=','."
        raise DataError(
            f"X has text in column {texts[0]!r}, such as {example!r}; a graph is learned from "
            f"numbers. {remedy}"
        )


def _check_names(names: Any) -> None:
    if not names.is_unique:
        twice = names[names.duplicated()][0]
        raise DataError(f"X must have unique column names; {twice!r} occurs more than once.")
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        raise DataError(
            f"X has names that are text and names that are not, such as "
            f"{names[texts.index(False)]!r}. Use X.columns = X.columns.astype(str)."
        )


def check_finite(table: Array, names: Sequence[object]) -> None:
    """Refuse infinite cells; the message says where the first one is.

    Raises
    ------
    DataError
        If a cell is infinite.
    """
    if np.isinf(table).any():
        row, column = np.argwhere(np.isinf(table))[0]
        raise DataError(
            f"X contains infinity, in row {row} of column {names[column]!r}. Missing values are "
            "NaN: X.replace([np.inf, -np.inf], np.nan)."
        )


def _is_sparse(table: Any) -> bool:
    """Return whether all columns are sparse; scikit-learn converts a part of them."""
    import pandas as pd

    kinds = list(table.dtypes)
    return bool(kinds) and all(isinstance(kind, pd.SparseDtype) for kind in kinds)


def _kind(column: Any) -> str:
    import pandas as pd
    from pandas.api import types

    if types.is_numeric_dtype(column) or types.is_bool_dtype(column):
        return "number"
    if types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
        return "date"
    if isinstance(column.dtype, pd.PeriodDtype):
        return "date"
    cells = column.dropna().head(_LOOKED_AT)
    if pd.to_numeric(cells, errors="coerce").notna().all():
        return "number"  # scikit-learn converts these
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "text"
    parsed = pd.to_datetime(cells.astype(str), errors="coerce", format="ISO8601")
    return "date" if parsed.notna().all() else "text"

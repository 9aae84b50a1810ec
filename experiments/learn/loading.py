"""Read a table of signals strictly; errors name the place and the remedy."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.learn.numbers import DECIMALS, MISSING, read_numbers
from experiments.learn.reading import (
    INDEX,
    Rows,
    check_names,
    check_vertex_names,
    open_rows,
    some,
)
from experiments.measuring.text import counted, parse_number
from solvers.selection.codes import say_code, suspected_codes
from wdro_cvx import DataError
from wdro_cvx.validation import Array

#: Names of columns that hold the time of an observation and are not vertices.
TIME_COLUMNS = frozenset(
    ("date", "time", "datetime", "timestamp", "year", "quarter", "month", "week", "week_start",
     "week_end", "day", "hour", "period", "datum", "zeit", "jahr", "monat", "tag", "stunde")
)  # fmt: skip
POLICIES = ("pairs", "error", "drop", "interpolate")
ORIENTATIONS = ("columns", "rows")
_FORMATS = ("ISO8601", "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%y", "%d/%m/%Y",
            "%m/%d/%Y", "%m.%Y")  # fmt: skip
_LOOKED_AT = 20  # rows that decide whether a column holds dates


@dataclass(frozen=True)
class Layout:
    """How to read a table.

    Attributes
    ----------
    ignore : tuple of str
        Columns that are not vertices, in addition to those with dates.
    missing : str
        ``pairs`` leaves missing values to the estimator, which compares two columns on the rows
        that both have. ``error`` counts them and stops. ``drop`` omits rows that have any.
        ``interpolate`` fills them linearly along the column.
    vertices : str
        Whether the ``columns`` or the ``rows`` are the vertices; rows begin with their names.
    decimal : str
        The decimal mark.
    na : tuple of str
        Codes for missing values, such as ``-9999``, in addition to the usual words.
    """

    ignore: tuple[str, ...] = ()
    missing: str = "pairs"
    vertices: str = "columns"
    decimal: str = "."
    na: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        for name, allowed in (
            ("missing", POLICIES), ("vertices", ORIENTATIONS), ("decimal", DECIMALS),
        ):  # fmt: skip
            if getattr(self, name) not in allowed:
                raise DataError(
                    f"{name} must be one of {', '.join(allowed)}; it is {getattr(self, name)!r}."
                )


@dataclass(frozen=True, eq=False)
class SignalTable:
    """Signals by vertex name.

    Attributes
    ----------
    frame : DataFrame (N, d)
        One column per vertex; missing values are NaN.
    ignored : tuple of str
        Columns (or rows) that are not vertices: times, and those named by the user.
    notes : tuple of str
        How missing values were treated, and which values may have been misread.
    """

    frame: pd.DataFrame
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the vertices."""
        return tuple(self.frame.columns)

    @property
    def signals(self) -> Array:
        """The signals as an array (N, d), without a copy."""
        return self.frame.to_numpy()


def load_signals(path: Path, layout: Layout | None = None) -> SignalTable:
    """Read a table with one observation per row and one vertex per column, or its transpose.

    Rows are converted as they are read, so a wide table takes little more memory than its numbers.

    Raises
    ------
    DataError
        If the file is not a table of numbers with unique names; the message names the place.
    """
    layout = layout or Layout()
    header, rows = open_rows(path, layout.decimal)
    read = _by_columns if layout.vertices == "columns" else _by_rows
    names, signals, ignored, notes = read(path, header, rows, layout)
    if len(names) < 2:
        raise DataError(
            f"{path} has {counted(len(names), 'vertex column')}; a graph needs at least 2."
        )
    check_vertex_names(path, names)
    hints = [say_code(*found, f"--na {found[0]:g}") for found in suspected_codes(signals).items()]
    signals, filled = _fill(path, names, signals, layout.missing)
    if len(signals) < 2:
        raise DataError(
            f"{path} has {counted(len(signals), 'observation')}; learning a graph needs 2 or more."
        )
    frame = pd.DataFrame(signals, columns=names, copy=False)
    return SignalTable(frame, tuple(ignored), (*filled, *notes, *hints))


Read = tuple[list[str], Array, list[str], list[str]]


def _by_columns(path: Path, header: list[str], rows: Rows, layout: Layout) -> Read:
    unknown = [name for name in layout.ignore if name not in header]
    if unknown:
        raise DataError(f"{path} has no column {unknown[0]!r} to ignore. It has: {some(header)}.")
    first = list(itertools.islice(rows, _LOOKED_AT))
    ignored = {
        place: name
        for place, name in enumerate(header)
        if name in layout.ignore
        or (place == 0 and name == INDEX)
        or _is_time(name, [row[place] for _, row in first])
    }
    kept = [place for place in range(len(header)) if place not in ignored]
    names = [header[place] for place in kept]
    cells = ((n, [row[place] for place in kept]) for n, row in itertools.chain(first, rows))
    signals = read_numbers(path, names, cells, layout.decimal, layout.na)
    hints = _words([row[0] for _, row in first]) if header[0] == INDEX else []
    return names, signals, list(ignored.values()), hints


def _by_rows(path: Path, header: list[str], rows: Rows, layout: Layout) -> Read:
    """Read a table whose rows are the vertices, with their names in the first column."""
    names: list[str] = []
    ignored: list[str] = []

    def cells() -> Rows:
        for number, (name, *values) in rows:
            if name in layout.ignore:
                ignored.append(name)
            else:
                names.append(name)
                yield number, values

    signals = read_numbers(path, header[1:], cells(), layout.decimal, layout.na)
    unknown = [name for name in layout.ignore if name not in ignored]
    if unknown:
        raise DataError(f"{path} has no row {unknown[0]!r} to ignore. It has: {some(names)}.")
    check_names(path, names, "row")
    return names, signals.T.copy(), ignored, []


def _is_time(name: str, cells: Sequence[str]) -> bool:
    if name.lower() in TIME_COLUMNS:
        return True
    first = [cell for cell in cells if cell.lower() not in MISSING]
    if not first or any(parse_number(cell) is not None for cell in first):
        return False
    column = pd.Series(first)
    return any(
        pd.to_datetime(column, errors="coerce", format=form).notna().all() for form in _FORMATS
    )


def _words(index: Sequence[str]) -> list[str]:
    """Return a hint if the unnamed column holds words, as in a transposed table."""
    numbers = any(parse_number(cell) is not None for cell in index)
    if numbers or len(set(index)) < len(index) or _is_time("", index):
        return []
    return [
        f"The first column has no name and was left out; it has words: {', '.join(index[:3])}, …. "
        "If these are the vertices, use --vertices rows."
    ]


def _fill(
    path: Path, names: Sequence[str], signals: Array, missing: str
) -> tuple[Array, list[str]]:
    """Return the signals with missing values treated as requested, and a note about them."""
    gaps = np.isnan(signals)
    count = int(gaps.sum())
    if count == 0:
        return signals, []
    rows = int(gaps.any(axis=1).sum())
    empty = [names[int(place)] for place in np.flatnonzero(gaps.all(axis=0))]
    if empty:
        raise DataError(f"{path} has no value at all for {some(empty)}; ignore these columns.")
    holes = counted(count, "missing value")
    found = f"{holes} in {rows} of {counted(len(signals), 'row')}"
    if missing == "error":
        worst = int(gaps.sum(axis=0).argmax())
        raise DataError(
            f"{path} has {found}, most of them ({int(gaps[:, worst].sum())}) in {names[worst]!r}. "
            "Use --missing pairs, drop or interpolate."
        )
    if missing == "drop":
        return signals[~gaps.any(axis=1)], [f"{counted(rows, 'row')} with missing values left out."]
    if missing == "interpolate":
        filled = pd.DataFrame(signals).interpolate(limit_direction="both").to_numpy(float)
        return filled, [f"{holes} interpolated."]
    return signals, [f"{found}."]

"""Read a table of signals, strictly: an error names the place and the remedy."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.learn.names import check_names, check_vertex_names
from experiments.learn.numbers import DECIMALS, MISSING, Cells, some
from experiments.learn.reading import INDEX, Rows, open_rows
from experiments.measuring.text import parse_number
from wdro_cvx import DataError
from wdro_cvx.validation import Array

#: Columns that tell when a signal was observed; they are no vertices.
TIME_COLUMNS = frozenset(
    ("date", "time", "datetime", "timestamp", "year", "quarter", "month", "week", "week_start",
     "week_end", "day", "hour", "period", "datum", "zeit", "jahr", "monat", "tag", "stunde")
)  # fmt: skip
POLICIES = ("pairs", "error", "drop", "interpolate")
ORIENTATIONS = ("columns", "rows")
_FORMATS = ("ISO8601", "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%y", "%d/%m/%Y",
            "%m/%d/%Y", "%m.%Y")  # fmt: skip
_LOOKED_AT = 20  # rows, for what a column holds
#: Numbers that often stand for a missing value.
_CODES = (-99999.0, -9999.0, -999.0, -99.0, 9999.0, 99999.0)


@dataclass(frozen=True)
class Layout:
    """How a table is to be read.

    Attributes
    ----------
    ignore : tuple of str
        Columns that are no vertices, beside those that hold dates.
    missing : str
        ``pairs`` leaves missing values to the estimator, which compares columns where both are
        present; ``error`` counts them and stops; ``drop`` leaves out rows that have any;
        ``interpolate`` fills them linearly along the column.
    vertices : str
        Whether the ``columns`` are the vertices, or the ``rows``, with their names first.
    decimal : str
        The decimal mark.
    na : tuple of str
        What stands for a missing value beside the usual words, such as ``-9999``.
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
    names : tuple of str
    signals : array (N, d)
        NaN where a value is missing.
    ignored : tuple of str
        Columns that were taken for times, or that the user named.
    note : str
        What was done about missing values.
    hints : tuple of str
        What may have been read otherwise than it was meant.
    """

    names: tuple[str, ...]
    signals: Array
    ignored: tuple[str, ...] = ()
    note: str = ""
    hints: tuple[str, ...] = ()


def load_signals(path: Path, layout: Layout | None = None) -> SignalTable:
    """Read a table with one observation per row and one vertex per column, or the other way.

    A row becomes numbers as it is read, so that wide tables take little more memory than their
    numbers.
    """
    layout = layout or Layout()
    header, rows = open_rows(path, layout.decimal)
    read = _by_columns if layout.vertices == "columns" else _by_rows
    names, signals, ignored, hints = read(path, header, rows, layout)
    if len(names) < 2:
        raise DataError(f"{path} has {len(names)} vertex column; a graph needs at least 2.")
    check_vertex_names(path, names)
    hints += _codes(signals)
    signals, note = _fill(path, names, signals, layout.missing)
    if len(signals) < 2:
        raise DataError(f"{path} has {len(signals)} observation; learning a graph needs 2 or more.")
    return SignalTable(tuple(names), signals, tuple(ignored), note, tuple(hints))


Read = tuple[list[str], Array, list[str], list[str]]


def _by_columns(path: Path, header: list[str], rows: Rows, layout: Layout) -> Read:
    unknown = [name for name in layout.ignore if name not in header]
    if unknown:
        raise DataError(f"{path} has no column {unknown[0]!r} to ignore. It has: {some(header)}.")
    first = list(itertools.islice(rows, _LOOKED_AT))
    ignored = [
        name
        for place, name in enumerate(header)
        if name in layout.ignore
        or (place == 0 and name == INDEX)
        or _is_time(name, [row[place] for _, row in first])
    ]
    left_out = set(ignored)
    kept = [place for place, name in enumerate(header) if name not in left_out]
    names = [header[place] for place in kept]
    cells = Cells(path, names, layout.decimal, layout.na)
    found = [
        cells.numbers(number, [row[place] for place in kept])
        for number, row in itertools.chain(first, rows)
    ]
    cells.check()
    hints = _words([row[0] for _, row in first]) if header[0] == INDEX else []
    return names, np.array(found).reshape(len(found), len(names)), ignored, hints


def _by_rows(path: Path, header: list[str], rows: Rows, layout: Layout) -> Read:
    """Read a table whose rows are the vertices, with their names in the first column."""
    names: list[str] = []
    found: list[Array] = []
    cells = Cells(path, header[1:], layout.decimal, layout.na)
    ignored: list[str] = []
    for number, row in rows:
        if row[0] in layout.ignore:
            ignored.append(row[0])
            continue
        names.append(row[0])
        found.append(cells.numbers(number, row[1:]))
    unknown = [name for name in layout.ignore if name not in ignored]
    if unknown:
        raise DataError(f"{path} has no row {unknown[0]!r} to ignore. It has: {some(names)}.")
    cells.check()
    check_names(path, names, "row")
    return names, np.array(found).reshape(len(found), len(header) - 1).T.copy(), ignored, []


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
    """Say so where the column without a name has names, as that of a transposed table."""
    numbers = any(parse_number(cell) is not None for cell in index)
    if numbers or len(set(index)) < len(index) or _is_time("", index):
        return []
    return [
        f"The first column has no name and was left out; it has words: {', '.join(index[:3])}, …. "
        "If these are the vertices, use --vertices rows."
    ]


def _codes(signals: Array) -> list[str]:
    """Say so where the least or the largest number, more than once, may stand for a gap."""
    if np.isnan(signals).all():
        return []
    ends = {float(np.nanmin(signals)), float(np.nanmax(signals))}
    counts = {code: int(np.count_nonzero(signals == code)) for code in _CODES if code in ends}
    return [
        f"{code:g} is there {count} times and was read as a number; if it stands for a missing "
        f"value, use --na {code:g}."
        for code, count in counts.items()
        if count > 1
    ]


def _fill(path: Path, names: Sequence[str], signals: Array, missing: str) -> tuple[Array, str]:
    gaps = np.isnan(signals)
    count = int(gaps.sum())
    if count == 0:
        return signals, ""
    rows = int(gaps.any(axis=1).sum())
    empty = [names[int(place)] for place in np.flatnonzero(gaps.all(axis=0))]
    if empty:
        raise DataError(f"{path} has no value at all for {some(empty)}; ignore these columns.")
    if missing == "pairs":
        return signals, f"{count} missing values in {rows} of {len(signals)} rows"
    if missing == "error":
        worst = int(gaps.sum(axis=0).argmax())
        raise DataError(
            f"{path} has {count} missing values in {rows} of {len(signals)} rows, most of them "
            f"({int(gaps[:, worst].sum())}) in {names[worst]!r}. Use --missing pairs, drop or "
            "interpolate."
        )
    if missing == "drop":
        return signals[~gaps.any(axis=1)], f"{rows} rows with missing values left out"
    filled = pd.DataFrame(signals).interpolate(limit_direction="both")
    return filled.to_numpy(float), f"{count} missing values interpolated"

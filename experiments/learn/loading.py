"""Read a table of signals, or of coordinates, strictly: an error names the place and the remedy."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.learn.names import check_header, check_vertex_names
from experiments.running.options import parse_number
from wdro_cvx import DataError
from wdro_cvx.validation import Array

#: Columns that tell when a signal was observed; they are no vertices.
TIME_COLUMNS = frozenset(
    ("date", "time", "datetime", "timestamp", "year", "quarter", "month", "week", "week_start",
     "week_end", "day", "hour", "period")
)  # fmt: skip
MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "-", "?"))
POLICIES = ("error", "drop", "interpolate")
_LARGEST_MB = 200
_MOST_COLUMNS = 10_000
_SHOWN = 3  # places that an error lists


@dataclass(frozen=True, eq=False)
class SignalTable:
    """Signals by vertex name.

    Attributes
    ----------
    names : tuple of str
    signals : array (N, d)
    ignored : tuple of str
        Columns that were taken for times, or that the user named.
    note : str
        What was done about missing values.
    """

    names: tuple[str, ...]
    signals: Array
    ignored: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, eq=False)
class Places:
    """Coordinates of the vertices in degrees, in their order."""

    latitude: Array
    longitude: Array

    @property
    def arrays(self) -> tuple[Array, Array]:
        """Latitudes and longitudes."""
        return self.latitude, self.longitude


def read_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a text table, all rows of the same length."""
    text = _read_text(path)
    separator = _separator(path, text)
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error as error:
        raise DataError(f"{path} is not a readable table: {error}.") from None
    # Blank lines are no rows; a row of empty cells is one, with all of its values missing.
    numbered = [
        (n, row) for n, row in enumerate(lines, start=1) if "".join(row).strip() or len(row) > 1
    ]
    if len(numbered) < 2:
        raise DataError(f"{path} has no rows below its header.")
    header = [cell.strip() for cell in numbered[0][1]]
    if len(header) > _MOST_COLUMNS:
        raise DataError(
            f"{path} has {len(header)} columns; graphs of up to {_MOST_COLUMNS} vertices are "
            "learned. Take fewer."
        )
    for number, row in numbered[1:]:
        if len(row) != len(header):
            raise DataError(
                f"{path}: row {number} has {len(row)} cells, the header {len(header)}. "
                "Every row needs one cell per column; quote cells that contain the separator."
            )
    check_header(path, header)
    return header, [[cell.strip() for cell in row] for _, row in numbered[1:]]


def load_signals(path: Path, ignore: Sequence[str] = (), missing: str = "error") -> SignalTable:
    """Read a table with one observation per row and one vertex per column.

    Parameters
    ----------
    path : Path
        A CSV file: comma, semicolon, tab or bar as separator, UTF-8.
    ignore : sequence of str
        Columns that are no vertices, beside those that hold dates.
    missing : str
        ``error`` counts missing values and stops; ``drop`` leaves out rows that have any;
        ``interpolate`` fills them linearly along the column.
    """
    header, rows = read_rows(path)
    unknown = [name for name in ignore if name not in header]
    if unknown:
        raise DataError(f"{path} has no column {unknown[0]!r} to ignore. It has: {_some(header)}.")
    cells = pd.DataFrame(rows, columns=header)
    ignored = [name for name in header if name in ignore or _is_time(name, cells[name])]
    names = [name for name in header if name not in ignored]
    if len(names) < 2:
        raise DataError(f"{path} has {len(names)} vertex column; a graph needs at least 2.")
    check_vertex_names(path, names)
    table, note = _fill(path, _numbers(path, cells[names]), missing)
    if len(table) < 2:
        raise DataError(f"{path} has {len(table)} observation; learning a graph needs 2 or more.")
    return SignalTable(tuple(names), table.to_numpy(float), tuple(ignored), note)


def load_places(path: Path, names: Sequence[str]) -> Places:
    """Read coordinates with the columns name, lat, lon; every vertex needs its row."""
    header, rows = read_rows(path)
    lower = [name.lower() for name in header]
    positions = {}
    for wanted, accepted in (("lat", ("lat", "latitude")), ("lon", ("lon", "lng", "longitude"))):
        found = [lower.index(name) for name in accepted if name in lower]
        if not found:
            raise DataError(f"{path} needs the columns name, lat, lon; there is no {wanted!r}.")
        positions[wanted] = found[0]
    others = [place for place in range(len(header)) if place not in positions.values()]
    if not others:
        raise DataError(f"{path} needs the columns name, lat, lon; there is no name.")
    label = others[0]
    by_name = {row[label]: row for row in rows}
    if len(by_name) < len(rows):
        twice = next(n for n in by_name if sum(row[label] == n for row in rows) > 1)
        raise DataError(f"{path} has two rows for {twice!r}; a vertex has one place.")
    absent = [name for name in names if name not in by_name]
    if absent:
        raise DataError(
            f"{path} has no coordinates for {len(absent)} of {len(names)} vertices: "
            f"{_some(absent)}. Names must match the table's header exactly."
        )
    columns = pd.DataFrame(
        {key: [by_name[name][place] for name in names] for key, place in positions.items()}
    )
    numbers = _numbers(path, columns)
    if numbers.isna().to_numpy().any():
        raise DataError(f"{path} lacks a latitude or longitude; fill it in.")
    latitude, longitude = numbers["lat"].to_numpy(float), numbers["lon"].to_numpy(float)
    if np.abs(latitude).max() > 90 or np.abs(longitude).max() > 360:
        raise DataError(f"{path} has a latitude beyond ±90 or a longitude beyond ±360 degrees.")
    return Places(latitude, longitude)


def _read_text(path: Path) -> str:
    try:
        if not path.is_file():
            raise DataError(f"{path} is not a file; give the path of a CSV table.")
        size = path.stat().st_size / 1024**2
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    if size > _LARGEST_MB:
        raise DataError(
            f"{path} has {size:.0f} MB; tables of up to {_LARGEST_MB} MB are read. Average over "
            "time, or take fewer vertices."
        )
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    if b"\0" in raw:
        raise DataError(
            f"{path} is not a text file (a spreadsheet or an archive?). Export it as CSV, UTF-8."
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise DataError(
            f"{path} is not UTF-8 (byte 0x{raw[error.start]:02x} in line {line}). Save it as UTF-8."
        ) from None
    if not text.strip():
        raise DataError(f"{path} is empty.")
    return text


def _separator(path: Path, text: str) -> str:
    """Return the separator that occurs in the header."""
    first = re.split("[\r\n]", text.lstrip("\r\n "), maxsplit=1)[0]
    counts = {mark: first.count(mark) for mark in (",", ";", "\t", "|")}
    best = max(counts, key=lambda mark: counts[mark])
    if counts[best] == 0:
        raise DataError(
            f"{path} has one column; separate the vertices with commas, semicolons or tabs."
        )
    return best


def _is_time(name: str, column: pd.Series) -> bool:
    if name.lower() in TIME_COLUMNS:
        return True
    first = [cell for cell in column.head(20) if cell.lower() not in MISSING]
    if not first or any(parse_number(cell) is not None for cell in first):
        return False
    parsed = pd.to_datetime(pd.Series(first), errors="coerce", format="ISO8601")
    return bool(parsed.notna().all())


def _numbers(path: Path, cells: pd.DataFrame) -> pd.DataFrame:
    """Return numbers, NaN where a value is missing; name the cells that are neither."""
    bad = []
    columns = {}
    for name in cells:
        values = np.empty(len(cells))
        for place, cell in enumerate(cells[name]):
            number = math.nan if cell.lower() in MISSING else parse_number(cell)
            if number is None or math.isinf(number):
                bad.append(f"{cell[:30]!r} in row {place + 2}, column {name!r}")
                number = math.nan
            values[place] = number
        columns[name] = values
    if bad:
        hint = " Decimal commas must be points." if any("," in place for place in bad) else ""
        raise DataError(
            f"{path} has {len(bad)} cells that are not finite numbers: {'; '.join(bad[:_SHOWN])}"
            f"{' …' if len(bad) > _SHOWN else ''}.{hint} Ignore a column with --ignore NAME."
        )
    return pd.DataFrame(columns)


def _fill(path: Path, table: pd.DataFrame, missing: str) -> tuple[pd.DataFrame, str]:
    if missing not in POLICIES:
        raise DataError(f"missing must be one of {', '.join(POLICIES)}; it is {missing!r}.")
    gaps = table.isna()
    count = int(gaps.to_numpy().sum())
    if count == 0:
        return table, ""
    rows = int(gaps.any(axis=1).sum())
    empty = [str(name) for name in table if gaps[name].all()]
    if empty:
        raise DataError(f"{path} has no value at all for {_some(empty)}; ignore these columns.")
    if missing == "error":
        worst = str(gaps.sum().idxmax())
        raise DataError(
            f"{path} has {count} missing values in {rows} of {len(table)} rows, most of them "
            f"({int(gaps[worst].sum())}) in {worst!r}. Use --missing drop or --missing interpolate."
        )
    if missing == "drop":
        return table[~gaps.any(axis=1)], f"{rows} rows with missing values left out"
    filled = table.interpolate(limit_direction="both")
    return filled, f"{count} missing values interpolated"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:6])
    return shown if len(names) <= 6 else f"{shown}, … ({len(names)} in all)"

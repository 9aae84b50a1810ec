"""Read a table of signals strictly; errors name the place and the remedy."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.learn.numbers import DECIMALS, option, read_numbers
from experiments.learn.reading import (
    INDEX,
    Rows,
    check_names,
    check_vertex_names,
    open_rows,
    some,
)
from experiments.learn.times import number_reason, text_reason
from experiments.measuring.text import counted, parse_number
from solvers.selection.codes import say_code, suspected_codes
from wdro_cvx import DataError
from wdro_cvx.validation import Array

POLICIES = ("pairs", "error", "drop", "interpolate")
ORIENTATIONS = ("columns", "rows")
_LOOKED_AT = 20  # rows that decide whether a column holds dates
_ASKED, _INDEX = "--ignore", "index"  # reasons to leave a column out, besides those of times.py
_SURE = (_ASKED, _INDEX, "dates", "text", "no values")
_RENAME = " Give a column another name if it is a vertex."


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
    reasons : tuple of str
        Why every name in ``ignored`` is no vertex, such as ``dates``.
    """

    frame: pd.DataFrame
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the vertices."""
        return tuple(self.frame.columns)

    @property
    def signals(self) -> Array:
        """The signals as an array (N, d), without a copy."""
        return self.frame.to_numpy()

    @property
    def left_out(self) -> str:
        """A sentence that says what was left out and why; empty if nothing was."""
        if not self.ignored:
            return ""
        pairs = zip(self.ignored, self.reasons, strict=True)
        shown = ", ".join(f"{name} ({reason})" for name, reason in pairs)
        sure = set(self.reasons) <= set(_SURE)
        return f"Columns that were left out: {shown}." + ("" if sure else _RENAME)


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
    said = (*filled, *notes, *hints)
    return SignalTable(frame, tuple(ignored), said, tuple(ignored.values()))


#: Names, signals, reasons to leave other names out, and notes.
Read = tuple[list[str], Array, dict[str, str], list[str]]


def _by_columns(path: Path, header: list[str], rows: Rows, layout: Layout) -> Read:
    unknown = [name for name in layout.ignore if name not in header]
    if unknown:
        raise _nothing_to_ignore(path, unknown[0], "column", header)
    first = list(itertools.islice(rows, _LOOKED_AT))
    reasons = {}
    for place, name in enumerate(header):
        if name in layout.ignore:
            reasons[name] = _ASKED
        elif place == 0 and name == INDEX:
            reasons[name] = _INDEX
        elif reason := text_reason(name, [row[place] for _, row in first]):
            reasons[name] = reason
    kept = [place for place, name in enumerate(header) if name not in reasons]
    names = [header[place] for place in kept]
    cells = ((n, [row[place] for place in kept]) for n, row in itertools.chain(first, rows))
    signals = read_numbers(path, names, cells, layout.decimal, layout.na)
    times = {
        name: reason
        for place, name in enumerate(names)
        if (reason := number_reason(name, signals[:, place]))
    }
    if times:
        signals = signals[:, [name not in times for name in names]]
        names = [name for name in names if name not in times]
    hints = _words([row[0] for _, row in first]) if header[0] == INDEX else []
    reasons |= times
    return names, signals, {name: reasons[name] for name in header if name in reasons}, hints


def _nothing_to_ignore(path: Path, asked: str, what: str, names: Sequence[str]) -> DataError:
    """Return an error about a name that there is not, with what may have been meant."""
    parts = [part.strip() for part in re.split("[,;]", asked)]
    if len(parts) > 1 and all(part in names for part in parts):
        flags = " ".join(option("--ignore", part) for part in parts)
        return DataError(
            f"{path} has no {what} {asked!r} to ignore. Repeat --ignore for every name: {flags}."
        )
    lower = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(asked.strip().casefold(), lower, 1)
    meant = f"Did you mean {lower[near[0]]!r}? " if near else ""
    return DataError(f"{path} has no {what} {asked!r} to ignore. {meant}It has: {some(names)}.")


def _by_rows(path: Path, header: list[str], rows: Rows, layout: Layout) -> Read:
    """Read a table whose rows are the vertices, with their names in the first column."""
    names: list[str] = []
    ignored: dict[str, str] = {}

    def cells() -> Rows:
        for number, (name, *values) in rows:
            if name in layout.ignore:
                ignored[name] = _ASKED
            else:
                names.append(name)
                yield number, values

    signals = read_numbers(path, header[1:], cells(), layout.decimal, layout.na, options=("--na",))
    unknown = [name for name in layout.ignore if name not in ignored]
    if unknown:
        raise _nothing_to_ignore(path, unknown[0], "row", names)
    check_names(path, names, "row")
    return names, signals.T.copy(), ignored, []


def _words(index: Sequence[str]) -> list[str]:
    """Return a hint if the unnamed column holds words, as in a transposed table."""
    numbers = any(parse_number(cell) is not None for cell in index)
    if numbers or len(set(index)) < len(index) or text_reason("", index):
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

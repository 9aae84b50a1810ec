"""Convert cells of text to numbers; errors list cells that are neither numbers nor missing."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from experiments.measuring.text import counted, parse_number
from wdro_cvx import DataError, ProblemError
from wdro_cvx.validation import Array

MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "-", "?"))
DECIMALS = (".", ",")
_TRUTHS = {"true": 1.0, "false": 0.0}
_INFINITE = ("inf", "infinity")
_SHOWN = 3  # columns of which an error shows a cell
_FEW = 3  # words that may be codes for missing values if at most half of the cells are words
_IGNORED = 20  # columns that an error suggests to ignore
_LONG = 3  # columns of a table in long format, besides dates
_DRESSED = re.compile(r"[^\w\s]?\s?[+-]?\d{1,3}([.,' ]?\d{3})*([.,]\d+)?\s?[^\w\s]?")
# A row with only these characters is converted as a whole.
_PLAIN = re.compile(r"[0-9eE+\-. \x1f]*", re.ASCII)

#: A cell with the number of its line and the place of its column.
Cell = tuple[str, int, int]
#: Cells by the places of their columns.
Columns = dict[int, list[str]]


def read_numbers(
    path: Path,
    names: Sequence[str],
    rows: Iterable[tuple[int, Sequence[str]]],
    decimal: str = ".",
    na: Sequence[str] = (),
    options: Sequence[str] = ("--na", "--ignore"),
) -> Array:
    """Return rows of text as an array of numbers, with NaN for missing values.

    A column of true and false is one of 1 and 0.

    Parameters
    ----------
    path : Path
        For errors.
    names : sequence of str
        The names of the columns.
    rows : iterable of pairs
        The number of a line and its cells.
    decimal : str
        The decimal mark.
    na : sequence of str
        Further codes for missing values; a numeric code matches by value, not by spelling.
    options : sequence of str
        The options that errors may suggest, besides ``--decimal``.

    Raises
    ------
    DataError
        If a cell is neither a finite number nor missing.
    ProblemError
        If ``decimal`` is neither a point nor a comma.
    """
    if decimal not in DECIMALS:
        raise ProblemError(f"decimal must be one of {' '.join(DECIMALS)}; it is {decimal!r}.")
    words = MISSING | {word.strip().lower() for word in na}
    codes = [value for word in na if (value := _number(word, decimal)) is not None]
    bad: list[Cell] = []
    truths: dict[int, Cell] = {}  # the first of every column
    found = []
    for line, row in rows:
        values = _plain_row(row, decimal)
        if values is None:
            values = np.full(len(row), math.nan)
            for place, cell in enumerate(row):
                if cell.lower() in words:
                    continue
                number = _TRUTHS.get(cell.lower())
                if number is not None:
                    truths.setdefault(place, (cell, line, place))
                else:
                    number = _number(cell, decimal)
                if number is None or math.isinf(number):
                    bad.append((cell, line, place))
                else:
                    values[place] = number
        for code in codes:
            values[values == code] = math.nan
        found.append(values)
    table = np.array(found).reshape(len(found), len(names))
    for place, truth in truths.items():
        column = table[:, place]
        if not np.isin(column[~np.isnan(column)], (0.0, 1.0)).all():
            bad.append(truth)
    if bad:
        raise _unreadable(path, names, len(found), bad, decimal, options)
    return table


def _plain_row(row: Sequence[str], decimal: str) -> Array | None:
    joined = "\x1f".join(row)
    if decimal == ",":
        if "." in joined:
            return None
        joined = joined.replace(",", ".")
    if not _PLAIN.fullmatch(joined):
        return None
    try:
        values = np.array(joined.split("\x1f"), dtype=float)
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _number(cell: str, decimal: str) -> float | None:
    if decimal == ".":
        return parse_number(cell)
    return None if "." in cell else parse_number(cell.replace(",", "."))


def _unreadable(
    path: Path,
    names: Sequence[str],
    n: int,
    bad: Sequence[Cell],
    decimal: str,
    options: Sequence[str],
) -> DataError:
    """Return an error that shows a bad cell of the first columns and suggests remedies."""
    columns: dict[int, list[Cell]] = {}
    for found in bad:
        columns.setdefault(found[2], []).append(found)
    shown = []
    for place in sorted(columns)[:_SHOWN]:
        (cell, line, _), *more = columns[place]
        others = f" ({len(more)} more)" if more else ""
        shown.append(f"{cell[:30]!r} in row {line}, column {names[place]!r}{others}")
    dots = " …" if len(columns) > _SHOWN else ""
    some = f"{counted(len(bad), 'cell')} that {'is not a' if len(bad) == 1 else 'are not'} finite"
    cells = {place: [cell for cell, _, _ in columns[place]] for place in sorted(columns)}
    hint = _long_format(names, n, cells) or _remedies(names, n, cells, decimal, options)
    return DataError(
        f"{path} has {some} {'number' if len(bad) == 1 else 'numbers'}: {'; '.join(shown)}{dots}. "
        f"{hint}"
    )


def _long_format(names: Sequence[str], n: int, columns: Columns) -> str:
    """Return what to do with a table of few columns, one of which repeats words."""
    if len(names) > _LONG or len(columns) > 1:
        return ""
    ((place, cells),) = columns.items()
    if len(cells) < n or len(set(cells)) == n or any(_kind(cell, ".") != "text" for cell in cells):
        return ""
    return (
        f"This looks like long format, with the name of a vertex in {names[place]!r}. Give it one "
        "column per vertex, as the pivot of a spreadsheet or of pandas does."
    )


def _remedies(
    names: Sequence[str], n: int, columns: Columns, decimal: str, options: Sequence[str]
) -> str:
    """Return the options that mend all columns, and sentences about what no option mends."""
    flags: list[str] = []
    codes: dict[str, str] = {}
    ignored: list[str] = []
    plainly: list[str] = []
    for place, cells in columns.items():
        kinds = {cell: _kind(cell, decimal) for cell in set(cells)}
        if "comma" in kinds.values():
            flags = ["--decimal ,"]
        if "dressed" in kinds.values():
            plainly.append(names[place])
        words = sorted(cell for cell, kind in kinds.items() if kind in ("text", "infinite"))
        count = sum(kinds[cell] in ("text", "infinite") for cell in cells)
        few = len(words) <= _FEW and 2 * count <= n
        if few or "text" not in kinds.values():
            codes |= {word.lower(): option("--na", word) for word in words}
        else:
            ignored.append(names[place])
    flags += codes.values() if "--na" in options else ()
    shown = ignored[:_IGNORED] if "--ignore" in options else []
    flags += [option("--ignore", name) for name in shown]
    said, aside = [], []
    if names[0].startswith("#"):
        said.append("If lines that begin with '#' are comments, remove them first.")
    if plainly:
        some = ", ".join(map(repr, plainly[:_SHOWN])) + (" …" if len(plainly) > _SHOWN else "")
        said.append(
            f"Write numbers plainly, in {some}: without marks between thousands, currency or "
            "percent."
        )
    if len(ignored) > len(shown) or not (flags or plainly):
        said.append("Only columns of numbers are read." if options else "Only numbers are read.")
    if codes and "--na" in options:
        aside.append("--na reads a cell as missing; --ignore NAME leaves a column out instead")
    if shown == ignored == [names[0]] and _all_differ(columns[0], n):
        aside.append(
            "if every row is a vertex and this column has their names, use --vertices rows"
        )
    if flags:
        said.append(f"Add to the command: {' '.join(flags)}")
    return " ".join(said) + (f" ({'; '.join(aside)})" if aside else "")


def option(flag: str, value: str) -> str:
    """Return an option with its value as the shell takes them."""
    return f"{flag}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}"


def is_dressed(cell: str) -> bool:
    """Return whether a cell is a number with a comma, marks between thousands, or a currency."""
    return _has_comma(cell) or _DRESSED.fullmatch(cell) is not None


def _kind(cell: str, decimal: str) -> str:
    """Return what is wrong with a cell: ``comma``, ``dressed``, ``infinite`` or ``text``."""
    if decimal == "." and _has_comma(cell):
        return "comma"
    if _DRESSED.fullmatch(cell):
        return "dressed"
    number = _number(cell, decimal)
    infinite = number is not None and math.isinf(number)
    return "infinite" if infinite or cell.lower().lstrip("+-") in _INFINITE else "text"


def _all_differ(cells: Sequence[str], n: int) -> bool:
    return 1 < len(cells) == n == len(set(cells))


def _has_comma(cell: str) -> bool:
    """Return whether a cell would be a number with a point instead of its comma."""
    return "," in cell and parse_number(cell.replace(",", ".", 1)) is not None

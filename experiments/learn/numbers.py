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
_SHOWN = 3  # cells that an error lists
_LONG = 3  # columns of a table in long format, besides dates
_DRESSED = re.compile(r"[^\w\s]?\s?[+-]?\d{1,3}([.,' ]?\d{3})*([.,]\d+)?\s?[^\w\s]?")
# A row with only these characters is converted as a whole.
_PLAIN = re.compile(r"[0-9eE+\-. \x1f]*", re.ASCII)


def read_numbers(
    path: Path,
    names: Sequence[str],
    rows: Iterable[tuple[int, Sequence[str]]],
    decimal: str = ".",
    na: Sequence[str] = (),
) -> Array:
    """Return rows of text as an array of numbers, with NaN for missing values.

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
    bad: list[tuple[str, int, int]] = []
    found = []
    for line, row in rows:
        values = _plain_row(row, decimal)
        if values is None:
            values = np.full(len(row), math.nan)
            for place, cell in enumerate(row):
                if cell.lower() in words:
                    continue
                number = _number(cell, decimal)
                if number is None or math.isinf(number):
                    bad.append((cell, line, place))
                else:
                    values[place] = number
        for code in codes:
            values[values == code] = math.nan
        found.append(values)
    if bad:
        raise _unreadable(path, names, bad, decimal)
    return np.array(found).reshape(len(found), len(names))


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
    path: Path, names: Sequence[str], bad: Sequence[tuple[str, int, int]], decimal: str
) -> DataError:
    """Return an error that lists the first bad cells and suggests a remedy."""
    shown = [
        f"{cell[:30]!r} in row {line}, column {names[place]!r}"
        for cell, line, place in bad[:_SHOWN]
    ]
    dots = " …" if len(bad) > _SHOWN else ""
    cells = [cell for cell, _, _ in bad]
    if decimal == "." and any(map(_has_comma, cells)):
        hint = "Decimal commas must be points, or told by --decimal ,"
    elif all(_DRESSED.fullmatch(cell) for cell in cells):
        hint = "Write numbers plainly: without marks between thousands, currency or percent."
    elif len(names) <= _LONG and len({p for _, _, p in bad}) == 1 and len(set(cells)) < len(cells):
        hint = (
            f"This looks like long format, with the name of a vertex in {names[bad[0][2]]!r}. Give "
            "it one column per vertex, as the pivot of a spreadsheet or of pandas does."
        )
    elif len(bad) > 1 and all(place == 0 for _, _, place in bad):
        hint = (
            "If every row is a vertex and this column has their names, use --vertices rows; "
            f"if it is no vertex, --ignore {shlex.quote(names[0])}."
        )
    else:
        only = {names[place] for _, _, place in bad}
        name = shlex.quote(only.pop()) if len(only) == 1 else "NAME"
        column = "a column" if name == "NAME" else "this column"
        hint = (
            f"Ignore {column} with --ignore {name}; tell a code for missing values with --na CODE."
        )
    some = f"{counted(len(bad), 'cell')} that {'is not a' if len(bad) == 1 else 'are not'} finite"
    return DataError(
        f"{path} has {some} {'number' if len(bad) == 1 else 'numbers'}: {'; '.join(shown)}{dots}. "
        f"{hint}"
    )


def _has_comma(cell: str) -> bool:
    """Return whether a cell would be a number with a point instead of its comma."""
    return "," in cell and parse_number(cell.replace(",", ".", 1)) is not None

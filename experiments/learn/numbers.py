"""Cells of text as numbers, strictly: what is neither a number nor missing is named."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.measuring.text import parse_number
from wdro_cvx import DataError, ProblemError
from wdro_cvx.validation import Array

MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "-", "?"))
DECIMALS = (".", ",")
_SHOWN = 3  # places that an error lists
# A row that has no other characters than these is read as a whole.
_DRESSED = re.compile(r"[^\w\s]?\s?[+-]?\d{1,3}([.,' ]?\d{3})*([.,]\d+)?\s?[^\w\s]?")
_PLAIN = re.compile(r"[0-9eE+\-. \x1f]*", re.ASCII)


class Cells:
    """Turns the rows of one table into numbers, and remembers what it could not read.

    Parameters
    ----------
    path : Path
        For errors.
    names : sequence of str
        Of the columns.
    decimal : str
        The decimal mark.
    missing : sequence of str
        What else stands for a missing value; numbers mean their value, not their spelling.
    """

    def __init__(
        self, path: Path, names: Sequence[str], decimal: str = ".", missing: Sequence[str] = ()
    ) -> None:
        if decimal not in DECIMALS:
            raise ProblemError(f"decimal must be one of {' '.join(DECIMALS)}; it is {decimal!r}.")
        self.path, self.names, self.decimal = path, names, decimal
        self.missing = MISSING | {word.strip().lower() for word in missing}
        self.codes = [value for value in map(self._number, missing) if value is not None]
        self.bad: list[tuple[str, int, int]] = []

    def numbers(self, line: int, row: Sequence[str]) -> Array:
        """Return a row as numbers, NaN where a value is missing."""
        values = self._whole(row)
        if values is None:
            values = np.array([self._cell(line, place, cell) for place, cell in enumerate(row)])
        for code in self.codes:
            values[values == code] = np.nan
        return values

    def check(self) -> None:
        """Raise DataError if there were cells that are neither numbers nor missing."""
        if not self.bad:
            return
        shown = [
            f"{cell[:30]!r} in row {line}, column {self.names[place]!r}"
            for cell, line, place in self.bad[:_SHOWN]
        ]
        dots = " …" if len(self.bad) > _SHOWN else ""
        raise DataError(
            f"{self.path} has {len(self.bad)} cells that are not finite numbers: "
            f"{'; '.join(shown)}{dots}. {self._hint()}"
        )

    def _hint(self) -> str:
        comma = any(self._swapped(cell) for cell, _, _ in self.bad)
        if self.decimal == "." and comma:
            return "Decimal commas must be points, or told by --decimal ,"
        if all(_DRESSED.fullmatch(cell) for cell, _, _ in self.bad):
            return "Write numbers plainly: without marks between thousands, currency or percent."
        if all(place == 0 for _, _, place in self.bad) and len(self.bad) > 1:
            return (
                "If every row is a vertex and this column has their names, use --vertices rows; "
                "if it is no vertex, --ignore NAME."
            )
        return "Ignore a column with --ignore NAME; tell a code for missing values with --na CODE."

    def _swapped(self, cell: str) -> bool:
        return "," in cell and parse_number(cell.replace(",", ".", 1)) is not None

    def _whole(self, row: Sequence[str]) -> Array | None:
        joined = "\x1f".join(row)
        if self.decimal == ",":
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

    def _cell(self, line: int, place: int, cell: str) -> float:
        if cell.lower() in self.missing:
            return math.nan
        number = self._number(cell)
        if number is None or math.isinf(number):
            self.bad.append((cell, line, place))
            return math.nan
        return number

    def _number(self, cell: str) -> float | None:
        if self.decimal == ".":
            return parse_number(cell)
        return None if "." in cell else parse_number(cell.replace(",", "."))


def some(names: Sequence[str]) -> str:
    """Return the first few of a list of names."""
    shown = ", ".join(names[:6])
    return shown if len(names) <= 6 else f"{shown}, … ({len(names)} in all)"

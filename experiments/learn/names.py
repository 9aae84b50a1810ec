"""Names of vertices that survive a trip through CSV, GraphML and a spreadsheet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.measuring.text import parse_number
from wdro_cvx import DataError

#: Spreadsheets run cells that begin so, in ASCII or full width.
_FORMULA = "=+-@＝＋－＠"
#: What pandas takes for a missing value when it reads a table.
_READ_AS_MISSING = frozenset(
    ("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
     "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null")
)  # fmt: skip
_LONGEST = 200


def check_header(path: Path, header: Sequence[str]) -> None:
    """Refuse a header that is none, or with names that our own files could not hold."""
    if all(parse_number(name) is not None for name in header):
        raise DataError(f"{path} has numbers in its first row; it must hold the vertex names.")
    check_names(path, header, "column")


def check_names(path: Path, names: Sequence[str], what: str) -> None:
    """Refuse names of columns, or of rows, that are empty, endless, unprintable or there twice."""
    seen: set[str] = set()
    for place, name in enumerate(names, start=1):
        if not name:
            raise DataError(f"{path}: {what} {place} has no name; give it one, or remove it.")
        if len(name) > _LONGEST:
            raise DataError(
                f"{path}: the name of {what} {place} has {len(name)} characters; {_LONGEST} are "
                "allowed. Is the first row the header?"
            )
        if not name.isprintable():
            raise DataError(f"{path}: the name {name!r} has characters that cannot be printed.")
        if name in seen:
            raise DataError(f"{path} has two {what}s {name!r}; vertex names must differ.")
        seen.add(name)


def check_vertex_names(path: Path, names: Sequence[str]) -> None:
    """Refuse names that a spreadsheet would run or a reader of our tables would lose."""
    for name in names:
        if name[0] in _FORMULA:
            raise DataError(
                f"{path}: the name {name!r} looks like a spreadsheet formula. Rename the column."
            )
        if name in _READ_AS_MISSING:
            raise DataError(
                f"{path}: the name {name!r} would be read back from a table as a missing value. "
                f"Rename the column, to {name + '_'!r} for instance."
            )

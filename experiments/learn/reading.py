"""Rows of text from a table on disk: CSV and its relatives, Parquet, Excel; one row at a time."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.learn.names import check_header
from wdro_cvx import DataError

if TYPE_CHECKING:
    import pandas as pd

_LARGEST_MB = 500
_MOST_COLUMNS = 100_000
_PIECE = 1 << 20  # bytes of a text that are in memory at a time
_LIBRARIES = {".parquet": "pyarrow", ".xlsx": "openpyxl"}
#: What a first column is called that pandas wrote, or read and wrote again, without a name.
INDEX = "Unnamed: 0"

Rows = Iterator[tuple[int, list[str]]]


def open_rows(path: Path, decimal: str = ".") -> tuple[list[str], Rows]:
    """Return the header, and the rows below it with the number of their line.

    Parameters
    ----------
    path : Path
        A table in UTF-8 with comma, semicolon, tab or bar as separator; Parquet; Excel.
    decimal : str
        The decimal mark; a comma is then no separator, unless there is no other.
    """
    _check_file(path)
    lines = _framed(path) if path.suffix.lower() in _LIBRARIES else _separated(path, decimal)
    first = next(lines, None)
    header = [] if first is None else [cell.strip() for cell in first[1]]
    second = next(lines, None)
    if second is None:
        raise DataError(f"{path} has no rows below its header.")
    if len(header) > _MOST_COLUMNS:
        raise DataError(
            f"{path} has {len(header)} columns; graphs of up to {_MOST_COLUMNS} vertices are "
            "learned. Take fewer."
        )
    if header and not header[0]:
        header[0] = INDEX
    check_header(path, header)
    return header, _checked(path, header, second, lines)


def _checked(path: Path, header: list[str], first: tuple[int, list[str]], others: Rows) -> Rows:
    for number, row in (pair for part in ([first], others) for pair in part):
        if len(row) != len(header):
            raise DataError(
                f"{path}: row {number} has {len(row)} cells, the header {len(header)}. "
                "Every row needs one cell per column; quote cells that contain the separator."
            )
        yield number, [cell.strip() for cell in row]


def _separated(path: Path, decimal: str) -> Rows:
    separator = _separator(path, _first_line(path), decimal)
    # Line by line: a wide table's text takes more memory than its numbers.
    with path.open(encoding="utf-8-sig", newline="") as text:
        try:
            for number, row in enumerate(csv.reader(text, delimiter=separator), start=1):
                # Blank lines are no rows; one of empty cells is, with all of its values missing.
                if len(row) > 1 or "".join(row).strip():
                    yield number, row
        except csv.Error as error:
            raise DataError(f"{path} is not a readable table: {error}.") from None


def _framed(path: Path) -> Rows:
    """Yield the rows of a file that pandas reads, as text."""
    frame = _read_frame(path)
    yield 1, [str(name) for name in frame.columns]
    for number, row in enumerate(frame.itertuples(index=False), start=2):
        yield number, [_text(cell) for cell in row]


def _read_frame(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        if path.suffix.lower() == ".parquet":
            return pd.read_parquet(path)
        return pd.read_excel(path, dtype=object)
    except ImportError:
        library = _LIBRARIES[path.suffix.lower()]
        raise DataError(
            f"{path} needs the package {library}; install wdro-cvx with the extra tables, or "
            "export it as CSV."
        ) from None
    except Exception as error:  # a dozen kinds, from three libraries
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path} is not a readable table: {reason}.") from None


def _text(cell: Any) -> str:
    import pandas as pd

    if cell is None or (not isinstance(cell, str) and pd.isna(cell)):
        return ""
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)


def _check_file(path: Path) -> None:
    try:
        if not path.is_file():
            raise DataError(f"{path} is not a file; give the path of a table.")
        size = path.stat().st_size / 1024**2
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    if size > _LARGEST_MB:
        raise DataError(
            f"{path} has {size:.0f} MB; tables of up to {_LARGEST_MB} MB are read. Average over "
            "time, or take fewer vertices."
        )


def _first_line(path: Path) -> str:
    """Return the first line of a text that is not blank; all of the text is looked at."""
    first, ended = "", False
    for text in _decoded(path):
        if ended:
            continue
        first = (first + text).lstrip("\r\n ")
        line = re.split("[\r\n]", first, maxsplit=1)
        first, ended = line[0], len(line) > 1
    if not first.strip():
        raise DataError(f"{path} is empty.")
    return first


def _decoded(path: Path) -> Iterator[str]:
    """Yield a text in UTF-8 piece by piece, or raise DataError with the line of what is none."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    lines = 1
    try:
        with path.open("rb") as file:
            while raw := file.read(_PIECE):
                if b"\0" in raw:
                    raise DataError(
                        f"{path} is not a text file (an archive, or a spreadsheet without its "
                        "suffix?). Export it as CSV, UTF-8."
                    )
                yield decoder.decode(raw)
                lines += raw.count(b"\n")
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        before = bytes(error.object[: error.start]).count(b"\n")
        raise DataError(
            f"{path} is not UTF-8 (byte 0x{error.object[error.start]:02x} in line "
            f"{lines + before}). Save it as UTF-8."
        ) from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None


def _separator(path: Path, first: str, decimal: str) -> str:
    """Return the separator that occurs in the header."""
    counts = {mark: first.count(mark) for mark in (",", ";", "\t", "|")}
    if decimal == "," and sum(counts.values()) > counts[","]:
        counts[","] = 0
    best = max(counts, key=lambda mark: counts[mark])
    if counts[best] == 0:
        raise DataError(
            f"{path} has one column; separate the vertices with commas, semicolons or tabs."
        )
    return best

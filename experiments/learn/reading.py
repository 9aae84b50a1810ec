"""Read rows of text from a table on disk (delimited text, Parquet, Excel), one at a time.

Names are checked: CSV, GraphML and spreadsheets must preserve them.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.measuring.text import counted, parse_number
from wdro_cvx import DataError

if TYPE_CHECKING:
    import pandas as pd

_LARGEST_MB = 500
_MOST_COLUMNS = 100_000
_PIECE = 1 << 20  # bytes of text in memory at a time
_LIBRARIES = {".parquet": "pyarrow", ".xlsx": "openpyxl"}
_JSON = re.compile(r"\s*[\[{]\s*([\[{\"].*)?")  # the first line
#: The name that pandas gives to a first column without a name.
INDEX = "Unnamed: 0"

#: Spreadsheets take cells that begin with one of these for formulas, in ASCII or full width.
_FORMULA = "=+-@＝＋－＠"
#: Words that pandas reads as missing values.
_READ_AS_MISSING = frozenset(
    ("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
     "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null")
)  # fmt: skip
_LONGEST = 200  # characters of a name

Rows = Iterator[tuple[int, list[str]]]


def open_rows(path: Path, decimal: str = ".") -> tuple[list[str], Rows]:
    """Return the header and the rows below it, with their line numbers.

    Parameters
    ----------
    path : Path
        A UTF-8 table separated by commas, semicolons, tabs or bars; or Parquet or Excel.
    decimal : str
        The decimal mark. If it is a comma, commas separate columns only if no other mark does.

    Raises
    ------
    DataError
        If there is no file, no row or no usable header. Iterating over the rows raises it for a
        row with another number of cells.
    """
    check_file(path)
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
    if all(parse_number(name) is not None for name in header):
        raise DataError(f"{path} has numbers in its first row; it must hold the vertex names.")
    check_names(path, header, "column")
    return header, _checked(path, header, second, lines)


def _checked(path: Path, header: list[str], first: tuple[int, list[str]], others: Rows) -> Rows:
    for number, row in (pair for part in ([first], others) for pair in part):
        if len(row) != len(header):
            if header[0].startswith("#"):
                raise _commented(path, 1)
            if row and row[0].startswith("#"):
                raise _commented(path, number)
            raise DataError(
                f"{path}: row {number} has {counted(len(row), 'cell')}, the header {len(header)}. "
                "Every row needs one cell per column; quote cells that contain the separator."
            )
        yield number, [cell.strip() for cell in row]


def _commented(path: Path, number: int) -> DataError:
    return DataError(f"{path}: row {number} begins with '#'. Remove comment lines from the file.")


def _separated(path: Path, decimal: str) -> Rows:
    separator = _separator(path, _first_line(path), decimal)
    # Read line by line: the text of a wide table takes more memory than its numbers.
    with path.open(encoding="utf-8-sig", newline="") as text:
        try:
            for number, row in enumerate(csv.reader(text, delimiter=separator), start=1):
                # A blank line is not a row; a line of empty cells is a row of missing values.
                if len(row) > 1 or "".join(row).strip():
                    yield number, row
        except csv.Error as error:
            raise DataError(f"{path} is not a readable table: {error}.") from None


def _framed(path: Path) -> Rows:
    """Yield the rows of a Parquet or Excel file as text."""
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
    except Exception as error:  # three libraries raise a dozen types
        if path.suffix.lower() == ".xlsx":
            raise DataError(
                f"{path} is not a readable Excel file. Save it again as .xlsx without a password, "
                "or as CSV, UTF-8."
            ) from None
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path} is not a readable Parquet file: {reason}.") from None


def _text(cell: Any) -> str:
    import pandas as pd

    if cell is None or (not isinstance(cell, str) and pd.isna(cell)):
        return ""
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)


def check_file(path: Path) -> None:
    """Raise DataError unless the path is a file of a size that is read."""
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
    """Return the first line that is not blank; read the whole file to check its encoding."""
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
    """Yield a text in pieces; raise DataError that names the first line that is not UTF-8."""
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
    """Return the most frequent separator in the header."""
    if _JSON.fullmatch(first):
        raise DataError(
            f"{path} is a JSON file. Save it as CSV: in Python, pd.read_json reads many, and "
            "to_csv(..., index=False) writes a table."
        )
    counts = {mark: first.count(mark) for mark in (",", ";", "\t", "|")}
    if decimal == "," and sum(counts.values()) > counts[","]:
        counts[","] = 0
    best = max(counts, key=lambda mark: counts[mark])
    if counts[best] == 0:
        if first.startswith("#"):
            raise _commented(path, 1)
        if first.count('"') % 2:
            raise DataError(f"{path}: a name in the header has a line break; rename the column.")
        if len(first.split()) > 1:
            raise DataError(
                f"{path} has one column, or columns separated by spaces; separate the vertices "
                "with commas, semicolons or tabs."
            )
        raise DataError(
            f"{path} has one column; separate the vertices with commas, semicolons or tabs."
        )
    return best


def check_names(path: Path, names: Sequence[str], what: str) -> None:
    """Refuse names of columns or rows that are empty, too long, unprintable or not unique."""
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
            raise DataError(
                f"{path}: the name {name!r} has characters that cannot be printed, such as a line "
                f"break. Rename the {what}."
            )
        if name in seen:
            raise DataError(f"{path} has two {what}s {name!r}; vertex names must differ.")
        seen.add(name)


def check_vertex_names(path: Path, names: Sequence[str]) -> None:
    """Refuse names that a spreadsheet would run or pandas would read as missing."""
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


def some(names: Sequence[str]) -> str:
    """Return the first few names as text."""
    shown = ", ".join(names[:6])
    return shown if len(names) <= 6 else f"{shown}, … ({len(names)} in all)"

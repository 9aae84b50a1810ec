"""Format the text of reports: Markdown tables, times, numbers, a warning about a busy machine."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: A report warns about its times if other programs use more cores than this.
QUIET = 0.2
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [_line(header), _line(["---"] * len(header))]
    return "\n".join(lines + [_line(row) for row in rows])


def escape_markdown(text: str) -> str:
    """Escape a text for Markdown and HTML, except for bars, which tables escape."""
    return re.sub(r"([\\`*_{}\[\]()#+!~$])", r"\\\1", html.escape(text, quote=False))


def parse_number(text: str) -> float | None:
    """Return the number that a text denotes, or None if it is not a decimal in ASCII digits.

    Python's ``float`` also accepts ``1_000`` and digits of other scripts.
    """
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def counted(count: int, name: str, plural: str | None = None) -> str:
    """Return a number with its noun, in the plural unless it is one."""
    return f"{count} {name}" if count == 1 else f"{count} {plural or name + 's'}"


def seconds(value: float) -> str:
    """Return a time with three significant digits and its unit."""
    if value != value:
        return "–"
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def busy_warning(rows: pd.DataFrame) -> list[str]:
    """Return a warning if other programs used the machine during the measurements, else nothing.

    Runs are weighted by their length, because the load during a short run is imprecise.
    """
    weight = rows["wall_s"].fillna(0.0) * rows["runs"].fillna(0.0)
    if not weight.sum() > 0.0:
        return []
    cores = float((rows["others"].fillna(0.0) * weight).sum() / weight.sum())
    if cores <= QUIET:
        return []
    return [
        f"**The machine was busy**: other programs used {cores:.1f} cores on average while this "
        "was measured. Do not quote these times, even though CPU times suffer less."
    ]


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

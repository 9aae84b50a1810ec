"""Tables in Markdown, times in words, and a warning where others disturbed the timing."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: Cores that other programs may use on average before times are to be taken with care.
_QUIET = 0.2


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [_line(header), _line(["---"] * len(header))]
    return "\n".join(lines + [_line(row) for row in rows])


def escape_markdown(text: str) -> str:
    """Return a text that Markdown and HTML show as it is; bars are left to the table."""
    return re.sub(r"([\\`*_{}\[\]()#+!~$])", r"\\\1", html.escape(text, quote=False))


def seconds(value: float) -> str:
    """Return a time with three significant digits and its unit."""
    if value != value:
        return "–"
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def busy_warning(rows: pd.DataFrame) -> list[str]:
    """Return a sentence if other programs used the machine during the measurements, else nothing.

    ``others`` counts cores; short runs, in which it is rounded badly, weigh little.
    """
    weight = rows["wall_s"].fillna(0.0) * rows["runs"].fillna(0.0)
    if not weight.sum() > 0.0:
        return []
    cores = float((rows["others"].fillna(0.0) * weight).sum() / weight.sum())
    if cores <= _QUIET:
        return []
    return [
        f"**The machine was busy**: other programs used {cores:.1f} cores on average while this "
        "was measured. CPU times suffer less than wall times, but are not to be quoted."
    ]


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [_line(header), _line(["---"] * len(header))]
    return "\n".join(lines + [_line(row) for row in rows])


def seconds(value: float) -> str:
    """Return a time with three significant digits and its unit."""
    if value != value:
        return "–"
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

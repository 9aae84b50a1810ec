"""Make ``report.html``, an interactive page with the times, memory and gaps of every method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.drawing.style import Line, method_family, method_style
from experiments.measuring.provenance import provenance
from experiments.measuring.words import method_words
from experiments.page.document import document

_DASHES = {"-": "", "--": "6 4", ":": "2 3", "-.": "8 3 2 3"}
_SYMBOLS = {
    "o": "circle", "s": "square", "^": "triangle", "D": "diamond", "v": "wye", "P": "cross",
    "X": "cross", "*": "star", "<": "triangle", ">": "wye", "d": "diamond", "h": "star",
    "H": "square",
}  # fmt: skip
# A solver's own line is solid; it is broken where the solver stops by its own rule.
_OWN_RULE_DASHES = ("6 4", "2 3", "8 3 2 3")
_NUMBERS = (
    "seed", "tol", "gap", "iterations", "build_s", "compile_s", "solve_s", "total_s", "fastest_s",
    "slowest_s", "wall_s", "peak_mb", "limit_s", "limit_mb", "excess",
)  # fmt: skip


def comparison_page(rows: pd.DataFrame, title: str, notes: Sequence[str] = ()) -> str:
    """Return the page of measured runs.

    Parameters
    ----------
    rows : DataFrame
        One run per row, with its panel, method, size d, outcome, measurements, and the relative gap
        at which it counts as solved, its target.
    title : str
    notes : sequence of str
        Shown unchanged.
    """
    return document("report", title, comparison_data(rows, title, notes), used=("d3", "plot"))


def comparison_data(rows: pd.DataFrame, title: str, notes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the data of the page."""
    methods = [str(method) for method in rows["method"].unique()]
    own_rules = [method for method in methods if "@" in method]
    return {
        "title": title,
        "panels": [
            {
                "title": str(title),
                "group": _group(part),
                "target": float(part["target"].iloc[0]),
            }
            for title, part in rows.groupby("panel", sort=False)
        ],
        "methods": [_method(method, own_rules) for method in methods],
        "runs": [_run(row) for row in rows.to_dict("records")],
        "notes": list(notes),
        "made": provenance(),
    }


def _group(part: pd.DataFrame) -> str:
    """Return under which heading a panel is listed."""
    first, last = int(part["d"].min()), int(part["d"].max())
    sizes = f"d = {first}" if first == last else f"d = {first} to {last}"
    is_penalised = "trace_penalty" in part and bool(part["trace_penalty"].notna().any())
    return f"{'penalised' if is_penalised else 'fixed'} trace, {sizes}"


def _method(method: str, own_rules: Sequence[str]) -> dict[str, Any]:
    """Return the name, words and look of a method; its own stopping rule changes only the line."""
    plain, at, _ = method.partition("@")
    style = method_style(plain)
    dash = _dashes(style.line)
    if at and ":" not in plain:
        alike = [name for name in own_rules if name.startswith(f"{plain}@")]
        dash = _OWN_RULE_DASHES[alike.index(method) % len(_OWN_RULE_DASHES)]
    return {
        "name": method, "words": method_words(method), "own_rule": bool(at),
        "family": method_family(plain), "colour": style.colour, "dash": dash,
        "symbol": _SYMBOLS[style.marker],
    }  # fmt: skip


def _dashes(line: Line) -> str:
    """Return a line of matplotlib as SVG's lengths of dashes and gaps."""
    return _DASHES[line] if isinstance(line, str) else " ".join(str(2 * k) for k in line[1])


def _run(row: dict[Any, Any]) -> dict[str, Any]:
    """Return the data of a run; values that were not measured are None."""
    message = row.get("message")
    return {
        "panel": str(row["panel"]),
        "method": str(row["method"]),
        "d": int(row["d"]),
        "outcome": str(row["outcome"]),
        "said": _yes(row.get("said_solved")),
        "solved": _yes(row.get("is_solved")),
        "message": message if isinstance(message, str) else "",
        **{name: _number(row.get(name)) for name in _NUMBERS},
    }


def _yes(value: Any) -> bool:
    return value is not None and value == value and bool(value)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if np.isfinite(number) else None

"""``ledger.html``: every statement with its deviations, its tolerance and its counterexample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from experiments.measuring.provenance import provenance
from experiments.page.document import document
from experiments.propositions.proposition import Finding

_MOST_NUMBERS = 400  # of an array that the page shows; the file has them all


def ledger_page(findings: Sequence[Finding], title: str, summary: str, command: str) -> str:
    """Return the page; ``summary`` counts the verdicts, ``command`` is the one that was run."""
    data = {
        "title": title, "summary": summary, "entries": [_entry(found) for found in findings],
        "notes": [f"Made by {command}."], "made": provenance(),
    }  # fmt: skip
    return document("ledger", title, data, used=("d3", "plot"))


def _entry(finding: Finding) -> dict[str, Any]:
    p, example = finding.proposition, finding.counterexample
    arrays = {} if example is None else example.data
    return {
        "name": p.name, "says": p.says, "finds": p.finds, "verdict": finding.ruling.value,
        "routes": p.routes, "ranges": f"{finding.vertices} vertices, {p.family.ranges}",
        "tolerance": p.within[0], "reason": p.within[1], "refuted": p.refuted,
        "printed": [_number(attempt.printed) for attempt in finding.attempts],
        "corrected": [_number(value) for value in finding.corrections],
        "erratum": p.erratum, "ours": p.ours, "file": finding.file,
        "counterexample": [{"name": name, "text": _text(v)} for name, v in arrays.items()] or None,
    }  # fmt: skip


def _text(value: ArrayLike) -> str:
    array = np.asarray(value)
    if array.size > _MOST_NUMBERS:
        return f"{array.size} numbers of shape {array.shape}"
    return np.array2string(array, precision=6, max_line_width=90)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

"""``ledger.html``: every claim that was tried, its deviations and tolerance, its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from experiments.measuring.provenance import provenance
from experiments.page.document import document

_MOST_NUMBERS = 400  # of an array of a counterexample that is shown; the file has them all


@dataclass(frozen=True)
class LedgerEntry:
    """A claim and what its trials said.

    Attributes
    ----------
    name : str
    says, finds : str
        The statement as printed, and what is true instead or as well; empty where there is no more.
    verdict, routes, ranges, reason : str
    tolerance : float
        The largest deviation of a statement that holds.
    refuted : float
        A deviation beyond any doubt.
    printed, corrected : sequences of float
        The deviation of every trial, of the statement as printed and of its correction; NaN where
        the statement has no meaning.
    erratum : str
        Which of the errata it shows, if any.
    ours : bool
        Whether the paper does not say it: the verdict is then on what we find.
    counterexample : mapping or None
        The arrays of the smallest one.
    file : str
        Where they are, relative to the page.
    """

    name: str
    says: str
    finds: str
    verdict: str
    routes: str
    ranges: str
    reason: str
    tolerance: float
    refuted: float
    printed: Sequence[float]
    corrected: Sequence[float]
    erratum: str = ""
    ours: bool = False
    counterexample: Mapping[str, ArrayLike] | None = None
    file: str = ""


def ledger_page(
    entries: Sequence[LedgerEntry], title: str, summary: str, notes: Sequence[str] = ()
) -> str:
    """Return the page; ``summary`` is how many claims hold, which rows do not tell.

    Several of them may show one erratum.
    """
    data = {
        "title": title,
        "summary": summary,
        "entries": [_entry(entry) for entry in entries],
        "notes": list(notes),
        "made": provenance(),
    }
    return document("ledger", title, data, used=("d3", "plot"))


def _entry(entry: LedgerEntry) -> dict[str, Any]:
    found = {
        name: getattr(entry, name)
        for name in (
            "name", "says", "finds", "verdict", "routes", "ranges", "reason", "file", "erratum",
            "ours",
        )
    }  # fmt: skip
    example = entry.counterexample
    return found | {
        "tolerance": entry.tolerance,
        "refuted": entry.refuted,
        "printed": [_number(value) for value in entry.printed],
        "corrected": [_number(value) for value in entry.corrected],
        "counterexample": None
        if example is None
        else [{"name": name, "text": _text(value)} for name, value in example.items()],
    }


def _text(value: ArrayLike) -> str:
    array = np.asarray(value)
    if array.size > _MOST_NUMBERS:
        return f"{array.size} numbers of shape {array.shape}"
    return np.array2string(array, precision=6, max_line_width=90)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

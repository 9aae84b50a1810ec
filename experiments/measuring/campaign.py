"""Run measurements one after the other; resume stopped runs and skip sizes out of reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pandas as pd

from experiments.measuring.display import CampaignDisplay, note
from experiments.measuring.isolated import run_isolated
from experiments.measuring.measurement import Assignment, Cell, carry_out
from experiments.measuring.outcome import Limits, Outcome
from experiments.measuring.store import Row, Store, flat, key_of

#: Defaults for a row without an answer, so that every table has all columns.
_EMPTY: Row = {
    "said": "", "said_solved": False, "is_solved": False, "message": "",
    **dict.fromkeys(
        ("value", "judged_value", "bound", "gap", "residual", "oracle_error", "constant", "floor",
         "tol", "iterations", "build_s", "compile_s", "solve_s", "total_s", "fastest_s",
         "slowest_s", "wall_s", "runs", "others", "peak_mb", "solver_mb"),
        math.nan,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Planned:
    """A measurement with its panel and its limits.

    Attributes
    ----------
    panel : str
    cell : Cell
    limits : Limits
    once_s : float
        If the first data set of a size takes longer than this many CPU seconds or hits a limit,
        the others are skipped.
    """

    panel: str
    cell: Cell
    limits: Limits
    once_s: float = math.inf

    @property
    def series(self) -> tuple[object, ...]:
        """A key that is equal for the same measurement at other sizes."""
        cell = self.cell
        return replace(cell.instance, d=0, n=0, seed=0), cell.method, cell.target, self.panel


def run_campaign(
    planned: Sequence[Planned],
    store: Store,
    description: str,
    extensions: tuple[str, ...] = (),
) -> pd.DataFrame:
    """Run all measurements, panel by panel, smallest first; return one row for each.

    A method that hits a limit is skipped at larger d in the same panel, with the reason in its row.
    So are further data sets of a size whose first one took longer than ``once_s``.
    Stored measurements are not repeated unless they hit a limit that has been raised since.
    """
    rows: list[Row] = []
    stopped: dict[tuple[object, ...], Row] = {}
    firsts: dict[tuple[object, ...], Row] = {}
    bounds: dict[object, float] = {}
    panels = list(dict.fromkeys(item.panel for item in planned))
    ordered = sorted(planned, key=lambda item: (panels.index(item.panel), item.cell.instance.d))
    with CampaignDisplay(description, ordered) as display:
        for item in ordered:
            cell = item.cell
            size = (*item.series, cell.instance.d)
            row = _usable(store, item)
            if row is not None:
                display.reused(item, row)
            elif reason := _reason_to_skip(item, stopped.get(item.series), firsts.get(size)):
                row = {"outcome": Outcome.SKIPPED, "message": reason}
                display.done(item, row)
            else:
                display.begin(item)
                row = _measure(item, store, extensions, bounds.get(cell.instance, -math.inf))
                display.done(item, row)
            full: Row = _EMPTY | flat(cell) | row | {"panel": item.panel, "key": key_of(cell)}
            rows.append(full)
            if full["bound"] > bounds.get(cell.instance, -math.inf):
                bounds[cell.instance] = full["bound"]
            firsts.setdefault(size, full)
            if Outcome(full["outcome"]).hit_limit:
                stopped.setdefault(item.series, full)
    for text in store.notes:
        note(text)
    return pd.DataFrame(rows).astype({"said_solved": bool, "is_solved": bool})


def _reason_to_skip(item: Planned, stopped: Row | None, first: Row | None) -> str:
    """Return why a measurement is left out, or an empty text."""
    if stopped is not None and stopped["d"] < item.cell.instance.d:
        return f"{stopped['outcome']} at d = {stopped['d']}: {stopped['message']}"
    if first is None:
        return ""
    if Outcome(first["outcome"]).hit_limit:
        return f"{first['outcome']} on another data set of this size"
    if first["total_s"] > item.once_s:
        return f"one data set is measured where it takes more than {item.once_s:g} s"
    return ""


def _usable(store: Store, item: Planned) -> Row | None:
    """Return the stored row; None if it is absent, incomplete, or hit a limit raised since."""
    row = store.load(item.cell)
    if row is None:
        return None
    outcome = Outcome(row["outcome"])
    if outcome is Outcome.TIME_OUT and item.limits.limit_s > row["limit_s"]:
        return None
    if outcome is Outcome.OUT_OF_MEMORY and item.limits.limit_mb > row["limit_mb"]:
        return None
    if outcome is not Outcome.OK:
        return row
    laplacian, d = store.array(item.cell), item.cell.instance.d
    return row if laplacian is not None and laplacian.shape == (d, d) else None


def _measure(item: Planned, store: Store, extensions: tuple[str, ...], bound: float) -> Row:
    assignment = Assignment(item.cell, extensions, bound, item.limits.limit_s)
    answer = run_isolated(carry_out, assignment, item.limits)
    row: dict[str, Any] = {"outcome": answer.outcome, "message": answer.message}
    laplacian = None
    if answer.outcome is Outcome.OK:
        found, laplacian = answer.value
        row |= found
    row |= asdict(item.limits)
    store.save(item.cell, row, laplacian)
    return row

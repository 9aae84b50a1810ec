"""Run a list of measurements one after the other, resume, and skip what is out of reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pandas as pd
from tqdm import tqdm

from experiments.cell import Cell
from experiments.isolate import Limits, run_isolated
from experiments.store import Store, flatten

#: What a row says that has no answer in it.
_EMPTY = {"said_solved": False, "is_solved": False, "value": math.nan, "judged_value": math.nan,
          "bound": math.nan, "message": ""}  # fmt: skip

#: Outcomes after which larger problems of the same kind are not tried.
_LIMITS_HIT = ("time-out", "out of memory")


def run_campaign(
    cells: Sequence[Cell],
    store: Store,
    limits: Limits,
    description: str,
    extensions: tuple[str, ...] = (),
) -> pd.DataFrame:
    """Measure all cells, smallest first, and return one row each.

    A method that hits a limit is skipped for larger d of the same model, and the row says why.
    Measurements that the store has are not repeated.
    """
    rows: list[dict[str, Any]] = []
    stopped: dict[tuple[object, ...], dict[str, Any]] = {}
    ordered = sorted(cells, key=lambda cell: cell.instance.d)
    with tqdm(ordered, desc=description, unit="run") as bar:
        for cell in bar:
            bar.set_postfix_str(f"d = {cell.instance.d}, {cell.method}")
            row = store.load(cell)
            if row is not None and _outgrown(row, limits):
                row = None
            series = (replace(cell.instance, d=0, n=0, seed=0), cell.method)
            earlier = stopped.get(series)
            if row is None and earlier is not None and earlier["d"] < cell.instance.d:
                reason = f"{earlier['outcome']} at d = {earlier['d']}: {earlier['message']}"
                row = flatten(cell, {"outcome": "skipped", "message": reason})
            elif row is None:
                found, laplacian = run_isolated(cell, limits, extensions)
                row = store.save(cell, found | asdict(limits), laplacian)
            if row["outcome"] in _LIMITS_HIT:
                stopped.setdefault(series, row)
            rows.append(_EMPTY | row)
    return pd.DataFrame(rows)


def _outgrown(row: dict[str, Any], limits: Limits) -> bool:
    """Say whether a stored failure was due to a limit that is higher now."""
    if row["outcome"] == "time-out":
        return bool(limits.limit_s > row["limit_s"])
    return row["outcome"] == "out of memory" and bool(limits.limit_mb > row["limit_mb"])

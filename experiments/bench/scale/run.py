"""Run all cells, one process each, saved as they come; then table, figure and report."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from experiments.bench.scale.grid import ScaleCell, cells
from experiments.bench.scale.measure import measure_on
from experiments.bench.scale.report import describe, draw
from experiments.drawing.style import save_figure
from experiments.measuring.digest import Source
from experiments.measuring.display import note
from experiments.measuring.files import write_atomically, write_table
from experiments.measuring.isolated import run_isolated
from experiments.measuring.outcome import Limits, Outcome
from experiments.measuring.provenance import write_provenance
from experiments.measuring.store import Row, Store, flat

#: What a row says that has no answer in it.
_EMPTY: Row = {
    "said": "", "is_solved": False,
    **dict.fromkeys(
        ("total_s", "wall_s", "value", "gap", "neighbours", "data_mb", "beyond_mb", "peak_mb"),
        math.nan,
    ),
}  # fmt: skip

SOURCE = Source(("experiments.bench.scale.measure",))


def run_scale(
    output: Path, fresh: bool, limits: Limits, largest: int, scheduler: str | None = None
) -> pd.DataFrame:
    """Measure all cells and write table, figure and report below ``output``.

    With the address of a Dask scheduler blocks of prices are computed there; the judge's are not.
    """
    # Times with and without a cluster are different measurements.
    store = Store(output, SOURCE.digest() + ("" if scheduler is None else "-cluster"), fresh)
    rows = []
    for cell in cells(largest):
        row = store.load(cell) or _measured(cell, store, limits, scheduler)
        rows.append(flat(cell) | row)
        seconds = f"{row['total_s']:.3g} s" if row["outcome"] == Outcome.OK else row["message"]
        note(f"{cell.path}, d = {cell.d}, N = {cell.n}, dimension {cell.dimensions}: {seconds}")
    table = pd.DataFrame(rows)
    write_table(output / "runs.csv", table)
    write_provenance(output, asdict(limits) | {"largest": largest, "dask": scheduler}, SOURCE)
    save_figure(draw(table), output / "scale")
    write_atomically(output / "report.md", describe(table, largest, scheduler))
    return table


def _measured(cell: ScaleCell, store: Store, limits: Limits, scheduler: str | None) -> Row:
    answer = run_isolated(measure_on, (cell, scheduler), limits)
    row: Row = _EMPTY | {"outcome": answer.outcome, "message": answer.message}
    if answer.outcome is Outcome.OK:
        row |= answer.value
    store.save(cell, row)
    return row

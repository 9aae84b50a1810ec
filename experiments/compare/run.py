"""Run a comparison: measure, cross-check, draw, report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from experiments.compare.crosscheck import cross_check, outliers
from experiments.compare.figure7 import draw_figure7, figure7_rows
from experiments.compare.grid import Grid
from experiments.compare.report import describe
from experiments.drawing.scaling import draw_panels
from experiments.drawing.style import save_figure
from experiments.measuring.campaign import run_campaign
from experiments.measuring.digest import Source
from experiments.measuring.files import write_atomically, write_table
from experiments.measuring.provenance import write_provenance
from experiments.measuring.store import Store
from experiments.measuring.text import busy_warning
from experiments.page.comparison import comparison_page

#: Where a method is timed and judged, in a process of its own.
MEASURED = ("experiments.measuring.measurement",)


@dataclass(frozen=True, eq=False)
class Comparison:
    """What was measured, and which of it disagrees."""

    rows: pd.DataFrame
    outliers: pd.DataFrame


def run_compare(
    output: Path, grid: Grid, fresh: bool, extensions: Sequence[str] = ()
) -> Comparison:
    """Run the grid and write runs, figures and report below ``output``."""
    plan, source = grid.plan(), Source(MEASURED, tuple(extensions))
    store = Store(output, source.digest(), fresh)
    rows = run_campaign(plan, store, "compare", tuple(extensions))
    rows = cross_check(rows, plan, store)
    write_table(output / "runs.csv", rows)
    write_provenance(output, asdict(grid), source)
    panels = {str(title): part for title, part in rows.groupby("panel", sort=False)}
    save_figure(draw_panels(panels), output / "runtime")
    with_figure7 = not figure7_rows(rows).empty
    if with_figure7:
        save_figure(draw_figure7(rows), output / "figure7")
    wrong = outliers(rows, grid.target)
    report = describe(rows, panels, wrong, grid, with_figure7)
    write_atomically(output / "report.md", report)
    notes = [sentence.replace("*", "") for sentence in busy_warning(rows)]
    page = comparison_page(rows, "wdro compare", grid.target, notes)
    write_atomically(output / "report.html", page)
    return Comparison(rows, wrong)

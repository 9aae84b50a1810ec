"""Run all contests and write table, figure and report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from experiments.bench.contests import Contest
from experiments.bench.report import describe
from experiments.drawing.scaling import draw_panels
from experiments.drawing.style import save_figure
from experiments.measuring.campaign import run_campaign
from experiments.measuring.digest import Source
from experiments.measuring.files import write_atomically, write_table
from experiments.measuring.outcome import Limits
from experiments.measuring.provenance import write_provenance
from experiments.measuring.store import Store

SOURCE = Source(("experiments.measuring.measurement", "experiments.bench.rivals.register"))
#: Names the field's methods in the processes that measure; nobody else should take them for ours.
RIVALS = str(find_spec("experiments.bench.rivals.register").origin)  # type: ignore[union-attr]


def run_bench(
    output: Path, fresh: bool, limits: Limits, contests: Sequence[Contest], command: str
) -> pd.DataFrame:
    """Run contests and write table, figure and report below ``output``."""
    store = Store(output, SOURCE.digest(), fresh)
    plan = [item for contest in contests for item in contest.plan(limits)]
    rows = run_campaign(plan, store, "bench", (RIVALS,))
    write_table(output / "runs.csv", rows)
    write_provenance(output, asdict(limits), SOURCE)
    panels = {str(title): part for title, part in rows.groupby("panel", sort=False)}
    save_figure(draw_panels(panels), output / "bench")
    write_atomically(output / "report.md", describe(rows, panels, contests, command))
    return rows

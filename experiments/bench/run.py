"""Run all contests and write table, figure and report."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pandas as pd

from experiments.bench.contests import CONTESTS
from experiments.bench.report import describe
from experiments.drawing.scaling import draw_panels
from experiments.drawing.style import save_figure
from experiments.running.campaign import run_campaign
from experiments.running.files import write_atomically, write_table
from experiments.running.outcome import Limits
from experiments.running.provenance import code_digest, write_provenance
from experiments.running.store import Store


def run_bench(output: Path, fresh: bool, limits: Limits) -> pd.DataFrame:
    """Run all contests and write table, figure and report below ``output``."""
    store = Store(output, code_digest(), fresh)
    plan = [item for contest in CONTESTS for item in contest.plan(limits)]
    rows = run_campaign(plan, store, "bench")
    write_table(output / "runs.csv", rows)
    write_provenance(output, asdict(limits))
    panels = {str(title): part for title, part in rows.groupby("panel", sort=False)}
    save_figure(draw_panels(panels), output / "bench")
    write_atomically(output / "report.md", describe(rows, panels))
    return rows

"""Solve every cell of the grid; accuracy is measured, not time, so cells share the machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from experiments.robustness.grid import corners, solve_corner
from experiments.robustness.report import describe
from experiments.running.files import write_atomically, write_table
from experiments.running.parallel import run_trials
from experiments.running.provenance import code_digest, write_provenance
from experiments.running.store import Store, flat


def run_robustness(output: Path, fresh: bool, dimensions: Sequence[int]) -> pd.DataFrame:
    """Run the grid, resumed cell by cell, and write table and report below ``output``."""
    store = Store(output, code_digest(), fresh)
    cells = corners(dimensions)
    found = run_trials(cells, solve_corner, store, "robustness")
    rows = pd.DataFrame([flat(cell) | row for cell, row in zip(cells, found, strict=True)])
    write_table(output / "runs.csv", rows)
    write_provenance(output, {"dimensions": list(dimensions)})
    write_atomically(output / "report.md", describe(rows))
    return rows

"""Solve every cell of the grid, or run the attacks; cells share the machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from experiments.robustness.adversarial.attack import attack
from experiments.robustness.adversarial.cases import draw_cases
from experiments.robustness.adversarial.report import describe_attacks
from experiments.robustness.grid import corners, solve_corner
from experiments.robustness.report import describe, draw
from experiments.running.digest import Source
from experiments.running.files import write_atomically, write_table
from experiments.running.parallel import run_trials
from experiments.running.provenance import write_provenance
from experiments.running.store import Store, flat

GRID = Source(("experiments.robustness.grid",))
ATTACKS = Source(("experiments.robustness.adversarial.attack",))


def run_robustness(
    output: Path, fresh: bool, dimensions: Sequence[int], cells: int
) -> pd.DataFrame:
    """Run the grid, resumed cell by cell, and write table, figure and report below ``output``."""
    store = Store(output, GRID.digest(), fresh)
    tasks = corners(dimensions, cells)
    found = run_trials(tasks, solve_corner, store, "robustness")
    rows = pd.DataFrame([flat(cell) | row for cell, row in zip(tasks, found, strict=True)])
    write_table(output / "runs.csv", rows)
    write_provenance(output, {"dimensions": list(dimensions), "cells": cells}, GRID)
    draw(rows, output / "robustness")
    write_atomically(output / "report.md", describe(rows))
    return rows


def run_attacks(output: Path, fresh: bool, count: int) -> pd.DataFrame:
    """Run the attacks, resumed one by one, and write table and report below ``output``."""
    store = Store(output, ATTACKS.digest(), fresh)
    cases = draw_cases(count)
    rows = pd.DataFrame(run_trials(cases, attack, store, "attacks"))
    write_table(output / "runs.csv", rows)
    write_provenance(output, {"attacks": count}, ATTACKS)
    write_atomically(output / "report.md", describe_attacks(rows))
    return rows

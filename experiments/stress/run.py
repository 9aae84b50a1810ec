"""Solve every cell of the grid, or run the attacks; cells share the machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from experiments.measuring.digest import Source
from experiments.measuring.files import write_atomically, write_table
from experiments.measuring.parallel import run_trials
from experiments.measuring.provenance import write_provenance
from experiments.measuring.store import Store, flat
from experiments.stress.adversarial.attack import attack
from experiments.stress.adversarial.cases import draw_cases
from experiments.stress.adversarial.report import describe_attacks
from experiments.stress.grid import corners, solve_corner
from experiments.stress.report import describe, draw

GRID = Source(("experiments.stress.grid",))
ATTACKS = Source(("experiments.stress.adversarial.attack",))


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

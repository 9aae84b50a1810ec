"""The report of ``wdro robustness``: gaps by set, and every miss."""

from __future__ import annotations

import pandas as pd

from experiments.robustness.grid import ETAS, RADII, UNITS
from experiments.running.provenance import provenance_line
from experiments.running.text import markdown_table


def describe(rows: pd.DataFrame) -> str:
    """Return the report in Markdown."""
    lines = []
    for name, group in rows.groupby("set", sort=False):
        within = [f"{(group['gap'] <= limit).mean():.2%}" for limit in (1e-6, 1e-4)]
        worst = f"{group['gap'].max():.0e}"
        lines.append([name, len(group), *within, worst, int(group["wrong_claim"].sum())])
    header = ["set", "cells", "gap ≤ 1e-6", "gap ≤ 1e-4", "worst gap", "wrong claims"]
    missed = rows[rows["gap"] > 1e-6]
    names = ["set", "d", "n", "radius", "eta", "unit", "status", "gap", "iterations"]
    misses = [[row[name] for name in names] for _, row in missed.iterrows()]
    parts = [
        "# Robustness",
        "Made by `wdro robustness` (`make robustness`): `solve(problem, tol=1e-6)` on every "
        f"combination of d in {sorted(int(d) for d in rows['d'].unique())}, N in 1, 10 and 2d, "
        f"radius in {list(RADII)}, eta in {list(ETAS)} and data in units of {list(UNITS)}; "
        "gaps are the judge's. The Wasserstein ball has the Gaussian ball's worst case, and so its "
        "row.",
        markdown_table(header, lines),
        f"All cells together: {(rows['gap'] <= 1e-6).mean():.2%} within 1e-6, worst gap "
        f"{rows['gap'].max():.0e}, {int(rows['wrong_claim'].sum())} wrong claims.",
    ]
    if misses:
        parts += ["Cells that miss 1e-6:", markdown_table(names, misses)]
    return "\n\n".join([*parts, f"Made with {provenance_line()}."]) + "\n"

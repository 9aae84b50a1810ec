"""Solve all problems of the grid; report gaps, times and unsolved problems by set and prior."""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.drawing.style import COLOURS, PAGE
from experiments.measuring.digest import Source
from experiments.measuring.text import markdown_table
from experiments.stress import grid
from experiments.stress.grid import TOLERANCE
from experiments.study import Report, Run, Study

_COLUMNS = [
    "set", "prior", "d", "number", "n", "data", "radius", "eta", "p", "trace", "penalty", "bounds",
    "status", "gap", "seconds",
]  # fmt: skip


def _answer(run: Run, options: argparse.Namespace) -> Report:
    tasks = grid.corners(options.dimensions or grid.DIMENSIONS, options.cells or grid.CELLS)
    rows = run.table(tasks, grid.solve_corner, "stress")
    wrong = int(rows["wrongly_solved"].sum())
    return Report(
        "Extreme problems",
        describe(rows),
        tables={"runs": rows},
        figures={"stress": draw(rows)},
        summary=f"{len(rows)} problems: {int(rows['solved'].sum())} solved, {wrong} wrongly solved",
        failure=f"{wrong} answers were called solved that are not." if wrong else "",
    )


def describe(rows: pd.DataFrame) -> list[str]:
    """Return the paragraphs and tables of the report."""
    groups = [*rows.groupby(["set", "prior"], sort=True), (("all", "all"), rows)]
    lines = [[*key, *_figures(group)] for key, group in groups]
    header = [
        "set", "prior", "cells", "gap ≤ 1e-6", "gap ≤ 1e-4", "worst gap", "wrongly solved",
        "median s", "99 % s",
    ]  # fmt: skip
    drawn = "; ".join(f"{axis}: {values}" for axis, values in grid.AXES.items())
    parts = [
        f"`solve(problem, tol={TOLERANCE:g}, time_limit={grid.TIME_LIMIT:g})` on random problems "
        "for every registered set, both priors and every d in "
        f"{sorted(int(d) for d in rows['d'].unique())}, and with `LogDet` (likelihood) for "
        f"{' and '.join(grid.LIKELIHOOD_SETS)}. Drawn for each problem: {drawn}. Gaps are "
        "the judge's. Several runs share the machine while times are taken.",
        markdown_table(header, lines),
        "![share of cells within a gap and within a time](stress.png)",
    ]
    missed = rows.loc[~rows["solved"], _COLUMNS].to_numpy(object)
    if len(missed):
        parts += [
            f"Problems that the judge does not call solved at {TOLERANCE:g}:",
            markdown_table(_COLUMNS, [[_short(value) for value in row] for row in missed]),
        ]
    return parts


def draw(rows: pd.DataFrame) -> Figure:
    """Draw the share of cells within a given gap and within a given time."""
    figure = Figure(figsize=(PAGE, 2.8), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, column, label, floor in (
        (panels[0], "gap", "judged relative gap", 1e-14),
        (panels[1], "seconds", "time of one solve (s)", 1e-4),
    ):
        looks = product(("-", "--"), COLOURS)  # reuse the colours with dashes
        for (line, colour), (name, group) in zip(looks, rows.groupby("set"), strict=False):
            values = np.sort(np.maximum(group[column].to_numpy(float), floor))
            share = np.arange(1, values.size + 1) / values.size
            axes.step(
                values, share, where="post", label=str(name), linewidth=1.2, color=colour,
                linestyle=line,
            )  # fmt: skip
        axes.set(xscale="log", xlabel=label)
        axes.grid(True, linewidth=0.4, alpha=0.5)
    panels[0].set_ylabel("share of cells")
    panels[0].axvline(TOLERANCE, color="0.4", linewidth=0.8, linestyle="--")
    figure.legend(*panels[1].get_legend_handles_labels(), loc="outside right center")
    return figure


def _figures(group: pd.DataFrame) -> list[object]:
    gaps, seconds = group["gap"], group["seconds"]
    within = [f"{(gaps <= limit).mean():.2%}" for limit in (1e-6, 1e-4)]
    return [
        len(group), *within, f"{gaps.max():.0e}", int(group["wrongly_solved"].sum()),
        f"{seconds.median():.3g}", f"{seconds.quantile(0.99):.3g}",
    ]  # fmt: skip


def _short(value: object) -> object:
    return f"{value:.3g}" if isinstance(value, float) else value


STUDY = Study("stress", Source(("experiments.stress.grid",)), _answer)

"""The report of ``wdro robustness``: gaps and times by set and prior, and every miss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.drawing.style import COLOURS, PAGE, save_figure
from experiments.measuring.provenance import provenance_line
from experiments.measuring.text import markdown_table
from experiments.stress.grid import AXES, TIME_LIMIT, TOLERANCE


def describe(rows: pd.DataFrame) -> str:
    """Return the report in Markdown."""
    lines = [
        [name, prior, *_figures(group)]
        for (name, prior), group in rows.groupby(["set", "prior"], sort=True)
    ]
    lines.append(["all", "both", *_figures(rows)])
    header = [
        "set", "prior", "cells", "gap ≤ 1e-6", "gap ≤ 1e-4", "worst gap", "wrong claims",
        "median s", "99 % s",
    ]  # fmt: skip
    names = [
        "set", "prior", "d", "number", "n", "data", "radius", "eta", "p", "trace", "penalty",
        "bounds", "status", "gap", "seconds",
    ]  # fmt: skip
    missed = rows[~rows["solved"]]
    misses = [[_short(row[name]) for name in names] for _, row in missed.iterrows()]
    drawn = "; ".join(f"{axis}: {values}" for axis, values in AXES.items())
    parts = [
        "# Robustness",
        "Made by `wdro robustness` (`make robustness`): "
        f"`solve(problem, tol={TOLERANCE:g}, time_limit={TIME_LIMIT:g})` on random problems for "
        "every registered set, both priors and every d in "
        f"{sorted(int(d) for d in rows['d'].unique())}. Drawn for each: {drawn}. Gaps are the "
        "judge's; seconds are on a machine that several runs share.",
        markdown_table(header, lines),
        "![share of cells within a gap and within a time](robustness.png)",
    ]
    if misses:
        parts += [f"Cells that the judge does not call solved at {TOLERANCE:g}:"]
        parts += [markdown_table(names, misses)]
    return "\n\n".join([*parts, f"Made with {provenance_line()}."]) + "\n"


def draw(rows: pd.DataFrame, path: Path) -> None:
    """Draw which share of the cells has at most this gap, and takes at most this time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(PAGE, 2.8), layout="constrained")
    for axes, column, label, floor in zip(
        figure.subplots(1, 2, sharey=True),
        ("gap", "seconds"),
        ("judged relative gap", "time of one solve (s)"),
        (1e-14, 1e-4),
        strict=True,
    ):
        for look, (name, group) in zip(_looks(), rows.groupby("set", sort=True), strict=False):
            values = np.sort(np.maximum(group[column].to_numpy(float), floor))
            share = np.arange(1, values.size + 1) / values.size
            axes.step(values, share, where="post", label=str(name), linewidth=1.2, **look)
        axes.set(xscale="log", xlabel=label)
        axes.grid(True, linewidth=0.4, alpha=0.5)
    first, second = figure.axes
    first.set_ylabel("share of cells")
    first.axvline(TOLERANCE, color="0.4", linewidth=0.8, linestyle="--")
    figure.legend(*second.get_legend_handles_labels(), loc="outside right center")
    save_figure(figure, path)


def _looks() -> list[dict[str, Any]]:
    """Return colours, and where they are used up the same once more, dashed."""
    return [{"color": colour, "linestyle": line} for line in ("-", "--") for colour in COLOURS]


def _figures(group: pd.DataFrame) -> list[object]:
    gaps, seconds = group["gap"], group["seconds"]
    within = [f"{(gaps <= limit).mean():.2%}" for limit in (1e-6, 1e-4)]
    return [
        len(group), *within, f"{gaps.max():.0e}", int(group["wrong_claim"].sum()),
        f"{seconds.median():.3g}", f"{seconds.quantile(0.99):.3g}",
    ]  # fmt: skip


def _short(value: object) -> object:
    return f"{value:.3g}" if isinstance(value, float) else value

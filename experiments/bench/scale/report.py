"""Figure and report of ``wdro bench --scale``."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.bench.scale.goals import goals
from experiments.bench.scale.grid import (
    DENSE,
    EIGEN,
    LOG_DENSE,
    LOG_SPARSE,
    NEIGHBOURS,
    PLANE,
    SPARSE,
    N,
)
from experiments.bench.scale.measure import ETA, SHARE, TOLERANCE, WANTED
from experiments.drawing.scaling import growth
from experiments.drawing.style import BLUE, GREY, PAGE, PURPLE, SKY
from experiments.measuring.outcome import Outcome
from experiments.measuring.provenance import provenance_line
from experiments.measuring.text import markdown_table, seconds

_STYLES = {
    DENSE: (BLUE, "o", "--"),
    SPARSE: (BLUE, "D", "-"),
    LOG_DENSE: (PURPLE, "o", "--"),
    LOG_SPARSE: (PURPLE, "D", "-"),
    NEIGHBOURS: (SKY, "^", ":"),
}


def draw(table: pd.DataFrame) -> Figure:
    """Draw time and memory against d, for neighbours in the plane."""
    figure, axes = plt.subplots(1, 2, figsize=(PAGE, 3.2), layout="constrained")
    shown = _in_plane(table)
    for panel, column, label in (
        (axes[0], "total_s", "CPU time (s), judge included for ours"),
        (axes[1], "beyond_mb", "peak memory beyond the data (MiB)"),
    ):
        for path, (colour, marker, line) in _STYLES.items():
            rows = shown[shown["path"] == path].sort_values("d")
            panel.plot(
                rows["d"], np.maximum(rows[column], 1e-3), color=colour, marker=marker,
                linestyle=line, label=path,
            )  # fmt: skip
        panel.set(xlabel="number of vertices d", ylabel=label)
        if len(shown):  # nothing has no logarithm
            panel.set(xscale="log", yscale="log")
        panel.grid(True, which="major", linewidth=0.4, alpha=0.5, color=GREY)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def describe(table: pd.DataFrame, largest: int, scheduler: str | None = None) -> str:
    """Return the report in Markdown."""
    cluster = (
        ""
        if scheduler is None
        else " The sparse path's blocks of prices were computed on a Dask cluster, whose time is "
        "in the wall clock and not in the CPU seconds."
    )
    header = ["path", "dimensions", "N", "d", "CPU", "wall", "beyond the data", "data",
              "neighbours", "judged gap", ""]  # fmt: skip
    return "\n\n".join([
        "# Scale",
        f"Made by `wdro bench --scale --largest {largest}`. One process and one thread "
        "for each line. The true graph joins neighbours of random points in a cube. The dense and "
        "the sparse path learn a "
        f"Wasserstein-robust graph (η = {ETA:g}, ε = {SHARE:g}√d), to a judged gap of "
        f"{TOLERANCE:g}, the judge's pass over all pairs in the time. The log-degree lines are "
        f"sample averages, with αβ such that vertices alone would take {WANTED} neighbours: over "
        "all pairs, judged, and as the field does it on near pairs only, where the gap is what "
        "the judge makes of the answer with the bound that the sparse path finds. Memory is the "
        "peak of the process while it solves, less what it had before." + cluster,
        "![time and memory against d](scale.png)",
        *_exponents(table),
        markdown_table(
            ["work", "asked for", "measured", "met"],
            [[goal.work, goal.asked, goal.measured, goal.met] for goal in goals(table)],
        ),
        markdown_table(header, [_line(row) for _, row in table.iterrows()]),
        f"Made with {provenance_line()}.",
    ]) + "\n"  # fmt: skip


def _line(row: pd.Series) -> list[object]:
    start = [row["path"], row["dimensions"], row["n"], row["d"]]
    if row["outcome"] != Outcome.OK:
        return [*start, row["outcome"], *[""] * 5, row["message"]]
    if row["path"] == EIGEN:
        return [*start, seconds(row["total_s"]), seconds(row["wall_s"]), *[""] * 5]
    gap = "" if np.isnan(row["gap"]) else f"{row['gap']:.0e}"
    remark = "" if row["is_solved"] or row["path"] == NEIGHBOURS else row["said"]
    return [
        *start, seconds(row["total_s"]), seconds(row["wall_s"]), f"{row['beyond_mb']:.0f} MiB",
        f"{row['data_mb']:.0f} MiB", f"{row['neighbours']:.1f}", gap, remark,
    ]  # fmt: skip


def _exponents(table: pd.DataFrame) -> list[str]:
    shown = _in_plane(table)
    found = {
        path: growth(shown[shown["path"] == path].set_index("d")["total_s"]) for path in _STYLES
    }
    known = ", ".join(f"{path} {k}" for path, k in found.items() if k != "–")
    return [f"Growth of the time, where d spans a decade and a power law fits: {known}."] * bool(
        known
    )


def _in_plane(table: pd.DataFrame) -> pd.DataFrame:
    done = table["outcome"] == Outcome.OK
    return table[done & (table["dimensions"] == PLANE) & (table["n"] == N)]

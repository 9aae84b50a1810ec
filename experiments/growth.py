"""How run time grows with d: fitted exponents and the log-log figure."""

from __future__ import annotations

import itertools
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

# Okabe and Ito's palette, safe for colour-blind readers; markers tell the curves apart in grey.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]


def fit_exponent(dimensions: np.ndarray, seconds: np.ndarray) -> float:
    """Fit ``seconds ∝ d^k`` to the larger half of the sizes, where constants no longer matter."""
    order = np.argsort(dimensions)
    kept = order[len(order) // 2 if len(order) >= 6 else 0 :]
    if kept.size < 2:
        return float("nan")
    slope, _ = np.polyfit(np.log(dimensions[kept]), np.log(seconds[kept]), 1)
    return float(slope)


def assign_styles(panels: dict[str, pd.DataFrame]) -> dict[str, int]:
    """Give every method one style, different from those it shares a panel with."""
    together = nx.Graph()
    for rows in panels.values():
        methods = list(dict.fromkeys(rows["method"].astype(str)))
        together.add_nodes_from(methods)
        together.add_edges_from(itertools.combinations(methods, 2))
    styles: dict[str, int] = nx.greedy_color(together)
    return styles


def draw_growth(axes: Axes, rows: pd.DataFrame, title: str, styles: dict[str, int]) -> None:
    """Draw one panel: median time of every method against d, with spread and limits."""
    for method, group in rows.groupby("method", sort=False):
        index = styles[str(method)]
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        done = group[group["is_solved"]]
        if not done.empty:
            by_size = done.groupby("d")
            sizes = by_size["d"].first().to_numpy(float)
            median = by_size["total_s"].median().to_numpy(float)
            low = by_size["fastest_s"].min().to_numpy(float)
            high = by_size["slowest_s"].max().to_numpy(float)
            exponent = fit_exponent(sizes, median)
            label = str(method) if np.isnan(exponent) else f"{method}  $d^{{{exponent:.1f}}}$"
            axes.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
            axes.plot(
                sizes,
                median,
                label=label,
                color=colour,
                marker=marker,
                linewidth=1.4,
                markersize=4.5,
            )
        stopped = group[group["outcome"].isin(["time-out", "out of memory"])]
        for _, row in stopped.iterrows():
            axes.annotate(
                "time" if row["outcome"] == "time-out" else "memory",
                (row["d"], row["limit_s"]), fontsize=6, ha="center", va="bottom",
                color=colour,
            )  # fmt: skip
            axes.plot([row["d"]], [row["limit_s"]], marker="x", color=colour)
    axes.set(xscale="log", yscale="log", title=title)
    axes.set_xlabel("number of vertices d")
    shown = sorted(rows["d"].unique())
    axes.set_xticks(
        shown, [str(d) for d in shown], fontsize=7, rotation=45 if len(shown) > 7 else 0
    )
    axes.minorticks_off()
    axes.set_ylabel("time to a certified answer (s)")
    axes.grid(True, which="major", linewidth=0.4, alpha=0.5)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(
            fontsize=6.5, frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16)
        )


def draw_panels(panels: dict[str, pd.DataFrame], path: Path) -> list[Path]:
    """Draw one panel per title and save the figure as PNG and PDF."""
    columns = min(len(panels), 3)
    lines = -(-len(panels) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(4.4 * columns, 4.6 * lines), layout="constrained", squeeze=False
    )
    styles = assign_styles(panels)
    for panel, (title, rows) in zip(axes.flat, panels.items(), strict=False):
        draw_growth(panel, rows, title, styles)
    for panel in axes.flat[len(panels) :]:
        panel.set_axis_off()
    written = [path.with_suffix(".png"), path.with_suffix(".pdf")]
    for target in written:
        figure.savefig(target, dpi=200)
    plt.close(figure)
    return written

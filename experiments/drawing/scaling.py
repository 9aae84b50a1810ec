"""How run time grows with d: fitted exponents and log-log figures with limits."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.style import GREY, method_style
from experiments.running.outcome import Outcome
from wdro_cvx.validation import Array

# Fewer points, or less than a decade of sizes, and the exponent is that of the overheads; a worse
# fit is no power law.
_FEWEST, _DECADE, _LEAST_FIT = 4, 10.0, 0.98
_APART = 1.08  # marks at one size and limit are this factor of d from each other


def fit_exponent(dimensions: Array, seconds: Array) -> float | None:
    """Fit ``seconds ∝ d^k``; None where the sizes span less than a decade or the fit is poor."""
    if dimensions.size < _FEWEST or dimensions.max() < _DECADE * dimensions.min():
        return None
    x, y = np.log(dimensions), np.log(seconds)
    slope, offset = np.polyfit(x, y, 1)
    spread = float(np.sum((y - y.mean()) ** 2))
    left = float(np.sum((y - slope * x - offset) ** 2))
    return float(slope) if spread > 0.0 and 1.0 - left / spread >= _LEAST_FIT else None


def growth(times: pd.Series) -> str:
    """Return the exponent of times by d in words, a dash where there is none to speak of."""
    k = fit_exponent(times.index.to_numpy(float), times.to_numpy(float))
    return "–" if k is None else f"d^{k:.1f}"


def solved_times(rows: pd.DataFrame) -> pd.Series:
    """Return the median time by d of the rows that are solved."""
    times: pd.Series = rows[rows["is_solved"].astype(bool)].groupby("d")["total_s"].median()
    return times


def draw_curves(axes: Axes, rows: pd.DataFrame, labels: Mapping[str, str] | None = None) -> None:
    """Draw the median time of every method against d, with its range; limits as marks.

    Parameters
    ----------
    axes : Axes
    rows : DataFrame
    labels : mapping, optional
        Method → name in the legend.
    """
    for method, group in rows.groupby("method", sort=False):
        style = method_style(str(method))
        name = str(method) if labels is None else labels[str(method)]
        done = group[group["is_solved"]]
        if done.empty:
            continue
        times = solved_times(done)
        sizes = times.index.to_numpy(float)
        by_size = done.groupby("d")
        low = by_size["fastest_s"].min().to_numpy(float)
        high = by_size["slowest_s"].max().to_numpy(float)
        k = fit_exponent(sizes, times.to_numpy(float))
        axes.fill_between(sizes, low, high, color=style.colour, alpha=0.15, linewidth=0)
        axes.plot(
            sizes, times.to_numpy(float), label=name if k is None else f"{name}  $d^{{{k:.1f}}}$",
            color=style.colour, marker=style.marker, linestyle=style.line, linewidth=1.4,
            markersize=4.5,
        )  # fmt: skip
    _draw_limits(axes, rows)


def _draw_limits(axes: Axes, rows: pd.DataFrame) -> None:
    """Mark what hit a limit, side by side where several did at one size."""
    marks = {Outcome.TIME_OUT: "x", Outcome.OUT_OF_MEMORY: "+"}
    stopped = rows[rows["outcome"].isin(list(marks))]
    for _, group in stopped.groupby(["d", "limit_s"]):
        d, limit = float(group["d"].iloc[0]), float(group["limit_s"].iloc[0])
        places = d * _APART ** (np.arange(len(group)) - (len(group) - 1) / 2)
        for place, (_, row) in zip(places, group.iterrows(), strict=True):
            style = method_style(row["method"])
            axes.plot(
                [place], [limit], marker=style.marker, markersize=8, markerfacecolor="none",
                color=style.colour, linestyle="none", markeredgewidth=0.8,
            )  # fmt: skip
            axes.plot(
                [place], [limit], marker=marks[Outcome(row["outcome"])], markersize=4,
                color=style.colour, linestyle="none", markeredgewidth=1.2,
            )  # fmt: skip
    for limit in stopped["limit_s"].unique():
        axes.axhline(limit, color=GREY, linewidth=0.6, linestyle=(0, (1, 3)), zorder=0)
        axes.annotate(
            f"limit {limit:g} s: × time, + memory", (0.02, limit), fontsize=6, color="#555555",
            xycoords=("axes fraction", "data"), xytext=(0, -9), textcoords="offset points",
        )  # fmt: skip


def frame(axes: Axes, rows: pd.DataFrame, title: str) -> None:
    """Set up axes in logarithms of d and of time."""
    axes.set(xscale="log", yscale="log", title=title, xlabel="number of vertices d")
    shown = sorted(rows["d"].unique())
    axes.set_xticks(
        shown, [str(d) for d in shown], fontsize=7, rotation=45 if len(shown) > 7 else 0
    )
    axes.minorticks_off()
    axes.set_ylabel("CPU time to a certified answer (s)")
    axes.grid(True, which="major", linewidth=0.4, alpha=0.5)


def draw_panels(panels: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw one panel per title."""
    columns = min(len(panels), 3)
    lines = -(-len(panels) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(4.4 * columns, 4.8 * lines), layout="constrained", squeeze=False
    )
    for panel, (title, rows) in zip(axes.flat, panels.items(), strict=False):
        draw_curves(panel, rows)
        frame(panel, rows, title)
        if panel.get_legend_handles_labels()[0]:
            panel.legend(
                fontsize=6.5, frameon=False, ncols=2, loc="upper center",
                bbox_to_anchor=(0.5, -0.16), handlelength=3,
            )  # fmt: skip
    for panel in axes.flat[len(panels) :]:
        panel.set_axis_off()
    return figure

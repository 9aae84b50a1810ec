"""The paper's Figure 7: run time of interior point and projected gradient against d, and ours."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from experiments.compare.grid import FIGURE_7
from experiments.drawing.scaling import draw_curves


def figure7_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the measurements of the figure's curves, in its order."""
    parts = [
        rows[(rows["panel"] == panel) & (rows["method"] == method)] for panel, method, _ in FIGURE_7
    ]
    return pd.concat(parts)


def draw_figure7(rows: pd.DataFrame) -> Figure:
    """Draw the figure: linear in d as in the paper, and logarithmic in time."""
    shown = figure7_rows(rows)
    figure, axes = plt.subplots(figsize=(6.4, 4.9), layout="constrained")
    draw_curves(axes, shown, {method: label for _, method, label in FIGURE_7})
    axes.set(yscale="log", xlabel="number of vertices d", ylabel="CPU time (s)", xlim=(0, None))
    axes.set_title("The paper's Figure 7, and our solver", fontsize=10)
    axes.grid(True, which="major", linewidth=0.4, alpha=0.5)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(
            fontsize=7.5, frameon=False, handlelength=3, ncols=2, loc="upper center",
            bbox_to_anchor=(0.5, -0.13),
        )  # fmt: skip
    return figure

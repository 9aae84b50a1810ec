"""The paper's Figure 7: run time of interior point and projected gradient against d, and ours."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from experiments.compare.grid import FIGURE_7
from experiments.drawing.scaling import draw_curves, limit_marks
from experiments.drawing.style import PAGE


def figure7_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the measurements of the figure's curves, in its order."""
    parts = [
        rows[(rows["panel"] == panel) & (rows["method"] == method)] for panel, method, _ in FIGURE_7
    ]
    return pd.concat(parts)


def draw_figure7(rows: pd.DataFrame) -> Figure:
    """Draw the figure: linear in d as in the paper, and logarithmic in time."""
    shown = figure7_rows(rows)
    figure, axes = plt.subplots(figsize=(PAGE, 3.4), layout="constrained")
    draw_curves(axes, shown, {method: label for _, method, label in FIGURE_7})
    axes.set(yscale="log", xlabel="number of vertices d", ylabel="CPU time (s)", xlim=(0, None))
    axes.grid(True, which="major", linewidth=0.4, alpha=0.5)
    handles = [*axes.get_legend_handles_labels()[0], *limit_marks(shown)]
    if handles:
        figure.legend(handles=handles, loc="outside right center", handlelength=3)
    return figure

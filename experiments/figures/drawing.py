"""The look of the figures: one style per model, means with bands of one standard error."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.style import COLOURS, MARKERS
from experiments.figures.learning import GAUSSIAN, GENERAL, SAA, TUNED, choose_fairly
from experiments.figures.learning import choose_by_truth as by_truth

STYLES = {SAA: 7, TUNED: 6, GAUSSIAN: 0, GENERAL: 1}
LABELS = {"mcc": "MCC", "dog": "DOG", "reliability": "reliability", "nmi": "NMI"}


def panels(columns: int, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels side by side, in rows."""
    size = (5.2 * columns, 3.8 * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained")
    return figure, list(np.atleast_1d(axes).ravel())


def band(
    axes: Axes, table: pd.DataFrame, by: str, score: str, label: str, style: int, line: str = "-"
) -> None:
    """Draw the mean of a score over trials, a solid line with a band of one standard error."""
    groups = table.groupby(by)[score]
    place, middle = groups.mean().index.to_numpy(float), groups.mean().to_numpy()
    error = groups.sem().fillna(0.0).to_numpy()
    colour = COLOURS[style]
    axes.plot(
        place, middle, line, color=colour, marker=MARKERS[style], markersize=4, label=label,
        linewidth=1.2,
    )  # fmt: skip
    if line == "-":
        low, high = middle - error, middle + error
        axes.fill_between(place, low, high, color=colour, alpha=0.15, linewidth=0)


def compare_models(table: pd.DataFrame, by: str, xlabel: str, log: bool) -> Figure:
    """Draw MCC and DOG of every model against what is varied, for both choices of the radius."""
    figure, axes = panels(2)
    for panel, score in zip(axes, ("mcc", "dog"), strict=True):
        for choice, line, note in ((by_truth, "-", ""), (choose_fairly, ":", ", chosen fairly")):
            chosen = choice(table, [by])
            for model, style in STYLES.items():
                rows = chosen[chosen["model"] == model]
                if not (note and model == SAA):  # nothing to choose
                    band(panel, rows, by, score, model + note, style, line)
        panel.set(xlabel=xlabel, ylabel=LABELS[score])
        if log:
            panel.set_xscale("log")
    axes[0].legend(frameon=False, fontsize=7)
    return figure

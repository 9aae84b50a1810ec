"""The look of the figures: one style per model, means with bands of one standard error."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.style import COLOURS, COLUMN, MARKERS, PAGE, plain_ticks
from experiments.figures.learning import GAUSSIAN, GENERAL, SAA, TUNED, choose_fairly
from experiments.figures.learning import choose_by_truth as by_truth

STYLES = {SAA: 7, TUNED: 6, GAUSSIAN: 0, GENERAL: 1}
LABELS = {"mcc": "MCC", "dog": "DOG", "reliability": "reliability", "nmi": "NMI"}


def panels(columns: int, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels side by side, in rows: one panel is a column of a page wide."""
    size = (COLUMN if columns == 1 else PAGE, 2.4 * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained")
    return figure, list(np.atleast_1d(axes).ravel())


def band(axes: Axes, table: pd.DataFrame, by: str, score: str, label: str, style: int) -> None:
    """Draw the mean of a score over trials, with a band of one standard error."""
    groups = table.groupby(by)[score]
    place, middle = groups.mean().index.to_numpy(float), groups.mean().to_numpy()
    error = groups.sem().fillna(0.0).to_numpy()
    colour = COLOURS[style]
    axes.plot(place, middle, color=colour, marker=MARKERS[style], label=label)
    low, high = middle - error, middle + error
    axes.fill_between(place, low, high, color=colour, alpha=0.15, linewidth=0)


def compare_models(table: pd.DataFrame, by: str, xlabel: str, log: bool) -> Figure:
    """Draw MCC and DOG of every model against what is varied, for both choices of the radius."""
    figure, axes = panels(2, rows=2)
    choices = ((by_truth, "by the truth, for MCC"), (choose_fairly, "by held-out risk"))
    for row, (choice, note) in enumerate(choices):
        chosen = choice(table, [by])
        for panel, score in zip(axes[2 * row : 2 * row + 2], ("mcc", "dog"), strict=True):
            for model, style in STYLES.items():
                band(panel, chosen[chosen["model"] == model], by, score, model, style)
            panel.set(ylabel=LABELS[score], title=f"chosen {note}", xlabel=xlabel if row else "")
            if log:
                panel.set_xscale("log")
                plain_ticks(panel, (10, 100, 1000))
    axes[0].legend()
    return figure

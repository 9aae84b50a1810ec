"""The gain over SAA against the number of samples, one panel for each shift."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.style import BLUE, GREEN, GREY, MARKERS, PAGE, VERMILION
from experiments.studies.shift.grid import CLEAN, DEGREE, GAUSSIAN, MIDDLE, SCALES, SHIFTS
from experiments.studies.shift.tuning import AWARE, UNAWARE

_COLOURS = {GAUSSIAN: BLUE, MIDDLE: VERMILION, DEGREE: GREEN}
_TITLES = {
    "none": "no shift", "drift": "drift of the graph", "sensor": "a broken sensor",
    "adversary": "an adversary",
}  # fmt: skip


def draw(table: pd.DataFrame) -> Figure:
    """Draw risks in the first two rows, tuned either way, and the graph in the third."""
    figure, axes = plt.subplots(
        3, 4, figsize=(PAGE, 5.2), layout="constrained", sharex=True, sharey="row"
    )
    clean = table[(table["scale"] == SCALES[0]) & (table["training"] == CLEAN)]
    for row, how in enumerate((UNAWARE, AWARE)):
        for panel, shift in zip(axes[row], SHIFTS, strict=True):
            _panel(panel, clean, f"regret, {shift}", how, 100.0)
            panel.set_title(_TITLES[shift] if row == 0 else "")
        axes[row, 0].set_ylabel(f"gain in risk (%)\n{how}")
    scores = (("mcc", "MCC"), ("dog", "DOG"), ("dog, drift", "DOG after drift"))
    for panel, (metric, name) in zip(axes[2], scores, strict=False):
        _panel(panel, clean, metric, AWARE, 1.0)
        panel.set(title=name, xlabel="samples N")
    axes[2, 0].set_ylabel("gain in the graph")
    last = axes[2, 3]
    last.set_axis_off()
    axes[1, 3].tick_params(labelbottom=True)  # nothing below it has them
    axes[1, 3].set_xlabel("samples N")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    last.legend(handles, labels, loc="center", title="better than SAA by")
    return figure


def _panel(axes: Axes, table: pd.DataFrame, metric: str, how: str, unit: float) -> None:
    rows = table[(table["metric"] == metric) & (table["tuning"] == how)]
    axes.axhline(0.0, color=GREY, linewidth=0.6)
    for index, (model, colour) in enumerate(_COLOURS.items()):
        curve = rows[rows["model"] == model].sort_values("n")
        sizes, gain = curve["n"].to_numpy(float), unit * curve["gain"].to_numpy(float)
        error = unit * curve["error"].to_numpy(float)
        axes.plot(sizes, gain, color=colour, marker=MARKERS[index], label=model)
        axes.fill_between(sizes, gain - error, gain + error, color=colour, alpha=0.15, linewidth=0)
    axes.set_xscale("log")
    axes.set_xticks([10, 100, 1000], ["10", "100", "1000"])
    axes.minorticks_off()

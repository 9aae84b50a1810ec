"""Draw the search, and both tables at the fitted setting beside their printed values."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.style import BLACK, BLUE, COLOURS, MARKERS, PAGE, VERMILION, label_line
from experiments.studies.explain.choices import Fitted
from experiments.studies.explain.settings import Fit, table_2_cells, table_3_cells
from experiments.studies.explain.trial import (
    BLOCK_SIZES,
    BLOCKS,
    CAPS,
    ETAS,
    GAUSSIAN,
    GENERAL,
    NORMS,
    SAA,
    SIMILARITY,
    TABLE_2_SIZES,
    Condition,
)
from wdro_cvx.validation import Array

_COLOURS = {SAA: BLACK, GAUSSIAN: BLUE, GENERAL: VERMILION}


def draw(fits: Sequence[Fit], fitted: Fitted) -> Figure:
    """Draw Table 2, the fit by eta and cap, and Table 3."""
    figure, axes = plt.subplots(1, 3, figsize=(PAGE, 2.5), layout="constrained")
    _table_2(axes[0], fitted)
    _valley(axes[1], [fit for fit in fits if fit.setting.scale == fitted.setting.scale])
    _table_3(axes[2], fitted)
    return figure


def _band(axes: Axes, place: Array, scores: list[Array], colour: str, marker: str) -> Array:
    means = np.array([score.mean() for score in scores])
    errors = np.array([score.std(ddof=1) / np.sqrt(score.size) for score in scores])
    axes.plot(place, means, color=colour, marker=marker)
    low, high = means - errors, means + errors
    axes.fill_between(place, low, high, color=colour, alpha=0.15, linewidth=0)
    return means


def _table_2(axes: Axes, fitted: Fitted) -> None:
    names = [*NORMS, SAA]
    printed = {(n, model): value for n, model, value in table_2_cells()}
    places = np.arange(len(names), dtype=float)
    for index, n in enumerate(TABLE_2_SIZES):
        scores = [fitted.scores(SIMILARITY, Condition(n), model, "mcc") for model in names]
        means = _band(axes, places, scores, COLOURS[index], MARKERS[index])
        theirs = [printed[n, model] for model in names]
        axes.plot(places, theirs, ":", color=COLOURS[index], linewidth=0.9)
        label_line(axes, places[-1], float(means[-1]), f"N = {n}", COLOURS[index])
    labels = [name.removeprefix("p = ") for name in NORMS]
    axes.set_xticks(places, [*labels, "∞"])
    axes.set(xlabel="norm p", ylabel="MCC", title="Table 2 (dotted: printed)")
    axes.set_xlim(-0.2, len(names) + 0.6)


def _valley(axes: Axes, fits: Sequence[Fit]) -> None:
    places = np.arange(len(CAPS), dtype=float)
    for index, eta in enumerate(ETAS):
        best = [
            min(f.table_2 for f in fits if (f.setting.eta, f.setting.cap) == (eta, cap))
            for cap in CAPS
        ]
        axes.plot(places, best, color=COLOURS[index], marker=MARKERS[index], label=f"η = {eta:g}")
    axes.set_xticks(places, ["none" if np.isinf(cap) else f"{cap:g}" for cap in CAPS])
    axes.set(
        xlabel="largest candidate for ε", ylabel="rms difference", ylim=(0, 0.48),
        title="Distance from Table 2",
    )  # fmt: skip
    axes.legend(ncols=2, loc="upper right", handlelength=1.2, columnspacing=1.0)


def _table_3(axes: Axes, fitted: Fitted) -> None:
    printed = {(n, model): value for n, model, value in table_3_cells()}
    sizes = np.array(BLOCK_SIZES, dtype=float)
    names = {SAA: "SAA", GAUSSIAN: "Gaussian", GENERAL: "general"}
    for index, (model, name) in enumerate(names.items()):
        scores = [fitted.scores(BLOCKS, Condition(n), model, "nmi") for n in BLOCK_SIZES]
        means = _band(axes, sizes, scores, _COLOURS[model], MARKERS[index])
        theirs = [printed[n, model] for n in BLOCK_SIZES]
        axes.plot(sizes, theirs, ":", color=_COLOURS[model], linewidth=0.9)
        label_line(axes, sizes[-1], float(means[-1]), name, _COLOURS[model])
    axes.set(xscale="log", xlabel="samples N", ylabel="NMI", title="Table 3 (dotted: printed)")
    axes.set_xlim(70, 2300)
    axes.set_xticks([100, 300, 1000], ["100", "300", "1000"])
    axes.minorticks_off()

"""Panels, bands of scores, and the paper's Tables 2 and 3 beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.style import COLOURS, COLUMN, MARKERS, PAGE, label_line, plain_ticks
from experiments.figures.learning import (
    BLOCKS,
    GAUSSIAN,
    GENERAL,
    NORMS,
    PRINTED,
    SAA,
    SIMILARITY,
    TABLE_2_SIZES,
    TABLE_3_SIZES,
    TUNED,
)
from experiments.figures.statements import Choice, table_scores
from wdro_cvx.validation import Array

STYLES = {SAA: 7, TUNED: 6, GAUSSIAN: 0, GENERAL: 1}


def panels(columns: int, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels in rows; one panel is as wide as a column of a page.

    Panels that are compared share their axes: those of one row, or those of one column if there are
    several rows.
    """
    size = (COLUMN if columns == 1 else PAGE, 2.4 * rows)
    figure, axes = plt.subplots(
        rows, columns, figsize=size, layout="constrained", sharex=True,
        sharey="col" if rows > 1 else True,
    )  # fmt: skip
    return figure, list(np.atleast_1d(axes).ravel())


def legend_below(axes: Axes, columns: int = 4) -> None:
    """Put the legend of a panel below the figure, where it covers nothing."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)


def band(axes: Axes, places: Sequence[float], scores: Sequence[Array], style: int) -> Array:
    """Draw means over graphs with a band of one standard error; return the means."""
    means = np.array([values.mean() for values in scores])
    errors = np.array([values.std(ddof=1) / np.sqrt(values.size) for values in scores])
    axes.plot(places, means, color=COLOURS[style], marker=MARKERS[style])
    low, high = means - errors, means + errors
    axes.fill_between(places, low, high, color=COLOURS[style], alpha=0.15, linewidth=0)
    return means


def bands(
    axes: Axes, table: pd.DataFrame, by: str, score: str, styles: Mapping[str, int] = STYLES
) -> None:
    """Draw a band for every model in a table, with labels for a legend."""
    for model, style in styles.items():
        groups = table[table["model"] == model].groupby(by)[score]
        places = groups.mean().index.to_numpy(float).tolist()
        band(axes, places, [values.to_numpy(float) for _, values in groups], style)
        axes.lines[-1].set_label(model)


def _draw_table(
    axes: Axes,
    choice: Choice,
    kind: str,
    places: Sequence[float],
    curves: Sequence[tuple[str, int, Sequence[tuple[int, str]]]],
) -> None:
    """Draw curves, given by label, style and cells of a table, and dotted their printed values."""
    for label, style, cells in curves:
        means = band(axes, places, [table_scores(choice, kind, *cell) for cell in cells], style)
        label_line(axes, places[-1], float(means[-1]), label, COLOURS[style])
        printed = [PRINTED[kind].get(cell, np.nan) for cell in cells]
        axes.plot(places, printed, ":", color=COLOURS[style], linewidth=0.9)


def draw_table_2(axes: Axes, choice: Choice) -> None:
    """Draw MCC against the norm, ours and the paper's."""
    labels = {name: name.removeprefix("p = ") for name in NORMS} | {SAA: "∞"}
    curves = [
        (f"N = {n}", style, [(n, model) for model in labels])
        for style, n in enumerate(TABLE_2_SIZES)
    ]
    _draw_table(axes, choice, SIMILARITY, range(len(labels)), curves)
    axes.set_xticks(range(len(labels)), list(labels.values()))
    axes.set(xlabel="norm p", ylabel="MCC", title="Table 2 (dotted: printed)")
    axes.set_xlim(-0.2, len(labels) + 0.6)


def draw_table_3(axes: Axes, choice: Choice, labels: Mapping[str, str]) -> None:
    """Draw NMI of some models, given with their labels, against N, ours and the paper's."""
    curves = [
        (label, STYLES[model], [(n, model) for n in TABLE_3_SIZES])
        for model, label in labels.items()
    ]
    _draw_table(axes, choice, BLOCKS, TABLE_3_SIZES, curves)
    axes.set(xscale="log", xlabel="samples N", ylabel="NMI", title="Table 3 (dotted: printed)")
    axes.set_xlim(70, 2300)
    plain_ticks(axes, (100, 300, 1000))

"""Draw the search, and both tables at the fitted setting beside their printed values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.style import COLOURS, MARKERS
from experiments.figures.drawing import draw_table_2, draw_table_3, panels
from experiments.figures.learning import GAUSSIAN, GENERAL, SAA
from experiments.studies.explain.choices import Fitted
from experiments.studies.explain.settings import Fit
from experiments.studies.explain.trial import CAPS, ETAS


def draw(fits: Sequence[Fit], fitted: Fitted) -> Figure:
    """Draw Table 2, the fit by eta and cap, and Table 3."""
    figure, axes = panels(3)
    draw_table_2(axes[0], fitted)
    _valley(axes[1], [fit for fit in fits if fit.setting.scale == fitted.setting.scale])
    draw_table_3(axes[2], fitted, {SAA: "SAA", GAUSSIAN: "Gaussian", GENERAL: "general"})
    return figure


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

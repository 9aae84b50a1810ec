"""Draw how far the settings are from the paper's tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.style import COLOURS, MARKERS
from experiments.figures.drawing import legend_below, panels
from experiments.studies.explain.settings import Fit, Setting
from experiments.studies.explain.trial import CAPS, ETAS, SCALES

_TITLES = {"scaled": "True graphs scaled to Tr L = d", "raw": "True graphs with raw weights"}


def draw(fits: Sequence[Fit], tied: Collection[Setting]) -> Figure:
    """Draw the closest setting for every scale, eta and cap; filled if one of them fits."""
    figure, axes = panels(len(SCALES))
    for panel, scale in zip(axes, SCALES, strict=True):
        _curves(panel, [fit for fit in fits if fit.setting.scale == scale], tied)
        panel.set(title=_TITLES[scale], xlabel="largest candidate for ε")
    axes[0].set_ylabel("rms difference from the tables")
    axes[0].set_ylim(bottom=0)
    legend_below(axes[0], columns=len(ETAS))
    return figure


def _curves(axes: Axes, fits: Sequence[Fit], tied: Collection[Setting]) -> None:
    places = np.arange(len(CAPS))
    for index, eta in enumerate(ETAS):
        groups = [
            [fit for fit in fits if (fit.setting.eta, fit.setting.cap) == (eta, cap)]
            for cap in CAPS
        ]
        closest = np.array([min((fit.both for fit in group), default=np.nan) for group in groups])
        fitting = np.array([any(fit.setting in tied for fit in group) for group in groups])
        style = {"color": COLOURS[index], "marker": MARKERS[index]}
        axes.plot(places, closest, **style, label=f"η = {eta:g}")
        axes.plot(
            places[~fitting], closest[~fitting], **style, linestyle="", markerfacecolor="white"
        )
    axes.set_xticks(places, ["none" if np.isinf(cap) else f"{cap:g}" for cap in CAPS])

"""One picture of what the project does: data, the ball around them, the graph that is learned."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.graphs import community_colour, draw_edges, frame_map
from experiments.drawing.outlines import nearby_outlines
from experiments.drawing.style import GREY, PAGE, label_line
from experiments.learn.graph import prepare
from experiments.learn.loading import SignalTable
from experiments.studies.temperature.reading import Reading
from wdro_cvx import Discrete, Nominal, WassersteinBall
from wdro_cvx.validation import Array

_SHOWN = ("Florida", "Georgia", "Montana")
_INK = "#333333"  # no community's colour
_MONTHS = 24
#: The pair that the ball is shown on, neighbours; at the learned radius no move could be seen.
_PAIR = ("Georgia", "South Carolina")
_WIDER = 10


def draw_story(table: SignalTable, reading: Reading) -> Figure:
    """Draw signals, their worst case at the learned graph, and the graph itself."""
    figure, (data, ball, graph) = plt.subplots(
        1, 3, figsize=(PAGE, 2.2), layout="constrained", width_ratios=(1.0, 0.9, 1.7)
    )
    _data(data, table, reading)
    _ball(ball, table, reading)
    points = np.column_stack([reading.places.longitude, reading.places.latitude])
    frame_map(graph, points, nearby_outlines(*reading.places.arrays))
    draw_edges(graph, reading.graph.adjacency, reading.graph.communities, points)
    graph.set(title="3  the graph with the least worst case", xlabel="", ylabel="")
    graph.set_xticks([])
    graph.set_yticks([])
    return figure


def _data(axes: Axes, table: SignalTable, reading: Reading) -> None:
    """Draw signals in the colours that their vertices have in the graph; isolated ones dashed."""
    months = np.arange(_MONTHS)
    for name in _SHOWN:
        vertex = table.names.index(name)
        signal, alone = table.signals[-_MONTHS:, vertex], bool(reading.alone[vertex])
        colour = _INK if alone else community_colour(reading.graph.communities[vertex])
        axes.plot(months, signal, "--" if alone else "-", color=colour, linewidth=1.0)
        label_line(axes, float(months[-1]), float(signal[-1]), name, colour)
    axes.set(title="1  signals", xlabel="month", ylabel="temperature (°F)", xlim=(0, 1.7 * _MONTHS))
    axes.set_xticks([0, 12, 24])


def _ball(axes: Axes, table: SignalTable, reading: Reading) -> None:
    prepared = prepare(table, reading.graph.options.signals) / reading.graph.unit
    nominal = Nominal.from_samples(prepared)
    signals = nominal.samples  # less their mean over the vertices, which no Laplacian sees
    assert signals is not None
    ball = WassersteinBall(_WIDER * reading.graph.radius)
    worst = ball.worst_case(nominal, reading.graph.laplacian)
    moved = worst.distribution
    assert isinstance(moved, Discrete)
    columns = [table.names.index(name) for name in _PAIR]
    start, end = signals[:, columns], moved.points[: len(signals), columns]
    _moves(axes, start, end)
    axes.set(
        title=f"2  a ball around them (× {_WIDER})", xlabel=f"{_PAIR[0]} (scaled)",
        ylabel=f"{_PAIR[1]} (scaled)",
    )  # fmt: skip


def _moves(axes: Axes, start: Array, end: Array) -> None:
    for a, b in zip(start, end, strict=True):
        axes.plot(*zip(a, b, strict=True), color=GREY, linewidth=0.5, zorder=1)
    axes.scatter(
        start[:, 0], start[:, 1], s=7, color=GREY, label="observed", zorder=2, linewidths=0
    )
    axes.scatter(end[:, 0], end[:, 1], s=7, color=_INK, label="worst case", zorder=2, linewidths=0)
    axes.legend(loc="upper left", handletextpad=0.1, borderpad=0.0)

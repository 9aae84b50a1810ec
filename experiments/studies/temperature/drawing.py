"""Draw maps of learned graphs, the bearings of their edges, and a picture of the method."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.graphs import community_colour, draw_edges, frame_map, match_labels
from experiments.drawing.outlines import nearby_outlines
from experiments.drawing.style import COLOURS, GREY, PAGE, label_line
from experiments.learn.places import Places
from experiments.studies.temperature.reading import Reading, matched_bearings, measure_edges
from wdro_cvx import Discrete, WassersteinBall
from wdro_cvx.validation import Array

_SHOWN = ("Florida", "Georgia", "Montana")
_INK = "#333333"  # not the colour of a community
_MONTHS = 24
#: The neighbours in the picture of the ball; its radius is enlarged to make moves visible.
_PAIR = ("Georgia", "South Carolina")
_WIDER = 10


def draw_maps(readings: Sequence[Reading]) -> Figure:
    """Draw graphs of the same places side by side."""
    figure, axes = plt.subplots(
        1, len(readings), figsize=(PAGE, _map_height(readings[0].stations.places, len(readings))),
        layout="constrained", squeeze=False, sharey=True,
    )  # fmt: skip
    first = readings[0].communities
    for panel, reading in zip(axes[0], readings, strict=True):
        _draw_map(panel, reading, match_labels(reading.communities, first))
        panel.set_title(reading.title)
        panel.label_outer()
    return figure


def _draw_map(axes: Axes, reading: Reading, labels: Array) -> None:
    places = reading.stations.places
    points = np.column_stack([places.longitude, places.latitude])
    frame_map(axes, points, nearby_outlines(*places.arrays))
    draw_edges(axes, reading.graph.adjacency, labels, points)


def _map_height(places: Places, count: int) -> float:
    """Return the figure height in inches at which maps side by side leave no empty space."""
    spans = np.array([np.ptp(places.longitude), np.ptp(places.latitude)])
    wide, high = spans + 2 * (0.06 * spans.max() + 0.5)  # with the margins of frame_map
    middle = np.radians((places.latitude.min() + places.latitude.max()) / 2)
    return float(min(high / (wide * np.cos(middle)) * (PAGE - 0.75) / count + 0.65, PAGE))


def draw_directions(readings: Sequence[Reading], rows: int) -> Figure:
    """Draw histograms of the edge weights by bearing, with ``rows`` graphs per column."""
    figure, axes = plt.subplots(
        rows, -(-len(readings) // rows), figsize=(PAGE, 1.5 * rows + 0.4), sharex=True, sharey=True,
        layout="constrained", squeeze=False,
    )  # fmt: skip
    bins = np.linspace(0, 90, 10)
    for panel, reading in zip(axes.T.flat, readings, strict=True):
        edges = measure_edges(reading.graph.adjacency, reading.stations.places)
        panel.hist(
            edges.bearing, bins, weights=edges.weights / edges.weights.sum(), color=COLOURS[0],
            label="learned edges",
        )  # fmt: skip
        random = matched_bearings(edges, reading.stations.places, np.random.default_rng(0))
        share = np.broadcast_to(edges.weights / edges.weights.sum() / len(random), random.shape)
        panel.hist(
            random.ravel(), bins, weights=share.ravel(), histtype="step", color="black",
            label="pairs of equal length",
        )  # fmt: skip
        panel.set(title=reading.title, xticks=[0, 30, 60, 90])
    for panel in axes[-1]:
        panel.set_xlabel("degrees from the parallel")
    for panel in axes[:, 0]:
        panel.set_ylabel("share of weight")
    axes[0, 0].legend()
    return figure


def draw_story(reading: Reading) -> Figure:
    """Draw signals, their worst case for the learned graph, and the graph."""
    figure, (data, ball, graph) = plt.subplots(
        1, 3, figsize=(PAGE, 2.2), layout="constrained", width_ratios=(1.0, 0.9, 1.7)
    )
    _data(data, reading)
    _ball(ball, reading)
    _draw_map(graph, reading, reading.communities)
    graph.set(title="3  the graph with the least worst case", xlabel="", ylabel="")
    graph.set_xticks([])
    graph.set_yticks([])
    return figure


def _data(axes: Axes, reading: Reading) -> None:
    """Draw signals in the colours of their communities; isolated vertices are dashed."""
    table, months = reading.stations.table, np.arange(_MONTHS)
    for name in _SHOWN:
        vertex = table.names.index(name)
        signal, alone = table.signals[-_MONTHS:, vertex], bool(reading.alone[vertex])
        colour = _INK if alone else community_colour(reading.communities[vertex])
        axes.plot(months, signal, "--" if alone else "-", color=colour, linewidth=1.0)
        label_line(axes, float(months[-1]), float(signal[-1]), name, colour)
    axes.set(title="1  signals", xlabel="month", ylabel="temperature (°F)", xlim=(0, 1.7 * _MONTHS))
    axes.set_xticks([0, 12, 24])


def _ball(axes: Axes, reading: Reading) -> None:
    table = reading.stations.table
    nominal = reading.graph.problem.nominal
    signals = nominal.samples  # centred over the vertices
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

"""Draw a learned graph: on a map where places are known, otherwise by its own forces."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from experiments.growth import COLOURS
from experiments.learn.graph import LearnedGraph
from experiments.learn.loading import Places
from wdro_cvx.validation import Array

_MOST_LABELS = 60


def draw_graph(
    graph: LearnedGraph, places: Places | None, outlines: Sequence[Array] = ()
) -> Figure:
    """Return a picture of the graph."""
    if places is None:
        figure, axes = plt.subplots(figsize=(6.5, 6.0), layout="constrained")
        network = graph.to_networkx()
        layout = nx.spring_layout(network, seed=1, k=2.0 / np.sqrt(len(graph.names)))
        points = np.array([layout[name] for name in graph.names])
        axes.set_axis_off()
    else:
        figure, axes = plt.subplots(figsize=(8.0, 5.2), layout="constrained")
        points = np.column_stack([places.longitude, places.latitude])
        frame_map(axes, points, outlines)
    draw_edges(axes, graph, points)
    if len(graph.names) <= _MOST_LABELS:
        for name, point in zip(graph.names, points, strict=True):
            axes.annotate(
                name, point, xytext=(3, 3), textcoords="offset points", fontsize=6, color="#333333"
            )
    return figure


def draw_edges(axes: Axes, graph: LearnedGraph, points: Array) -> None:
    """Draw edges by weight and vertices by community; isolated vertices are hollow."""
    adjacency, labels = graph.adjacency, graph.communities
    rows, columns = np.nonzero(np.triu(adjacency))
    weights = adjacency[rows, columns]
    segments = np.stack([points[rows], points[columns]], axis=1)
    order = np.argsort(weights)
    strength = weights[order] / weights.max() if weights.size else weights
    lines = LineCollection(
        list(segments[order]), linewidths=0.3 + 2.2 * strength, colors="#555555",
        alpha=0.25 + 0.6 * strength, zorder=2,
    )  # fmt: skip
    axes.add_collection(lines)
    alone = ~adjacency.any(axis=1)
    colours = np.array([COLOURS[int(label) % len(COLOURS)] for label in labels])
    x, y = points.T
    axes.scatter(x[~alone], y[~alone], s=26, c=colours[~alone], zorder=3, linewidths=0)
    axes.scatter(
        x[alone], y[alone], s=30, facecolors="white", edgecolors="black", zorder=3, linewidths=1.0,
        label="isolated",
    )  # fmt: skip
    if alone.any():
        axes.legend(frameon=False, loc="lower left", fontsize=8)


def frame_map(axes: Axes, points: Array, outlines: Sequence[Array] = ()) -> None:
    """Set up a map around the points, in the equirectangular projection of its middle latitude."""
    margin = 0.06 * np.ptp(points, axis=0).max() + 0.5
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    for outline in outlines:
        axes.plot(*outline.T, color="#BBBBBB", linewidth=0.6, zorder=1)
    axes.set(
        xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="longitude (degrees)",
        ylabel="latitude (degrees)",
    )  # fmt: skip
    axes.set_aspect(1.0 / np.cos(np.radians((low[1] + high[1]) / 2)))
    axes.grid(color="#EEEEEE", linewidth=0.5)

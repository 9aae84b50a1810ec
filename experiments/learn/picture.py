"""Draw a learned graph: on a map where places are known, otherwise by its own forces."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.graphs import draw_edges, frame_map, spread_out
from experiments.learn.graph import LearnedGraph
from experiments.learn.loading import Places
from wdro_cvx.validation import Array

_MOST_LABELS = 60
_LONGEST_LABEL = 40


def draw_graph(
    graph: LearnedGraph, places: Places | None, outlines: Sequence[Array] = ()
) -> Figure:
    """Return a picture of the graph."""
    if places is None:
        figure, axes = plt.subplots(figsize=(6.5, 6.0), layout="constrained")
        points = spread_out(graph.adjacency)
        axes.set_axis_off()
    else:
        figure, axes = plt.subplots(figsize=(8.0, 5.2), layout="constrained")
        points = np.column_stack([places.longitude, places.latitude])
        frame_map(axes, points, outlines)
    draw_edges(axes, graph.adjacency, graph.communities, points)
    if len(graph.names) <= _MOST_LABELS:
        for name, point in zip(graph.names, points, strict=True):
            short = name if len(name) <= _LONGEST_LABEL else name[: _LONGEST_LABEL - 1] + "…"
            axes.annotate(
                short, point, xytext=(3, 3), textcoords="offset points", fontsize=6,
                color="#333333", parse_math=False,  # a dollar sign in a name is a dollar sign
            )  # fmt: skip
    return figure

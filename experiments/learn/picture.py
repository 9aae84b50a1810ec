"""Draw a learned graph on a map if places are known, otherwise in a force-directed layout.

Large graphs without places are drawn as graphs of their communities.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import sparse

from experiments.drawing.graphs import community_colour, frame_map
from experiments.learn.places import Places
from solvers.learned.drawing import CROWDED, draw_graph, new_axes, spread_out
from solvers.learned.graph import LearnedGraph
from wdro_cvx.validation import Array

_MOST_DRAWN = 1000


def draw_picture(
    graph: LearnedGraph, labels: Array, title: str, points: Array, places: Places | None,
    outlines: Sequence[Array],
) -> Figure:  # fmt: skip
    """Return a picture of a graph whose vertices have names, communities and positions.

    The title says how the graph was learned. With places the picture is a map, with outlines.
    """
    names, adjacency = graph.names, graph.selected
    unsure: NDArray[np.bool_] | None = ~graph.in_optimum
    size = f"{graph.problem.d} vertices"
    if places is None and graph.problem.d > _MOST_DRAWN:
        names, adjacency, labels = _merged(adjacency, labels)
        points, unsure, size = spread_out(adjacency), None, f"{size} (communities drawn)"
    if places is None:
        axes = new_axes((9.0, 8.4) if len(points) > CROWDED else (6.5, 6.3))
        axes.set_axis_off()
    else:
        axes = new_axes((8.0, 5.4))
        frame_map(axes, points, outlines, places.degrees)
    axes.set_title(f"{size}, {len(graph.edges)} edges, {title}", fontsize=9)
    colours = [community_colour(label) for label in labels]
    draw_graph(axes, adjacency, points, names, colours, unsure)
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def _merged(
    adjacency: Array | sparse.csr_array, labels: Array
) -> tuple[tuple[str, ...], sparse.csr_array, Array]:
    """Return the graph of the communities, named by their sizes, with the weights between them."""
    places = labels.astype(int), np.arange(labels.size)
    members = sparse.csr_array((np.ones(labels.size), places))
    between = sparse.csr_array(members @ sparse.csr_array(adjacency) @ members.T)
    between.setdiag(0.0)
    between.eliminate_zeros()
    sizes = np.bincount(labels.astype(int))
    return tuple(f"{size}" for size in sizes), between, np.arange(float(len(sizes)))

"""Draw a learned graph: on a map where places are known, otherwise by its own forces.

Edges that are not certain are dashed; names are shown as far as they do not cover each other; of
very many vertices their communities are drawn instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy import sparse

from experiments.drawing.graphs import Weights, draw_edges, frame_map, spread_out
from experiments.learn.graph import LearnedGraph
from experiments.learn.places import Places
from solvers.learned.edge_table import certain, edge_arrays
from solvers.learned.labels import place_labels
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.validation import Array

_MOST_DRAWN = 1000
_CROWDED = 60


def draw_graph(
    graph: LearnedGraph, places: Places | None, outlines: Sequence[Array] = ()
) -> Figure:
    """Return a picture of the graph."""
    names, labels = list(graph.names), graph.communities
    weights: Weights = graph.adjacency
    unsure = _unsure(graph)
    if places is None and len(names) > _MOST_DRAWN:
        names, weights, labels = _merged(graph)
        unsure = sparse.csr_array(weights.shape)
    crowded = len(names) > _CROWDED
    if places is None:
        figure, axes = plt.subplots(figsize=(9.0, 8.4) if crowded else (6.5, 6.3),
                                    layout="constrained")  # fmt: skip
        points = spread_out(weights)
        axes.set_axis_off()
    else:
        figure, axes = plt.subplots(figsize=(8.0, 5.4), layout="constrained")
        points = np.column_stack([places.longitude, places.latitude])
        frame_map(axes, points, outlines, places.degrees)
    draw_edges(axes, weights, labels, points, unsure)
    axes.set_title(_title(graph), fontsize=9)
    _explain(axes, weights, unsure)
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    place_labels(axes, names, points, degrees, 5.0 if crowded else 6.5)
    return figure


def _title(graph: LearnedGraph) -> str:
    merged = " (communities drawn)" if len(graph.names) > _MOST_DRAWN else ""
    return (
        f"{len(graph.names)} vertices{merged}, {len(graph.edges)} edges, "
        f"{graph.options.ambiguity}, radius {graph.radius:.3g}, eta {graph.eta:.3g}"
    )


def _unsure(graph: LearnedGraph) -> sparse.csr_array:
    """Return which edges the optimal graph need not have, as a matrix of ones."""
    heads, tails, _ = edge_arrays(graph.adjacency)
    d = len(graph.names)
    threshold = graph.options.threshold or EDGE_THRESHOLD
    sure = certain(d, graph.verdict.edges, heads, tails, threshold)
    pairs = heads[~sure], tails[~sure]
    return sparse.csr_array((np.ones(len(pairs[0])), pairs), shape=(d, d))


def _merged(graph: LearnedGraph) -> tuple[list[str], sparse.csr_array, Array]:
    """Return the graph of the communities: their sizes for names, the weight between them."""
    labels = graph.communities.astype(int)
    members = sparse.csr_array((np.ones(labels.size), (labels, np.arange(labels.size))))
    between = sparse.csr_array(members @ sparse.csr_array(graph.adjacency) @ members.T)
    between.setdiag(0.0)
    between.eliminate_zeros()
    sizes = np.bincount(labels)
    return [f"{size}" for size in sizes], between, np.arange(float(len(sizes)))


def _explain(axes: Axes, weights: Weights, unsure: sparse.csr_array) -> None:
    """Add a legend of widths and dashes."""
    _, _, values = edge_arrays(weights)
    if not values.size:
        return
    largest = float(values.max())
    handles = [
        Line2D(
            [],
            [],
            color="#555555",
            linewidth=0.3 + 2.2 * share,
            label=f"weight {share * largest:.2g}",
        )
        for share in (1.0, 0.25)
    ]
    if unsure.nnz:
        handles.append(Line2D([], [], color="#555555", linestyle="--", label="not certain"))
    shown = axes.get_legend_handles_labels()[0] if axes.get_legend() else []
    axes.legend(handles=[*handles, *shown], frameon=False, fontsize=7, loc="best")

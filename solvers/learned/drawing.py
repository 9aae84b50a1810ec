"""Pictures of what the estimator learned, with matplotlib, which is imported when first used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from solvers.learned.edge_table import certain, edge_arrays
from solvers.learned.labels import fonts_for, place_labels
from solvers.path import solve_path
from wdro_cvx import DataError, GraphProblem
from wdro_cvx.judging.edges import EDGE_THRESHOLD, EdgeBrackets
from wdro_cvx.solution import network
from wdro_cvx.validation import Array, finite_array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CROWDED = 60  # vertices
_NAMED = 8  # edges with a legend entry, the strongest
_STEPS = 25


def draw_graph(
    adjacency: Array | sparse.csr_array,
    brackets: EdgeBrackets,
    names: Sequence[str] | None = None,
    axes: Axes | None = None,
    places: ArrayLike | None = None,
) -> Axes:
    """Draw a graph, width by weight; edges that are not certain are dashed.

    Parameters
    ----------
    adjacency : array or sparse array (d, d)
    brackets : EdgeBrackets
    names : sequence of str, optional
        Shown as far as there is room, those with strong edges first.
    axes : matplotlib axes, optional
    places : array (d, 2), optional
        Found by the forces of the edges if not given.
    """
    from matplotlib.collections import LineCollection

    d = adjacency.shape[0]
    points = _layout(adjacency) if places is None else finite_array("places", places, 2)
    if points.shape != (d, 2):
        raise DataError(f"places must have shape {(d, 2)}; it has {points.shape}.")
    crowded = d > _CROWDED
    axes = _axes(axes, (9.0, 8.0) if crowded else (6.4, 5.6))
    heads, tails, weights = edge_arrays(adjacency)
    sure = certain(d, brackets, heads, tails)
    strength = weights / weights.max() if weights.size else weights
    segments = np.stack([points[heads], points[tails]], axis=1)
    for kind, style in ((sure, "solid"), (~sure, (0, (4, 3)))):
        if not kind.any():
            continue
        lines = LineCollection(
            list(segments[kind]), linewidths=_width(strength[kind]), linestyles=[style],
            colors="#555555", alpha=0.2 + 0.7 * strength[kind], zorder=1,
        )  # fmt: skip
        axes.add_collection(lines)
    x, y = points.T
    axes.scatter(x, y, s=20, color="#0072B2", zorder=2)
    note = "" if sure.all() else f", {np.count_nonzero(~sure)} not certain"
    axes.set_title(f"{d} vertices, {weights.size} edges{note}")
    axes.set_axis_off()
    if weights.size:
        _explain(axes, float(weights.max()), bool(sure.all()))
    if names is not None:
        degrees = np.asarray(adjacency.sum(axis=1)).ravel()
        place_labels(axes, [str(name) for name in names], points, degrees, 5.0 if crowded else 7.0)
    return axes


def _width(strength: Array | float) -> Array | float:
    return 0.3 + 2.5 * strength


def _explain(axes: Axes, largest: float, sure: bool) -> None:
    """Add a legend of widths and dashes."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color="#555555", linewidth=float(_width(share)),
               label=f"weight {share * largest:.2g}")
        for share in (1.0, 0.25)
    ]  # fmt: skip
    if not sure:
        handles.append(Line2D([], [], color="#555555", linestyle="--", label="not certain"))
    axes.legend(handles=handles, frameon=False, fontsize=7, loc="best")


def draw_path(
    problem: GraphProblem,
    radii: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draw the weights of the edges along the radius, that of the problem marked.

    Parameters
    ----------
    problem : GraphProblem
    radii : sequence of float, optional
        Ascending; from a tenth of the problem's to ten times as much if not given.
    names : sequence of str, optional
    axes : matplotlib axes, optional
    """
    middle = problem.ambiguity.radius or 1.0
    grid = np.geomspace(middle / 10, middle * 10, _STEPS) if radii is None else np.asarray(radii)
    answers = solve_path(replace(problem), [float(radius) for radius in grid])
    grid = grid[: len(answers)]
    stacked = np.array([_upper(answer.adjacency) for answer in answers])
    axes = _axes(axes)
    shown = np.flatnonzero(stacked.max(axis=0) >= EDGE_THRESHOLD)
    strongest = set(shown[np.argsort(-stacked[:, shown].max(axis=0))][:_NAMED])
    pairs = np.triu_indices(problem.d, 1)
    for edge in shown:
        ends = [str(index[edge] if names is None else names[index[edge]]) for index in pairs]
        named = edge in strongest
        axes.plot(grid, stacked[:, edge], linewidth=1.4 if named else 0.7,
                  color=None if named else "#BBBBBB", zorder=2 if named else 1,
                  label="–".join(ends) if named else "_nolegend_")  # fmt: skip
    axes.axvline(problem.ambiguity.radius, color="#555555", linestyle=":", linewidth=1.0)
    axes.set(xscale="log", xlabel="radius", ylabel="edge weight")
    if shown.size:
        labels = [str(text) for text in axes.get_legend_handles_labels()[1]]
        # Beside the curves: inside it would cover some of them.
        axes.legend(frameon=False, prop={"family": fonts_for(labels), "size": 7},
                    loc="upper left", bbox_to_anchor=(1.0, 1.0))  # fmt: skip
    return axes


def _upper(adjacency: Array | sparse.csr_array) -> Array:
    dense = sparse.csr_array(adjacency).toarray()
    return np.asarray(dense[np.triu_indices(len(dense), 1)])


def _axes(axes: Axes | None, size: tuple[float, float] = (7.0, 4.8)) -> Axes:
    if axes is not None:
        return axes
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def _layout(adjacency: Array | sparse.csr_array) -> Array:
    import networkx as nx

    graph = network(adjacency)
    found = nx.spring_layout(graph, seed=1, k=2.0 / np.sqrt(graph.number_of_nodes()))
    return np.array([found[vertex] for vertex in range(graph.number_of_nodes())])

"""Layout and pictures of a learned graph; matplotlib is imported when first used.

In layouts of up to some hundred vertices, all vertices repel each other. With more, that would
take minutes. The layout then starts from eigenvectors, and only the nearest vertices repel each
other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import ArpackError, eigsh
from scipy.spatial import cKDTree

from solvers.learned.edge_table import edge_arrays
from solvers.learned.labels import fonts_for, place_labels
from solvers.path import solve_path
from wdro_cvx import GraphProblem
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.solution import network
from wdro_cvx.validation import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # modules that draw nothing import it from here

CROWDED = 60  # vertices beyond which names are smaller
_BLUE, _INK = "#0072B2", "#555555"
_THIN, _THICKER = 0.3, 2.2  # line width in points at zero weight, and the most that weight adds
_NAMED = 8  # strongest edges, which get a legend entry
_STEPS = 25
_IN_A_ROW = 25  # vertices without an edge
_SMALL = 500  # vertices up to which all of them repel each other
_MOVES, _NEAR = 60, 12


def spread_out(adjacency: Array | sparse.csr_array) -> Array:
    """Return a position for every vertex; those without an edge are in rows below the others.

    The layout is deterministic.

    Parameters
    ----------
    adjacency : array or sparse array (d, d)
        The edge weights.

    Returns
    -------
    array (d, 2)

    Examples
    --------
    >>> import numpy as np
    >>> spread_out(np.array([[0.0, 1.0], [1.0, 0.0]])).shape
    (2, 2)
    """
    weights = sparse.csr_array(adjacency)
    joined = np.flatnonzero(np.diff(weights.indptr))
    points = np.zeros((weights.shape[0], 2))
    if joined.size:
        points[joined] = _layout(sparse.csr_array(weights[joined][:, joined]))
    alone = np.setdiff1d(np.arange(len(points)), joined)
    low, high = (points[joined].min(axis=0), points[joined].max(axis=0)) if joined.size else (
        np.zeros(2), np.ones(2)
    )  # fmt: skip
    width, height = high - low
    row, column = np.divmod(np.arange(alone.size), _IN_A_ROW)
    points[alone, 0] = low[0] + width * (column + 0.5) / min(max(alone.size, 1), _IN_A_ROW)
    points[alone, 1] = low[1] - 0.08 * height * (row + 1)
    return points


def _layout(adjacency: sparse.csr_array) -> Array:
    """Return positions of vertices that all have an edge."""
    d = adjacency.shape[0]
    if d > _SMALL:
        return _relaxed(adjacency, _eigenvectors(adjacency))
    import networkx as nx

    found = nx.spring_layout(network(adjacency.toarray()), seed=1, k=2.0 / np.sqrt(d))
    return np.array([found[vertex] for vertex in range(d)])


def _eigenvectors(adjacency: sparse.csr_array) -> Array:
    """Return ranks by the second and third eigenvectors of the normalised adjacency matrix."""
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    scale = sparse.diags_array(1.0 / np.sqrt(np.where(degrees > 0.0, degrees, 1.0)))
    rng = np.random.default_rng(0)
    d = len(degrees)
    start = rng.standard_normal(d)
    try:
        _, vectors = eigsh(scale @ adjacency @ scale, k=3, which="LA", v0=start, tol=1e-3)
    except ArpackError:
        vectors = rng.standard_normal((d, 3))
    # Use ranks: by value, most vertices of a sparse graph would share a few positions.
    ranks = np.argsort(np.argsort(vectors[:, :2], axis=0, kind="stable"), axis=0, kind="stable")
    return np.asarray(ranks / d + 1e-3 * rng.standard_normal((d, 2)))


def _relaxed(adjacency: sparse.csr_array, points: Array) -> Array:
    d = len(points)
    pattern = sparse.csr_array(
        (np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), (d, d)
    )
    counts = np.asarray(pattern.sum(axis=1))[:, np.newaxis]
    spacing = 1.0 / np.sqrt(d)
    for step in range(_MOVES):
        towards = np.where(counts > 0, (pattern @ points) / np.maximum(counts, 1.0) - points, 0.0)
        distances, near = cKDTree(points).query(points, k=_NEAR + 1)
        away = points[:, np.newaxis] - points[near[:, 1:]]
        size = np.maximum(distances[:, 1:], 1e-3 * spacing)
        push = np.sum(away * (spacing / size**2)[..., np.newaxis], axis=1) * spacing / _NEAR
        move = 0.3 * towards + 2.0 * push
        longest = (1.0 - step / _MOVES) * 3 * spacing
        norm = np.linalg.norm(move, axis=1, keepdims=True)
        points = points + move * np.minimum(1.0, longest / np.maximum(norm, 1e-300))
    return points


def draw_edges(
    axes: Axes,
    adjacency: Array | sparse.csr_array,
    points: Array,
    colours: str | Sequence[str] = _BLUE,
    unsure: NDArray[np.bool_] | None = None,
) -> None:
    """Draw vertices and edges; width shows weight, and vertices without an edge are hollow.

    Parameters
    ----------
    axes : matplotlib axes
    adjacency : array or sparse array (d, d)
    points : array (d, 2)
    colours : str or sequence of str
        One colour for all vertices, or one for each.
    unsure : array (m,) of bool, optional
        Edges to draw dashed, in the order of ``edge_arrays(adjacency)``.
    """
    from matplotlib.collections import LineCollection

    heads, tails, weights = edge_arrays(adjacency)
    order = np.argsort(weights)  # the strongest on top
    dashed = np.zeros(weights.size, dtype=bool) if unsure is None else unsure[order]
    segments = np.stack([points[heads], points[tails]], axis=1)[order]
    strength = weights[order] / weights.max(initial=0.0) if weights.size else weights
    for kind, style in ((~dashed, "solid"), (dashed, "dashed")):
        if kind.any():
            lines = LineCollection(
                list(segments[kind]), linewidths=_THIN + _THICKER * strength[kind], colors=_INK,
                alpha=0.25 + 0.6 * strength[kind], zorder=2, linestyles=style,
            )  # fmt: skip
            axes.add_collection(lines)
    alone = np.bincount(np.concatenate([heads, tails]), minlength=len(points)) == 0
    filled = np.broadcast_to(np.array(colours, dtype=object), len(points))[~alone]
    x, y = points.T
    axes.scatter(x[~alone], y[~alone], s=26, c=list(filled), zorder=3, linewidths=0)
    if alone.any():
        axes.scatter(
            x[alone], y[alone], s=30, facecolors="white", edgecolors="black", zorder=3,
            linewidths=1.0, label="no edge drawn",
        )  # fmt: skip
        axes.legend(frameon=False, loc="lower left", fontsize=8)


def draw_graph(
    axes: Axes,
    adjacency: Array | sparse.csr_array,
    points: Array,
    names: Sequence[str] | None = None,
    colours: str | Sequence[str] = _BLUE,
    unsure: NDArray[np.bool_] | None = None,
) -> None:
    """Draw a graph with a legend and, where there is room, vertex names.

    Parameters
    ----------
    axes : matplotlib axes
    adjacency : array or sparse array (d, d)
    points : array (d, 2)
    names : sequence of str, optional
        Names of vertices with large degrees are placed first.
    colours, unsure
        As for :func:`draw_edges`.
    """
    draw_edges(axes, adjacency, points, colours, unsure)
    largest = float(adjacency.max())
    if largest > 0.0:
        dashed = unsure is not None and bool(unsure.any())
        _explain(axes, largest, dashed, len(points) > CROWDED)
    if names is not None:
        degrees = np.asarray(adjacency.sum(axis=1)).ravel()
        size = 5.0 if len(names) > CROWDED else 6.5
        place_labels(axes, [str(name) for name in names], points, degrees, size)


def _explain(axes: Axes, largest: float, dashed: bool, crowded: bool) -> None:
    """Add line widths and dashes to the legend."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=_INK, linewidth=_THIN + _THICKER * share,
               label=f"weight {share * largest:.2g}")
        for share in (1.0, 0.25)
    ]  # fmt: skip
    if dashed:
        handles.append(Line2D([], [], color=_INK, linestyle="--", label="not certain"))
    shown = axes.get_legend_handles_labels()[0] if axes.get_legend() else []
    where: dict[str, Any] = {"loc": "best"}
    if crowded:  # there is no free place inside, and matplotlib takes seconds to look for one
        where = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    axes.legend(handles=[*handles, *shown], frameon=False, fontsize=7, **where)


def draw_path(
    problem: GraphProblem,
    radii: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draw the edge weights as functions of the radius, and mark the problem's own radius.

    Parameters
    ----------
    problem : GraphProblem
    radii : sequence of float, optional
        Ascending; by default from a tenth of the problem's radius to ten times it.
    names : sequence of str, optional
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    middle = problem.ambiguity.radius or 1.0
    grid = np.geomspace(middle / 10, middle * 10, _STEPS) if radii is None else np.asarray(radii)
    answers = solve_path(replace(problem), [float(radius) for radius in grid])
    grid = grid[: len(answers)]
    stacked = np.array([_upper(answer.adjacency) for answer in answers])
    axes = new_axes((7.0, 4.8)) if axes is None else axes
    shown = np.flatnonzero(stacked.max(axis=0) >= EDGE_THRESHOLD)
    strongest = set(shown[np.argsort(-stacked[:, shown].max(axis=0))][:_NAMED])
    pairs = np.triu_indices(problem.d, 1)
    for edge in shown:
        ends = [str(index[edge] if names is None else names[index[edge]]) for index in pairs]
        named = edge in strongest
        axes.plot(grid, stacked[:, edge], linewidth=1.4 if named else 0.7,
                  color=None if named else "#BBBBBB", zorder=2 if named else 1,
                  label="–".join(ends) if named else "_nolegend_")  # fmt: skip
    axes.axvline(problem.ambiguity.radius, color=_INK, linestyle=":", linewidth=1.0)
    axes.set(xscale="log", xlabel="radius", ylabel="edge weight")
    if shown.size:
        labels = [str(text) for text in axes.get_legend_handles_labels()[1]]
        # The legend goes beside the curves; inside, it would cover some of them.
        axes.legend(frameon=False, prop={"family": fonts_for(labels), "size": 7},
                    loc="upper left", bbox_to_anchor=(1.0, 1.0))  # fmt: skip
    return axes


def new_axes(size: tuple[float, float]) -> Axes:
    """Return the axes of a new figure with the given size in inches."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def _upper(adjacency: Array | sparse.csr_array) -> Array:
    dense = sparse.csr_array(adjacency).toarray()
    return np.asarray(dense[np.triu_indices(len(dense), 1)])

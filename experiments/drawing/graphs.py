"""Draw graphs: edges by weight, vertices by community, on a map or spread out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from experiments.drawing.style import COLOURS, GREY
from solvers.learned.edge_table import edge_arrays
from wdro_cvx.solution import network
from wdro_cvx.validation import Array

#: So many communities have a colour; the smaller ones are grey.
_COLOURED = 7

Weights: TypeAlias = Array | sparse.csr_array


def match_labels(labels: Array, reference: Array) -> Array:
    """Return the same communities under the names of those of ``reference`` that they share most.

    So that a colour means the same in two pictures; communities without a partner get new names.
    """
    own, others = np.unique(labels), np.unique(reference)
    shared = np.array([[np.sum((labels == a) & (reference == b)) for b in others] for a in own])
    rows, columns = linear_sum_assignment(-shared)
    paired = {own[r]: others[c] for r, c in zip(rows, columns, strict=True) if shared[r, c]}
    fresh = iter(range(int(others.max()) + 1, int(others.max()) + 1 + len(own)))
    names = {label: paired[label] if label in paired else float(next(fresh)) for label in own}
    return np.array([names[label] for label in labels])


def community_colour(label: float) -> str:
    """Return the colour of a community, grey beyond the seventh: no two share one."""
    return COLOURS[int(label)] if label < _COLOURED else GREY


def spread_out(adjacency: Weights) -> Array:
    """Return a place for every vertex, by the forces of the edges."""
    d = adjacency.shape[0]
    layout = nx.spring_layout(network(adjacency), seed=1, k=2.0 / np.sqrt(d))
    return np.array([layout[vertex] for vertex in range(d)])


def draw_edges(
    axes: Axes, adjacency: Weights, labels: Array, points: Array, unsure: Weights | None = None
) -> None:
    """Draw edges by weight and vertices by community; isolated vertices are hollow.

    Edges that are marked in ``unsure`` are dashed.
    """
    rows, columns, weights = edge_arrays(adjacency)
    order = np.argsort(weights)
    rows, columns, weights = rows[order], columns[order], weights[order]
    segments = np.stack([points[rows], points[columns]], axis=1)
    strength = weights / weights.max() if weights.size else weights
    dashed = np.zeros(weights.size, dtype=bool)
    if unsure is not None and weights.size:
        dashed = np.asarray(unsure[rows, columns]).ravel() != 0.0
    for kind, style in ((~dashed, "solid"), (dashed, "dashed")):
        if kind.any():
            lines = LineCollection(
                list(segments[kind]), linewidths=0.3 + 2.2 * strength[kind], colors="#555555",
                alpha=0.25 + 0.6 * strength[kind], zorder=2, linestyles=style,
            )  # fmt: skip
            axes.add_collection(lines)
    alone = np.bincount(np.concatenate([rows, columns]), minlength=len(points)) == 0
    colours = np.array([community_colour(label) for label in labels])
    x, y = points.T
    axes.scatter(x[~alone], y[~alone], s=26, c=colours[~alone], zorder=3, linewidths=0)
    axes.scatter(
        x[alone], y[alone], s=30, facecolors="white", edgecolors="black", zorder=3, linewidths=1.0,
        label="isolated",
    )  # fmt: skip
    if alone.any():
        axes.legend(frameon=False, loc="lower left", fontsize=8)


def frame_map(
    axes: Axes, points: Array, outlines: Sequence[Array] = (), degrees: bool = True
) -> None:
    """Set up a map around the points, in the equirectangular projection of its middle latitude.

    Points that are not in degrees are x and y of a plane.
    """
    margin = 0.06 * np.ptp(points, axis=0).max() + (0.5 if degrees else 0.0)
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    for outline in outlines:
        axes.plot(*outline.T, color="#BBBBBB", linewidth=0.6, zorder=1)
    words = ("longitude (degrees)", "latitude (degrees)") if degrees else ("x", "y")
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel=words[0], ylabel=words[1])
    if not degrees:
        axes.set_aspect("equal")
        return
    # At the poles themselves a degree of longitude has no length.
    middle = np.radians(np.clip((low[1] + high[1]) / 2, -85.0, 85.0))
    axes.set_aspect(1.0 / np.cos(middle))
    axes.grid(color="#EEEEEE", linewidth=0.5)

"""Maps of learned graphs, and the bearings of their edges."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.graphs import draw_edges, frame_map, match_labels
from experiments.drawing.outlines import nearby_outlines
from experiments.drawing.style import COLOURS, PAGE
from experiments.temperature.directions import matched_bearings, measure_edges
from experiments.temperature.reading import Reading


def draw_maps(readings: list[Reading]) -> Figure:
    """Draw graphs of the same places side by side."""
    figure, axes = plt.subplots(
        1, len(readings), figsize=(PAGE, 2.9), layout="constrained", squeeze=False, sharey=True
    )
    first = readings[0].graph.communities
    for panel, reading in zip(axes[0], readings, strict=True):
        points = np.column_stack([reading.places.longitude, reading.places.latitude])
        frame_map(panel, points, nearby_outlines(*reading.places.arrays))
        labels = match_labels(reading.graph.communities, first)
        draw_edges(panel, reading.graph.adjacency, labels, points)
        panel.set_title(reading.title)
        panel.label_outer()
    return figure


def draw_directions(readings: list[Reading]) -> Figure:
    """Draw how the weight of the edges is distributed over bearings."""
    figure, axes = plt.subplots(
        1, len(readings), figsize=(PAGE, 1.9), sharey=True, layout="constrained"
    )
    bins = np.linspace(0, 90, 10)
    for panel, reading in zip(np.atleast_1d(axes), readings, strict=True):
        edges = measure_edges(reading.graph.adjacency, reading.places)
        panel.hist(
            edges.bearing, bins, weights=edges.weights / edges.weights.sum(), color=COLOURS[0],
            label="learned edges",
        )  # fmt: skip
        random = matched_bearings(edges, reading.places, np.random.default_rng(0))
        share = np.broadcast_to(edges.weights / edges.weights.sum() / len(random), random.shape)
        panel.hist(
            random.ravel(), bins, weights=share.ravel(), histtype="step", color="black",
            label="pairs of equal length",
        )  # fmt: skip
        panel.set(title=reading.title, xlabel="degrees from the parallel", xticks=[0, 45, 90])
    np.atleast_1d(axes)[0].set_ylabel("share of weight")
    np.atleast_1d(axes)[0].legend(frameon=False)
    return figure

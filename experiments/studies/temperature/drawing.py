"""Maps of learned graphs, and the bearings of their edges."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.graphs import draw_edges, frame_map, match_labels
from experiments.drawing.outlines import nearby_outlines
from experiments.drawing.style import COLOURS, PAGE
from experiments.learn.places import Places
from experiments.studies.temperature.directions import matched_bearings, measure_edges
from experiments.studies.temperature.reading import Reading


def draw_maps(readings: list[Reading]) -> Figure:
    """Draw graphs of the same places side by side."""
    figure, axes = plt.subplots(
        1, len(readings), figsize=(PAGE, _map_height(readings[0].places, len(readings))),
        layout="constrained", squeeze=False, sharey=True,
    )  # fmt: skip
    first = readings[0].graph.communities
    for panel, reading in zip(axes[0], readings, strict=True):
        points = np.column_stack([reading.places.longitude, reading.places.latitude])
        frame_map(panel, points, nearby_outlines(*reading.places.arrays))
        labels = match_labels(reading.graph.communities, first)
        draw_edges(panel, reading.graph.adjacency, labels, points)
        panel.set_title(reading.title)
        panel.label_outer()
    return figure


def _map_height(places: Places, count: int) -> float:
    """Return the height in inches at which maps beside one another leave no empty strip."""
    spans = np.array([np.ptp(places.longitude), np.ptp(places.latitude)])
    wide, high = spans + 2 * (0.06 * spans.max() + 0.5)  # with the margins of frame_map
    middle = np.radians((places.latitude.min() + places.latitude.max()) / 2)
    return float(min(high / (wide * np.cos(middle)) * (PAGE - 0.75) / count + 0.65, PAGE))


def draw_directions(readings: list[Reading], rows: int) -> Figure:
    """Draw how the weight of the edges is distributed over bearings, so many graphs in a column."""
    figure, axes = plt.subplots(
        rows, -(-len(readings) // rows), figsize=(PAGE, 1.5 * rows + 0.4), sharex=True, sharey=True,
        layout="constrained", squeeze=False,
    )  # fmt: skip
    bins = np.linspace(0, 90, 10)
    for panel, reading in zip(axes.T.flat, readings, strict=True):
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
        panel.set(title=reading.title, xticks=[0, 30, 60, 90])
    for panel in axes[-1]:
        panel.set_xlabel("degrees from the parallel")
    for panel in axes[:, 0]:
        panel.set_ylabel("share of weight")
    axes[0, 0].legend()
    return figure

"""Draw maps of learned graphs, and the bearings of their edges."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.graphs import draw_edges, frame_map, match_labels, nearby_outlines
from experiments.drawing.style import COLOURS, PAGE
from experiments.learn.places import Places
from experiments.studies.temperature.reading import Reading, matched_bearings, measure_edges
from solvers import RobustGraph
from solvers.learned.communities import communities
from wdro_cvx.examples import state_places
from wdro_cvx.validation import Array


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


def draw_anomalies(graph: RobustGraph) -> Figure:
    """Draw the graph of the states' anomalies, which was learned without their places."""
    places = state_places().loc[list(graph.feature_names_in_)]
    points = places[["lon", "lat"]].to_numpy(float)
    adjacency = np.where(graph.support_, graph.adjacency_, 0.0)
    outlines = nearby_outlines(points[:, 1], points[:, 0])
    figure, axes = plt.subplots(figsize=(PAGE, 4.4), layout="constrained")
    frame_map(axes, np.vstack([points, *outlines]), outlines)
    draw_edges(axes, adjacency, communities(adjacency), points)
    axes.set_axis_off()
    return figure

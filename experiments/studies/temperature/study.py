"""Learn graphs of weather stations, draw maps, and test what the paper reads from its maps."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from experiments.drawing.graphs import (
    DEGREES,
    MARGIN,
    draw_edges,
    frame_map,
    match_labels,
    nearby_outlines,
)
from experiments.drawing.style import COLOURS, PAGE
from experiments.learn.graph import LearnOptions
from experiments.learn.places import Places
from experiments.measuring.digest import Source
from experiments.measuring.display import note
from experiments.measuring.held_out import choose_radius
from experiments.measuring.text import markdown_table
from experiments.studies.temperature.reading import (
    Reading,
    matched_bearings,
    measure_edges,
    read_graph,
)
from experiments.studies.temperature.stations import MONTHS, Stations, load_states, load_stations
from experiments.study import Report, Run, Study
from solvers import RobustGraph
from solvers.learned.communities import communities
from solvers.selection.signals import Signals
from wdro_cvx.ambiguity import named_ambiguity
from wdro_cvx.examples import CENTROIDS, TEMPERATURES, state_anomalies, state_places
from wdro_cvx.validation import Array

#: The paper's scenarios and their ambiguity sets.
MODELS = {"Gaussian": "gaussian", "general": "moment"}
#: File → title; the first is the paper's Figure 9.
MAPS = {"states": "48 states", "us": "US stations", "australia": "Australian stations"}
#: Small enough that a vertex unlike all others stays isolated, as in the paper's maps.
ETA = 0.03


def answer(run: Run, options: argparse.Namespace) -> Report:
    """Learn and measure a graph from every table with both models."""
    maps = {name: load_map(name) for name in MAPS}  # a missing package is reported at once
    readings: list[Reading] = []
    for name, title in MAPS.items():
        for model, ambiguity in MODELS.items():
            place = f"graph {len(readings) + 1} of {len(MAPS) * len(MODELS)}"
            note(f"temperature: {place}, {title}, {model}")
            learned = _options(maps[name], ambiguity)
            readings.append(read_graph(f"{title}, {model}", maps[name], learned, options.seed))
    pairs = [readings[i : i + len(MODELS)] for i in range(0, len(readings), len(MODELS))]
    figures = {name: draw_maps(pair) for name, pair in zip(MAPS, pairs, strict=True)}
    figures["directions"] = draw_directions(readings, rows=len(MODELS))
    anomalies = RobustGraph().fit(state_anomalies())
    figures["anomalies"] = draw_anomalies(anomalies)
    unsolved = "; ".join(reading.title for reading in readings if not reading.graph.solved)
    return Report(
        "Temperature graphs",
        [*describe_anomalies(anomalies), *describe(readings)],
        tables={"edges": pd.concat([_edge_table(reading) for reading in readings])},
        figures=figures,
        failure=f"not solved to the tolerance: {unsolved}." if unsolved else "",
    )


_SOURCE = Source(("experiments.studies.temperature.reading",), data=(CENTROIDS, TEMPERATURES))
STUDY = Study("temperature", _SOURCE, answer)


def _options(stations: Stations, ambiguity: str) -> LearnOptions:
    """Return the paper's problem, with the radius of the smallest held-out risk."""
    signals, _ = Signals(stations.table.signals).in_unit("auto")
    radius = choose_radius(signals, named_ambiguity(ambiguity), ETA)
    return LearnOptions(
        ambiguity, radius=radius, eta=ETA, signals="raw", prior="frobenius", edges="all",
        moment="sample",
    )  # fmt: skip


def describe_anomalies(graph: RobustGraph) -> list[str]:
    """Return the paragraphs about the graph of anomalies."""
    edges = measure_edges(*_selected(graph))
    return [
        "![the states, joined by their anomalies](anomalies.png)",
        "*How much warmer each of 299 months was than usual, in 48 states. `RobustGraph()` selects "
        f"{len(edges.length)} edges without knowing where the states are; the median length is "
        f"{np.median(edges.length):.0f} km. Colours are Louvain's communities.*",
    ]


def load_map(name: str) -> Stations:
    """Return the stations of one map."""
    return load_states() if name == "states" else load_stations(name)


def _edge_table(reading: Reading) -> pd.DataFrame:
    edges = measure_edges(reading.graph.adjacency, reading.stations.places)
    rows, columns = np.nonzero(np.triu(reading.graph.adjacency))
    names = np.array(reading.graph.names)
    return pd.DataFrame({
        "graph": reading.title, "source": names[rows], "target": names[columns],
        "weight": edges.weights, "km": edges.length, "bearing": edges.bearing,
        "latitude_difference": edges.latitude_difference,
    })  # fmt: skip


def describe(readings: Sequence[Reading]) -> list[str]:
    """Return the paragraphs and tables of the report."""
    return [
        f"{MONTHS} monthly means of the 48 contiguous states (NOAA nClimDiv, to November 2024; the "
        "paper's Figure 9 has 60 weeks of 2019 and 2020) and weekly means of 2025 at NOAA "
        f"stations. Both scenarios, raw temperatures, η = {ETA:g}, radius by held-out risk. Raw "
        "levels are dominated by the seasons.",
        *(f"![{title}]({name}.png)" for name, title in MAPS.items()),
        "*Left: the Gaussian scenario; right: the general one. Edges are wider and darker with "
        "their weight. Colours are Louvain's communities, matched between the two panels, grey "
        "beyond the seventh. Hollow vertices have no edge.*",
        "## Do edges run along latitudes?",
        markdown_table(
            ["graph", "radius", "gap", "edges", "also at radius 0", "mean latitude difference",
             "on shuffled places", "p", "mean bearing", "pairs of equal length", "p"],
            [_edge_row(reading) for reading in readings],
        ),
        "Latitude differences are in degrees, bearings in degrees from the parallel (0 is "
        "east-west, 90 north-south); both are weighted by the edges. *Shuffled places* keeps the "
        "graph and permutes its coordinates. *Pairs of equal length* replaces every edge by a "
        "random pair of about its length, so only the direction differs. p is (1 + the number of "
        "2,000 random graphs whose mean is as small) / 2,001.",
        "![bearings](directions.png)",
        "*Weight of the edges by their angle to the parallel; the outline shows random pairs of "
        "the same lengths.*",
        "## Are communities bands of latitude?",
        markdown_table(
            ["graph", "communities", "latitude explained", "by k-means on places",
             "longitude explained", "by k-means on places"],
            [_band_row(reading) for reading in readings],
        ),
        "Shares of variance: minimum to maximum over 20 seeds of Louvain's method, and over "
        "equally many k-means clusters of the coordinates, which ignore temperatures. Any grouping "
        "of neighbours explains latitude; a band explains little longitude.",
        "## Isolated vertices and elevation",
        markdown_table(
            ["graph", "isolated vertices", "their median elevation", "that of the others", "p",
             "rank correlation of degree and elevation"],
            [_isolated_row(reading) for reading in readings],
        ),
        "p is from a rank-sum test that isolated stations lie higher.",
    ]  # fmt: skip


def _edge_row(reading: Reading) -> list[object]:
    graph, latitude, bearing = reading.graph, reading.latitude, reading.bearing
    return [
        reading.title, f"{graph.radius:.3g}", f"{graph.gap:.0e}",
        int(np.count_nonzero(np.triu(graph.adjacency))), reading.shared,
        f"{latitude.observed:.2f}", f"{latitude.expected:.2f}", f"{latitude.p:.4f}",
        f"{bearing.observed:.1f}", f"{bearing.expected:.1f}", f"{bearing.p:.4f}",
    ]  # fmt: skip


def _band_row(reading: Reading) -> list[object]:
    bands = reading.bands
    shares = (bands.latitude, bands.null_latitude, bands.longitude, bands.null_longitude)
    count = f"{bands.count.low:.0f}–{bands.count.high:.0f}"
    return [reading.title, count, *(f"{s.low:.0%}–{s.high:.0%}" for s in shares)]


def _isolated_row(reading: Reading) -> list[object]:
    alone, height = reading.alone, reading.stations.elevation
    names = ", ".join(reading.graph.isolated) or "none"
    if height is None:
        return [reading.title, names, "", "", "", ""]
    degree = reading.graph.adjacency.sum(axis=1)
    correlation = f"{float(stats.spearmanr(degree, height).statistic):+.2f}"
    if not alone.any():
        return [reading.title, names, "", f"{np.median(height):.0f} m", "", correlation]
    test = stats.mannwhitneyu(height[alone], height[~alone], alternative="greater")
    return [
        reading.title, names, f"{np.median(height[alone]):.0f} m",
        f"{np.median(height[~alone]):.0f} m", f"{float(test.pvalue):.3f}", correlation,
    ]  # fmt: skip


def draw_maps(readings: Sequence[Reading]) -> Figure:
    """Draw graphs of the same places side by side."""
    places, count = readings[0].stations.places, len(readings)
    figure, axes = plt.subplots(
        1, count, figsize=(PAGE, _map_height(places, count)), layout="constrained", squeeze=False,
        sharey=True,
    )  # fmt: skip
    first = readings[0].communities
    for panel, reading in zip(axes[0], readings, strict=True):
        places = reading.stations.places
        frame_map(panel, places.points, nearby_outlines(*places.arrays))
        labels = match_labels(reading.communities, first)
        draw_edges(panel, reading.graph.adjacency, labels, places.points)
        panel.set_title(reading.title)
        panel.label_outer()
    return figure


def _map_height(places: Places, count: int) -> float:
    """Return the figure height in inches at which maps side by side leave no empty space."""
    spans = np.array([np.ptp(places.longitude), np.ptp(places.latitude)])
    wide, high = spans + 2 * (MARGIN * spans.max() + DEGREES)  # with the margins of frame_map
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
    adjacency, places = _selected(graph)
    outlines = nearby_outlines(*places.arrays)
    shown = np.vstack([places.points, *outlines])
    low, high = shown.min(axis=0) - DEGREES, shown.max(axis=0) + DEGREES
    wide, tall = (high - low) * [np.cos(np.radians((low[1] + high[1]) / 2)), 1.0]
    figure, axes = plt.subplots(figsize=(PAGE, PAGE * tall / wide), layout="constrained")
    frame_map(axes, shown, outlines)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))  # the picture ends with the coast
    draw_edges(axes, adjacency, communities(adjacency), places.points)
    axes.set_axis_off()
    return figure


def _selected(graph: RobustGraph) -> tuple[Array, Places]:
    """Return the selected edges of a graph of the states, and where these are."""
    table = state_places().loc[list(graph.feature_names_in_)]
    places = Places(table["lat"].to_numpy(float), table["lon"].to_numpy(float))
    return np.where(graph.support_, graph.adjacency_, 0.0), places

"""Learn a graph and test what the paper reads from its maps: directions, bands, lone vertices.

*Directions*: do edges run along latitudes? Bearings and latitude differences are compared with
random graphs. *Bands*: are communities bands of latitude? Any grouping of neighbours explains
latitude, but a band explains little longitude. Communities are compared with k-means clusters of
the coordinates, which ignore temperatures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from experiments.learn.graph import LearnOptions, learn_graph
from experiments.learn.places import Places
from experiments.studies.temperature.stations import Stations
from solvers.learned.communities import communities
from solvers.learned.graph import LearnedGraph
from wdro_cvx.validation import Array

Indices = NDArray[np.intp]

_EARTH_KM = 6371.0
_SHUFFLES = 2000
_SEEDS = 20


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges on the globe: weight, length (km), angle to the parallel, latitude difference (°)."""

    weights: Array
    length: Array
    bearing: Array
    latitude_difference: Array


@dataclass(frozen=True)
class Permutation:
    """A weighted mean over the edges, its expectation over random graphs, and the p-value.

    ``p`` is (1 + the number of random graphs whose mean is at most the observed one) / (1 + all).
    """

    observed: float
    expected: float
    p: float


@dataclass(frozen=True)
class Spread:
    """The minimum, median and maximum of several numbers."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Bands:
    """The number of communities, and the shares of latitude and longitude variance they explain.

    ``null_latitude`` and ``null_longitude`` are the shares that equally many k-means clusters of
    the coordinates explain.
    """

    count: Spread
    latitude: Spread
    longitude: Spread
    null_latitude: Spread
    null_longitude: Spread


@dataclass(frozen=True, eq=False)
class Reading:
    """A learned graph and the measurements that test what the paper reads from its map.

    ``shared`` is the number of its edges that the graph with radius 0 has as well.
    """

    title: str
    graph: LearnedGraph
    stations: Stations
    shared: int
    latitude: Permutation
    bearing: Permutation
    bands: Bands

    @property
    def communities(self) -> Array:
        """The community of every vertex."""
        return communities(self.graph.adjacency)

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Whether each vertex has no edge."""
        return np.asarray(self.graph.adjacency.sum(axis=1) == 0.0)


def read_graph(title: str, stations: Stations, options: LearnOptions, seed: int) -> Reading:
    """Learn a graph and measure it."""
    graph, places = learn_graph(stations.table, options), stations.places
    average = learn_graph(stations.table, replace(options, radius=0.0))
    both = (graph.adjacency > 0.0) & (average.adjacency > 0.0)
    rng = np.random.default_rng(seed)
    return Reading(
        title, graph, stations, int(np.count_nonzero(both)) // 2,
        shuffled_vertices(graph.adjacency, places, rng),
        matched_by_length(graph.adjacency, places, rng),
        measure_bands(graph.adjacency, places),
    )  # fmt: skip


def measure_edges(adjacency: Array, places: Places) -> Edges:
    """Return the geometry of the edges of a graph."""
    rows, columns = np.nonzero(np.triu(adjacency))
    north, east = _offsets(places, rows, columns)
    return Edges(
        adjacency[rows, columns],
        np.hypot(north, east),
        np.degrees(np.arctan2(np.abs(north), np.abs(east))),
        np.abs(places.latitude[rows] - places.latitude[columns]),
    )


def shuffled_vertices(adjacency: Array, places: Places, rng: np.random.Generator) -> Permutation:
    """Compare latitude differences with those of the same graph on shuffled coordinates."""
    rows, columns = np.nonzero(np.triu(adjacency))
    weights = adjacency[rows, columns]

    def spread(latitude: Array) -> float:
        return float(np.average(np.abs(latitude[rows] - latitude[columns]), weights=weights))

    random = [spread(rng.permutation(places.latitude)) for _ in range(_SHUFFLES)]
    return _compare(spread(places.latitude), np.array(random))


def matched_by_length(adjacency: Array, places: Places, rng: np.random.Generator) -> Permutation:
    """Compare bearings with those of random pairs of about the same length.

    Learned edges are short, and the ends of a short edge differ little in latitude in any
    direction. Only this comparison isolates direction. It also allows for the shape of the region.
    """
    edges = measure_edges(adjacency, places)
    random = np.average(matched_bearings(edges, places, rng), axis=1, weights=edges.weights)
    return _compare(float(np.average(edges.bearing, weights=edges.weights)), random)


def matched_bearings(edges: Edges, places: Places, rng: np.random.Generator) -> Array:
    """Return bearings of random graphs, one per row, of pairs within 10 % of each edge's length."""
    rows, columns = np.triu_indices(len(places.latitude), 1)
    north, east = _offsets(places, rows, columns)
    length = np.hypot(north, east)
    bearing = np.degrees(np.arctan2(np.abs(north), np.abs(east)))
    order = np.argsort(length)
    length, bearing = length[order], bearing[order]
    low = np.searchsorted(length, 0.9 * edges.length)
    high = np.maximum(np.searchsorted(length, 1.1 * edges.length, side="right"), low + 1)
    return np.asarray(bearing[rng.integers(low, high, size=(_SHUFFLES, len(low)))])


def explained_by(labels: Array, values: Array) -> float:
    """Return the share of the variance between groups (η² in analysis of variance)."""
    total = float(np.sum((values - values.mean()) ** 2))
    between = sum(
        float(np.sum(labels == label)) * float(values[labels == label].mean() - values.mean()) ** 2
        for label in np.unique(labels)
    )
    return between / total if total > 0 else 0.0


def _offsets(places: Places, rows: Indices, columns: Indices) -> tuple[Array, Array]:
    """Return the distances (km) north and east from each row's place to its column's place."""
    latitude, longitude = np.radians(places.latitude), np.radians(places.longitude)
    middle = (latitude[rows] + latitude[columns]) / 2
    turn = longitude[columns] - longitude[rows]
    turn = (turn + np.pi) % (2 * np.pi) - np.pi  # the shorter way around the globe
    return _EARTH_KM * (latitude[columns] - latitude[rows]), _EARTH_KM * np.cos(middle) * turn


def _compare(observed: float, random: Array) -> Permutation:
    smaller = 1 + int(np.count_nonzero(random <= observed))
    return Permutation(observed, float(random.mean()), smaller / (len(random) + 1))


def measure_bands(adjacency: Array, places: Places) -> Bands:
    """Measure the communities of connected vertices for several seeds of Louvain's method."""
    kept = adjacency.any(axis=1)
    latitude, longitude = places.latitude[kept], places.longitude[kept]
    found = [communities(adjacency, seed)[kept] for seed in range(_SEEDS)]
    counts = [len(np.unique(labels)) for labels in found]
    null = [_cluster_places(latitude, longitude, k, seed) for seed, k in enumerate(counts)]
    return Bands(
        _spread(counts),
        *(
            _spread([explained_by(labels, values) for labels in groups])
            for groups in (found, null)
            for values in (latitude, longitude)
        ),
    )


def _cluster_places(latitude: Array, longitude: Array, count: int, seed: int) -> Array:
    """Return k-means clusters of coordinates, using distances on the ground."""
    from sklearn.cluster import KMeans  # slow to import, and only needed here

    shrink = float(np.cos(np.radians(latitude.mean())))
    points = np.column_stack([latitude, shrink * longitude])
    labels = KMeans(count, n_init=3, random_state=seed).fit(points).labels_
    return np.asarray(labels, dtype=float)


def _spread(values: list[float] | list[int]) -> Spread:
    return Spread(float(np.min(values)), float(np.median(values)), float(np.max(values)))

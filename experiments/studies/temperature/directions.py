"""Do edges run along latitudes? Bearings and latitude differences against random graphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.learn.places import Places
from wdro_cvx.validation import Array

Indices = NDArray[np.intp]

_EARTH_KM = 6371.0
_SHUFFLES = 2000


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges on the globe: weight, length (km), bearing (degrees from the parallel), latitudes."""

    weights: Array
    length: Array
    bearing: Array
    latitude_difference: Array


@dataclass(frozen=True)
class Permutation:
    """A weighted mean over the edges, and over random graphs.

    ``p`` is the share of random graphs with a mean as small.
    """

    observed: float
    expected: float
    p: float


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
    """Compare latitude differences with those of the same graph on shuffled places."""
    rows, columns = np.nonzero(np.triu(adjacency))
    weights = adjacency[rows, columns]

    def spread(latitude: Array) -> float:
        return float(np.average(np.abs(latitude[rows] - latitude[columns]), weights=weights))

    random = [spread(rng.permutation(places.latitude)) for _ in range(_SHUFFLES)]
    return _compare(spread(places.latitude), np.array(random))


def matched_by_length(adjacency: Array, places: Places, rng: np.random.Generator) -> Permutation:
    """Compare bearings with those of random pairs of about the same length.

    Learned edges are short, and short edges differ little in latitude whatever their direction; so
    this null is the one that speaks of direction. It also accounts for a network that is wider
    than high.
    """
    edges = measure_edges(adjacency, places)
    random = np.average(matched_bearings(edges, places, rng), axis=1, weights=edges.weights)
    return _compare(float(np.average(edges.bearing, weights=edges.weights)), random)


def matched_bearings(edges: Edges, places: Places, rng: np.random.Generator) -> Array:
    """Return bearings of random graphs, one per row: pairs within 10 % of the edges' lengths."""
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
    """Return the share of a variance that lies between groups (η² of an analysis of variance)."""
    total = float(np.sum((values - values.mean()) ** 2))
    between = sum(
        float(np.sum(labels == label)) * float(values[labels == label].mean() - values.mean()) ** 2
        for label in np.unique(labels)
    )
    return between / total if total > 0 else 0.0


def _offsets(places: Places, rows: Indices, columns: Indices) -> tuple[Array, Array]:
    """Return how far north and east (km) the second of two places lies from the first."""
    latitude, longitude = np.radians(places.latitude), np.radians(places.longitude)
    middle = (latitude[rows] + latitude[columns]) / 2
    turn = longitude[columns] - longitude[rows]
    turn = (turn + np.pi) % (2 * np.pi) - np.pi  # the short way round
    return _EARTH_KM * (latitude[columns] - latitude[rows]), _EARTH_KM * np.cos(middle) * turn


def _compare(observed: float, random: Array) -> Permutation:
    smaller = 1 + int(np.count_nonzero(random <= observed))
    return Permutation(observed, float(random.mean()), smaller / (len(random) + 1))

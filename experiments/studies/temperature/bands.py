"""Are communities bands of latitude? Louvain's under many seeds, beside k-means on places alone.

Any grouping of neighbours explains latitude. What tells a band from a patch is how little longitude
it explains; k-means on the places, which knows no temperatures, is what to compare with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.drawing.graphs import communities
from experiments.learn.places import Places
from experiments.studies.temperature.directions import explained_by
from wdro_cvx.validation import Array

_SEEDS = 20


@dataclass(frozen=True)
class Spread:
    """The least, the median and the largest of some numbers."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Bands:
    """How many communities, and the shares of latitude and longitude that they explain.

    ``null_latitude`` and ``null_longitude`` are the shares that as many k-means clusters of the
    places explain.
    """

    count: Spread
    latitude: Spread
    longitude: Spread
    null_latitude: Spread
    null_longitude: Spread


def measure_bands(adjacency: Array, places: Places) -> Bands:
    """Measure communities of the vertices that have an edge, for many seeds of Louvain's method."""
    kept = adjacency.any(axis=1)
    latitude, longitude = places.latitude[kept], places.longitude[kept]
    found = [communities(adjacency, seed)[kept] for seed in range(_SEEDS)]
    counts = [len(np.unique(labels)) for labels in found]
    null = [cluster_places(latitude, longitude, k, seed) for seed, k in enumerate(counts)]
    return Bands(
        _spread(counts),
        *(
            _spread([explained_by(labels, values) for labels in groups])
            for groups in (found, null)
            for values in (latitude, longitude)
        ),
    )


def cluster_places(latitude: Array, longitude: Array, count: int, seed: int) -> Array:
    """Return k-means clusters of places, distances as on the ground."""
    from sklearn.cluster import KMeans  # slow to import, and only needed here

    shrink = float(np.cos(np.radians(latitude.mean())))
    points = np.column_stack([latitude, shrink * longitude])
    labels = KMeans(count, n_init=3, random_state=seed).fit(points).labels_
    return np.asarray(labels, dtype=float)


def _spread(values: list[float] | list[int]) -> Spread:
    return Spread(float(np.min(values)), float(np.median(values)), float(np.max(values)))

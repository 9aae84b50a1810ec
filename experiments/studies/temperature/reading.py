"""A learned graph with what the paper looks for in its maps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.learn.graph import LearnedGraph, LearnOptions, learn_graph
from experiments.learn.loading import SignalTable
from experiments.learn.places import Places
from experiments.studies.temperature.bands import Bands, measure_bands
from experiments.studies.temperature.directions import (
    Permutation,
    matched_by_length,
    shuffled_vertices,
)
from wdro_cvx.validation import Array


@dataclass(frozen=True, eq=False)
class Reading:
    """A learned graph and what the paper looks for in it."""

    title: str
    graph: LearnedGraph
    places: Places
    elevation: Array | None
    latitude: Permutation
    bearing: Permutation
    bands: Bands

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Which vertices have no edge."""
        return np.asarray(self.graph.adjacency.sum(axis=1) == 0.0)


def read_graph(
    title: str,
    table: SignalTable,
    places: Places,
    elevation: Array | None,
    options: LearnOptions,
    seed: int,
) -> Reading:
    """Learn a graph and measure it."""
    graph = learn_graph(table, options)
    rng = np.random.default_rng(seed)
    return Reading(
        title, graph, places, elevation,
        shuffled_vertices(graph.adjacency, places, rng),
        matched_by_length(graph.adjacency, places, rng),
        measure_bands(graph.adjacency, places),
    )  # fmt: skip

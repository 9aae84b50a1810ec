"""Learn graphs of weather stations, draw their maps and write the report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from experiments.drawing.style import save_figure
from experiments.learn.graph import LearnOptions
from experiments.measuring.digest import Source
from experiments.measuring.display import note
from experiments.measuring.files import write_atomically, write_table
from experiments.measuring.provenance import write_provenance
from experiments.studies.temperature.directions import measure_edges
from experiments.studies.temperature.drawing import draw_directions, draw_maps
from experiments.studies.temperature.reading import Reading, read_graph
from experiments.studies.temperature.report import describe
from experiments.studies.temperature.states import load_states
from experiments.studies.temperature.stations import Stations, load_stations
from experiments.studies.temperature.story import draw_story

#: The paper's scenarios, and their sets.
MODELS = {"Gaussian": "gaussian", "general": "moment"}
#: File → how its panels are called. The first is the paper's Figure 9.
MAPS = {"states": "48 states", "us": "US stations", "australia": "Australian stations"}
_READING = ("directions", "reading", "states", "stations")
SOURCE = Source(
    tuple(f"experiments.studies.temperature.{name}" for name in _READING),
    data=tuple(sorted((Path(__file__).parent / "data").glob("*.csv"))),
)
#: Small enough for a vertex that resembles no other to stay alone, as in the paper's maps.
ETA = 0.03


def run_temperature(output: Path, seed: int) -> list[Reading]:
    """Learn from every table with both models; write maps, table and report."""
    readings: list[Reading] = []
    maps = {name: load_map(name) for name in MAPS}  # all, so that a missing package is told at once
    jobs = [(name, model) for name in MAPS for model in MODELS]
    for place, (name, model) in enumerate(jobs, start=1):
        note(f"temperature: graph {place} of {len(jobs)}, {MAPS[name]}, {model}")
        stations = maps[name]
        readings.append(
            read_graph(
                f"{MAPS[name]}, {model}", stations.table, stations.places, stations.elevation,
                LearnOptions(MODELS[model], radius="cv", eta=ETA), seed,
            )
        )  # fmt: skip
    for place, name in enumerate(MAPS):
        first = place * len(MODELS)
        save_figure(draw_maps(readings[first : first + len(MODELS)]), output / name)
    save_figure(draw_directions(readings, rows=len(MODELS)), output / "directions")
    save_figure(draw_story(maps["states"].table, readings[0]), output / "story")
    write_table(output / "edges.csv", pd.concat([_edge_table(reading) for reading in readings]))
    write_atomically(output / "report.md", describe(readings, MAPS, ETA, seed))
    write_provenance(output, {"seed": seed, "eta": ETA}, SOURCE)
    return readings


def load_map(name: str) -> Stations:
    """Return temperatures and places of one map."""
    return load_states() if name == "states" else load_stations(name)


def _edge_table(reading: Reading) -> pd.DataFrame:
    edges = measure_edges(reading.graph.adjacency, reading.places)
    rows, columns = np.nonzero(np.triu(reading.graph.adjacency))
    names = np.array(reading.graph.names)
    return pd.DataFrame({
        "graph": reading.title, "source": names[rows], "target": names[columns],
        "weight": edges.weights, "km": edges.length, "bearing": edges.bearing,
        "latitude_difference": edges.latitude_difference,
    })  # fmt: skip

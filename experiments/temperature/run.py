"""Learn graphs of weather stations, draw their maps and write the report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from experiments.drawing.style import save_figure
from experiments.learn.graph import LearnOptions
from experiments.running.display import note
from experiments.running.files import write_atomically, write_table
from experiments.running.provenance import write_provenance
from experiments.temperature.directions import measure_edges
from experiments.temperature.drawing import draw_directions, draw_maps
from experiments.temperature.reading import Reading, read_graph
from experiments.temperature.report import describe
from experiments.temperature.stations import COUNTRIES, load_stations

#: The paper's scenarios, and their sets.
MODELS = {"gaussian": "gaussian", "general": "moment"}
#: Small enough for a vertex that resembles no other to stay alone, as in the paper's maps.
ETA = 0.03


def run_temperature(output: Path, seed: int) -> list[Reading]:
    """Learn from both countries with both models; write maps, table and report."""
    readings: list[Reading] = []
    jobs = [(country, model) for country in COUNTRIES for model in MODELS]
    for place, (country, model) in enumerate(jobs, start=1):
        note(f"temperature: graph {place} of {len(jobs)}, {country}, {model}")
        stations = load_stations(country)
        title = f"{country.upper() if country == 'us' else country.title()}, {model}"
        readings.append(
            read_graph(
                title, stations.table, stations.places, stations.elevation,
                LearnOptions(MODELS[model], radius="cv", eta=ETA), seed,
            )
        )  # fmt: skip
    for place, country in enumerate(COUNTRIES):
        first = place * len(MODELS)
        save_figure(draw_maps(readings[first : first + len(MODELS)]), output / country)
    save_figure(draw_directions(readings), output / "directions")
    write_table(output / "edges.csv", pd.concat([_edge_table(reading) for reading in readings]))
    write_atomically(output / "report.md", describe(readings, COUNTRIES, ETA, seed))
    write_provenance(output, {"seed": seed, "eta": ETA})
    return readings


def _edge_table(reading: Reading) -> pd.DataFrame:
    edges = measure_edges(reading.graph.adjacency, reading.places)
    rows, columns = np.nonzero(np.triu(reading.graph.adjacency))
    names = np.array(reading.graph.names)
    return pd.DataFrame({
        "graph": reading.title, "source": names[rows], "target": names[columns],
        "weight": edges.weights, "km": edges.length, "bearing": edges.bearing,
        "latitude_difference": edges.latitude_difference,
    })  # fmt: skip

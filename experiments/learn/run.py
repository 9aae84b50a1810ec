"""From a table on disk to a folder with the learned graph."""

from __future__ import annotations

from pathlib import Path

from experiments.drawing.outlines import nearby_outlines
from experiments.learn.graph import LearnedGraph, LearnOptions, learn_graph
from experiments.learn.loading import Layout, load_signals
from experiments.learn.output import check_output, write_graph
from experiments.learn.page import learned_page
from experiments.learn.picture import draw_graph
from experiments.learn.places import load_places
from experiments.measuring.text import escape_markdown


def run_learn(
    path: Path,
    options: LearnOptions,
    output: Path,
    coordinates: Path | None = None,
    layout: Layout | None = None,
    force: bool = False,
) -> tuple[LearnedGraph, str]:
    """Learn a graph from a table and write it; return it with its summary."""
    inputs = [path] if coordinates is None else [path, coordinates]
    check_output(output, inputs, force)
    layout = layout or Layout()
    table = load_signals(path, layout)
    places = None
    if coordinates is not None:
        places = load_places(coordinates, table.names, layout.decimal)
    graph = learn_graph(table, options)
    on_globe = places is not None and places.degrees
    outlines = nearby_outlines(*places.arrays) if places is not None and on_globe else []
    notes = [f"Learned from {escape_markdown(path.name)}."]
    if table.ignored:
        ignored = ", ".join(escape_markdown(name) for name in table.ignored)
        notes.append(f"Columns that are no vertices: {ignored}.")
    if table.note:
        notes.append(f"{table.note[0].upper()}{table.note[1:]}.")
    notes.extend(escape_markdown(hint) for hint in table.hints)
    notes.extend(graph.notes)
    page = learned_page(graph, path.name, places, outlines)
    return graph, write_graph(output, graph, draw_graph(graph, places, outlines), page, notes)

"""Learn a graph from a table on disk and write a folder with the result.

The folder has edges, Laplacian, GraphML, picture, page, summary and proof.
"""

from __future__ import annotations

import contextlib
import io
import logging
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from scipy import sparse

from experiments.drawing.graphs import nearby_outlines
from experiments.drawing.style import render
from experiments.learn.graph import LearnOptions, held_out_score, learn_graph
from experiments.learn.loading import Layout, load_signals
from experiments.learn.outputs import FILES, check_output
from experiments.learn.picture import draw_picture
from experiments.learn.places import load_places
from experiments.learn.summary import Summary, preparation, summarise
from experiments.measuring.display import note
from experiments.measuring.files import table_bytes, write_together
from experiments.measuring.provenance import provenance
from experiments.measuring.text import counted
from solvers.learned.communities import communities
from solvers.learned.drawing import spread_out
from solvers.learned.graph import LearnedGraph
from solvers.learned.html import graph_html
from wdro_cvx import WdroError
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.proof import proof_document, proof_text
from wdro_cvx.validation import Array

_MOST_PRODUCTS = 3e7  # products of integers: about ten seconds


def run_learn(
    path: Path,
    options: LearnOptions,
    output: Path,
    coordinates: Path | None = None,
    layout: Layout | None = None,
    force: bool = False,
    pdf: bool = False,
) -> tuple[LearnedGraph, Summary]:
    """Learn a graph from a table and write it; every stage is announced on standard error.

    Parameters
    ----------
    path : Path
        The table.
    options : LearnOptions
    output : Path
        The folder to write to.
    coordinates : Path, optional
        A table with the places of the vertices.
    layout : Layout, optional
        How to read the tables.
    force : bool
        Whether to replace earlier results.
    pdf : bool
        Whether to write the picture as PDF too, which takes a second or more.

    Returns
    -------
    graph : LearnedGraph
    summary : Summary

    Raises
    ------
    WdroError
        If a table cannot be read, the options do not fit it, or the folder cannot be written.
    """
    layout = layout or Layout()
    check_output(output, [path] if coordinates is None else [path, coordinates], force)
    table = load_signals(path, layout)
    places, outlines = None, []
    if coordinates is not None:
        places = load_places(coordinates, table.names, layout.decimal)
        outlines = nearby_outlines(*places.arrays) if places.degrees else []
    observations = counted(len(table.signals), "observation")
    note(f"{observations} of {counted(len(table.names), 'vertex', 'vertices')}")
    with _announced_stages():
        graph = learn_graph(table, options)
    note("scoring held-out rows")
    graph = replace(graph, held_out=held_out_score(table, options, graph))
    note("drawing")
    labels = communities(graph.selected)
    points = spread_out(graph.selected) if places is None else places.points
    title = f"{options.ambiguity}, radius {graph.radius:.3g}, eta {graph.eta:.3g}"
    picture = draw_picture(graph, labels, title, points, places, outlines)
    note("solving for other radii and etas, for graph.html")
    said = [text for text in table.notes if text not in graph.notes]
    notes = [*filter(None, [table.left_out]), *said]
    page = graph_html(
        graph, path.name, points, labels=labels, on_map=places is not None and places.degrees,
        outlines=outlines, columns={} if places is None else places.columns,
        facts=_facts(graph, options), notes=notes, made=provenance(),
    )  # fmt: skip
    proof, remarks = _proof(graph)
    summary = summarise(graph, labels, options, path.name, [*notes, *remarks])
    if proof:
        command = f"wdro verify {shlex.quote(str(output / 'proof.json'))}"
        summary = replace(summary, check=command)
    pictures = render(picture, ("png", "pdf") if pdf else ("png",))
    shown = {f"graph.{suffix}": raw for suffix, raw in pictures.items()}
    shown |= {"graph.html": page.encode(), "summary.md": summary.markdown().encode()}
    _write(output, graph, labels, shown | proof)
    return graph, summary


def _facts(graph: LearnedGraph, options: LearnOptions) -> dict[str, str]:
    """Return the options that were given and the values that were used."""
    asked = {
        name: str(value)
        for name, value in vars(options).items()
        if value not in (None, (), 0, False)  # skip options that were not given
    }
    return asked | {
        "set": f"{type(graph.problem.ambiguity).__name__} of radius {graph.radius:.6g}",
        "vertices": str(graph.problem.d),
        "observations": str(graph.samples),
        "signals": preparation(graph, options),
    }


def _write(folder: Path, graph: LearnedGraph, labels: Array, shown: Mapping[str, bytes]) -> None:
    """Write the graph in three formats, and the files that show it."""
    network = nx.Graph()
    for name, label in zip(graph.names or (), labels, strict=True):
        network.add_node(name, community=int(label) + 1)  # numbered as on the page
    network.add_edges_from(nx.from_pandas_edgelist(graph.edges, edge_attr=True).edges(data=True))
    arrays = io.BytesIO()
    saved: dict[str, Any] = {"names": np.array(graph.names), **_laplacian_arrays(graph)}
    np.savez(arrays, **saved)
    contents = {
        "edges.csv": table_bytes(graph.edges),
        "laplacian.npz": arrays.getvalue(),
        "graph.graphml": ("\n".join(nx.generate_graphml(network)) + "\n").encode(),
        **shown,
    }
    for name in set(FILES) - set(contents):
        (folder / name).unlink(missing_ok=True)  # an old proof or picture is of another graph
    write_together(folder, contents)  # everything is computed before anything is written


def _proof(graph: LearnedGraph) -> tuple[dict[str, bytes], list[str]]:
    """Return the proof file; if there is none, return a remark for the summary that says why."""
    d = graph.problem.d
    products = (graph.samples + d) * d**2
    if products > _MOST_PRODUCTS:
        return {}, [
            "No proof.json: for a table of this size it takes minutes. Solution.save_proof makes "
            "it in Python."
        ]
    note("making a proof in exact arithmetic")
    try:
        document = proof_document(graph.problem, graph.solution, graph.threshold or EDGE_THRESHOLD)
    except WdroError as reason:
        return {}, [f"No proof.json: {reason}"]
    text = proof_text(document).encode()
    return {"proof.json": text}, []


def _laplacian_arrays(graph: LearnedGraph) -> dict[str, Any]:
    """Return the arrays to save: the dense Laplacian, or the edges of a sparse one."""
    if not sparse.issparse(graph.laplacian):
        return {"laplacian": np.asarray(graph.laplacian)}
    edges = graph.solution.edges
    return {"heads": edges.heads, "tails": edges.tails, "weights": edges.weights}


@contextlib.contextmanager
def _announced_stages() -> Iterator[None]:
    """Show the stages of a fit, which the estimator logs."""
    log, handler = logging.getLogger("solvers.estimator"), logging.Handler()
    handler.emit = lambda record: note(record.getMessage())  # type: ignore[method-assign]
    level = log.level
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)

"""Learn a graph from a table on disk and write a folder with the result.

The folder has edges, Laplacian, GraphML, picture, page, summary and proof.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import sparse

from experiments.drawing.communities import communities
from experiments.drawing.outlines import nearby_outlines
from experiments.drawing.style import render
from experiments.learn.graph import LearnOptions, learn_graph
from experiments.learn.loading import Layout, load_signals
from experiments.learn.page import learned_page
from experiments.learn.picture import draw_picture
from experiments.learn.places import load_places
from experiments.measuring.files import check_writable, table_bytes, write_together
from experiments.measuring.text import escape_markdown, markdown_table
from solvers.learned.drawing import spread_out
from solvers.learned.graph import LearnedGraph
from wdro_cvx import DataError, WdroError
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.proof import proof_document, proof_text
from wdro_cvx.validation import Array

FILES = ("edges.csv", "laplacian.npz", "graph.graphml", "graph.png", "graph.pdf", "graph.html",
         "summary.md", "proof.json")  # fmt: skip
_RULES = {
    "auto": " (from the data, at most 0.05 signal lengths)",
    "bootstrap": " (chosen by bootstrap)",
    "prediction": " (chosen by prediction)",
}
_MOST_NAMES = 200  # names of a community that a summary lists
_LONG, _MOST_PRODUCTS = 4e6, 3e7  # products of integers: about two and ten seconds


def run_learn(
    path: Path,
    options: LearnOptions,
    output: Path,
    coordinates: Path | None = None,
    layout: Layout | None = None,
    force: bool = False,
) -> tuple[LearnedGraph, str]:
    """Learn a graph from a table and write it.

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

    Returns
    -------
    graph : LearnedGraph
    summary : str
        Markdown.

    Raises
    ------
    WdroError
        If a table cannot be read, the options do not fit it, or the folder cannot be written.
    """
    layout = layout or Layout()
    _check_output(output, [path] if coordinates is None else [path, coordinates], force)
    table = load_signals(path, layout)
    places, outlines = None, []
    if coordinates is not None:
        places = load_places(coordinates, table.names, layout.decimal)
        outlines = nearby_outlines(*places.arrays) if places.degrees else []
    graph = learn_graph(table, options)
    labels = communities(graph.selected)
    points = spread_out(graph.selected) if places is None else places.points
    title = f"{options.ambiguity}, radius {graph.radius:.3g}, eta {graph.eta:.3g}"
    picture = draw_picture(graph, labels, title, points, places, outlines)
    page = learned_page(graph, labels, options, path.name, points, places, outlines)
    proof, remark = _proof(graph)
    notes = [f"Learned from {escape_markdown(path.name)}."]
    if table.ignored:
        ignored = ", ".join(escape_markdown(name) for name in table.ignored)
        notes.append(f"Columns that are no vertices: {ignored}.")
    notes += [escape_markdown(note) for note in table.notes]
    summary = _summary(graph, labels, options, [*notes, remark])
    _write(output, graph, labels, picture, page, proof, summary)
    return graph, summary


def _check_output(folder: Path, inputs: list[Path], force: bool) -> None:
    """Refuse a folder that holds an input or, unless forced, results."""
    targets = [folder / name for name in FILES]
    for path in inputs:
        if path.resolve() in [target.resolve() for target in targets]:
            raise DataError(f"The output would overwrite the input {path}; use another --output.")
    check_writable(folder)
    found = [target.name for target in targets if target.exists()]
    if found and not force:
        raise DataError(
            f"{folder} already holds {', '.join(found)}. Use --force to replace them, or another "
            "--output."
        )


def _write(
    folder: Path,
    graph: LearnedGraph,
    labels: Array,
    picture: Figure,
    page: str,
    proof: bytes | None,
    summary: str,
) -> None:
    """Write all files of the result."""
    network = nx.Graph()
    for name, label in zip(graph.names or (), labels, strict=True):
        network.add_node(name, community=int(label))
    network.add_edges_from(nx.from_pandas_edgelist(graph.edges, edge_attr=True).edges(data=True))
    arrays = io.BytesIO()
    saved: dict[str, Any] = {"names": np.array(graph.names), **_laplacian_arrays(graph)}
    np.savez(arrays, **saved)
    contents = {
        "edges.csv": table_bytes(graph.edges),
        "laplacian.npz": arrays.getvalue(),
        "graph.graphml": ("\n".join(nx.generate_graphml(network)) + "\n").encode(),
        **{f"graph.{suffix}": raw for suffix, raw in render(picture).items()},
        "graph.html": page.encode(),
        "summary.md": summary.encode(),
    }
    if proof is None:
        (folder / "proof.json").unlink(missing_ok=True)  # an old proof is of another graph
    else:
        contents["proof.json"] = proof
    write_together(folder, contents)  # everything is computed before anything is written


def _proof(graph: LearnedGraph) -> tuple[bytes | None, str]:
    """Return the proof file, or None, with a sentence for the summary."""
    d = graph.problem.d
    products = (graph.samples + d) * d**2
    if products > _MOST_PRODUCTS:
        return None, "No proof.json: a table of this size takes minutes in exact arithmetic."
    if products > _LONG:
        print("learn: making a proof in exact arithmetic takes some seconds", file=sys.stderr)
    try:
        document = proof_document(graph.problem, graph.solution, graph.threshold or EDGE_THRESHOLD)
    except WdroError as reason:
        return None, f"No proof.json: {reason}"
    return proof_text(document).encode(), "Check proof.json with `wdro verify proof.json`."


def _laplacian_arrays(graph: LearnedGraph) -> dict[str, Any]:
    """Return the arrays to save: the dense Laplacian, or the edges of a sparse one."""
    if not sparse.issparse(graph.laplacian):
        return {"laplacian": np.asarray(graph.laplacian)}
    edges = graph.solution.edges
    return {"heads": edges.heads, "tails": edges.tails, "weights": edges.weights}


def _chosen(options: LearnOptions) -> tuple[str, str]:
    """Return how radius and eta were chosen, empty for given numbers."""
    radius = _RULES.get(str(options.radius), "")
    if options.neighbours is not None:
        return radius, f" (chosen for about {options.neighbours:g} neighbours)"
    return radius, " (chosen by prediction)" if options.eta == "auto" else ""


def _optimum(graph: LearnedGraph) -> str:
    """Return how many edges of the optimal graph the certificate decides, as text."""
    if graph.threshold == 0.0:
        return "not decided without a threshold"
    counts = graph.verdict.edges.counts(graph.threshold)
    return (
        f"{counts['present']} edges provably in it, {counts['absent']} provably not, "
        f"{counts['undecided']} undecided; this is about the solve, not about the truth of an edge"
    )


def _selected(graph: LearnedGraph, options: LearnOptions) -> str:
    """Return how many edges are selected and how, as text."""
    count, selection = len(graph.edges), graph.selection
    if selection is None:
        return f"{count}, all of weight ≥ {graph.threshold:g}"
    if options.fdr is not None:
        return f"{count}, at a false-discovery rate of {options.fdr:g}"
    if not selection.found:
        return f"{count}, since the table shows no structure"
    return f"{count}, estimated by the cut of the ranking (structure {selection.structure:.1f} sd)"


def _listed(names: Sequence[str] | NDArray[np.str_]) -> str:
    """Return names separated by commas; a long list is cut off."""
    shown = ", ".join(escape_markdown(str(name)) for name in names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown}, … ({len(names)} in all)"


def _summary(
    graph: LearnedGraph, labels: Array, options: LearnOptions, notes: Sequence[str]
) -> str:
    """Return a Markdown summary of the graph."""
    names = np.array(graph.names)
    alone = np.isin(names, graph.isolated)
    radius, eta = _chosen(options)
    rows: list[list[object]] = [
        ["vertices d", graph.problem.d],
        ["observations N", graph.samples],
        ["ambiguity", " ".join([options.ambiguity, *(f"{k}={v}" for k, v in options.parameters)])],
        ["signals", f"{options.signals}, divided by {graph.unit:.4g}"],
        ["radius", f"{graph.radius:.4g}{radius}"],
        ["prior", options.prior],
        ["eta", f"{graph.eta:.4g}{eta}"],
        ["worst-case value", f"{graph.solution.value:.6g}"],
        ["certified gap", f"{graph.gap:.1e}" + ("" if graph.solved else " — not solved to 1e-6")],
        ["selected edges", _selected(graph, options)],
        ["the optimal graph", _optimum(graph)],
        ["isolated vertices", _listed(names[alone]) or "none"],
        ["communities", len(np.unique(labels[~alone]))],
    ]
    members = [[int(label), _listed(names[labels == label])] for label in np.unique(labels)]
    warned = [f"**{escape_markdown(note)}**" for note in graph.notes]
    parts = ["# Learned graph", *warned, markdown_table(["", ""], rows), *notes]
    parts += ["## Communities", markdown_table(["", "vertices"], members)]
    return "\n\n".join(parts) + "\n"

"""Write a learned graph: edges, Laplacian, GraphML, picture and summary."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import sparse

from experiments.drawing.style import render
from experiments.learn.graph import LearnedGraph
from experiments.measuring.display import note
from experiments.measuring.files import check_writable, table_bytes, write_together
from experiments.measuring.text import escape_markdown, markdown_table
from wdro_cvx import DataError, WdroError
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.proof import proof_document, proof_text

FILES = ("edges.csv", "laplacian.npz", "graph.graphml", "graph.png", "graph.pdf", "graph.html",
         "summary.md", "proof.json")  # fmt: skip
_MOST_NAMES = 200  # of a community that a summary lists
_LONG, _MOST_PRODUCTS = 4e6, 3e7  # of integers in a proof: two seconds, some ten seconds


def check_output(folder: Path, inputs: list[Path], force: bool) -> None:
    """Refuse a folder that holds results, unless forced, or any of the inputs, always."""
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


def write_graph(
    folder: Path, graph: LearnedGraph, picture: Figure, page: str, notes: list[str]
) -> str:
    """Write all files; return the summary."""
    network = graph.to_networkx()
    arrays = io.BytesIO()
    saved: dict[str, Any] = {"names": np.array(graph.names), **_laplacian_arrays(graph)}
    np.savez(arrays, **saved)
    proof, remark = _proof(graph)
    summary = summarise(graph, [*notes, remark])
    contents = {
        "edges.csv": table_bytes(graph.edges),
        "laplacian.npz": arrays.getvalue(),
        "graph.graphml": ("\n".join(nx.generate_graphml(network)) + "\n").encode(),
        **{f"graph.{suffix}": raw for suffix, raw in render(picture).items()},
        "graph.html": page.encode(),
        "summary.md": summary.encode(),
    }
    if proof is None:
        (folder / "proof.json").unlink(missing_ok=True)  # which is that of another graph
    else:
        contents["proof.json"] = proof
    write_together(folder, contents)  # all of it is made before any of it is written
    return summary


def _proof(graph: LearnedGraph) -> tuple[bytes | None, str]:
    """Return the proof file, or None, with a sentence for the summary."""
    d = len(graph.names)
    products = (graph.samples + d) * d**2
    if products > _MOST_PRODUCTS:
        return None, "No proof.json: a table of this size takes minutes in exact arithmetic."
    if products > _LONG:
        note("learn: making a proof in exact arithmetic, which takes some seconds")
    threshold = graph.options.threshold or EDGE_THRESHOLD
    try:
        document = proof_document(graph.problem, graph.solution, threshold)
    except WdroError as reason:
        return None, f"No proof.json: {reason}"
    return proof_text(document).encode(), "Check proof.json with `wdro verify proof.json`."


def _laplacian_arrays(graph: LearnedGraph) -> dict[str, Any]:
    """Return the Laplacian as arrays to save: whole, or of many vertices its edges."""
    if not sparse.issparse(graph.laplacian):
        return {"laplacian": np.asarray(graph.laplacian)}
    edges = graph.solution.edges
    return {"heads": edges.heads, "tails": edges.tails, "weights": edges.weights}


def _how_eta(graph: LearnedGraph) -> str:
    """Say how eta was chosen where it was."""
    if graph.options.neighbours is not None:
        return f" (chosen for about {graph.options.neighbours:g} neighbours)"
    return " (chosen by prediction)" if graph.options.eta == "auto" else ""


def _certain(graph: LearnedGraph) -> str:
    """Say how many edges of the exact optimum are decided by the certificate."""
    if graph.options.threshold == 0.0:
        return "not decided without a threshold"
    counts = graph.verdict.edges.counts(graph.options.threshold)
    return (
        f"{counts['present']} edges certainly, {counts['absent']} certainly not, "
        f"{counts['undecided']} undecided"
    )


def _listed(names: Sequence[str] | NDArray[np.str_]) -> str:
    """Return names with commas, the first ones of very many."""
    shown = ", ".join(escape_markdown(str(name)) for name in names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown}, … ({len(names)} in all)"


def summarise(graph: LearnedGraph, notes: list[str]) -> str:
    """Return what was learned, as Markdown."""
    options, solution = graph.options, graph.solution
    network = graph.to_networkx()
    rule = f" (chosen by {graph.rule})" if isinstance(graph.rule, str) else ""
    labels, alone = graph.communities, set(graph.isolated)
    rows: list[list[object]] = [
        ["vertices d", len(graph.names)],
        ["observations N", graph.samples],
        ["ambiguity", " ".join([options.ambiguity, *(f"{k}={v}" for k, v in options.parameters)])],
        ["signals", f"{options.signals}, divided by {graph.unit:.4g}"],
        ["radius", f"{graph.radius:.4g}{rule}"],
        ["prior", options.prior],
        ["eta", f"{graph.eta:.4g}{_how_eta(graph)}"],
        ["worst-case value", f"{solution.value:.6g}"],
        ["certified gap", f"{graph.gap:.1e}" + ("" if graph.solved else " — not solved to 1e-6")],
        ["edges", f"{network.number_of_edges()} of weight ≥ {options.threshold:g}"],
        ["in the optimal graph", _certain(graph)],
        ["isolated vertices", _listed(graph.isolated) or "none"],
        [
            "communities",
            len({labels[i] for i, name in enumerate(graph.names) if name not in alone}),
        ],
    ]
    parts = ["# Learned graph", markdown_table(["", ""], rows), *notes]
    names = np.array(graph.names)
    members = [[int(label), _listed(names[labels == label])] for label in np.unique(labels)]
    parts += ["## Communities", markdown_table(["", "vertices"], members)]
    return "\n\n".join(parts) + "\n"

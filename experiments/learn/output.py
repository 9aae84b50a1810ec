"""Write a learned graph: edges, Laplacian, GraphML, picture and summary."""

from __future__ import annotations

import io
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.drawing.style import render
from experiments.learn.graph import LearnedGraph
from experiments.running.files import check_writable, table_bytes, write_together
from experiments.running.text import escape_markdown, markdown_table
from wdro_cvx import DataError

FILES = ("edges.csv", "laplacian.npz", "graph.graphml", "graph.png", "graph.pdf", "summary.md")


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


def write_graph(folder: Path, graph: LearnedGraph, picture: Figure, notes: list[str]) -> str:
    """Write all files; return the summary."""
    network = graph.to_networkx()
    edges = sorted(network.edges(data="weight"), key=lambda edge: -edge[2])
    table = pd.DataFrame(edges, columns=["source", "target", "weight"])
    arrays = io.BytesIO()
    np.savez(arrays, laplacian=graph.laplacian, names=np.array(graph.names))
    summary = summarise(graph, notes)
    contents = {
        "edges.csv": table_bytes(table),
        "laplacian.npz": arrays.getvalue(),
        "graph.graphml": ("\n".join(nx.generate_graphml(network)) + "\n").encode(),
        **{f"graph.{suffix}": raw for suffix, raw in render(picture).items()},
        "summary.md": summary.encode(),
    }
    write_together(folder, contents)  # all of it is made before any of it is written
    return summary


def _certain(graph: LearnedGraph) -> str:
    """Say how many edges of the exact optimum are decided by the certificate."""
    if graph.options.threshold == 0.0:
        return "not decided without a threshold"
    counts = graph.verdict.edges.counts(graph.options.threshold)
    return (
        f"{counts['present']} edges certainly, {counts['absent']} certainly not, "
        f"{counts['undecided']} undecided"
    )


def summarise(graph: LearnedGraph, notes: list[str]) -> str:
    """Return what was learned, as Markdown."""
    options, solution = graph.options, graph.solution
    network = graph.to_networkx()
    rule = f" (chosen by {options.radius})" if isinstance(options.radius, str) else ""
    labels = graph.communities
    rows: list[list[object]] = [
        ["vertices d", len(graph.names)],
        ["observations N", graph.samples],
        ["model", options.model],
        ["signals", f"{options.signals}, divided by {graph.unit:.4g}"],
        ["radius", f"{graph.radius:.4g}{rule if options.model != 'saa' else ''}"],
        ["eta", f"{options.eta:g}"],
        ["worst-case value", f"{solution.value:.6g}"],
        ["certified gap", f"{graph.gap:.1e}" + ("" if graph.solved else " — not solved to 1e-6")],
        ["edges", f"{network.number_of_edges()} of weight ≥ {options.threshold:g}"],
        ["in the optimal graph", _certain(graph)],
        ["isolated vertices", ", ".join(map(escape_markdown, graph.isolated)) or "none"],
        ["communities", len(np.unique(labels[graph.adjacency.any(axis=1)]))],
    ]
    parts = ["# Learned graph", markdown_table(["", ""], rows), *notes]
    names = np.array([escape_markdown(name) for name in graph.names])
    members = [[int(label), ", ".join(names[labels == label])] for label in np.unique(labels)]
    parts += ["## Communities", markdown_table(["", "vertices"], members)]
    return "\n\n".join(parts) + "\n"

"""Write a learned graph: edges, Laplacian, GraphML, picture and summary."""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.learn.graph import LearnedGraph
from experiments.report import markdown_table
from experiments.store import write_atomically, write_table
from wdro_cvx import DataError

FILES = ("edges.csv", "laplacian.npz", "graph.graphml", "graph.png", "graph.pdf", "summary.md")


def check_output(folder: Path, inputs: list[Path], force: bool) -> None:
    """Refuse a folder that holds results, unless forced, or any of the inputs, always."""
    targets = [folder / name for name in FILES]
    for path in inputs:
        if path.resolve() in [target.resolve() for target in targets]:
            raise DataError(f"The output would overwrite the input {path}; use another --output.")
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder} is a file; --output names a folder.")
    found = [target.name for target in targets if target.exists()]
    if found and not force:
        raise DataError(
            f"{folder} already holds {', '.join(found)}. Use --force to replace them, or another "
            "--output."
        )


def write_graph(folder: Path, graph: LearnedGraph, picture: Figure, notes: list[str]) -> str:
    """Write all files; return the summary."""
    folder.mkdir(parents=True, exist_ok=True)
    network = graph.to_networkx()
    edges = sorted(network.edges(data="weight"), key=lambda edge: -edge[2])
    write_table(folder / "edges.csv", pd.DataFrame(edges, columns=["source", "target", "weight"]))
    part = folder / "laplacian.npz.part"
    with part.open("wb") as file:
        np.savez(file, laplacian=graph.laplacian, names=np.array(graph.names))
    os.replace(part, folder / "laplacian.npz")
    write_atomically(folder / "graph.graphml", "\n".join(nx.generate_graphml(network)) + "\n")
    for suffix in ("png", "pdf"):
        picture.savefig(folder / f"graph.{suffix}", dpi=200)
    plt.close(picture)
    summary = summarise(graph, notes)
    write_atomically(folder / "summary.md", summary)
    return summary


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
        ["isolated vertices", ", ".join(graph.isolated) or "none"],
        ["communities", len(np.unique(labels[graph.adjacency.any(axis=1)]))],
    ]
    parts = ["# Learned graph", markdown_table(["", ""], rows), *notes]
    names = np.array(graph.names)
    members = [[int(label), ", ".join(names[labels == label])] for label in np.unique(labels)]
    parts += ["## Communities", markdown_table(["", "vertices"], members)]
    return "\n\n".join(parts) + "\n"

"""``graph.html`` of a learned graph: what experiments/page needs to know of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from experiments.learn.graph import LearnedGraph
from experiments.learn.places import Places
from experiments.page.graph import GraphPage, graph_page
from experiments.page.layout import layout
from experiments.page.path import compute_path
from wdro_cvx.validation import Array


def learned_page(
    graph: LearnedGraph,
    title: str,
    places: Places | None,
    outlines: Sequence[Array],
) -> str:
    """Return the page, with the graphs for other radii and etas."""
    path = compute_path(graph.problem, graph.solution, graph.verdict)
    if places is None:
        points = layout(graph.solution.edges)
    else:
        points = np.column_stack([places.longitude, places.latitude])
    nominal = graph.problem.nominal
    columns = {"mean of the signal": nominal.mean}
    if nominal.samples is not None:
        columns["deviation"] = nominal.samples.std(axis=0)
    if places is not None:
        columns |= places.columns
    page = GraphPage(
        title, graph.names, points, places is not None and places.degrees, graph.communities, path,
        graph.options.threshold, nominal.samples, outlines,
        columns,
        _facts(graph),
        [f"Radius and eta are relative to the signals, which were divided by {graph.unit:.4g}."],
    )  # fmt: skip
    return graph_page(page)


def _facts(graph: LearnedGraph) -> dict[str, str]:
    """Return what was asked for and what was used."""
    values = {field.name: getattr(graph.options, field.name) for field in fields(graph.options)}
    asked = {
        name.replace("_", " "): str(value)
        for name, value in values.items()
        if value not in (None, (), 0, False)  # what was not asked for is not worth a line
    }
    return asked | {
        "set": f"{type(graph.problem.ambiguity).__name__} of radius {graph.radius:.6g}",
        "vertices": str(len(graph.names)),
        "observations": str(graph.samples),
    }

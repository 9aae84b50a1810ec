"""Make ``graph.html`` of ``wdro learn``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from experiments.learn.graph import LearnOptions
from experiments.learn.places import Places
from experiments.measuring.provenance import provenance
from solvers.learned.graph import LearnedGraph
from solvers.learned.html import graph_html
from wdro_cvx.validation import Array


def learned_page(
    graph: LearnedGraph,
    labels: Array,
    options: LearnOptions,
    title: str,
    points: Array,
    places: Places | None,
    outlines: Sequence[Array],
    notes: Sequence[str],
) -> str:
    """Return the page of a graph, with the graphs for other radii and etas.

    Parameters
    ----------
    graph : LearnedGraph
    labels : array (d,)
        The community of every vertex.
    options : LearnOptions
    title : str
    points : array (d, 2)
        The positions of the vertices.
    places : Places or None
    outlines : sequence of arrays (k, 2)
    notes : sequence of str
        Remarks on how the table was read.
    """
    return graph_html(
        graph,
        title,
        points,
        labels=labels,
        on_map=places is not None and places.degrees,
        outlines=outlines,
        columns={} if places is None else places.columns,
        facts=_facts(graph, options),
        notes=notes,
        made=provenance(),
    )


def _facts(graph: LearnedGraph, options: LearnOptions) -> dict[str, str]:
    """Return the options that were given and the values that were used."""
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    asked = {
        name: str(value)
        for name, value in values.items()
        if value not in (None, (), 0, False)  # skip options that were not given
    }
    return asked | {
        "set": f"{type(graph.problem.ambiguity).__name__} of radius {graph.radius:.6g}",
        "vertices": str(graph.problem.d),
        "observations": str(graph.samples),
    }

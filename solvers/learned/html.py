"""Show a learned graph as one HTML file that needs no network and checks the certificate again."""

from __future__ import annotations

import html
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from solvers.learned.communities import communities
from solvers.learned.drawing import spread_out
from solvers.learned.edge_table import edge_arrays
from solvers.learned.evidence import edge_evidence
from solvers.learned.grid import chosen_alone, compute_path
from solvers.learned.page.content import GraphPage
from solvers.learned.page.data import graph_data
from solvers.learned.page.document import document
from wdro_cvx.validation import Array

if TYPE_CHECKING:
    from solvers.learned.graph import LearnedGraph

_INLINE_UP_TO = 300  # vertices; larger pages would swell a notebook


def graph_html(
    graph: LearnedGraph,
    title: str,
    places: Array | None = None,
    *,
    labels: Array | None = None,
    on_map: bool = False,
    outlines: Sequence[Array] = (),
    columns: Mapping[str, Array] | None = None,
    facts: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    made: Mapping[str, str] | None = None,
    grid: bool = True,
) -> str:
    """Return the page of a graph.

    Parameters
    ----------
    graph : LearnedGraph
    title : str
    places : array (d, 2), optional
        The positions of the vertices; by default a layout.
    labels : array (d,), optional
        The community of every vertex; by default they are computed.
    on_map : bool
        Whether ``places`` are longitudes and latitudes.
    outlines : sequence of arrays (k, 2)
        Coasts and borders.
    columns : mapping of str to array (d,), optional
        Further numbers by which to colour the vertices.
    facts, made : mappings of str to str, optional
        How the graph was learned, and with which versions.
    notes : sequence of str
    grid : bool
        Whether to solve for other radii and etas too, for up to twenty seconds.
    """
    nominal, selected = graph.problem.nominal, graph.selected
    own = {"mean of the signal": nominal.mean}
    if nominal.samples is not None:
        own["deviation"] = nominal.samples.std(axis=0)
    answer = graph.problem, graph.solution, graph.verdict
    names = range(graph.problem.d) if graph.names is None else graph.names
    page = GraphPage(
        title,
        [str(name) for name in names],
        spread_out(selected) if places is None else places,
        on_map,
        communities(selected) if labels is None else labels,
        compute_path(*answer) if grid else chosen_alone(*answer),
        graph.threshold,
        nominal.samples,
        graph.unit,
        outlines,
        own | dict(columns or {}),
        None if graph.selection is None else graph.support,
        _edge_columns(graph),
        edge_evidence(graph),
        graph.notes,
        facts or _facts(graph),
        notes,
        made or _versions(),
    )
    return document(title, graph_data(page))


def inline_html(graph: LearnedGraph) -> str:
    """Return a frame with the page of a graph, for a notebook; a sentence if it is large."""
    d = graph.problem.d
    if d > _INLINE_UP_TO:
        return f"<p>A graph of {d} vertices and {len(graph.edges)} edges; see save_html.</p>"
    page = html.escape(graph_html(graph, "Learned graph", grid=False))
    return (
        '<iframe title="Learned graph" sandbox="allow-scripts allow-downloads" width="100%" '
        f'height="760" style="border:0" srcdoc="{page}"></iframe>'
    )


def _edge_columns(graph: LearnedGraph) -> dict[str, NDArray[Any]]:
    """Return the ends of the selected edges and what the data say about them."""
    heads, tails, weights = edge_arrays(graph.selected)
    order = np.argsort(-weights, kind="stable")  # as in the table of edges
    names = {"z_score": "z-score", "q_value": "q-value", "stability": "stability"}
    table = graph.edges
    found = {label: table[name].to_numpy() for name, label in names.items() if name in table}
    return {"heads": heads[order], "tails": tails[order], **found} if found else {}


def _facts(graph: LearnedGraph) -> dict[str, str]:
    kind = type(graph.problem.ambiguity).__name__
    return {
        "set": f"{kind} of radius {graph.radius:.6g}",
        "prior": type(graph.problem.prior).__name__,
        "eta": f"{graph.eta:.6g}",
        "vertices": str(graph.problem.d),
        "observations": str(graph.samples),
        "signals": ", ".join([*filter(None, [graph.prepared]), f"divided by {graph.unit:.4g}"]),
    }


def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in ("wdro-cvx", "numpy", "scipy")}
    return {"python": platform.python_version(), **packages}

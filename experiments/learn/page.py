"""Make ``graph.html`` for a learned graph, with the evidence that the page checks again.

The page's judge (static/judge.js) knows the paper's sets, under the paper's prior with a fixed
trace and under the log-degree prior. For other problems and for graphs that are too large, the page
says that it did not check, and shows the verdict of the Python judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.drawing.style import COLOURS
from experiments.learn.graph import LearnOptions
from experiments.learn.path import Path, PathPoint, compute_path
from experiments.learn.places import Places
from experiments.measuring.provenance import provenance
from experiments.page.document import document, packed
from solvers.learned.edge_table import open_edges
from solvers.learned.graph import LearnedGraph
from wdro_cvx import GaussianBall, GraphProblem, MomentBall, Singleton, WassersteinBall
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.priors import DegreePrior, Frobenius, LogDegree
from wdro_cvx.validation import Array

#: The page's judge factors matrices of this size in a second or two.
_JUDGED_UP_TO = 1000
_PRIORS = "η‖L‖² with a fixed trace or the log-degree prior"
_EVIDENCE = 500_000  # numbers in the moments of all points together
_SIGNALS = 400_000  # numbers in the observations, which are only drawn
_OBSERVATIONS = 400
_OUTLINE_POINTS = 20_000


@dataclass(frozen=True, eq=False)
class GraphPage:
    """The content of a page.

    Attributes
    ----------
    title : str
    names : sequence of str
    places : array (d, 2)
        The positions of the vertices: longitude and latitude, or a layout.
    on_map : bool
    communities : array (d,)
        The community of every vertex in the chosen graph.
    path : Path
    threshold : float
        Edges with less weight are not drawn.
    signals : array (N, d) or None
        The problem's samples, if it has them.
    outlines : sequence of arrays (k, 2)
    columns : mapping of str to array (d,)
        Further numbers by which to colour the vertices.
    facts : mapping of str to str
        Shown unchanged.
    notes : sequence of str
    support : array or sparse array (d, d) of bool, optional
        The selected edges of the chosen graph; by default all are shown.
    """

    title: str
    names: Sequence[str]
    places: Array
    on_map: bool
    communities: Array
    path: Path
    threshold: float
    signals: Array | None = None
    outlines: Sequence[Array] = ()
    columns: Mapping[str, Array] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    support: NDArray[np.bool_] | sparse.csr_array | None = None


def learned_page(
    graph: LearnedGraph,
    labels: Array,
    options: LearnOptions,
    title: str,
    points: Array,
    places: Places | None,
    outlines: Sequence[Array],
) -> str:
    """Return the HTML page of a graph, with the graphs for other radii and etas.

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
    """
    nominal = graph.problem.nominal
    columns = {"mean of the signal": nominal.mean}
    if nominal.samples is not None:
        columns["deviation"] = nominal.samples.std(axis=0)
    if places is not None:
        columns |= places.columns
    page = GraphPage(
        title, graph.names or (), points, places is not None and places.degrees, labels,
        compute_path(graph.problem, graph.solution, graph.verdict), graph.threshold,
        nominal.samples, outlines, columns, _facts(graph, options),
        [
            *graph.notes,
            f"Radius and eta are relative to the signals, which were divided by {graph.unit:.4g}.",
        ],
        None if graph.selection is None else graph.support,
    )  # fmt: skip
    return document("graph", title, graph_data(page), judge=True)


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


def graph_data(page: GraphPage) -> dict[str, Any]:
    """Return the data of the page in a form that JSON can represent."""
    problem = page.path.points[page.path.chosen].problem
    checked = _check(problem)
    signals = np.zeros((0, problem.d)) if page.signals is None else page.signals
    observations = _thinned(signals)
    room = _EVIDENCE
    points = []
    for point in page.path.points:
        moment = None if checked["set"] is None else _moment(point)
        size = 0 if moment is None else sum(p.size for p in moment.values() if p is not None)
        moment = moment if size <= room else None
        room -= 0 if moment is None else size
        points.append(_point(point, page.threshold, checked["set"] is not None, moment))
    if page.support is not None:
        edges = EdgeList.from_laplacian(page.path.points[page.path.chosen].laplacian)
        selected = np.asarray(page.support[edges.heads, edges.tails]).ravel()
        points[page.path.chosen]["selected"] = packed(selected, "u1")
    return {
        "title": page.title,
        "names": list(page.names),
        "x": packed(page.places[:, 0], "f8"),
        "y": packed(page.places[:, 1], "f8"),
        "map": page.on_map,
        "outlines": [packed(outline, "f4") for outline in _fewer(page.outlines)],
        "palette": COLOURS,
        "community": packed(page.communities, "u4"),
        "columns": [
            {"name": name, "values": packed(values, "f8")} for name, values in page.columns.items()
        ],
        "observations": len(observations),
        "signals": packed(observations, "f4"),
        "threshold": page.threshold,
        "radii": list(page.path.radii),
        "etas": [_number(eta) for eta in page.path.etas],
        "chosen": page.path.chosen,
        "problem": checked,
        "points": points,
        "facts": dict(page.facts),
        "notes": list(page.notes),
        "made": provenance(),
    }


def _check(problem: GraphProblem) -> dict[str, Any]:
    """Return the data that the page's judge needs, or the reason why it cannot judge."""
    ambiguity, prior = problem.ambiguity, problem.prior
    kinds = {GaussianBall: "transport", WassersteinBall: "transport", MomentBall: "moment",
             Singleton: "single"}  # fmt: skip
    kind, why = kinds.get(type(ambiguity)), ""
    if kind is None:
        why = f"this page has no judge for {type(ambiguity).__name__}"
    elif problem.terms:
        kind, why = None, f"this page has no judge for {type(problem.terms[0]).__name__} terms"
    elif (name := _prior_name(prior)) is None:
        kind, why = None, f"this page judges graphs without bounds under {_PRIORS} only"
    elif problem.d > _JUDGED_UP_TO:
        kind, why = None, f"this page judges graphs of up to {_JUDGED_UP_TO} vertices"
    power = ambiguity.p if isinstance(ambiguity, MomentBall) else 2.0
    found: dict[str, Any] = {
        "set": kind, "why": why, "name": type(ambiguity).__name__,
        # The page can show how the worst case moves signals even if it does not judge.
        "moves": kinds.get(type(ambiguity)), "p": None if np.isinf(power) else power,
    }  # fmt: skip
    if kind is None:
        return found
    rows = problem.nominal.factor
    return found | {
        "prior": name,
        "trace": prior.trace.target if prior.trace.fixed else None,
        "rowCount": len(rows),
        "rows": packed(rows, "f8"),
    }


def _prior_name(prior: DegreePrior) -> str | None:
    """Return the name by which the page's judge knows a prior; None if it does not."""
    if prior.bounds is not None:
        return None
    if type(prior) is LogDegree:
        return "log-degree"
    return "frobenius" if type(prior) is Frobenius and prior.trace.fixed else None


def _point(
    point: PathPoint, threshold: float, judged: bool, moment: Mapping[str, Array | None] | None
) -> dict[str, Any]:
    edges, verdict = EdgeList.from_laplacian(point.laplacian), point.verdict
    ends = "u2" if edges.d <= 2**16 else "u4"
    undecided = np.zeros(len(edges.weights), dtype=bool)
    if threshold > 0.0:
        undecided = open_edges(edges.d, verdict.edges, edges.heads, edges.tails, threshold)
    found: dict[str, Any] = {
        "radius": point.radius,
        "eta": point.eta,
        "value": _number(verdict.value),
        "bound": _number(verdict.bound),
        "gap": _number(verdict.gap),
        "solved": verdict.solved(1e-6),
        "multiplier": _number(point.multiplier),
        "heads": packed(edges.heads, ends),
        "tails": packed(edges.tails, ends),
        "weights": packed(edges.weights, "f8"),
        "undecided": packed(undecided, "u1"),
    }
    if judged:
        prior = point.problem.prior
        logs = isinstance(prior, LogDegree)
        found |= {"alpha": prior.alpha if logs else None, "beta": prior.beta if logs else None}
        found["nu"] = None if point.nu is None else packed(point.nu, "f8")
        found["moment"] = None if moment is None else {
            name: None if part is None else packed(part, "f8") for name, part in moment.items()
        }  # fmt: skip
        found["lacks"] = point.moment is not None and moment is None
    return found


def _moment(point: PathPoint) -> dict[str, Array | None] | None:
    """Return the parts of a moment that its set measures (only the shift for a moment ball)."""
    moment, problem = point.moment, point.problem
    if type(moment) is not TransportedMoment:
        return None
    if isinstance(problem.ambiguity, MomentBall):
        known = problem.ambiguity.membership(problem.nominal).read(moment)
        if known is None or moment.shift is None:
            return None
        return {"moved": None, "spread": None, "shift": moment.shift}
    if moment.shift is not None or moment.moved.shape != problem.nominal.factor.shape:
        return None
    spread = np.zeros((0, moment.d)) if moment.spread is None else moment.spread
    return {"moved": moment.moved, "spread": spread, "shift": None}


def _thinned(signals: Array) -> Array:
    """Return every k-th observation, so that a picture can show them all."""
    count = min(_OBSERVATIONS, max(_SIGNALS // signals.shape[1], 1))
    return signals[:: max(-(-len(signals) // count), 1)]


def _fewer(outlines: Sequence[Array]) -> list[Array]:
    """Return outlines with few enough points for the map of a page."""
    step = 1 + sum(map(len, outlines)) // _OUTLINE_POINTS
    return [outline[::step] for outline in outlines if len(outline[::step]) > 1]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

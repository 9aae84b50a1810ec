"""The data of ``graph.html``, with the evidence that the page checks again.

The page's judge (static/judge.js) knows the paper's sets, under the paper's prior with a fixed
trace and under the log-degree prior. For other problems and for graphs that are too large, the page
says that it did not check, and shows the verdict of the Python judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from solvers.learned.edge_table import open_edges
from solvers.learned.page.content import GraphPage, PathPoint
from solvers.learned.page.document import packed
from solvers.learned.palette import COLOURS
from wdro_cvx import GaussianBall, GraphProblem, MomentBall, Singleton, WassersteinBall
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.priors import DegreePrior, Frobenius, LogDegree
from wdro_cvx.validation import Array

#: The most vertices for which the page judges; it factors matrices of this size.
_JUDGED_UP_TO = 1000
_PRIORS = "η‖L‖² with a fixed trace or the log-degree prior"
_EVIDENCE = 500_000  # numbers in the moments of all points together
_SIGNALS = 400_000  # numbers in the observations, which are only drawn
_OBSERVATIONS = 400
_OUTLINE_POINTS = 20_000


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
    if page.edge_columns:
        points[page.path.chosen]["columns"] = _edge_columns(page)
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
        "unit": page.unit,
        "skipped": len(page.path.radii) * len(page.path.etas) - len(page.path.points),
        "evidence": [list(row) for row in page.evidence],
        "warnings": list(page.warnings),
        "facts": dict(page.facts),
        "notes": list(page.notes),
        "made": dict(page.made),
    }


def _edge_columns(page: GraphPage) -> list[dict[str, Any]]:
    """Return numbers for every edge of the chosen graph, NaN where there are none."""
    edges = EdgeList.from_laplacian(page.path.points[page.path.chosen].laplacian)
    columns = dict(page.edge_columns)
    listed = edges.heads.astype(np.int64) * edges.d + edges.tails
    asked = columns.pop("heads").astype(np.int64) * edges.d + columns.pop("tails")
    found = []
    for name, values in columns.items():
        column = np.full(len(listed), np.nan)
        column[np.searchsorted(listed, asked)] = values
        found.append({"name": name, "values": packed(column, "f8")})
    return found


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

"""``graph.html``: a learned graph to look at, with the evidence from which the page judges it.

The page's judge (static/judge.js) knows the paper's sets under the paper's prior. Of any other, and
of graphs too large for it, the page says that it did not check and shows what the judge said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from experiments.drawing.style import COLOURS
from experiments.measuring.provenance import provenance
from experiments.page.document import document, packed
from experiments.page.path import Path, PathPoint
from wdro_cvx import GaussianBall, GraphProblem, MomentBall, Singleton, WassersteinBall
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.judging.sparse.brackets import ListedBrackets
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.priors import Frobenius
from wdro_cvx.validation import Array

#: The page's judge factors matrices of this size in a second or two.
_JUDGED_UP_TO = 1000
_EVIDENCE = 500_000  # numbers of moments, in all points together
_SIGNALS = 400_000  # numbers of observations, which are only drawn
_OBSERVATIONS = 400
_OUTLINE_POINTS = 20_000


@dataclass(frozen=True, eq=False)
class GraphPage:
    """What a page shows.

    Attributes
    ----------
    title : str
    names : sequence of str
    places : array (d, 2)
        Where the vertices are drawn: longitude and latitude, or a layout.
    on_map : bool
    communities : array (d,)
        Of the chosen graph.
    path : Path
    threshold : float
        Edges with less weight are not drawn.
    signals : array (N, d) or None
        As the problem has them, where they are known one by one.
    outlines : sequence of arrays (k, 2)
    columns : mapping of str to array (d,)
        Further numbers to colour the vertices by.
    facts : mapping of str to str
        Shown as they are.
    notes : sequence of str
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


def graph_page(page: GraphPage) -> str:
    """Return the page as HTML."""
    return document("graph", page.title, graph_data(page), judge=True)


def graph_data(page: GraphPage) -> dict[str, Any]:
    """Return what the page is given."""
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
    """Return what the page's judge needs to know, or why it cannot judge."""
    ambiguity, prior = problem.ambiguity, problem.prior
    kinds = {GaussianBall: "transport", WassersteinBall: "transport", MomentBall: "moment",
             Singleton: "single"}  # fmt: skip
    kind, why = kinds.get(type(ambiguity)), ""
    if kind is None:
        why = f"this page has no judge for {type(ambiguity).__name__}"
    elif type(prior) is not Frobenius or not prior.trace.fixed or prior.bounds is not None:
        kind, why = None, "this page judges graphs under η‖L‖² with a fixed trace only"
    elif problem.d > _JUDGED_UP_TO:
        kind, why = None, f"this page judges graphs of up to {_JUDGED_UP_TO} vertices"
    power = ambiguity.p if isinstance(ambiguity, MomentBall) else 2.0
    found: dict[str, Any] = {
        "set": kind, "why": why, "name": type(ambiguity).__name__,
        # What moves the signals can be shown of any graph, also of one that is not judged here.
        "moves": kinds.get(type(ambiguity)), "p": None if np.isinf(power) else power,
    }  # fmt: skip
    if kind is None:
        return found
    rows = problem.nominal.factor
    return found | {
        "trace": prior.trace.target,
        "rowCount": len(rows),
        "rows": packed(rows, "f8"),
    }


def _point(
    point: PathPoint, threshold: float, judged: bool, moment: Mapping[str, Array | None] | None
) -> dict[str, Any]:
    edges, verdict = EdgeList.from_laplacian(point.laplacian), point.verdict
    ends = "u2" if edges.d <= 2**16 else "u4"
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
        "undecided": packed(_undecided(point, edges, threshold), "u1"),
    }
    if judged:
        found["nu"] = None if point.nu is None else packed(point.nu, "f8")
        found["moment"] = None if moment is None else {
            name: None if part is None else packed(part, "f8") for name, part in moment.items()
        }  # fmt: skip
        found["lacks"] = point.moment is not None and moment is None
    return found


def _undecided(point: PathPoint, edges: EdgeList, threshold: float) -> Array:
    """Return, for the edges of the graph, whether the certificate leaves them open."""
    if threshold <= 0.0:
        return np.zeros(len(edges.weights))
    brackets, d = point.verdict.edges, point.problem.d
    flags = np.asarray(brackets.undecided(threshold), float)
    i, j = edges.heads.astype(np.int64), edges.tails.astype(np.int64)
    if not isinstance(brackets, ListedBrackets):
        return flags[i * d - i * (i + 1) // 2 + j - i - 1]
    # Of a large graph only some pairs are listed; all others share one bracket.
    listed = brackets.heads.astype(np.int64) * d + brackets.tails
    order = np.argsort(listed)
    at = np.minimum(np.searchsorted(listed[order], i * d + j), max(listed.size - 1, 0))
    hit = listed[order][at] == i * d + j if listed.size else np.zeros(i.size, dtype=bool)
    rest = float(brackets.others >= threshold)
    return np.where(hit, flags[order][at], rest) if listed.size else np.full(i.size, rest)


def _moment(point: PathPoint) -> dict[str, Array | None] | None:
    """Return the parts of a moment that its set is measured by, and None for the others.

    Of a moment ball that is the shift: the data stay where they are, and the page has them.
    """
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
    """Return every k-th observation, as many as a picture can show."""
    count = min(_OBSERVATIONS, max(_SIGNALS // signals.shape[1], 1))
    return signals[:: max(-(-len(signals) // count), 1)]


def _fewer(outlines: Sequence[Array]) -> list[Array]:
    """Return outlines with as many points as a map of a page can show."""
    step = 1 + sum(map(len, outlines)) // _OUTLINE_POINTS
    return [outline[::step] for outline in outlines if len(outline[::step]) > 1]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

"""Write a proof that a graph is optimal, which wdro_cvx/verify.py checks in exact arithmetic.

The file holds the problem, the graph and the certificate with which the judge bounds the optimum
(docs/proofs.md describes the format). Its numbers are written so that reading gives the same
floating-point numbers again.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from wdro_cvx.ambiguity import (
    AmbiguitySet,
    CombinedSet,
    MahalanobisBall,
    MetricBall,
    MomentBall,
    MomentUncertainty,
    PairBall,
    SetInCoordinates,
    Singleton,
    Transport,
)
from wdro_cvx.ambiguity.builtin import BUILT_IN
from wdro_cvx.errors import ProblemError, SolverError
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.graphs.listed_bounds import ListedBounds
from wdro_cvx.judge import judge
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.judging.sparse.repair import repaired
from wdro_cvx.moments.composite import MappedMoment
from wdro_cvx.moments.holes import moment_of, pair_squares
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.moments.points import MeanMoment, Moment, ReweighedMoment, TransportedMoment
from wdro_cvx.priors import Frobenius, LogDegree
from wdro_cvx.problem import GraphProblem
from wdro_cvx.solution import Certificate, Solution
from wdro_cvx.terms import KnownEdges, KnownGraph, LogDet, Residuals, Stationarity, Term
from wdro_cvx.validation import Array
from wdro_cvx.verify import FORMAT, VERSION, RefusedError, establish


def save_proof(path: str | os.PathLike[str], problem: GraphProblem, solution: Solution) -> Path:
    """Write a proof file for a solution and return its path.

    Raises
    ------
    ProblemError
        If the exact verifier does not support the ambiguity set or the prior.
    SolverError
        If exact arithmetic does not confirm the proof.
    """
    target = Path(path)
    text = proof_text(proof_document(problem, solution))
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target


def proof_text(document: dict[str, Any]) -> str:
    """Return a document as the text of a file, with a digest at the end."""
    body = json.dumps(document, allow_nan=False)[:-1] + ",\n"
    digest = hashlib.sha256(body.encode()).hexdigest()
    return f'{body}"digest": "sha256:{digest}"}}\n'


def proof_document(
    problem: GraphProblem, solution: Solution, threshold: float = EDGE_THRESHOLD
) -> dict[str, Any]:
    """Return the proof of a solution as lists and numbers, without the digest.

    Its edges are those that exact arithmetic proves present or absent.
    """
    ambiguity = problem.ambiguity
    _check_known(ambiguity)
    if not isinstance(problem.prior, (Frobenius, LogDegree)):
        raise ProblemError(
            f"proofs support the priors Frobenius and LogDegree; this problem has "
            f"{problem.prior!r}, which the exact verifier does not know. Use judge instead."
        )
    terms = [_term(term) for term in problem.terms]
    chosen = judge(problem, solution).certificate
    assert chosen is not None
    assert chosen.degree_multipliers is not None
    graph = _feasible(problem, solution)
    data, group = _data(problem.nominal)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "problem": {
            "vertices": problem.d,
            "data": data,
            "ambiguity": _ambiguity(ambiguity, problem.d),
            "prior": _prior(problem),
            "bounds": _bounds(problem),
            **({"terms": terms} if terms else {}),
        },
        "graph": {"pairs": _pairs(graph.heads, graph.tails), "weights": graph.weights.tolist()},
        "certificate": {
            **_evidence(problem, chosen.moment, group, graph),
            "nu": chosen.degree_multipliers.tolist(),
            "tau": 0.0 if problem.prior.trace.free else chosen.trace_multiplier,
            **({"slopes": _slopes(problem, chosen)} if terms else {}),
        },
        "edges": {"threshold": threshold, "present": [], "undecided": []},
    }
    try:
        found = establish(document)
    except RefusedError as reason:
        raise SolverError(f"the exact verifier refuses this solution: {reason}") from reason
    document["edges"] = {
        "threshold": threshold,
        "present": [list(pair) for pair in found.present],
        "undecided": [list(pair) for pair in found.undecided],
    }
    return document


def _check_known(ambiguity: AmbiguitySet) -> None:
    """Raise ProblemError unless the exact verifier knows a set, and the parts of a combination."""
    parts = ambiguity.sized_parts if type(ambiguity) is CombinedSet else (ambiguity,)
    for part in parts:
        moved = type(part) is SetInCoordinates and type(part.base) is MomentBall
        if not (type(part) in BUILT_IN or moved):
            raise ProblemError(
                f"proofs support {', '.join(kind.__name__ for kind in BUILT_IN)}, MomentBall in "
                f"coordinates, and sums and multiples of these; this problem has "
                f"{type(part).__name__}, which the exact verifier does not know."
            )


def _evidence(
    problem: GraphProblem, moment: Moment, group: NDArray[np.intp] | None, graph: EdgeList
) -> dict[str, Any]:
    """Return the moment in the form of its set, with guesses from which the verifier starts.

    For a combined set, return these of every part.
    """
    ambiguity = problem.ambiguity
    if not isinstance(ambiguity, CombinedSet):
        multiplier, top = _hints(problem, graph)
        found = _moment(problem, moment, group)
        return {"moment": found, "multiplier": multiplier, "top": top}
    pieces = ambiguity.membership(problem.nominal).read(moment)
    assert pieces is not None  # no other form proves anything
    pairs = zip(ambiguity.sized_parts, pieces.parts, strict=True)
    parts = [_evidence(problem.replace(ambiguity=one), p, group, graph) for one, p in pairs]
    return {"parts": parts}


def _feasible(problem: GraphProblem, solution: Solution) -> EdgeList:
    if sparse.issparse(solution.laplacian):
        matrix = sparse.csr_array(solution.laplacian).astype(float, copy=False)
        return repaired(matrix, problem.prior)[1]
    return EdgeList.from_laplacian(problem.prior.repaired(np.asarray(solution.laplacian)))


def _pairs(heads: NDArray[np.integer], tails: NDArray[np.integer]) -> list[list[int]]:
    return [list(pair) for pair in zip(heads.tolist(), tails.tolist(), strict=True)]


def _data(nominal: Nominal) -> tuple[dict[str, Any], NDArray[np.intp] | None]:
    """Return the data, and the file's row of every signal if equal signals are merged."""
    table, weights = nominal.table, nominal.weights
    if table is None:
        rows = nominal.factor
        return {"kind": "rows", "rows": rows.tolist(), "mean": nominal.mean.tolist()}, None
    given = None if weights is None else weights.tolist()
    if nominal.signals is None:
        holes = [[None if np.isnan(x) else x for x in row] for row in table.tolist()]
        rest = _negative_part(moment_of(pair_squares(table, weights).squares))
        return {
            "kind": "holes", "rows": nominal.factor.tolist(), "mean": nominal.mean.tolist(),
            "table": holes, "weights": given, "rest": rest.tolist(),
        }, None  # fmt: skip
    if weights is None:
        distinct, group, counts = np.unique(table, axis=0, return_inverse=True, return_counts=True)
        if len(distinct) < len(table):
            merged = {"kind": "signals", "table": distinct.tolist(), "counts": counts.tolist()}
            return merged | {"weights": None}, group.ravel()
    return {"kind": "signals", "table": table.tolist(), "counts": None, "weights": given}, None


def _negative_part(matrix: Array) -> Array:
    """Return rows S such that the projection onto second moments adds ``SᵀS``."""
    values, vectors = np.linalg.eigh(matrix)
    below = values < 0.0
    return np.asarray(np.sqrt(-values[below])[:, np.newaxis] * vectors[:, below].T)


def _ambiguity(ambiguity: AmbiguitySet, d: int) -> dict[str, Any]:
    if isinstance(ambiguity, CombinedSet):
        parts = [_ambiguity(part, d) for part in ambiguity.sized_parts]
        return {"kind": "CombinedSet", "factors": list(ambiguity.factors), "parts": parts}
    if isinstance(ambiguity, SetInCoordinates):
        base, rows = _ambiguity(ambiguity.inner, d), [list(row) for row in ambiguity.coordinates]
        return {"kind": "SetInCoordinates", "set": base, "coordinates": rows}
    found: dict[str, Any] = {"kind": type(ambiguity).__name__, "radius": ambiguity.radius}
    if isinstance(ambiguity, MahalanobisBall):
        found["scales"] = list(ambiguity.scales)
    elif isinstance(ambiguity, MetricBall):
        found["coordinates"] = [list(row) for row in ambiguity.coordinates]
    elif isinstance(ambiguity, PairBall):
        found["scales"] = ambiguity.scales_of(d).tolist()
    elif isinstance(ambiguity, MomentBall):
        found["p"] = None if np.isinf(ambiguity.p) else ambiguity.p
    elif isinstance(ambiguity, MomentUncertainty):
        found["mean_radius"] = ambiguity.mean_radius
        found["covariance_radius"] = ambiguity.covariance_radius
    return found


def _prior(problem: GraphProblem) -> dict[str, Any]:
    prior = problem.prior
    if isinstance(prior, LogDegree):
        return {"kind": "log-degree", "alpha": prior.alpha, "beta": prior.beta}
    assert isinstance(prior, Frobenius)
    return {
        "kind": "frobenius", "eta": prior.eta, "trace": prior.target,
        "trace_penalty": prior.trace_penalty,
    }  # fmt: skip


def _term(term: Term) -> dict[str, Any]:
    """Return a term as the exact verifier reads it, or raise ProblemError."""
    stated = {"kind": type(term).__name__, "alpha": term.alpha}
    if type(term) is LogDet:
        return stated
    if type(term) is KnownGraph or type(term) is KnownEdges:
        return stated | {"matrix": term.laplacian.tolist()}
    if type(term) is Stationarity:
        return stated | {"matrix": term.theta.tolist()}
    if type(term) is Residuals:
        return stated | {"matrix": term.root.tolist()}
    raise ProblemError(
        f"proofs support the terms KnownEdges, KnownGraph, LogDet, Residuals and Stationarity; "
        f"this problem has {term!r}, which the exact verifier does not know. Use judge instead."
    )


def _slopes(problem: GraphProblem, chosen: Certificate) -> list[list[list[float]]]:
    """Return the slope of every term, by its upper triangle."""
    assert chosen.slopes is not None
    found = []
    for term, slope in zip(problem.terms, chosen.slopes, strict=True):
        matrix = slope
        if isinstance(term, Residuals | Stationarity):
            matrix = term.multipliers(slope)
        found.append(_triangle(matrix, problem.d))
    return found


def _bounds(problem: GraphProblem) -> dict[str, Any] | None:
    bounds = problem.prior.bounds
    if bounds is None:
        return None
    if isinstance(bounds, ListedBounds):
        heads, tails, lower, upper = bounds.heads, bounds.tails, bounds.least, bounds.most
    else:
        limited = (bounds.lower > 0.0) | np.isfinite(bounds.upper)
        every = edge_index(problem.d)
        heads, tails = (ends[limited].astype(np.int32) for ends in every)
        lower, upper = bounds.lower[limited], bounds.upper[limited]
    return {
        "pairs": _pairs(heads, tails),
        "lower": lower.tolist(),
        "upper": [None if np.isinf(most) else most for most in upper.tolist()],
        "others": "absent" if isinstance(bounds, ListedBounds) else "free",
    }


def _hints(problem: GraphProblem, graph: EdgeList) -> tuple[float, float]:
    """Return the multiplier of the radius, and the largest eigenvalue in the set's coordinates."""
    ambiguity = problem.ambiguity
    laplacian = graph.laplacian().toarray()
    if ambiguity.radius == 0.0 or not graph.weights.any():
        return 0.0, 0.0
    multiplier = ambiguity.worst_case(problem.nominal, laplacian).multiplier
    form = problem.structure
    if isinstance(form, Transport):
        laplacian = form.frame.form(laplacian)
    top = linalg.eigvalsh(laplacian)[-1]
    return float(multiplier) if np.isfinite(multiplier) else 0.0, float(top)


def _moment(
    problem: GraphProblem, moment: Moment, group: NDArray[np.intp] | None
) -> dict[str, Any] | None:
    """Return the certificate's moment in the form of its set; None if the set has only one."""
    ambiguity, nominal, d = problem.ambiguity, problem.nominal, problem.d
    if isinstance(ambiguity, (Singleton, PairBall)) or ambiguity.radius == 0.0:
        return None
    membership = ambiguity.membership(nominal)
    moment = membership.read(moment) or membership.explain(moment.second_moment)
    if isinstance(moment, MappedMoment):  # the moment ball in coordinates
        moment = moment.inner
    if isinstance(moment, ReweighedMoment):
        weights = moment.weights
        return {"weights": (weights if group is None else np.bincount(group, weights)).tolist()}
    if isinstance(moment, MeanMoment):
        spread = [] if moment.spread is None else moment.spread.tolist()
        shift = _triangle(moment.shift, d)
        return {"mean": moment.change.tolist(), "spread": spread, "shift": shift}
    assert isinstance(moment, TransportedMoment)
    if isinstance(ambiguity, (MomentBall, SetInCoordinates)):
        return {"shift": _triangle(moment.shift, d)}
    moves, beside = _signal_moves(nominal, moment)
    if isinstance(ambiguity, MetricBall):  # in the coordinates of the cost
        moves, beside = ambiguity.frame.inside(moves), ambiguity.frame.inside(beside)
    if group is not None:  # equal signals have equal moves up to rounding
        counts = np.bincount(group)[:, np.newaxis]
        merged = np.zeros((len(counts), d))
        np.add.at(merged, group, moves)
        moves = merged / counts
    return {"moves": moves.tolist(), "spread": beside.tolist()}


def _triangle(shift: Array | None, d: int) -> list[list[float]]:
    matrix = np.zeros((d, d)) if shift is None else shift
    return [matrix[i, i:].tolist() for i in range(d)]


def _signal_moves(nominal: Nominal, moment: TransportedMoment) -> tuple[Array, Array]:
    """Return the move of every signal, and the rows of spread.

    A certificate moves the rows of the factor F, where ``F = UΣVᵀ`` and the weighted signals are
    ``Z = QF``. The part of the moves within the column space of F, multiplied by ``Q``, gives the
    moves of the signals. The other part becomes spread, because it belongs to no signal.
    """
    factor, change = nominal.factor, moment.moved - nominal.factor
    spread = np.zeros((0, nominal.d)) if moment.spread is None else moment.spread
    table, shares = nominal.signals, nominal.shares
    if table is None:
        return change, spread
    if shares is None:
        shares = np.full(len(table), 1.0 / len(table))
    roots = np.sqrt(shares)[:, np.newaxis]
    counted = shares > 0.0
    moves = np.zeros_like(table)
    signals = table[counted] * roots[counted]
    if len(signals) == len(factor) and np.allclose(signals, factor, rtol=1e-12, atol=0.0):
        moves[counted] = change / roots[counted]
        return moves, spread
    left, sizes, right = linalg.svd(factor)
    rank = int(np.count_nonzero(sizes > 1e-13 * sizes[0]))
    turned = left.T @ change
    frame = signals @ (right[:rank].T / sizes[:rank])
    moves[counted] = frame @ turned[:rank] / roots[counted]
    return moves, np.vstack([spread, turned[rank:]])

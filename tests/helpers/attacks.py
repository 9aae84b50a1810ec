"""Run one attack: solve a hostile problem, show the judge forgeries, compare with exact results.

``wdro_cvx.verify`` proves the truth from the raw data: two fractions that bracket the optimum, and
the edges of the optimal graph. Comparisons have no tolerance. A bound is wrong if it exceeds the
upper fraction at all.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from hostile import Case, Instance, build
from scipy import sparse

from solvers import solve
from wdro_cvx import Certificate, GraphProblem, Solution, Status, Verdict, judge
from wdro_cvx.graphs.laplacian import edge_index, laplacian_from_weights, weights_from_laplacian
from wdro_cvx.judging.sparse.backend import judged_at_scale
from wdro_cvx.judging.sparse.brackets import ListedBrackets
from wdro_cvx.moments.points import DenseMoment, MeanMoment, ReweighedMoment, TransportedMoment
from wdro_cvx.proof import proof_document
from wdro_cvx.validation import Array
from wdro_cvx.verify import Result, prove

TOL = 1e-6
#: The truth comes from a graph that is solved as accurately as possible.
FINEST = 1e-12
# The verifier's value may exceed the objective of its graph by this much for γ close to λmax.
_ABOVE = 4e-12
#: How far forged moments lie outside their set, relative to the radius.
EXCESSES = (1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1.0, 1e3)
#: The same for moments that are offered as matrices; some sets take long to check these.
MATRIX_EXCESSES = (1e-9,)


def attack(case: Case, time_limit: float = 3.0) -> dict[str, Any]:
    """Run one case and return its row of the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # our own arithmetic must not overflow
        return _attack(case, build(case), time_limit)


def _attack(case: Case, instance: Instance, time_limit: float) -> dict[str, Any]:
    problem = instance.problem
    started = time.perf_counter()
    answer = solve(problem, TOL, time_limit=time_limit)
    seconds = time.perf_counter() - started
    # At a gap that cannot be reached, a splitting method may diverge; the solver then abandons it.
    with np.errstate(over="ignore", invalid="ignore"):
        finest = solve(problem, FINEST, start=answer, time_limit=time_limit)
    verdict = judge(problem, answer)
    rng = np.random.default_rng(case.seed)
    threshold = _threshold(problem, answer, rng)
    truth, own = (exact(instance, found, threshold) for found in (finest, answer))
    if own.value < truth.value:
        truth = own
    scale = max(abs(float(truth.value) - problem.constant), problem.floor, 1e-300)
    highest, forger, refused, wrong_edges, judged = verdict.bound, "the solver", 0, 0, 0
    lowest = verdict.value
    for name, found in _verdicts(problem, answer, rng):
        judged += 1
        refused += bool(found.notes)
        wrong_edges += _wrong_edges(problem.d, found, truth, threshold)
        if found.bound > highest:
            highest, forger = found.bound, name
        lowest = min(lowest, found.value)
    excess = _relative(highest, truth.value, scale)
    return {
        "seed": case.seed, "set": case.ambiguity, "data": case.data,
        "constraints": case.constraints, "d": problem.d, "n": len(instance.samples),
        "status": answer.status.value, "gap": answer.gap, "seconds": seconds,
        "value": verdict.value, "bound": verdict.bound, "truth": float(truth.value),
        "truth_gap": float(truth.value - truth.bound) / scale, "judged": judged,
        "bound_excess": excess, "forger": forger, "refused": refused,
        "value_deficit": -_relative(verdict.value, own.value, scale),
        "fooled": excess > 0.0,
        "understated": _relative(lowest, truth.bound, scale) < 0.0
        or _relative(verdict.value, own.value, scale) < -_ABOVE,
        "wrong_edges": wrong_edges,
        "wrongly_solved": bool(
            answer.status is Status.SOLVED
            and (
                not verdict.solved(TOL)
                or float(own.value - truth.value) > TOL * _gap_scale(problem, verdict)
            )
        ),
    }  # fmt: skip


def is_wrong(row: dict[str, Any]) -> bool:
    """Return whether an attack found a fault."""
    return bool(row["fooled"] or row["understated"] or row["wrong_edges"] or row["wrongly_solved"])


def exact(instance: Instance, answer: Solution, threshold: float = 1e-4) -> Result:
    """Return what exact arithmetic proves about a graph, using the raw table."""
    document = proof_document(instance.problem, answer, threshold)
    data = document["problem"]["data"]
    if data["kind"] == "signals" and data["counts"] is None:
        data["table"] = instance.samples.tolist()
    return prove(document)


def exact_objective(problem: GraphProblem, laplacian: Array) -> Fraction:
    """Return an upper bound on the exact objective of a feasible graph close to a Laplacian."""
    answer = Solution(laplacian, np.nan, Status.FAILED)
    return prove(proof_document(problem, answer)).value


def _relative(number: float, fraction: Fraction, scale: float) -> float:
    """Return the difference relative to a scale, with an exact sign."""
    if not np.isfinite(number):
        return number
    return float((Fraction(number) - fraction) / Fraction(scale))


def _gap_scale(problem: GraphProblem, verdict: Verdict) -> float:
    """Return the scale of the judge's relative gap."""
    constant = problem.constant if 0.0 <= problem.constant <= verdict.bound else 0.0
    return max(abs(verdict.value - constant), abs(verdict.bound - constant), problem.floor)


def _threshold(problem: GraphProblem, answer: Solution, rng: np.random.Generator) -> float:
    """Return the usual threshold, or one near an edge's weight, where decisions are hard."""
    weights = weights_from_laplacian(np.asarray(answer.laplacian))
    used = weights[weights > 0.0]
    if used.size == 0 or rng.random() < 0.5:
        return 1e-4 * problem.target_trace / problem.d
    return float(rng.choice(used) * rng.choice([1.0, 1.0 - 1e-9, 1.0 + 1e-9, 0.5]))


def _verdicts(
    problem: GraphProblem, answer: Solution, rng: np.random.Generator
) -> Iterator[tuple[str, Verdict]]:
    """Yield verdicts on two graphs with all certificates, from the dense and the sparse judge."""
    shown = problem.prior.repaired(_other_graph(problem, rng))
    own = np.asarray(answer.laplacian)
    forgeries = [(own, forge(problem, own, rng)), (shown, forge_pieces(problem, shown))]
    for graph, forged in forgeries:
        offers: list[tuple[str, Certificate | None]] = [("the solver", answer.certificate)]
        offers += forged
        for name, certificate in offers:
            yield name, judge(problem, graph, certificate)
            kind = None if certificate is None else type(certificate.moment)
            if judged_at_scale(problem) and kind is not DenseMoment:
                yield f"{name}, sparse", judge(problem, sparse.csr_array(graph), certificate)


def _wrong_edges(d: int, verdict: Verdict, truth: Result, threshold: float) -> int:
    """Count the edges that the judge wrongly calls present or absent."""
    heads, tails = edge_index(d)
    known = dict.fromkeys(zip(heads.tolist(), tails.tolist(), strict=True), False)
    known |= dict.fromkeys(truth.present, True)
    for pair in truth.undecided:
        del known[pair]
    found = verdict.edges
    ends = (found.heads, found.tails) if isinstance(found, ListedBrackets) else (heads, tails)
    pairs = list(zip(ends[0].tolist(), ends[1].tolist(), strict=True))
    present, absent = found.present(threshold), found.absent(threshold)
    wrong = sum(known.get(pair) is False for pair, yes in zip(pairs, present, strict=True) if yes)
    wrong += sum(known.get(pair) is True for pair, no in zip(pairs, absent, strict=True) if no)
    if isinstance(found, ListedBrackets) and found.others < threshold:
        wrong += sum(there for pair, there in known.items() if pair not in set(pairs))
    return int(wrong)


def _other_graph(problem: GraphProblem, rng: np.random.Generator) -> Array:
    m = problem.d * (problem.d - 1) // 2
    return laplacian_from_weights(rng.exponential(size=m) * (rng.random(m) < 0.6) + 1e-3)


def forge(
    problem: GraphProblem, laplacian: Array, rng: np.random.Generator
) -> Iterator[tuple[str, Certificate]]:
    """Yield named forged certificates for one Laplacian."""
    yield from forge_pieces(problem, laplacian)
    yield from _forge_others(problem, laplacian, rng)


def forge_pieces(problem: GraphProblem, laplacian: Array) -> Iterator[tuple[str, Certificate]]:
    """Yield worst cases of sets whose radius is too large, as parts and as matrices."""
    nominal, ambiguity = problem.nominal, problem.ambiguity
    nu = problem.prior.slope(np.diagonal(laplacian))
    for excess in EXCESSES:
        wide = ambiguity
        if ambiguity.radius > 0.0:
            wide = replace(ambiguity, radius=ambiguity.radius * (1.0 + excess))
        worst = wide.worst_case(nominal, laplacian)
        yield f"just outside, {excess:g}", Certificate(worst.moment, nu)
        if excess in MATRIX_EXCESSES:
            matrix = Certificate(DenseMoment(worst.second_moment), nu)
            yield f"just outside as a matrix, {excess:g}", matrix


def _forge_others(
    problem: GraphProblem, laplacian: Array, rng: np.random.Generator
) -> Iterator[tuple[str, Certificate]]:
    """Yield matrices that are not moments, and altered rows, means, weights and samples."""
    nominal = problem.nominal
    d, theta = problem.d, nominal.second_moment
    nu = problem.prior.slope(np.diagonal(laplacian))
    size = float(np.abs(theta).max()) or 1.0
    skewed = theta + size * np.triu(rng.standard_normal((d, d)))
    yield "asymmetric", Certificate(DenseMoment(skewed), nu)
    noise = rng.standard_normal((d, d))
    yield "indefinite", Certificate(DenseMoment(theta + size * (noise + noise.T)), nu)
    yield "huge", Certificate(DenseMoment(theta + 1e30 * size * np.eye(d)), nu)
    other = nu * rng.standard_normal(d) * 10.0 ** rng.uniform(-3, 3)
    yield "other multipliers", Certificate(DenseMoment(theta), other)
    rows = nominal.factor
    yield "other rows", Certificate(TransportedMoment(rows[::-1] * 3.0, shift=size * np.eye(d)), nu)
    yield "too few rows", Certificate(TransportedMoment(3.0 * rows[:1], 5 * rows), nu)
    mean = nominal.mean
    yield "another mean", Certificate(MeanMoment(rows, 2.0 * mean, mean), nu)
    yield "other rows and a mean", Certificate(MeanMoment(2.0 * rows, mean, 0.0 * mean), nu)
    if nominal.samples is not None:
        samples = nominal.samples
        first, ones = np.eye(1, len(samples))[0], np.ones(len(samples))
        yield "all weight on one sample", Certificate(ReweighedMoment(samples, first), nu)
        yield "other samples", Certificate(ReweighedMoment(samples * 2.0, ones), nu)

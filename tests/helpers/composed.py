"""Hostile problems with composed sets and terms, forged certificates for them, and exact truths.

The sets are sums, multiples, intersections and sets in coordinates of condition up to 1e8. The
truth is an upper bound of the objective of a feasible graph, computed in exact arithmetic. For sets
that the verifier does not know, the functions of ``wdro_cvx.verify`` compute it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from attacks import EXCESSES, exact_objective
from hostile import CONSTRAINTS, DATA, _ambiguity, _problem, _size
from scipy import optimize

from solvers import solve
from wdro_cvx import (
    AmbiguitySet,
    Certificate,
    CombinedSet,
    CVaRBall,
    GraphProblem,
    KLBall,
    KnownGraph,
    LogDet,
    MetricBall,
    MomentBall,
    MomentUncertainty,
    Nominal,
    ProblemError,
    Residuals,
    SetInCoordinates,
    Singleton,
    SolverError,
    Stationarity,
    Verdict,
    judge,
    verify,
)
from wdro_cvx.ambiguity import ShiftIntersection, WeightsIntersection
from wdro_cvx.graphs.laplacian import complete_graph, laplacian_from_weights
from wdro_cvx.judge_many import judge_many
from wdro_cvx.moments.composite import MappedMoment, SumMoment
from wdro_cvx.moments.points import (
    DenseMoment,
    MeanMoment,
    Moment,
    ReweighedMoment,
    TransportedMoment,
)
from wdro_cvx.proof import proof_document
from wdro_cvx.solution import Solution, Status
from wdro_cvx.validation import Array

FAMILIES = (
    "metric", "moments in coordinates", "mean in coordinates", "sum", "sum in coordinates",
    "multiple", "norms", "weights", "three", "reweighing", "plain",
)  # fmt: skip
TERMS = ("none", "none", "LogDet", "Residuals", "KnownGraph", "Stationarity", "two")
_REWEIGHING = ("KLBall", "ChiSquareBall", "HellingerBall", "CVaRBall", "TotalVariationBall")
_MOVING = ("GaussianBall", "WassersteinBall", "MahalanobisBall", "MomentBall", "MomentUncertainty")
_FINE = Fraction(1, 10**40)


@dataclass(frozen=True)
class Composed:
    """The choices that define a problem; the seed determines the rest."""

    seed: int
    family: str
    term: str
    data: str


def draw_composed(count: int, seed: int = 0) -> list[Composed]:
    """Return cases that cycle through families, terms and tables."""
    rng = np.random.default_rng(seed)
    tables = [name for name in DATA if name not in ("many rows", "weights", "holes")]
    return [
        Composed(
            int(rng.integers(2**31)), FAMILIES[k % len(FAMILIES)],
            str(rng.choice(TERMS)), str(rng.choice(tables)),
        )
        for k in range(count)
    ]  # fmt: skip


def coordinates(rng: np.random.Generator, d: int) -> Array:
    """Return a matrix with a condition number up to nearly 1e8, in general position."""
    left, right = (np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(2))
    condition = 10.0 ** rng.uniform(0, 7.99)
    sizes = np.concatenate([[1.0, 1.0 / condition], condition ** -rng.random(d - 2)])
    return np.asarray((left * sizes) @ right) * 10.0 ** rng.uniform(-2, 2)


def draw_set(family: str, rng: np.random.Generator, nominal: Nominal, size: float) -> AmbiguitySet:
    """Return a set of a family, of the size of the data up to a few orders of magnitude."""
    d, n = nominal.d, len(np.asarray(nominal.samples))

    def plain(names: tuple[str, ...]) -> AmbiguitySet:
        return _ambiguity(str(rng.choice(names)), rng, d, n, size)

    def moments() -> AmbiguitySet:
        return plain(("MomentBall",)).in_coordinates(coordinates(rng, d))

    def metric() -> AmbiguitySet:
        return MetricBall(size * 10.0 ** rng.uniform(-4, 1), coordinates(rng, d).tolist())  # type: ignore[arg-type]

    every = (*_REWEIGHING, *_MOVING, "PairBall")
    factor = float(rng.choice([0.0, 1e-6, 0.5, 2.0, 1e3]))
    if family == "metric":
        return metric()
    if family == "moments in coordinates":
        return moments()
    if family == "mean in coordinates":
        return plain(("MomentUncertainty",)).in_coordinates(coordinates(rng, d))
    if family == "sum":
        return plain(every) + plain(every)
    if family == "sum in coordinates":
        names = (*_REWEIGHING, "WassersteinBall", "MahalanobisBall", "MomentBall")
        return (plain(names) + plain(names)).in_coordinates(coordinates(rng, d))
    if family == "multiple":
        return factor * plain(every)
    if family == "norms":
        radius = size**2 * 10.0 ** rng.uniform(-4, 1)
        return MomentBall(radius) & MomentBall(radius * 10.0 ** rng.uniform(-2, 0), p=np.inf)
    if family == "weights":
        return KLBall(10.0 ** rng.uniform(-12, 1)) & CVaRBall(10.0 ** rng.uniform(-12, 1))
    if family == "three":
        return plain(every) + factor * (metric() + moments())
    if family == "reweighing":  # small radii, at which rounding counts
        ball = plain(_REWEIGHING)
        return replace(ball, radius=10.0 ** rng.uniform(-17, 0))
    return plain(every)


def draw_terms(
    name: str, rng: np.random.Generator, nominal: Nominal, size: float
) -> tuple[Any, ...]:
    """Return the terms of a name, of the size of the risk up to a few orders of magnitude."""
    d, weight = nominal.d, size**2 * 10.0 ** rng.uniform(-3, 2)
    theta = nominal.second_moment / size**2
    made: dict[str, Callable[[], tuple[Any, ...]]] = {
        "none": tuple,
        "LogDet": lambda: (LogDet(weight),),
        "Residuals": lambda: (Residuals(weight, theta),),
        "KnownGraph": lambda: (KnownGraph(weight, complete_graph(d, float(d))),),
        "Stationarity": lambda: (Stationarity(weight, theta),),
        "two": lambda: (LogDet(weight), Stationarity(weight / 10, theta)),
    }
    return made[name]()


def build_composed(case: Composed) -> GraphProblem:
    """Return the problem of a case."""
    rng = np.random.default_rng(case.seed)
    d = int(rng.choice([2, 3, 4, 5, 6]))
    n = int(rng.choice([1, 2, d, 3 * d]))
    table = DATA[case.data](rng, n, d)
    if case.family == "reweighing" and rng.random() < 0.5:
        table = np.vstack([table, np.repeat(table[:1] * 1e-3, int(rng.integers(50, 3000)), 0)])
    nominal, size = Nominal.from_samples(table), _size(table)
    rules = ("trace", "far trace", "penalty", "mask", "caps", "binding caps", "log-degree")
    rule = str(rng.choice(rules if case.term == "none" else ("trace", "penalty", "log-degree")))
    assert rule in CONSTRAINTS
    for _ in range(100):
        try:
            ambiguity = draw_set(case.family, rng, nominal, size)
            problem = _problem(rule, rng, nominal, ambiguity, size)
            return problem.replace(terms=draw_terms(case.term, rng, nominal, size))
        except ProblemError:  # bounds infeasible in the last digit, or too large a condition
            continue
    raise ProblemError(f"{case} has no feasible problem.")


# ------------------------------------------------------------------ truth


def objective_above(problem: GraphProblem, laplacian: Array) -> Fraction:
    """Return an upper bound of the exact objective of a feasible graph close to a Laplacian."""
    plain = problem.replace(ambiguity=Singleton())
    average = exact_objective(plain, laplacian)
    return average + premium_above(problem, laplacian, problem.ambiguity, average)


def premium_above(
    problem: GraphProblem, laplacian: Array, ambiguity: AmbiguitySet, average: Fraction
) -> Fraction:
    """Return an upper bound of what a set adds to the objective of a graph."""
    if isinstance(ambiguity, CombinedSet):
        pairs = zip(ambiguity.factors, ambiguity.sized_parts, strict=True)
        premiums = (
            Fraction(factor) * premium_above(problem, laplacian, part, average)
            for factor, part in pairs
        )
        return sum(premiums, Fraction(0))
    if ambiguity.radius == 0.0:
        return Fraction(0)
    proof = _read(problem, laplacian)
    if isinstance(ambiguity, SetInCoordinates) and isinstance(ambiguity.base, MomentUncertainty):
        return proof.graph.scale * _mean_premium(proof, ambiguity, problem.nominal)
    if isinstance(ambiguity, ShiftIntersection):
        return proof.graph.scale * _split_premium(proof, ambiguity)
    if isinstance(ambiguity, WeightsIntersection):
        return proof.graph.scale * _capped_premium(proof, ambiguity)
    return exact_objective(problem.replace(ambiguity=ambiguity), laplacian) - average


def _read(problem: GraphProblem, laplacian: Array) -> verify.Proof:
    answer = Solution(laplacian, np.nan, Status.FAILED)
    return verify.read_proof(proof_document(problem.replace(ambiguity=Singleton()), answer))


def _mean_premium(proof: verify.Proof, ambiguity: SetInCoordinates, nominal: Nominal) -> Fraction:
    ball, d = ambiguity.inner, proof.d
    assert isinstance(ball, MomentUncertainty)
    graph = [[float(x) for x in row] for row in verify.laplacian_of(proof.graph)]
    worst = ambiguity.worst_case(nominal, np.array(graph))
    top = float(np.linalg.eigvalsh(ambiguity.frame.form(np.array(graph)))[-1])
    exact = replace(proof.ambiguity, coordinates=[list(row) for row in ambiguity.coordinates])
    multiplier = worst.multiplier if np.isfinite(worst.multiplier) else 0.0
    evidence = replace(proof.certificate, multiplier=multiplier, top=top)
    proof = replace(proof, ambiguity=exact, certificate=evidence)
    frame = verify.frame_of(exact, d)
    matrix = [frame.into(proof.graph.image(column)) for column in frame.columns]
    above = (row[j] for i, row in enumerate(matrix) for j in range(i + 1, d))
    diagonal = [row[i] for i, row in enumerate(matrix)]
    sizes = verify.entry_sizes(diagonal, above, proof.graph.bits + 2 * frame.bits)
    radius = Fraction(ball.radius)
    norm = radius * Fraction(ball.covariance_radius) * verify.norm_above(sizes, Fraction(2))
    reach = radius * Fraction(ball.mean_radius)
    return norm + verify.premium(proof, verify.common_row(proof.mean), reach)


def _split_premium(proof: verify.Proof, ambiguity: ShiftIntersection) -> Fraction:
    """Return ``r₂‖A‖_2 + r_∞‖L - A‖_1`` at the best clipping A; every A bounds the premium."""
    graph = proof.graph
    sizes = verify.entry_sizes(graph.degrees, graph.weights, graph.bits)
    whole = proof.d**2 - sum(sizes.values())
    assert whole >= 0
    radii = {part.p: Fraction(ambiguity.radius * part.radius) for part in ambiguity.parts}

    def total(level: Fraction) -> Fraction:
        kept: dict[Fraction, int] = {}
        for entry, count in sizes.items():
            kept[min(entry, level)] = kept.get(min(entry, level), 0) + count
        rest = sum((count * max(e - level, Fraction(0)) for e, count in sizes.items()), Fraction(0))
        return radii[2.0] * verify.norm_above(kept, Fraction(2)) + radii[np.inf] * rest

    largest = float(max(sizes))
    found = optimize.minimize_scalar(
        lambda x: float(total(Fraction(x * largest))), bounds=(0.0, 1.0), method="bounded",
        options={"xatol": 1e-12},
    )  # fmt: skip
    levels = [Fraction(found.x * largest), Fraction(0), max(sizes), *sizes]
    return min(map(total, levels))


def _capped_premium(proof: verify.Proof, ambiguity: WeightsIntersection) -> Fraction:
    """Return the dual value of KL and CVaR together at the best multipliers, less the mean loss.

    For t > 0 and any c the dual function is
    ``εt + t log mean exp(min(l, c)/t) + (1 + ε') mean (l - c)₊``.
    """
    losses = verify.losses_of(proof)
    count, worst, least = sum(losses.values()), max(losses), min(losses)
    kl, cap = (
        next(Fraction(p.radius) for p in ambiguity.parts if isinstance(p, kind))
        for kind in (KLBall, CVaRBall)
    )
    mean = sum((n * loss for loss, n in losses.items()), Fraction(0)) / count
    if worst == least:
        return Fraction(0)

    def total(t: Fraction, level: Fraction) -> Fraction:
        above = sum((n * max(x - level, Fraction(0)) for x, n in losses.items()), Fraction(0))
        capped: dict[Fraction, int] = {}
        for x, n in losses.items():
            capped[min(x, level)] = capped.get(min(x, level), 0) + n
        ahead = (1 + cap) * above / count
        top = max(capped)
        if t <= 0:
            return top + ahead
        powers = sum((n * verify.exp_above((x - top) / t) for x, n in capped.items()), Fraction(0))
        return top + t * (kl + verify.log_between(powers / count)[1]) + ahead

    spread, numbers = float(worst - least), np.array([float(x - least) for x in losses])
    shares = np.array(list(losses.values())) / count
    numbers /= spread

    def guess(place: Array) -> float:
        t, level = np.exp(place[0]), place[1]
        capped = np.minimum(numbers, level)
        powers = shares @ np.expm1((capped - capped.max()) / t)
        rest = (1 + float(cap)) * (shares @ np.maximum(numbers - level, 0.0))
        return float(capped.max() + t * (float(kl) + np.log1p(powers)) + rest)

    starts = [
        (np.log(t), level) for t in (1e-3, 0.1, 1.0, 1e3, 1e6) for level in (*numbers[:20], 0.5)
    ]
    start = min(starts, key=lambda at: guess(np.array(at)))
    options = {"xatol": 1e-13, "fatol": 1e-17, "maxiter": 4000, "maxfev": 4000}
    found = optimize.minimize(guess, start, method="Nelder-Mead", options=options).x
    exact_levels = [least + Fraction(float(found[1]) * spread), *list(losses)[:20], worst]
    t = Fraction(float(np.exp(found[0])) * spread)
    best = min(total(t, level) for level in exact_levels)
    alone, mass = verify.upper_mean(losses, count / (1 + cap))
    return min(best, worst, alone + (1 + cap) * mass / count) - mean


# ------------------------------------------------------------------ forgeries


def forge_composed(
    problem: GraphProblem, answer: Solution, rng: np.random.Generator
) -> Iterator[tuple[str, Certificate]]:
    """Yield named forged certificates for an answer."""
    laplacian, nominal = np.asarray(answer.laplacian), problem.nominal
    given = answer.certificate
    nu = problem.prior.slope(np.maximum(np.diagonal(laplacian), 1e-300))
    slopes = None if given is None else given.slopes
    if given is not None and given.degree_multipliers is not None:
        nu = given.degree_multipliers
    honest = problem.ambiguity.worst_case(nominal, laplacian).moment
    if given is not None:
        yield "the solver", given
        honest = given.moment
    for excess in EXCESSES:
        for shown in (laplacian, complete_graph(problem.d, float(np.trace(laplacian)) or 1.0)):
            worst = wider(problem.ambiguity, 1.0 + excess).worst_case(nominal, shown)
            yield f"outside by {excess:g}", Certificate(worst.moment, nu, slopes=slopes)
            if excess in (1e-9, 1.0):
                dense = DenseMoment(worst.second_moment)
                yield f"matrix outside by {excess:g}", Certificate(dense, nu, slopes=slopes)
    size = float(np.abs(nominal.second_moment).max()) or 1.0
    for name, moment in tampered(honest, nominal, rng, size):
        yield name, Certificate(moment, nu, slopes=slopes)
    for name, found in tampered_slopes(slopes, rng):
        yield name, Certificate(honest, nu, slopes=found)
        yield (
            f"{name}, other multipliers",
            Certificate(honest, nu * rng.standard_normal(problem.d), slopes=found),
        )
    yield "other multipliers", Certificate(honest, nu * 10.0 ** rng.uniform(-3, 3, problem.d))


def wider(ambiguity: AmbiguitySet, factor: float) -> AmbiguitySet:
    """Return a set with a larger radius."""
    if isinstance(ambiguity, Singleton) or ambiguity.radius == 0.0:
        return ambiguity
    return replace(ambiguity, radius=min(ambiguity.radius * factor, 1e60))


def tampered(
    moment: Moment, nominal: Nominal, rng: np.random.Generator, size: float
) -> Iterator[tuple[str, Moment]]:
    """Yield moments of the same kind with other numbers in one place."""
    d = nominal.d
    noise = rng.standard_normal((d, d))
    # It adds nothing to the cost of an edge, so an indefinite matrix can have high costs.
    constant = np.ones((d, d))
    matrix = size * (noise + noise.T)
    yield (
        "a matrix far outside",
        DenseMoment(nominal.second_moment + size * (100 * np.eye(d) - 1000 * constant)),
    )
    if isinstance(moment, SumMoment):
        parts = moment.parts
        if len(parts) > 1:
            yield "swapped parts", SumMoment(moment.centre, parts[::-1], moment.factors)
        yield "another centre", SumMoment(moment.centre + matrix, parts, moment.factors)
        more = tuple(2.0 * factor + 1.0 for factor in moment.factors)
        yield "other factors", SumMoment(moment.centre, parts, more)
        for place, part in enumerate(parts):
            for name, other in tampered(part, nominal, rng, size):
                changed = (*parts[:place], other, *parts[place + 1 :])
                yield f"part {place}: {name}", SumMoment(moment.centre, changed, moment.factors)
    if isinstance(moment, MappedMoment):
        yield "other coordinates", MappedMoment(moment.inner, moment.matrix * (1.0 + 1e-15))
        yield "without coordinates", moment.inner
        inside = nominal.transformed(np.linalg.inv(moment.matrix))
        wide = float(np.abs(inside.second_moment).max()) or 1.0
        for name, other in tampered(moment.inner, inside, rng, wide):
            yield f"inside: {name}", MappedMoment(other, moment.matrix)
    if isinstance(moment, TransportedMoment):
        yield "rows doubled", TransportedMoment(2.0 * moment.moved, moment.spread, moment.shift)
        spread = 1e-8 * np.sqrt(size) * noise
        yield "more spread", TransportedMoment(moment.moved, spread, moment.shift)
        shift = matrix if moment.shift is None else moment.shift * (1.0 + 1e-9)
        yield "another shift", TransportedMoment(moment.moved, moment.spread, shift)
        tilted = moment.moved * (1.0 + 1e-15 * rng.standard_normal(moment.moved.shape))
        yield "rows in the last digit", TransportedMoment(tilted, moment.spread, moment.shift)
    if isinstance(moment, MeanMoment):
        shift = matrix if moment.shift is None else moment.shift * (1.0 + 1e-9)
        change = moment.change * (1.0 + 1e-9)
        yield "another mean", MeanMoment(moment.kept, moment.mean, change, moment.spread, shift)
        yield (
            "mean doubled",
            MeanMoment(moment.kept, 2 * moment.mean, moment.change, moment.spread, moment.shift),
        )
    if isinstance(moment, ReweighedMoment):
        samples, weights = moment.samples, moment.weights
        order = np.argsort(-np.square(samples - samples.mean(axis=1, keepdims=True)).sum(axis=1))
        for share in (2.0**-53, 2.0**-51, 1e-12, 0.5):
            more = weights.copy()
            more[order[0]] += share
            yield f"weight {share:g} on one sample", ReweighedMoment(samples, more)
            more[order[1:]] = np.nextafter(more[order[1:]], 9.0)
            yield f"weight {share:g} on one, rounded up", ReweighedMoment(samples, more)
        yield "weights in reverse", ReweighedMoment(samples, weights[::-1].copy())


def tampered_slopes(
    slopes: tuple[Array, ...] | None, rng: np.random.Generator
) -> Iterator[tuple[str, tuple[Array, ...]]]:
    """Yield slopes that are scaled, noisy, nearly singular, indefinite or huge."""
    if not slopes:
        return
    for share in (1 + 1e-15, 1 + 1e-9, 0.5, 2.0, -1.0, 0.0, 1e6):
        yield f"slopes times {share:g}", tuple(share * slope for slope in slopes)
    for relative in (1e-12, 1e-3, 10.0):
        noises = [rng.standard_normal(slope.shape) for slope in slopes]
        yield (
            f"slopes with noise {relative:g}",
            tuple(
                slope + relative * float(np.abs(slope).max()) * (noise + noise.T)
                for slope, noise in zip(slopes, noises, strict=True)
            ),
        )
    for least in (1e-8, 1e-13, 1e-15, 1e-17, 0.0):
        yield f"slopes singular to {least:g}", tuple(_singular(slope, least) for slope in slopes)


def _singular(slope: Array, least: float) -> Array:
    """Return a slope with its smallest eigenvalue replaced by one near zero."""
    values, vectors = np.linalg.eigh(slope)
    place = int(np.argmin(np.abs(values)))
    values[place] = np.sign(values[place]) * least * float(np.abs(values).max())
    found = (vectors * values) @ vectors.T
    return np.asarray(found + found.T) / 2


# ------------------------------------------------------------------ one attack


def attack_composed(case: Composed, time_limit: float = 1.0) -> dict[str, Any]:
    """Run one case and return its row of the table."""
    problem = build_composed(case)
    rng = np.random.default_rng(case.seed)
    row: dict[str, Any] = {
        "seed": case.seed, "family": case.family, "term": case.term, "data": case.data,
        "d": problem.d, "judged": 0, "excess": -np.inf, "forger": "", "fooled": False,
        "understated": False, "apart": 0.0, "gap": np.nan,
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        answer = solve(problem, 1e-6, time_limit=time_limit)
        finest = solve(problem, 1e-12, start=answer, time_limit=time_limit)
        try:
            truth = min(objective_above(problem, np.asarray(found.laplacian))
                        for found in (answer, finest))  # fmt: skip
        except (SolverError, verify.RefusedError) as reason:
            return row | {"forger": f"no truth: {reason}"[:90]}
        scale = max(abs(float(truth) - problem.constant), problem.floor, 1e-300)
        row["gap"] = finest.gap
        for name, verdict in verdicts(problem, finest, rng):
            row["judged"] += 1
            if np.isfinite(verdict.bound):
                excess = float((Fraction(verdict.bound) - truth) / Fraction(scale))
                if excess > row["excess"]:
                    row |= {"excess": excess, "forger": name}
            elif verdict.bound > 0 or np.isnan(verdict.bound):
                row |= {"excess": np.inf, "forger": name}
            # An exact lower bound of the optimum is not known for every set. A value may be below
            # the objective of the best graph by at most the gap of that graph.
            if verdict.value < float(truth) - max(finest.gap, 1e-12) * scale * 2 - 4e-12 * scale:
                row |= {"understated": True, "forger": name}
        row["apart"] = apart(problem, [answer, finest])
    row["fooled"] = row["excess"] > 0.0
    return row


def verdicts(
    problem: GraphProblem, answer: Solution, rng: np.random.Generator
) -> Iterator[tuple[str, Verdict]]:
    """Yield verdicts on the answer and on another graph with all forgeries."""
    other = problem.prior.repaired(
        laplacian_from_weights(rng.exponential(size=problem.d * (problem.d - 1) // 2) + 1e-3)
    )
    for name, certificate in forge_composed(problem, answer, rng):
        yield name, judge(problem, answer.laplacian, certificate)
        if rng.random() < 0.3:
            yield f"{name}, other graph", judge(problem, other, certificate)


def apart(problem: GraphProblem, answers: list[Solution]) -> float:
    """Return the largest relative difference between verdicts together and one by one."""
    together = judge_many([problem] * len(answers), answers)
    found = 0.0
    for answer, many in zip(answers, together, strict=True):
        alone = judge(problem, answer)
        size = max(abs(alone.value), 1e-300)
        found = max(found, abs(many.value - alone.value) / size)
        if np.isfinite(alone.bound) and np.isfinite(many.bound):
            found = max(found, abs(many.bound - alone.bound) / size)
    return found

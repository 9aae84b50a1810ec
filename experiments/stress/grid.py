"""Draw extreme problems at random corners of the domain, for every registered set and prior.

Each problem is a random combination of the axes below; the full product has millions. Set, prior,
size and number determine a problem. The likelihood, a log-determinant beside the paper's prior, is
tried with the sample average and the Wasserstein ball.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from experiments.measuring.store import Row
from solvers import solve
from wdro_cvx import (
    AmbiguitySet,
    EdgeBounds,
    GraphProblem,
    LogDet,
    MomentBall,
    Nominal,
    Status,
    judge,
    registered_ambiguities,
)
from wdro_cvx.ambiguity import Norm
from wdro_cvx.ambiguity.reweighting import WeightsBall
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.graphs.laplacian import complete_graph, edge_index
from wdro_cvx.priors import Frobenius, LogDegree
from wdro_cvx.validation import Array

DIMENSIONS = (2, 3, 10, 30, 60)
CELLS = 25  # for every set, prior and dimension
TOLERANCE = 1e-6
TIME_LIMIT = 30.0
LIKELIHOOD = "likelihood"
PRIORS = ("Frobenius", "log-degree", LIKELIHOOD)
LIKELIHOOD_SETS = ("Singleton", "WassersteinBall")
ORDERS = (1.0, 1.05, 4 / 3, 2.0, 4.0, 20.0, np.inf)

#: The values from which problems are drawn, for the report.
AXES = {
    "samples N": "1, 2, d/2, d, 5d",
    "radius": "1e-3 to 20 times the signals' length, or 1e-3 to 3 times a divergence's hard limit",
    "eta, or the root of alpha·beta": "1e-4 to 10, in units of the data squared; with a "
    "likelihood, 0 in a third of the cells",
    "bounds": "none (half of the cells), 30 % of the edges absent, 30 % pinned, all capped",
    "trace": "d (half of the cells), 0.3 d, 7 d; fixed (two thirds), penalised weakly or strongly; "
    "with a likelihood, free in half of the cells",
    "data": "smooth signals, heavy tails (t with 2 degrees of freedom), repeated samples",
    "offset": "0 or 1e6 times the spread",
    "unit": "1e-3, 1, 1e3",
    "norm p": ", ".join(f"{p:.3g}" for p in ORDERS),
}


@dataclass(frozen=True)
class Corner:
    """One problem of the grid."""

    set: str
    prior: str
    d: int
    number: int


def corners(dimensions: Sequence[int], cells: int = CELLS) -> list[Corner]:
    """Return all problems, smallest first."""
    return [
        Corner(name, prior, d, number)
        for d in sorted(dimensions)
        for name in sorted(registered_ambiguities())
        for prior in PRIORS
        if prior != LIKELIHOOD or name in LIKELIHOOD_SETS
        for number in range(cells)
    ]


def build(corner: Corner) -> tuple[GraphProblem, Row]:
    """Return the problem of a corner and the values that were drawn for it."""
    names = sorted(registered_ambiguities())
    place = [names.index(corner.set), PRIORS.index(corner.prior), corner.d, corner.number]
    rng = np.random.default_rng(place)
    d = corner.d
    n = int(rng.choice([1, 2, max(d // 2, 1), d, 5 * d]))
    kind = str(rng.choice(["smooth", "heavy", "repeated"]))
    samples = _samples(kind, rng, n, d)
    size = float(np.sqrt(np.mean(np.sum(np.square(samples), axis=1)))) or 1.0
    samples = samples + float(rng.choice([0.0, 1e6])) * size / np.sqrt(d)
    unit = float(rng.choice([1e-3, 1.0, 1e3]))
    ambiguity = _ambiguity(corner.set, rng, d, n, size)
    eta = float(10.0 ** rng.uniform(-4, 1)) * size**2 / d
    options, drawn = _graph(rng, d, eta)
    bounds, alpha = options.get("bounds"), size**2 / d
    if corner.prior == "log-degree":
        options = {"prior": LogDegree(alpha, eta**2 / alpha, bounds)}
    elif corner.prior == LIKELIHOOD:
        if rng.random() < 1 / 3:
            eta = 0.0
        if rng.random() < 1 / 2:
            drawn |= {"trace": np.nan, "penalty": "free"}
            options = {"prior": Frobenius(eta, None, bounds=_connected(bounds, d))}
        else:
            options |= {"eta": eta, "bounds": _connected(bounds, d)}
        options["terms"] = (LogDet(alpha),)
    else:
        options["eta"] = eta
    problem = GraphProblem(Nominal.from_samples(samples), ambiguity, **options).scaled(unit)
    shown = ambiguity.radius if ambiguity.radius_degree == 0 else problem.reach / unit / size
    norm = problem.structure
    return problem, {
        "n": n, "data": kind, "radius": shown, "eta": eta / size**2 * d, "unit": unit,
        "p": f"{norm.order:.3g}" if isinstance(norm, Norm) else "", **drawn,
    }  # fmt: skip


def solve_corner(corner: Corner) -> Row:
    """Solve one problem and judge the answer."""
    problem, drawn = build(corner)
    answer = solve(problem, tol=TOLERANCE, time_limit=TIME_LIMIT)
    verdict = judge(problem, answer)
    solved = verdict.solved(TOLERANCE)
    return drawn | {
        "status": answer.status.value, "gap": verdict.gap, "iterations": answer.iterations,
        "seconds": answer.solve_s, "solved": solved,
        "wrongly_solved": answer.status is Status.SOLVED and not solved,
    }  # fmt: skip


def _samples(kind: str, rng: np.random.Generator, n: int, d: int) -> Array:
    if kind == "heavy":
        return rng.standard_t(2.0, (n, d))
    graph = rbf_graph(d, rng) if d > 3 else complete_graph(d, float(d))
    samples = smooth_signals(graph, n, rng, noise=0.1)
    if kind == "repeated":
        return np.repeat(samples[: max(n // 3, 1)], 3, axis=0)
    return samples


def _ambiguity(name: str, rng: np.random.Generator, d: int, n: int, size: float) -> AmbiguitySet:
    ambiguity = registered_ambiguities()[name].example(1.0, d)
    if name == "MomentBall":
        ambiguity = MomentBall(1.0, p=float(rng.choice(ORDERS)))
    if name == "MahalanobisBall":
        scales = 10.0 ** rng.uniform(-1.5, 1.5, d)
        ambiguity = replace(ambiguity, scales=tuple(scales))  # type: ignore[call-arg]
    relative = float(10.0 ** rng.uniform(-3, np.log10(20.0)))
    if name == "Singleton":
        return ambiguity
    if isinstance(ambiguity, WeightsBall):
        # The radius at which the worst sample has all weight.
        limit = max(ambiguity.divergence(np.eye(max(n, 2))[0] * max(n, 2)), 0.1)
        return replace(ambiguity, radius=float(limit * 10.0 ** rng.uniform(-3, np.log10(3.0))))
    if name == "MomentUncertainty":
        ambiguity = replace(
            ambiguity,
            mean_radius=float(10.0 ** rng.uniform(-1, 1)),  # type: ignore[call-arg]
            covariance_radius=float(10.0 ** rng.uniform(-1, 1)),
        )
    scaled = ambiguity.scaled(size)
    return replace(scaled, radius=scaled.radius * relative)


def _connected(bounds: EdgeBounds | None, d: int) -> EdgeBounds | None:
    """Return the bounds with every edge between neighbouring numbers allowed."""
    if bounds is None:
        return None
    heads, tails = edge_index(d)
    barred = (tails == heads + 1) & (bounds.upper == 0.0)
    return replace(bounds, upper=np.where(barred, np.inf, bounds.upper))


def _graph(rng: np.random.Generator, d: int, eta: float) -> tuple[dict[str, Any], Row]:
    """Draw the trace, its penalty and the bounds of the weights."""
    trace = d * float(rng.choice([1.0, 1.0, 0.3, 7.0]))
    penalty = str(rng.choice(["none", "none", "none", "none", "weak", "strong"]))
    bounds = str(rng.choice(["none", "none", "none", "mask", "pins", "caps"]))
    options: dict[str, Any] = {"trace": trace}
    if penalty != "none":
        options["trace_penalty"] = eta * (0.1 if penalty == "weak" else 100.0)
    m = d * (d - 1) // 2
    lower, upper = np.zeros(m), np.full(m, np.inf)
    if bounds == "mask":
        upper[rng.random(m) < 0.3] = 0.0
        upper[rng.integers(m)] = np.inf
        for vertex in np.flatnonzero(EdgeBounds(lower, upper).most_degrees() == 0.0):
            heads, tails = edge_index(d)  # a log-degree prior needs an edge at every vertex
            upper[np.flatnonzero((heads == vertex) | (tails == vertex))[0]] = np.inf
    elif bounds == "pins":
        pinned = rng.random(m) < 0.3
        pinned[0] &= not pinned.all()  # at least one edge stays free
        lower = np.where(pinned, rng.uniform(0.1, 1.0, m) * trace / (4 * m), 0.0)
        upper = np.where(pinned & (m > 1), lower, np.inf)
    elif bounds == "caps":
        upper = rng.uniform(1.1, 4.0, m) * trace / (2 * m)
    if bounds != "none":
        options["bounds"] = EdgeBounds(lower, upper)
    return options, {"trace": trace / d, "penalty": penalty, "bounds": bounds}

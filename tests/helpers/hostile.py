"""Generate hostile problems: data, set, prior and constraints at unusual scales, from one seed.

Structured data break a judge more easily than random data. Tables have distant clusters of columns,
nearly equal columns, a million equal rows, weights over ten orders of magnitude, or missing values.
Bounds add up to exactly the trace, or exceed it only in the last digit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import fsum

import numpy as np

from wdro_cvx import (
    AmbiguitySet,
    EdgeBounds,
    GraphProblem,
    LogDegree,
    MomentBall,
    Nominal,
    ProblemError,
    registered_ambiguities,
)
from wdro_cvx.ambiguity.builtin import BUILT_IN
from wdro_cvx.ambiguity.reweighting import WeightsBall
from wdro_cvx.moments.holes import nominal_with_holes
from wdro_cvx.validation import Array

#: The sets of the package; the exact verifier knows them all.
SHIPPED = tuple(sorted(kind.__name__ for kind in BUILT_IN))
CONSTRAINTS = (
    "trace", "far trace", "penalty", "mask", "pins", "all pinned", "caps", "binding caps",
    "bounds and penalty", "log-degree", "log-degree and caps",
)  # fmt: skip
_MOST_ROWS = 1_000_000
_ATTEMPTS = 100


@dataclass(frozen=True)
class Case:
    """The choices that define a problem; the seed determines the rest."""

    seed: int
    ambiguity: str
    data: str
    constraints: str


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem with its table and weights; missing values are NaN."""

    problem: GraphProblem
    samples: Array
    weights: Array | None


def draw_cases(count: int, seed: int = 0) -> list[Case]:
    """Return cases that cycle through all combinations of set, data and constraints."""
    kinds, rules = list(DATA), CONSTRAINTS
    cases = []
    for index in range(count):
        rng = np.random.default_rng([seed, index])
        data = kinds[(index // len(SHIPPED)) % len(kinds)]
        rule = rules[(index // (len(SHIPPED) * len(kinds))) % len(rules)]
        cases.append(Case(int(rng.integers(2**31)), SHIPPED[index % len(SHIPPED)], data, rule))
    return cases


def build(case: Case) -> Instance:
    """Return the problem of a case with its data."""
    rng = np.random.default_rng(case.seed)
    d = int(rng.choice([2, 3, 4, 5, 6, 8], p=[0.1, 0.2, 0.2, 0.2, 0.2, 0.1]))
    n = int(rng.choice([1, 2, d, 3 * d]))
    samples = DATA[case.data](rng, n, d)
    reweighs = issubclass(registered_ambiguities()[case.ambiguity], WeightsBall)
    weights = None
    if case.data == "weights" and not reweighs:
        weights = 10.0 ** rng.uniform(-10, 0, len(samples))
    if case.data == "holes" and not reweighs:
        samples = _with_holes(samples, rng)
    nominal = (
        nominal_with_holes(samples)[0]
        if np.isnan(samples).any()
        else Nominal.from_samples(samples, weights)
    )
    size = _size(samples)
    ambiguity = _ambiguity(case.ambiguity, rng, d, len(samples), size)
    for _ in range(_ATTEMPTS):
        try:
            problem = _problem(case.constraints, rng, nominal, ambiguity, size)
        except ProblemError:  # the last digit makes the bounds infeasible
            continue
        return Instance(problem, samples, weights)
    raise ProblemError(f"{case} has no feasible problem.")


def _problem(
    kind: str, rng: np.random.Generator, nominal: Nominal, ambiguity: AmbiguitySet, size: float
) -> GraphProblem:
    eta = size**2 * 10.0 ** rng.uniform(-6, 2)
    trace = nominal.d * float(10.0 ** rng.uniform(-8, 8)) if kind == "far trace" else nominal.d
    bounds = _bounds(kind, rng, nominal.d, trace)
    if kind.startswith("log-degree"):
        prior = LogDegree(size**2 * 10.0 ** rng.uniform(-3, 3), eta, bounds)
        return GraphProblem(nominal, ambiguity, prior=prior)
    penalty = size**2 * 10.0 ** rng.uniform(-3, 3) if "penalty" in kind else None
    return GraphProblem(nominal, ambiguity, eta, trace, penalty, bounds)


def _bounds(kind: str, rng: np.random.Generator, d: int, trace: float) -> EdgeBounds | None:
    m, total = d * (d - 1) // 2, trace / 2
    lower, upper = np.zeros(m), np.full(m, np.inf)
    if kind in ("mask", "bounds and penalty"):
        upper[rng.random(m) < 0.4] = 0.0
        upper[rng.integers(m)] = np.inf
    elif kind == "pins":
        weights = _shares(rng, m, total)
        pinned = rng.random(m) < 0.3
        lower, upper = np.where(pinned, weights, 0.0), np.where(pinned, weights, np.inf)
    elif kind == "all pinned":
        lower = upper = _exactly(_shares(rng, m, total), total)
    elif kind in ("caps", "log-degree and caps"):
        upper = rng.uniform(1.0, 3.0, m) * total / m
    elif kind == "binding caps":
        capped = rng.random(m) < 0.6
        capped[rng.integers(m)] = True
        upper[capped] = _shares(rng, int(capped.sum()), total)
        if rng.random() < 0.3 or capped.all():  # otherwise free pairs absorb the rounding
            upper[capped] = _exactly(upper[capped], total)
            upper[rng.integers(m)] *= 1.0 + float(rng.choice([0.0, 1e-15, 1e-9]))
    else:
        return None
    return EdgeBounds(lower, upper)


def _shares(rng: np.random.Generator, count: int, total: float) -> Array:
    """Return positive numbers, equal half of the time, that add up to the total up to rounding."""
    numbers = np.ones(count) if rng.random() < 0.5 else rng.exponential(size=count) + 0.1
    return numbers * (total / numbers.sum())


def _exactly(numbers: Array, total: float) -> Array:
    """Change some of the numbers so that their exact sum is the total, if possible."""
    found = numbers.copy()
    for place in range(found.size):
        rest = fsum([*found, -total])
        if rest == 0.0:
            break
        found[place] -= rest
    return found


def _size(samples: Array) -> float:
    samples = samples[~np.isnan(samples).all(axis=1)]
    centred = samples - np.nanmedian(samples, axis=1, keepdims=True)
    size = float(np.sqrt(np.nanmean(centred**2)))
    return size if size > 0.0 else 1.0


def _ambiguity(name: str, rng: np.random.Generator, d: int, n: int, size: float) -> AmbiguitySet:
    cls = registered_ambiguities()[name]
    ambiguity = cls.example(1.0, d)
    if name == "Singleton":
        return ambiguity
    if name == "MomentBall":
        p = float(rng.choice([1.0, 1.05, 1.5, 2.0, 4.0, 20.0, np.inf]))
        ambiguity = MomentBall(1.0, p=p)
    if name in ("MahalanobisBall", "PairBall"):
        count = d if name == "MahalanobisBall" else d * (d - 1) // 2
        scales = tuple(
            10.0 ** rng.uniform(-4, 4, count) if rng.random() < 0.5 else rng.uniform(0.5, 2, count)
        )
        ambiguity = replace(ambiguity, scales=scales)  # type: ignore[call-arg]
    ambiguity = ambiguity.scaled(size)  # a radius with a unit then has the size of the data
    relative = 10.0 ** rng.uniform(-4, 2)
    if ambiguity.radius_degree == 0 and name != "MomentUncertainty":
        relative *= max(np.log(n), 1.0) / 10  # up to and beyond the hard limits
    return replace(ambiguity, radius=ambiguity.radius * relative)


def _plain(rng: np.random.Generator, n: int, d: int) -> Array:
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d))


def _one_large(rng: np.random.Generator, n: int, d: int) -> Array:
    scales = np.ones(d)
    scales[rng.integers(d)] = 10.0 ** rng.choice([-7, 7])
    return _plain(rng, n, d) * scales


def _twins(rng: np.random.Generator, n: int, d: int) -> Array:
    table = _plain(rng, n, d)
    table[:, 1] = table[:, 0] * (1.0 + float(rng.choice([0.0, 1e-14, 1e-8])))
    return table


def _clusters(rng: np.random.Generator, n: int, d: int) -> Array:
    far = 10.0 ** rng.uniform(2, 8)
    return rng.standard_normal((n, d)) + np.where(np.arange(d) % 2 == 0, far, -far)


def _near(rng: np.random.Generator, n: int, d: int) -> Array:
    level = rng.standard_normal((n, 1)) * 10.0 ** rng.uniform(0, 6)
    return level + rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-9, -1)


def _many(rng: np.random.Generator, n: int, d: int) -> Array:
    times = int(10.0 ** rng.uniform(2, np.log10(_MOST_ROWS / n)))
    if rng.random() < 0.95:
        times = min(times, 2000)  # a million rows take seconds; one table in twenty is enough
    return np.repeat(_clusters(rng, n, d) if rng.random() < 0.5 else _plain(rng, n, d), times, 0)


def _with_holes(samples: Array, rng: np.random.Generator) -> Array:
    """Return a longer table with missing values; every two columns share at least two rows."""
    d = samples.shape[1]
    rows = rng.standard_normal((4 * d, d)) @ rng.standard_normal((d, d)) + samples.mean(axis=0)
    gaps = rng.random(rows.shape) < 0.1
    gaps[:3] = False
    rows[gaps] = np.nan
    return rows


#: Functions that generate tables, by name.
DATA: dict[str, Callable[[np.random.Generator, int, int], Array]] = {
    "plain": _plain,
    "offset": lambda rng, n, d: _plain(rng, n, d) + 10.0 ** rng.uniform(2, 9),
    "offsets": lambda rng, n, d: (
        _plain(rng, n, d) + 10.0 ** rng.uniform(2, 9) * rng.standard_normal((n, 1))
    ),
    "groups": lambda rng, n, d: (
        _plain(rng, n, d) + 10.0 ** rng.uniform(1, 6) * (rng.random(d) < 0.5)
    ),
    "units": lambda rng, n, d: _plain(rng, n, d) * 10.0 ** rng.uniform(-5, 5, d),
    "one large": _one_large,
    "unit": lambda rng, n, d: _plain(rng, n, d) * 10.0 ** rng.uniform(-60, 60),
    "repeated": lambda rng, n, d: (
        np.repeat(_plain(rng, max(n // 2, 1), d), int(rng.choice([2, 7])), axis=0) + 1000.0
    ),
    "rank one": lambda rng, n, d: np.outer(rng.standard_normal(n), rng.standard_normal(d)),
    "heavy tails": lambda rng, n, d: rng.standard_t(1.0, (n, d)),
    "twins": _twins,
    "whole numbers": lambda rng, n, d: rng.integers(-3, 4, (n, d)).astype(float),
    "constant": lambda rng, n, d: (
        np.repeat(rng.standard_normal((n, 1)), d, axis=1) * 10.0 ** rng.uniform(-3, 3)
    ),
    "clusters": _clusters,
    "near columns": _near,
    "many rows": _many,
    "weights": _clusters,
    "holes": _plain,
}

"""Hostile problems, each from one seed: data, set, regularisation and constraints at odd scales."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from wdro_cvx import (
    AmbiguitySet,
    EdgeBounds,
    GraphProblem,
    MomentBall,
    Nominal,
    registered_ambiguities,
)
from wdro_cvx.validation import Array


@dataclass(frozen=True)
class Case:
    """A problem by its recipe; the seed does the rest."""

    seed: int
    ambiguity: str
    data: str
    constraints: str


def draw_cases(count: int, seed: int = 0) -> list[Case]:
    """Return cases over all registered sets, data and constraints, each combination in turn."""
    sets = sorted(name for name in registered_ambiguities() if name in SHIPPED)
    cases = []
    for index in range(count):
        rng = np.random.default_rng([seed, index])
        cases.append(
            Case(
                seed=int(rng.integers(2**31)),
                ambiguity=sets[index % len(sets)],
                data=list(DATA)[(index // len(sets)) % len(DATA)],
                constraints=str(rng.choice(CONSTRAINTS, p=CONSTRAINT_SHARES)),
            )
        )
    return cases


#: The sets that have an exact risk in experiments/robustness/adversarial/exact.py.
SHIPPED = (
    "ChiSquareBall", "GaussianBall", "KLBall", "MahalanobisBall", "MomentBall",
    "MomentUncertainty", "PairBall", "Singleton", "WassersteinBall",
)  # fmt: skip
CONSTRAINTS = ("trace", "other trace", "penalty", "mask", "pins", "caps", "bounds and penalty")
CONSTRAINT_SHARES = (0.4, 0.1, 0.15, 0.1, 0.1, 0.1, 0.05)


def build(case: Case) -> tuple[GraphProblem, Array]:
    """Return the problem of a case and the raw samples that it was made from."""
    rng = np.random.default_rng(case.seed)
    d = int(rng.choice([2, 3, 4, 5, 6], p=[0.15, 0.25, 0.2, 0.2, 0.2]))
    n = int(rng.choice([1, 2, d, 3 * d]))
    samples = DATA[case.data](rng, n, d)
    nominal = Nominal.from_samples(samples)
    size = _size(samples)
    eta = size**2 * 10.0 ** rng.uniform(-6, 2)
    ambiguity = _ambiguity(case.ambiguity, rng, d, n, size)
    options = _constraints(case.constraints, rng, d, size)
    return GraphProblem(nominal, ambiguity, eta, **options), samples  # type: ignore[arg-type]


def _size(samples: Array) -> float:
    centred = samples - np.median(samples, axis=1, keepdims=True)
    size = float(np.sqrt(np.mean(centred**2)))
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
    ambiguity = ambiguity.scaled(size)  # a radius of the size of the data, where it has a unit
    relative = 10.0 ** rng.uniform(-4, 2)
    if ambiguity.radius_degree == 0 and name != "MomentUncertainty":
        relative *= max(np.log(n), 1.0) / 10  # up to and beyond the hard limits
    return replace(ambiguity, radius=ambiguity.radius * relative)


def _constraints(kind: str, rng: np.random.Generator, d: int, size: float) -> dict[str, object]:
    trace = d * float(rng.choice([0.1, 0.7, 13.0])) if kind == "other trace" else float(d)
    options: dict[str, object] = {"trace": trace}
    m = d * (d - 1) // 2
    if "penalty" in kind:
        options["trace_penalty"] = size**2 * 10.0 ** rng.uniform(-3, 3)
    lower, upper = np.zeros(m), np.full(m, np.inf)
    if kind in ("mask", "bounds and penalty"):
        upper[rng.random(m) < 0.4] = 0.0
        upper[rng.integers(m)] = np.inf
    elif kind == "pins":
        weights = rng.exponential(size=m) + 0.1
        weights *= trace / 2 / weights.sum()
        pinned = rng.random(m) < rng.choice([0.3, 1.1])  # in half of the cases all of them
        lower, upper = np.where(pinned, weights, 0.0), np.where(pinned, weights, np.inf)
    elif kind == "caps":
        upper = rng.uniform(1.0, 3.0, m) * trace / 2 / m
    else:
        return options
    return options | {"bounds": EdgeBounds(lower, upper)}


def _plain(rng: np.random.Generator, n: int, d: int) -> Array:
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d))


def _offset(rng: np.random.Generator, n: int, d: int) -> Array:
    return _plain(rng, n, d) + 10.0 ** rng.uniform(2, 9)


def _offsets(rng: np.random.Generator, n: int, d: int) -> Array:
    return _plain(rng, n, d) + 10.0 ** rng.uniform(2, 9) * rng.standard_normal((n, 1))


def _groups(rng: np.random.Generator, n: int, d: int) -> Array:
    return _plain(rng, n, d) + 10.0 ** rng.uniform(1, 6) * (rng.random(d) < 0.5)


def _units(rng: np.random.Generator, n: int, d: int) -> Array:
    return _plain(rng, n, d) * 10.0 ** rng.uniform(-5, 5, d)


def _one_large(rng: np.random.Generator, n: int, d: int) -> Array:
    scales = np.ones(d)
    scales[rng.integers(d)] = 10.0 ** rng.choice([-7, 7])
    return _plain(rng, n, d) * scales


def _unit(rng: np.random.Generator, n: int, d: int) -> Array:
    return _plain(rng, n, d) * 10.0 ** rng.uniform(-60, 60)


def _repeated(rng: np.random.Generator, n: int, d: int) -> Array:
    return np.repeat(_plain(rng, max(n // 2, 1), d), int(rng.choice([2, 7])), axis=0) + 1000.0


def _rank_one(rng: np.random.Generator, n: int, d: int) -> Array:
    return np.outer(rng.standard_normal(n), rng.standard_normal(d))


def _heavy(rng: np.random.Generator, n: int, d: int) -> Array:
    return rng.standard_t(1.0, (n, d))


def _twins(rng: np.random.Generator, n: int, d: int) -> Array:
    table = _plain(rng, n, d)
    table[:, 1] = table[:, 0] * (1.0 + float(rng.choice([0.0, 1e-14, 1e-8])))
    return table


def _whole(rng: np.random.Generator, n: int, d: int) -> Array:
    return rng.integers(-3, 4, (n, d)).astype(float)


def _constant(rng: np.random.Generator, n: int, d: int) -> Array:
    return np.repeat(rng.standard_normal((n, 1)), d, axis=1) * 10.0 ** rng.uniform(-3, 3)


DATA: dict[str, Callable[[np.random.Generator, int, int], Array]] = {
    "plain": _plain, "offset": _offset, "offsets": _offsets, "groups": _groups, "units": _units,
    "one large": _one_large, "unit": _unit, "repeated": _repeated, "rank one": _rank_one,
    "heavy tails": _heavy, "twins": _twins, "whole numbers": _whole, "constant": _constant,
}  # fmt: skip

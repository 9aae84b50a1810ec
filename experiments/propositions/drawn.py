"""Draw random instances for the propositions: data, a graph, a radius, and further numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from wdro_cvx import AmbiguitySet, GraphProblem, Nominal, WorstCase
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.graphs.laplacian import laplacian_from_weights
from wdro_cvx.validation import Array

T = TypeVar("T")
#: A class of ambiguity sets, which takes the radius first.
Ball = Callable[..., AmbiguitySet]


@dataclass(frozen=True)
class Drawn:
    """Data, a feasible Laplacian that is not optimal for them, a radius, an eta, and more."""

    nominal: Nominal
    laplacian: Array
    radius: float
    eta: float
    more: Mapping[str, float] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float:
        return self.more[name]

    @property
    def d(self) -> int:
        """The number of vertices."""
        return self.nominal.d

    @property
    def theta(self) -> Array:
        """The second moment of the data."""
        return self.nominal.second_moment

    @property
    def samples(self) -> Array:
        """The samples, which every drawn instance has."""
        assert self.nominal.samples is not None
        return self.nominal.samples

    @property
    def top(self) -> float:
        """λmax of the Laplacian."""
        return float(np.linalg.eigvalsh(self.laplacian)[-1])

    @property
    def data(self) -> dict[str, ArrayLike]:
        """What is needed to inspect a counterexample."""
        return {
            "samples": self.samples, "laplacian": self.laplacian,
            "radius": self.radius, "eta": self.eta, **self.more,
        }  # fmt: skip

    def resolvent(self, gamma: float, laplacian: Array | None = None) -> Array:
        """Return ``(γI - L)⁻¹``."""
        matrix = self.laplacian if laplacian is None else laplacian
        return np.asarray(np.linalg.inv(gamma * np.eye(self.d) - matrix))

    def problem(self, ball: Ball, trace_penalty: float | None = None, **shape: Any) -> GraphProblem:
        """Return the problem with a kind of ball."""
        ambiguity = ball(self.radius, **shape)
        return GraphProblem(self.nominal, ambiguity, self.eta, trace_penalty=trace_penalty)

    def worst(self, ball: Ball) -> WorstCase:
        """Return the worst case over a kind of ball."""
        return ball(self.radius).worst_case(self.nominal, self.laplacian)


@dataclass(frozen=True)
class Family(Generic[T]):
    """Random instances of one kind: their ranges in words, and the function that draws one."""

    ranges: str
    draw: Callable[[np.random.Generator, int], T]


def sized(ranges: str) -> Family[int]:
    """Return a family whose instances are numbers of vertices; the check draws the rest."""
    return Family(ranges, lambda rng, d: d)


def signals(n: str, count: Callable[[np.random.Generator, int], int]) -> Family[Drawn]:
    """Return smooth signals of similarity graphs, like those of the paper's experiments."""

    def draw(rng: np.random.Generator, d: int) -> Drawn:
        samples = count(rng, d)
        graph = rbf_graph(d, rng)
        nominal = Nominal.from_samples(smooth_signals(graph, samples, rng, noise=0.1))
        return Drawn(nominal, graph, log_uniform(rng, 0.1, 2.0), log_uniform(rng, 0.1, 1.0))

    return Family(f"paper-like signals, N {n}, ε 0.1–2, η 0.1–1", draw)


def with_radius(family: Family[Drawn], low: float, high: float) -> Family[Drawn]:
    """Return a family with other radii, drawn last."""
    before, _, after = family.ranges.partition("ε ")
    ranges = f"{before}ε {low:g}–{high:g}, {after.partition(', ')[2]}"
    return Family(
        ranges, lambda rng, d: replace(family.draw(rng, d), radius=log_uniform(rng, low, high))
    )


def also(
    family: Family[Drawn], text: str, name: str, pick: Callable[[np.random.Generator, Drawn], float]
) -> Family[Drawn]:
    """Return a family with a further number, drawn last."""

    def draw(rng: np.random.Generator, d: int) -> Drawn:
        drawn = family.draw(rng, d)
        return replace(drawn, more={**drawn.more, name: float(pick(rng, drawn))})

    return Family(f"{family.ranges}, {text}", draw)


def with_gamma(family: Family[Drawn], low: float, high: float) -> Family[Drawn]:
    """Return a family with a multiplier ``gamma`` above λmax."""
    text = f"γ {low:g}–{high:g} λmax"
    return also(family, text, "gamma", lambda rng, drawn: drawn.top * rng.uniform(low, high))


def with_choice(
    family: Family[Drawn], symbol: str, name: str, of: Sequence[float]
) -> Family[Drawn]:
    """Return a family with one of several numbers."""
    texts = ["∞" if np.isinf(x) else str(Fraction(x).limit_denominator(9)) for x in of]
    return also(family, f"{symbol} {', '.join(texts)}", name, lambda rng, _: rng.choice(of))


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _family(
    n: str, high: float, fewest: Callable[[int], int], most: Callable[[int], int]
) -> Family[Drawn]:
    """Return correlated signals with a mean, on graphs with uneven weights."""

    def draw(rng: np.random.Generator, d: int) -> Drawn:
        count = int(rng.integers(fewest(d), most(d) + 1))
        radius = log_uniform(rng, 0.1, high)
        mixing = np.eye(d) + 0.4 * rng.standard_normal((d, d))
        samples = rng.standard_normal((count, d)) @ mixing + 0.5 * rng.standard_normal(d)
        # Even weights nearly commute with everything, which hides errors in the order of products.
        weights = rng.uniform(0.2, 1.0, d * (d - 1) // 2) ** 3
        laplacian = laplacian_from_weights(weights * (d / (2 * weights.sum())))
        return Drawn(Nominal.from_samples(samples), laplacian, radius, log_uniform(rng, 0.01, 1.0))

    return Family(f"N {n}, ε 0.1–{high:g}, η 0.01–1", draw)


#: What most propositions are tried on; REGULAR has covariances of full rank, so γ exceeds λmax.
ANY = _family("1–2d", 5.0, lambda d: 1, lambda d: 2 * d)
REGULAR = _family("d+2–3d", 2.0, lambda d: d + 2, lambda d: 3 * d)
SINGULAR = _family("1–d-1", 2.0, lambda d: 1, lambda d: d - 1)
#: One sample has no covariance at all.
SINGULAR_COVARIANCE = _family("2–d-1", 2.0, lambda d: 2, lambda d: d - 1)
FEWEST = _family("1–2", 2.0, lambda d: 1, lambda d: min(2, d - 1))

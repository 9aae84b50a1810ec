"""Random problems and Laplacians for the tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from signal_tables import signals

from solvers.qp import LaplacianQP
from wdro_cvx import (
    AmbiguitySet,
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    Singleton,
    WassersteinBall,
)
from wdro_cvx.graphs.laplacian import laplacian_from_weights
from wdro_cvx.priors import Frobenius

seeds = st.integers(0, 2**32 - 1)
dimensions = st.integers(2, 9)
exponents = st.sampled_from([1.0, 1.1, 4 / 3, 1.5, 2.0, 3.0, 4.0, 10.0, np.inf])


def random_nominal(
    rng: np.random.Generator, d: int, n: int, scale: float = 1.0, mean: float = 1.0
) -> Nominal:
    """Return correlated samples with a nonzero mean."""
    mixing = rng.standard_normal((d, d)) / np.sqrt(d)
    samples = rng.standard_normal((n, d)) @ mixing + mean * rng.standard_normal(d)
    return Nominal.from_samples(scale * samples)


def random_laplacian(
    rng: np.random.Generator, d: int, trace: float | None = None, density: float = 0.7
) -> np.ndarray:
    """Return a feasible Laplacian with some edges absent."""
    m = d * (d - 1) // 2
    weights = rng.exponential(size=m) * (rng.random(m) < density)
    weights[rng.integers(m)] += 0.1
    weights *= (d if trace is None else trace) / (2 * weights.sum())
    return laplacian_from_weights(weights)


def paper_problem(
    d: int,
    n: int,
    ambiguity: AmbiguitySet,
    eta: float = 0.3,
    seed: int = 0,
    trace_penalty: float | None = None,
) -> GraphProblem:
    """Return an instance like the paper's."""
    nominal = Nominal.from_samples(signals(n, d, seed))
    return GraphProblem(nominal, ambiguity, eta, trace_penalty=trace_penalty)


def all_sets(radius: float) -> list[AmbiguitySet]:
    """Return one ambiguity set of each kind, with moment balls over the range of p."""
    return [
        Singleton(),
        GaussianBall(radius),
        WassersteinBall(radius),
        *(MomentBall(radius, p=p) for p in (1.0, 1.5, 2.0, 4.0, np.inf)),
    ]


def frobenius_qp(moment, eta, trace, penalty=None, bounds=None) -> LaplacianQP:
    """Return the Laplacian QP with the paper's prior."""
    return LaplacianQP(moment, Frobenius(eta, trace, penalty, bounds))


def some_bounds(rng: np.random.Generator, d: int, kind: str, trace: float) -> EdgeBounds | None:
    """Return bounds: edges absent (mask), fixed or present (pins), limited (caps), or all (mixed).

    Graphs with the given trace exist within the bounds.
    """
    m = d * (d - 1) // 2
    mean = trace / (2 * m)
    lower, upper = np.zeros(m), np.full(m, np.inf)
    if kind == "none":
        return None
    if kind in ("caps", "mixed"):
        upper[:] = mean * rng.uniform(1.1, 4.0, m)
    if kind in ("mask", "mixed"):
        upper[rng.random(m) < 0.3] = 0.0
    if kind in ("pins", "mixed"):
        chosen = rng.random(m) < 0.3
        lower[chosen] = rng.uniform(0, mean, chosen.sum())
        upper[chosen] = lower[chosen] * rng.integers(1, 3, chosen.sum())
    upper[rng.integers(m)] = np.inf
    return EdgeBounds(lower, upper)

"""Problems with reweighted samples, for the tests of their solver."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from instances import random_nominal

from solvers.atoms.model import build_model
from solvers.bracket.incumbent import Incumbent
from wdro_cvx import ChiSquareBall, EdgeBounds, GraphProblem, KLBall, Nominal

balls = st.sampled_from([KLBall, ChiSquareBall])


def random_bounds(rng, d, half):
    """Return bounds with absent, pinned and capped edges; two free ones keep them feasible."""
    m = d * (d - 1) // 2
    lower = np.where(rng.random(m) < 0.3, rng.uniform(0, 0.5 * half / m, m), 0.0)
    upper = np.where(rng.random(m) < 0.5, lower + rng.uniform(0, 4 * half / m, m), np.inf)
    upper[rng.random(m) < 0.2] = 0.0
    pinned = rng.random(m) < 0.1
    upper = np.where(pinned, lower, np.maximum(upper, lower))
    upper[rng.integers(m, size=2)] = np.inf
    return EdgeBounds(lower, upper)


def random_problem(seed, ball, d, n, bounded=False, eta=0.1, trace=None, penalty=None, tails=False):
    rng = np.random.default_rng(seed)
    nominal = random_nominal(rng, d, n)
    if tails:
        nominal = Nominal.from_samples(rng.standard_t(2, (n, d)))
    trace = float(d) if trace is None else trace
    bounds = random_bounds(rng, d, trace / 2) if bounded else None
    return GraphProblem(nominal, ball, eta, trace=trace, trace_penalty=penalty, bounds=bounds)


def first_incumbent(problem):
    """Return an incumbent after a single bound, which leaves the interior point all the work."""
    incumbent = Incumbent(problem)
    answer = incumbent.bound_by(problem.nominal.second_moment, None)
    incumbent.evaluate(answer.laplacian)
    return incumbent


def model_of(problem):
    incumbent = first_incumbent(problem)
    return build_model(problem, problem.structure, incumbent.laplacian, incumbent.value)

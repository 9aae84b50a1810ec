"""Shared by the tests of the moment-ball solver: parameters, bounded problems, the judge."""

import numpy as np
import pytest
from hypothesis import strategies as st
from instances import random_nominal, some_bounds

from wdro_cvx import GraphProblem, Status, judge

EXPONENTS = [1.0, 1.05, 4 / 3, 1.5, 2.0, 3.0, 4.0, 20.0, np.inf]
PENALTIES = [None, 1.0, 100.0]

exponents = st.sampled_from(EXPONENTS)
penalties = st.sampled_from([None, 0.1, 10.0])
radii = st.sampled_from([1e-3, 0.5, 20.0])
etas = st.sampled_from([1e-3, 0.1, 10.0])


def check_solved(problem, solution, tol=1e-6):
    assert solution.status is Status.SOLVED
    verdict = judge(problem, solution.laplacian, solution.certificate)
    # verdict.solved is too strict: one sample in a large unit loses too many digits in ⟨Θ, L⟩.
    assert verdict.gap <= tol
    assert verdict.residuals.largest <= 1e-12
    assert not verdict.notes
    rounding = 1e-15 * np.sum(np.abs(problem.nominal.second_moment * solution.laplacian))
    assert solution.value == pytest.approx(verdict.value, rel=1e-12, abs=rounding)
    assert solution.bound <= verdict.value * (1 + 1e-12) + rounding
    assert solution.gap <= tol


# Kinds of bounds on the edges.
KINDS = ["mask", "pins", "caps", "mixed"]


def bounded_problem(seed, d, kind, ball, eta=0.3, penalty=None, trace=None, n=None):
    rng = np.random.default_rng(seed)
    trace = float(d) if trace is None else trace
    nominal, bounds = random_nominal(rng, d, n or 2 * d), some_bounds(rng, d, kind, trace)
    return GraphProblem(nominal, ball, eta, trace, trace_penalty=penalty, bounds=bounds)

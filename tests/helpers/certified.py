"""Shared by the tests of the certified solver: problems, the conic optimum, honesty checks."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from instances import random_nominal

from formulations import GeneralRegularized, RobustPremium, SampleAverage
from wdro_cvx import (
    GaussianBall,
    GraphProblem,
    MomentBall,
    Singleton,
    Status,
    WassersteinBall,
    judge,
)

MOMENT_BALLS = [MomentBall(0.5, p=p) for p in (1.5, 2.0, 3.0)]
SETS = [Singleton(), GaussianBall(0.5), WassersteinBall(0.5), *MOMENT_BALLS]
HARD = GraphProblem(random_nominal(np.random.default_rng(0), 8, 3, mean=0), GaussianBall(20.0), 0.1)
# Relative error that Clarabel's default tolerances leave.
CONIC = 1e-7


@cache
def conic_value(problem):
    """Return the optimum by Clarabel, which shares no code with the solver."""
    ambiguity = problem.ambiguity
    if ambiguity.radius == 0.0:
        return SampleAverage(replace(problem, ambiguity=Singleton())).solve().value
    moment = isinstance(ambiguity, MomentBall)
    return (GeneralRegularized if moment else RobustPremium)(problem).solve().value


def assert_honest(problem, solution, tol=1e-6):
    """Assert that the judge confirms the solution's own value, bound, gap and status."""
    verdict = judge(problem, solution.laplacian, solution.certificate)
    assert verdict.notes == ()
    assert solution.value == pytest.approx(verdict.value, rel=1e-12)
    # The judge also tries bounds of its own, so its bound may be better but never worse.
    assert verdict.bound >= solution.bound - 1e-11 * abs(solution.bound)
    assert verdict.gap <= solution.gap + 1e-11
    assert (solution.status is Status.SOLVED) == (solution.gap <= tol)
    if solution.status is Status.SOLVED:
        assert verdict.solved(tol)
    return verdict


def assert_brackets(solution, optimum, slack=CONIC):
    assert solution.bound <= optimum + slack * abs(optimum)
    assert solution.value >= optimum - slack * abs(optimum)

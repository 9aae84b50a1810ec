"""Hostile problems of every kind, solved together: no answer is worse or falsely called solved."""

from dataclasses import dataclass

import numpy as np
import pytest
from combinations import QUICK
from hostile import SHIPPED, build, draw_cases

from solvers import solve, solve_many
from wdro_cvx import (
    AmbiguitySet,
    GraphProblem,
    KLBall,
    LogDegree,
    LogDet,
    MomentBall,
    Nominal,
    Singleton,
    Status,
    WassersteinBall,
    WorstCase,
    judge,
)
from wdro_cvx.testing.problems import D

TOL = 1e-6


@dataclass(frozen=True)
class Inflated(AmbiguitySet):
    """A user's own set: the nominal moment, scaled up."""

    radius_degree = 0

    def worst_case(self, nominal, laplacian):
        moment = (1 + self.radius) * nominal.second_moment
        return WorstCase(float(np.vdot(moment, laplacian)), moment, 0.0)

    def distance(self, nominal, second_moment):
        theta = nominal.second_moment
        factor = float(np.trace(second_moment) / np.trace(theta))
        same = np.allclose(second_moment, factor * theta, rtol=1e-14)
        return factor - 1 if same and factor >= 1.0 else np.inf


@dataclass(frozen=True)
class Renamed(WassersteinBall):
    """A built-in set under another name."""


def combined_problems():
    """Return problems with six vertices: sums of sets, own sets, terms, eta = 0 and radius 0."""
    rng = np.random.default_rng(5)
    sets = [*QUICK.values(), Inflated(0.3), Renamed(0.4), WassersteinBall(0.0), KLBall(0.0)]
    for place, ambiguity in enumerate([*sets, *sets]):
        table = rng.standard_normal((12, D)) @ rng.standard_normal((D, D))
        nominal = Nominal.from_samples(table + (1e6 if place % 3 == 1 else 0.0))
        if place < len(sets):
            yield GraphProblem(nominal, ambiguity, 0.1)
        else:
            yield GraphProblem(nominal, ambiguity, prior=LogDegree(1.0, 0.1))
    for ambiguity in (Singleton(), WassersteinBall(0.3)):
        yield GraphProblem(nominal, ambiguity, 0.0, terms=(LogDet(0.5),))
        yield GraphProblem(nominal, ambiguity, 0.1, terms=(LogDet(0.5),))
    repeated = Nominal.from_samples(np.repeat(table[:3], 4, axis=0))
    for ambiguity in (KLBall(0.5), MomentBall(0.3), WassersteinBall(0.3)):
        yield GraphProblem(repeated, ambiguity, 0.1)


def hostile_problems(stride):
    """Return problems of every shipped set, over all kinds of tables and constraints."""
    cases = draw_cases(11 * 18 * len(SHIPPED), seed=7)[::stride]
    return [build(case).problem for case in cases if case.data != "many rows"]


@pytest.mark.parametrize("stride", [97, pytest.param(4, marks=pytest.mark.slow)])
def test_together_is_not_worse_than_one_by_one(stride):
    problems = [*hostile_problems(stride), *combined_problems()]
    order = np.random.default_rng(0).permutation(len(problems))
    problems = [problems[place] for place in order]
    for problem, answer in zip(problems, solve_many(problems, TOL), strict=True):
        alone, verdict = solve(problem, TOL), judge(problem, answer)
        assert answer.status is alone.status, problem
        if answer.status is Status.SOLVED:
            assert verdict.solved(TOL), problem
            # Both values are within the tolerance of the optimum.
            scale = max(abs(alone.value - alone.constant), alone.floor)
            assert abs(answer.value - alone.value) <= 2.1 * TOL * scale, problem
        assert answer.value == pytest.approx(verdict.value, rel=1e-11), problem
        assert answer.bound <= alone.value, problem

"""The low-rank rival: every answer is certified, whether or not it reaches the tolerance."""

import numpy as np
import pytest
from instances import paper_problem

from experiments.bench.rivals.low_rank import LowRank, _Ascent
from solvers import solve
from wdro_cvx import GaussianBall, MomentBall, ProblemError, Status, WassersteinBall, judge


@pytest.mark.parametrize("penalty", [None, 0.7])
@pytest.mark.parametrize(
    "ball", [GaussianBall(0.0), GaussianBall(0.1), WassersteinBall(0.5), GaussianBall(3.0)], ids=str
)
def test_it_finds_the_optimum(ball, penalty):
    problem = paper_problem(10, 25, ball, trace_penalty=penalty)
    answer = LowRank(tol=1e-7).solve(problem)
    assert answer.status is Status.SOLVED
    verdict = judge(problem, answer)
    assert verdict.solved(1.1e-7)
    assert not verdict.notes  # the certificate is a coupling within the radius
    assert answer.bound <= solve(problem, 1e-9).value <= answer.value * (1 + 1e-9)


def test_few_samples_need_moments_of_higher_rank_than_the_data():
    problem = paper_problem(8, 3, WassersteinBall(6.0))
    answer = LowRank(tol=1e-5).solve(problem)
    assert judge(problem, answer).solved(1.1e-5)
    assert np.linalg.matrix_rank(answer.certificate.second_moment, tol=1e-3) > 3


def test_the_gradient_is_that_of_the_function():
    problem = paper_problem(6, 9, GaussianBall(1.0))
    ascent = _Ascent(problem, 1e-12)
    point = 2.0 * ascent.start()
    _, gradient = ascent.descent(point)
    rng = np.random.default_rng(0)
    for _ in range(3):
        step = 1e-5 * rng.standard_normal(point.size)
        change = ascent.descent(point + step)[0] - ascent.descent(point - step)[0]
        assert change == pytest.approx(2 * gradient @ step, rel=1e-4, abs=1e-12)


def test_an_early_end_is_not_called_solved():
    problem = paper_problem(8, 3, WassersteinBall(6.0))
    answer = LowRank(tol=1e-9, most=3).solve(problem)
    assert answer.status is Status.ITERATION_LIMIT
    verdict = judge(problem, answer)
    assert verdict.bound <= solve(problem).value
    assert not verdict.solved(1e-9)


def test_other_sets_are_refused():
    with pytest.raises(ProblemError, match="LowRank solves problems with GaussianBall"):
        LowRank().solve(paper_problem(5, 9, MomentBall(0.5)))

"""Verdicts on stacks are those of the judge, also on forged and infeasible answers."""

from dataclasses import replace

import numpy as np
import pytest
from instances import random_nominal

from solvers import solve
from wdro_cvx import (
    Certificate,
    GraphProblem,
    KLBall,
    LogDegree,
    MomentBall,
    Singleton,
    WassersteinBall,
    judge,
)
from wdro_cvx import judge_many as module
from wdro_cvx.judge_many import judge_many
from wdro_cvx.moments.points import ReweighedMoment, TransportedMoment

BALLS = {
    "average": Singleton(),
    "wasserstein": WassersteinBall(0.4),
    "moment": MomentBall(0.4),
    "kl": KLBall(0.2),
}


def solved(ball, count=5, scale=1.0, d=6, **options):
    rng = np.random.default_rng(1)
    options = options or {"eta": 0.3 * scale**2}
    problems = [
        GraphProblem(random_nominal(rng, d, 12, scale), ball.scaled(scale), **options)
        for _ in range(count)
    ]
    return problems, [solve(problem) for problem in problems]


def farther(moment, problem, factor):
    """Return a moment at ``factor`` times its distance from the nominal one: a forgery."""
    nominal = problem.nominal
    if isinstance(moment, ReweighedMoment):
        return ReweighedMoment(moment.samples, moment.weights**factor)
    if moment.shift is not None:
        return TransportedMoment(moment.moved, shift=factor * moment.shift)
    rows = nominal.factor if moment.moved.shape == nominal.factor.shape else nominal.rows
    return TransportedMoment(rows + factor * (moment.moved - rows))


FORGERIES = {
    "none": lambda answer, problem: answer,
    "barely outside": lambda answer, problem: altered(answer, problem, 1.0 + 1e-9),
    "far outside": lambda answer, problem: altered(answer, problem, 3.0),
    "other multipliers": lambda answer, problem: replace(
        answer, certificate=Certificate(answer.certificate.moment, np.linspace(-5, 9, problem.d))
    ),
    "huge multipliers": lambda answer, problem: replace(
        answer, certificate=Certificate(answer.certificate.moment, np.full(problem.d, 1e70))
    ),
    "no certificate": lambda answer, problem: replace(answer, certificate=None),
    "another graph": lambda answer, problem: replace(answer, laplacian=np.eye(problem.d)),
    "asymmetric": lambda answer, problem: replace(
        answer, laplacian=answer.laplacian + 1e-3 * np.triu(np.ones((problem.d, problem.d)))
    ),
    "too large": lambda answer, problem: replace(answer, laplacian=1.01 * answer.laplacian),
}


def altered(answer, problem, factor):
    certificate = answer.certificate
    moment = farther(certificate.moment, problem, factor)
    return replace(answer, certificate=Certificate(moment, certificate.degree_multipliers))


def assert_same(verdict, alone):
    # Sums in another order; their rounding errors are bounded in both.
    assert verdict.value == pytest.approx(alone.value, rel=1e-13)
    # A single answer stops at a gap of 1e-11, a stack when all of its answers have reached it.
    assert verdict.bound == pytest.approx(alone.bound, rel=2e-11)
    assert verdict.distance == pytest.approx(alone.distance, rel=1e-3, abs=1e-5)
    assert verdict.residuals.largest == pytest.approx(alone.residuals.largest, rel=1e-9, abs=1e-14)
    assert verdict.oracle_error == alone.oracle_error
    for tol in (1e-9, 1e-6, 1e-3):
        assert verdict.solved(tol) == alone.solved(tol)


@pytest.mark.parametrize("forgery", FORGERIES)
@pytest.mark.parametrize("ball", BALLS)
def test_a_stack_is_judged_like_single_answers(ball, forgery):
    problems, answers = solved(BALLS[ball], scale=3.0)
    answers[1:4] = [
        FORGERIES[forgery](answer, problem)
        for answer, problem in zip(answers[1:4], problems[1:4], strict=True)
    ]
    for problem, answer, verdict in zip(
        problems, answers, judge_many(problems, answers), strict=True
    ):
        assert_same(verdict, judge(problem, answer))


def test_log_degrees_are_judged_like_single_answers():
    problems, answers = solved(BALLS["wasserstein"], prior=LogDegree(1.0, 0.2))
    for problem, answer, verdict in zip(
        problems, answers, judge_many(problems, answers), strict=True
    ):
        assert_same(verdict, judge(problem, answer))


@pytest.mark.parametrize("ball", BALLS)
def test_plain_answers_are_judged_together(ball, monkeypatch):
    """The judge of single answers is not called, so the other tests do test the stacks."""
    problems, answers = solved(BALLS[ball])
    monkeypatch.setattr(module, "judge", lambda *given: pytest.fail("judged alone"))
    assert all(verdict.solved(1e-6) for verdict in judge_many(problems, answers))
    assert judge_many([], []) == []


def test_brackets_and_certificates_are_those_of_the_judge():
    problems, answers = solved(BALLS["kl"], count=2)
    verdict, alone = judge_many(problems, answers)[0], judge(problems[0], answers[0])
    np.testing.assert_allclose(verdict.edges.lower, alone.edges.lower)
    assert verdict.certificate.trace_multiplier == alone.certificate.trace_multiplier


@pytest.mark.parametrize("ball", ["wasserstein", "moment", "kl"])
def test_a_point_that_stays_outside_its_set_is_not_used(ball, monkeypatch):
    """Without pulls forged points stay outside; their bounds would be above the optimum."""
    problems, answers = solved(BALLS[ball], count=3)
    forged = [
        altered(answer, problem, 3.0) for answer, problem in zip(answers, problems, strict=True)
    ]
    monkeypatch.setattr("wdro_cvx.judging.points.PULLS", 0)
    for answer, verdict in zip(answers, judge_many(problems, forged), strict=True):
        assert verdict.bound <= answer.value


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_laplacians_of_low_precision_are_computed_with_in_full(kind):
    """In their own precision the scaled weights missed the trace, with values below the bound."""
    problems, answers = solved(BALLS["wasserstein"])
    coarse = [replace(answer, laplacian=answer.laplacian.astype(kind)) for answer in answers]
    for problem, answer, verdict in zip(
        problems, coarse, judge_many(problems, coarse), strict=True
    ):
        assert_same(verdict, judge(problem, answer))


def test_an_isolated_vertex_leaves_the_other_values_rounded_upwards():
    """Its cost is infinite; the other costs of the stack were then not rounded."""
    problems, answers = solved(BALLS["average"], prior=LogDegree(1.0, 0.2))
    values = [verdict.value for verdict in judge_many(problems, answers)]
    isolated = np.zeros((6, 6))
    isolated[:2, :2] = [[1.0, -1.0], [-1.0, 1.0]]
    answers[0] = replace(answers[0], laplacian=isolated)
    found = [verdict.value for verdict in judge_many(problems, answers)]
    assert found == [np.inf, *values[1:]]


def test_a_graph_without_edges_does_not_stop_the_others():
    problems, answers = solved(BALLS["wasserstein"])
    answers[0] = replace(answers[0], laplacian=-np.eye(6))
    verdicts = judge_many(problems, answers)
    assert not verdicts[0].solved(1e-3)
    assert all(verdict.solved(1e-6) for verdict in verdicts[1:])

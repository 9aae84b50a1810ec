"""``solve_many`` gives the answers of ``solve`` for any mixture of problems."""

from dataclasses import replace

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import random_nominal

from solvers import CertifiedSolver, solve, solve_many
from solvers.bracket.incumbent import Incumbent
from solvers.control.deadline import tick
from wdro_cvx import (
    ChiSquareBall,
    CVaRBall,
    EdgeBounds,
    Frobenius,
    GaussianBall,
    GraphProblem,
    KLBall,
    LogDegree,
    LogDet,
    MomentBall,
    Nominal,
    ProblemError,
    Singleton,
    SolverError,
    Status,
    WassersteinBall,
    judge,
)

TOL = 1e-6
SETS = {
    "average": lambda radius: Singleton(),
    "gaussian": GaussianBall,
    "wasserstein": WassersteinBall,
    "moment": MomentBall,
    "largest degree": lambda radius: MomentBall(radius, p=1.0),
    "kl": KLBall,
    "chi-square": ChiSquareBall,
}


@st.composite
def problem(draw, d, kind):
    """Draw a problem with one of the regimes that leave the usual path of a stack."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    nominal = random_nominal(rng, d, draw(st.sampled_from([1, d, 3 * d])))
    if draw(st.booleans()) and d > 2:  # two vertices with the same signals
        table = nominal.samples.copy()
        table[:, 1] = table[:, 0]
        nominal = Nominal.from_samples(table)
    ball = SETS[kind](draw(st.sampled_from([0.0, 0.05, 0.5, 50.0])))
    eta = draw(st.sampled_from([1e-4, 0.3]))
    form = draw(st.sampled_from(["plain", "plain", "penalty", "log", "bounds"]))
    if form == "penalty":
        return GraphProblem(nominal, ball, eta, trace_penalty=2.0)
    if form == "log":
        return GraphProblem(nominal, ball, prior=LogDegree(1.0, eta))
    if form == "bounds" and d > 3:
        return GraphProblem(nominal, ball, eta, bounds=EdgeBounds.from_edges(d, absent=[(0, 2)]))
    return GraphProblem(nominal, ball, eta)


@st.composite
def mixture(draw):
    """Draw a few problems of one size and set, so that they are stacked, and one of any other."""
    d, kind = draw(st.sampled_from([2, 3, 8, 30])), draw(st.sampled_from(sorted(SETS)))
    alike = draw(st.lists(problem(d, kind), min_size=2, max_size=5))
    return [*alike, draw(problem(6, draw(st.sampled_from(sorted(SETS)))))]


@examples(40)
@given(mixture())
def test_answers_are_those_of_one_by_one(problems):
    for one, answer in zip(problems, solve_many(problems, TOL), strict=True):
        alone = solve(one, TOL)
        assert answer.status is alone.status
        # Each value is within the tolerance of the optimum, relative to the larger of them.
        scale = max(abs(alone.value - alone.constant), alone.floor)
        assert abs(answer.value - alone.value) <= 2.1 * TOL * scale
        verdict = judge(one, answer)
        assert answer.value == pytest.approx(verdict.value, rel=1e-12)
        # Of one answer the judge may stop at the tolerance; of many it does all it can. Both may
        # differ from the judge by rounding.
        least, slack = judge(one, answer, enough=TOL).bound, 1e-11 * scale
        assert least - slack <= answer.bound <= verdict.bound + slack


def gaussian_problems(count, d=6, radius=0.2):
    rng = np.random.default_rng(3)
    return [
        GraphProblem(random_nominal(rng, d, 3 * d), WassersteinBall(radius), eta=0.3)
        for _ in range(count)
    ]


def test_order_is_kept_and_any_iterable_is_taken():
    sizes = [5, 3, 9, 3, 5, 4, 9]
    problems = [gaussian_problems(1, d)[0] for d in sizes]
    answers = solve_many(iter(problems))
    assert [len(answer.laplacian) for answer in answers] == sizes
    assert solve_many([]) == []


def test_a_problem_that_is_not_solved_does_not_spoil_the_others(monkeypatch):
    """The hopeless one has a kink at its optimum, and the methods for kinks are switched off."""
    rng = np.random.default_rng(0)
    hopeless = GraphProblem(random_nominal(rng, 6, 2), WassersteinBall(20.0), eta=1e-3)
    monkeypatch.setattr(CertifiedSolver, "last_phases", lambda *parts: iter(()))
    plain = gaussian_problems(4)
    answers = solve_many([*plain[:2], hopeless, *plain[2:]])
    assert answers[2].status is not Status.SOLVED
    assert not judge(hopeless, answers[2]).solved(TOL)
    for one, answer in zip(plain, answers[:2] + answers[3:], strict=True):
        assert answer.status is Status.SOLVED
        assert judge(one, answer).solved(TOL)


def test_a_wrong_answer_in_a_stack_is_not_called_solved(monkeypatch):
    """The judge has the last word: a solver that reports a wrong graph is found out."""
    own = Incumbent.solution

    def forged(self, status):
        answer = own(self, status)
        complete = self.problem.prior.start(self.problem.d)
        return replace(answer, laplacian=complete) if status is Status.SOLVED else answer

    monkeypatch.setattr(Incumbent, "solution", forged)
    for one, answer in zip(gaussian_problems(3), solve_many(gaussian_problems(3)), strict=True):
        assert answer.status is Status.INACCURATE
        assert answer.gap == pytest.approx(judge(one, answer).gap, rel=1e-9)


def test_the_time_limit_is_for_all_problems_together():
    answers = solve_many(gaussian_problems(5, d=12), 1e-9, time_limit=1e-9)
    assert {answer.status for answer in answers} == {Status.TIME_LIMIT}
    assert all(0.0 < answer.gap < np.inf for answer in answers)


def test_inner_loops_notice_the_time_limit(monkeypatch):
    """The interior point of a hard case takes very long here, unless its ticks end it."""
    finished = []

    def slow(*given):
        for _ in range(10**7):
            tick()
        finished.append(given)

    monkeypatch.setattr("solvers.transport.solve.solve_transport", slow)
    rng = np.random.default_rng(0)
    hard = GraphProblem(random_nominal(rng, 6, 2), WassersteinBall(20.0), eta=1e-3)
    (answer,) = solve_many([hard], time_limit=0.5)
    assert answer.status is Status.TIME_LIMIT
    assert not finished


def test_starts_save_iterations():
    problems = gaussian_problems(4, d=12)
    cold = solve_many(problems)
    warm = solve_many(problems, starts=cold)
    assert sum(one.iterations for one in warm) < sum(one.iterations for one in cold)


def test_an_interrupt_ends_the_whole_run(monkeypatch):
    """Also between the problems that are solved one by one."""
    problem = gaussian_problems(1)[0]
    bounded = problem.replace(bounds=EdgeBounds.from_edges(6, absent=[(0, 1)]))
    hard = replace(bounded, ambiguity=MomentBall(0.2))  # not stacked
    answer = replace(solve(hard), status=Status.INTERRUPTED)
    monkeypatch.setattr("solvers.many.solve", lambda *given, **options: answer)
    with pytest.raises(KeyboardInterrupt):
        solve_many([problem, hard])


def test_an_answer_of_a_stack_that_is_not_solved_is_solved_alone(monkeypatch):
    """A stack is a faster way to an answer, and never the reason that there is none."""
    monkeypatch.setattr(CertifiedSolver, "phases", lambda *given: (yield from ()))
    asked = []

    def spied(problem, *given, **options):
        asked.append(problem)
        monkeypatch.undo()
        return solve(problem, *given, **options)

    monkeypatch.setattr("solvers.many.solve", spied)
    problem = gaussian_problems(1)[0]
    (answer,) = solve_many([problem])
    assert asked == [problem]
    assert answer.status is Status.SOLVED


def test_bad_input_is_named_before_work_starts():
    problems = gaussian_problems(2)
    needless = replace(problems[0], prior=Frobenius(0.0, 6.0), terms=(LogDet(1.0),))
    kinked = replace(needless, ambiguity=CVaRBall(0.5))
    with pytest.raises(SolverError, match=r"problems\[2\]: no registered solver"):
        solve_many([problems[0], needless, kinked])
    with pytest.raises(ProblemError, match=r"problems\[1\] must be a GraphProblem; it is int"):
        solve_many([problems[0], 3])
    with pytest.raises(ProblemError, match="starts must have one entry for each of the 2"):
        solve_many(problems, starts=[None])
    tiny = problems[1].replace(eta=1e-150)
    with pytest.raises(ProblemError, match=r"problems\[1\]: eta is"):
        solve_many([problems[0], tiny])

import numpy as np
import pytest
from instances import paper_problem, random_nominal

from solvers import BlockDescent, CertifiedSolver, ProjectedGradient, solve, solve_path
from solvers.bracket.limits import Clock, OutOfTime, judged
from wdro_cvx import (
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    ProblemError,
    Singleton,
    Solution,
    Status,
    judge,
)
from wdro_cvx.graphs.laplacian import complete_graph


def test_a_clock_rings_after_its_limit():
    Clock().check()
    with pytest.raises(OutOfTime):
        Clock(1e-9).check()
    with pytest.raises(ProblemError, match="time_limit must be > 0"):
        Clock(0.0)


@pytest.mark.parametrize("tol", [1e-14, 1.5, 1e300, float("nan"), 0.0, "x", True])
def test_a_gap_that_cannot_be_proved_or_says_nothing_is_refused(tol):
    """Asked for less than rounding leaves, a solver would go on for its last iteration."""
    problem = paper_problem(4, 5, GaussianBall(0.5))
    for call in (
        lambda: solve(problem, tol),
        lambda: solve_path(problem, [0.1], tol=tol),
        lambda: ProjectedGradient(tol),
        lambda: BlockDescent(tol),
    ):
        with pytest.raises(ProblemError, match=r"tol (is|must be) a|tol must be finite and > 0"):
            call()


@pytest.mark.parametrize("solver", [CertifiedSolver, ProjectedGradient, BlockDescent])
def test_without_time_there_is_an_honest_answer(solver):
    problem = paper_problem(20, 5, GaussianBall(3.0), eta=0.01)
    answer = solver(time_limit=1e-9).solve(problem)
    assert answer.status is Status.TIME_LIMIT
    verdict = judge(problem, answer)
    assert verdict.residuals.largest <= 1e-12
    assert verdict.gap > 1e-6
    assert verdict.value == pytest.approx(answer.value, rel=1e-9)


def test_an_answer_that_the_judge_refuses_is_not_solved():
    problem = paper_problem(8, 20, Singleton())
    claim = Solution(complete_graph(8, 8.0), 0.0, Status.SOLVED, 0.0)
    found = judged(problem, claim, 1e-6)
    assert found.status is Status.INACCURATE
    assert found.bound < found.value
    assert found.distance > 0.0


def test_a_limit_that_was_not_needed_is_forgotten():
    problem = paper_problem(8, 20, Singleton())
    best = solve(problem)
    claim = Solution(best.laplacian, 0.0, Status.ITERATION_LIMIT, certificate=best.certificate)
    assert judged(problem, claim, 1e-6).status is Status.SOLVED


@pytest.mark.parametrize("unit", [1e-60, 1e-8, 1e8, 1e60])
@pytest.mark.parametrize("ambiguity", [Singleton(), GaussianBall(0.5), MomentBall(0.5)])
def test_any_unit_gives_the_same_graph(unit, ambiguity):
    nominal = random_nominal(np.random.default_rng(0), 6, 20)
    problem = GraphProblem(nominal, ambiguity, 0.1)
    other = problem.scaled(unit)
    first, second = solve(problem, 1e-9), solve(other, 1e-9)
    assert second.status is Status.SOLVED
    assert second.value == pytest.approx(first.value * unit**2, rel=1e-8)
    np.testing.assert_allclose(first.laplacian, second.laplacian, atol=1e-3)


def test_money_at_a_tiny_eta_keeps_the_cheapest_edge():
    """Data² of 1e18 times eta: no edge survived rounding, and an empty graph was called solved."""
    samples = 1e9 * np.random.default_rng(0).standard_normal((30, 6))
    problem = GraphProblem(Nominal.from_samples(samples), Singleton(), 0.3)
    answer = solve(problem)
    assert answer.status is Status.SOLVED
    assert np.trace(answer.laplacian) == pytest.approx(6.0)


def test_projected_gradient_says_beforehand_what_it_cannot_do():
    nominal = random_nominal(np.random.default_rng(0), 4, 9)
    bounds = EdgeBounds.from_edges(4, absent=[(0, 1)])
    problem = GraphProblem(nominal, GaussianBall(0.5), 0.1, trace_penalty=1.0, bounds=bounds)
    for solver in (ProjectedGradient(), BlockDescent()):
        with pytest.raises(ProblemError, match="bounds with a trace penalty"):
            solver.check_claim(problem)


def test_block_descent_on_a_graph_that_a_weak_penalty_empties():
    nominal = random_nominal(np.random.default_rng(0), 4, 9)
    problem = GraphProblem(nominal, GaussianBall(5.0), 0.1, trace_penalty=1e-4)
    answer = BlockDescent().solve(problem)
    assert answer.status is not Status.SOLVED or judge(problem, answer).solved(1e-6)

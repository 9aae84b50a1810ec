"""The paper's algorithms as printed: line search, stopping rules and where they end."""

import cvxpy as cp
import numpy as np
import pytest
from instances import paper_problem, random_nominal

from formulations import GeneralRegularized, RobustPremium
from solvers import (
    BlockDescent,
    PrintedDescent,
    PrintedGradient,
    ProjectedGradient,
    registered,
    solve,
)
from solvers.paper.printed_objectives import general_objective
from solvers.paper.step import start_weights
from wdro_cvx import (
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    LogDegree,
    MomentBall,
    ProblemError,
    SolverError,
    Status,
    WassersteinBall,
    judge,
)
from wdro_cvx.graphs.laplacian import weights_from_laplacian


@pytest.mark.parametrize("p", [3.0, 4.0, 4 / 3])
def test_equation_45_has_fractional_powers_of_negative_numbers(p):
    """For p = 4/3 it is rounding that makes q fractional, a little above 4."""
    problem = paper_problem(7, 14, MomentBall(0.8, p=p), trace_penalty=3.0)
    answer = PrintedGradient(as_printed=True).solve(problem)
    assert answer.status is Status.FAILED
    assert answer.iterations == 0
    assert answer.value == pytest.approx(problem.value(problem.prior.start(7)))


@pytest.mark.parametrize("p", [1.5, 2.0, 3.0])
def test_algorithm_4_converges_to_the_penalised_optimum(p):
    problem = paper_problem(8, 16, MomentBall(0.5, p=p), trace_penalty=1.0)
    answer = PrintedGradient(tol=1e-6).solve(problem)
    reference = GeneralRegularized(problem).solve()
    assert answer.value == pytest.approx(reference.value, rel=1e-7)
    assert judge(problem, answer).solved(1e-6)
    np.testing.assert_allclose(answer.laplacian, reference.laplacian, atol=1e-4)


@pytest.mark.parametrize("ambiguity", [GaussianBall(0.5), WassersteinBall(0.5)])
def test_algorithm_3_converges_to_the_penalised_optimum(ambiguity):
    problem = paper_problem(6, 12, ambiguity, trace_penalty=1.0)
    answer = PrintedDescent(tol=1e-5).solve(problem)
    reference = RobustPremium(problem).solve()
    assert answer.value == pytest.approx(reference.value, rel=1e-7)
    assert judge(problem, answer).solved(1e-6)
    assert answer.multiplier == pytest.approx(reference.multiplier, rel=1e-3)


@pytest.mark.parametrize("tol", [1e-4, 1e-8])
def test_the_printed_gradients_end_above_the_optimum_whatever_the_error(tol):
    problem = paper_problem(8, 16, GaussianBall(0.5), trace_penalty=1.0)
    answer = PrintedDescent(tol=tol, as_printed=True, max_iterations=50).solve(problem)
    assert 1e-6 < answer.value / solve(problem, 1e-9).value - 1.0 < 1e-2
    problem = paper_problem(8, 16, MomentBall(0.5, p=1.5), trace_penalty=1.0)
    answer = PrintedGradient(tol=tol, as_printed=True).solve(problem)
    assert 1e-6 < answer.value / solve(problem, 1e-9).value - 1.0 < 1e-2


def test_algorithm_2_minimises_at_its_multiplier():
    nominal = random_nominal(np.random.default_rng(1), 5, 15)
    problem = GraphProblem(nominal, GaussianBall(0.5), 0.3, trace_penalty=3.0)
    gamma, theta = 3.0, problem.nominal.second_moment
    answer = PrintedGradient(tol=1e-7).solve_at(problem, gamma)
    laplacian = cp.Variable((5, 5), symmetric=True)
    constraints = [cp.sum(laplacian, axis=1) == 0, laplacian[~np.eye(5, dtype=bool)] <= 0]
    rows = problem.nominal.factor.T
    risk = gamma**2 * cp.matrix_frac(rows, gamma * np.eye(5) - laplacian)
    penalty = 3.0 * cp.square(cp.trace(laplacian) - 5)
    objective = risk + 0.3 * cp.sum_squares(laplacian) + penalty
    optimum = cp.Problem(cp.Minimize(objective), constraints).solve("CLARABEL")
    optimum += gamma * (0.25 - np.trace(theta))
    assert answer.history[-1]["value"] == pytest.approx(optimum, rel=1e-7)
    assert answer.history[-1]["value"] >= answer.value  # γ is not the best one
    assert answer.multiplier == gamma
    assert np.linalg.eigvalsh(answer.laplacian)[-1] < gamma
    again = PrintedGradient(tol=1e-7).solve_at(problem, gamma, answer.laplacian)
    assert again.iterations <= 3 < answer.iterations


@pytest.mark.parametrize(
    ("printed", "improved", "ambiguity"),
    [
        (PrintedGradient(tol=1e-4), ProjectedGradient(), MomentBall(0.5)),
        (PrintedDescent(tol=3e-4), BlockDescent(), GaussianBall(0.5)),
    ],
)
def test_the_printed_method_takes_ten_times_the_steps_and_decreases(printed, improved, ambiguity):
    problem = paper_problem(10, 20, ambiguity, trace_penalty=10.0)
    answer = printed.solve(problem)
    assert answer.iterations >= 10 * improved.solve(problem).iterations
    values = [row["value"] for row in answer.history]
    assert np.all(np.diff(values) <= 0)
    assert values[0] <= problem.value(problem.prior.start(10))
    assert values[-1] == pytest.approx(answer.value, rel=1e-5)
    assert judge(problem, answer).solved(1e-3)


def test_algorithm_4_stops_at_the_first_short_step():
    problem = paper_problem(8, 16, MomentBall(0.5), trace_penalty=5.0)
    answer = PrintedGradient(tol=1e-3).solve(problem)
    lengths = [row["length"] for row in answer.history]
    assert min(lengths[:-1]) >= 1e-3 > lengths[-1]
    before = PrintedGradient(1e-3, max_iterations=answer.iterations - 1).solve(problem)
    moved = weights_from_laplacian(answer.laplacian - before.laplacian)
    assert lengths[-1] == pytest.approx(np.linalg.norm(moved), rel=1e-9)


def test_algorithm_3_stops_at_the_first_short_round():
    problem = paper_problem(8, 16, GaussianBall(0.5), trace_penalty=5.0)
    answer = PrintedDescent(tol=1e-3).solve(problem)
    lengths = [row["length"] for row in answer.history]
    assert len(lengths) > 2
    assert min(lengths[:-1]) >= 1e-3 > lengths[-1]
    assert answer.iterations == sum(row["steps"] for row in answer.history)
    before = PrintedDescent(1e-3, max_iterations=len(lengths) - 1).solve(problem)
    assert before.status is Status.ITERATION_LIMIT
    moved = np.linalg.norm(answer.laplacian - before.laplacian)
    assert lengths[-1] == pytest.approx(moved, rel=1e-9)


def test_a_short_step_is_not_a_small_gap():
    """The rule ends at once, 10 % above the optimum; the answer does not claim to be solved."""
    problem = paper_problem(40, 80, MomentBall(0.5), trace_penalty=100.0)
    answer = PrintedGradient(tol=1e-3).solve(problem)
    assert answer.status is Status.INACCURATE
    assert answer.bound == -np.inf
    assert answer.history[-1]["length"] < 1e-3
    assert answer.value > 1.1 * solve(problem).value


@pytest.mark.parametrize("penalty", [2.5, 5.0, 10.0])
def test_the_line_search_halves_from_one_until_armijo_holds(penalty):
    problem = paper_problem(8, 16, MomentBall(0.5), trace_penalty=penalty)
    objective, weights = general_objective(problem, False), start_weights(problem)
    value, gradient = objective(weights)[0], objective(weights)[1]()

    def sufficient(step):
        moved = np.maximum(weights - step * gradient, 0.0)
        return objective(moved)[0] <= value + 1e-4 * gradient @ (moved - weights)

    tried = [0.5**k for k in range(30)]
    step = PrintedGradient(max_iterations=1).solve(problem).history[0]["step"]
    assert step == next(s for s in tried if sufficient(s)) < 1.0


@pytest.mark.parametrize("radius", [0.3, 0.4, 0.5, 0.7, 1.0])
def test_the_printed_bisection_finds_the_multiplier(radius):
    problem = paper_problem(8, 16, GaussianBall(radius), trace_penalty=5.0)
    start = problem.prior.start(8)
    gamma = problem.ambiguity.worst_case(problem.nominal, start).multiplier
    for tol in (1e-2, 1e-5, 1e-300):  # the last is less than the distance of two numbers
        answer = PrintedDescent(tol, max_iterations=1, max_inner_iterations=1).solve(problem)
        assert answer.multiplier == pytest.approx(gamma, abs=max(tol, 1e-12) / 2)


def test_a_root_above_the_bracket_is_named():
    problem = paper_problem(20, 40, GaussianBall(0.5), trace_penalty=10.0)
    with pytest.raises(SolverError, match=r"would never end.*larger upper_factor \(a\)"):
        PrintedDescent(upper_factor=10.0).solve(problem)


def test_a_root_below_the_bracket_is_named():
    problem = paper_problem(6, 12, GaussianBall(0.5), trace_penalty=10.0)
    with pytest.raises(SolverError, match=r"would never end.*smaller lower_shift \(b\)"):
        PrintedDescent(lower_shift=50.0).solve(problem)
    hard = GraphProblem(
        random_nominal(np.random.default_rng(0), 6, 1), GaussianBall(20.0), 0.1, trace_penalty=5.0
    )
    with pytest.raises(SolverError, match="there may be no root"):
        PrintedDescent(tol=1e-3).solve(hard)


@pytest.mark.parametrize(
    ("solver", "ambiguity"),
    [(PrintedGradient, MomentBall(0.5)), (PrintedDescent, GaussianBall(0.5))],
)
def test_limits_are_reported(solver, ambiguity):
    problem = paper_problem(12, 24, ambiguity, trace_penalty=10.0)
    answer = solver(tol=1e-3, max_iterations=2).solve(problem)
    assert answer.status is Status.ITERATION_LIMIT
    assert len(answer.history) == 2
    answer = solver(time_limit=1e-9).solve(problem)
    assert answer.status is Status.TIME_LIMIT
    assert judge(problem, answer).value == pytest.approx(answer.value, rel=1e-9)


def test_the_inner_limit_ends_a_round_only():
    problem = paper_problem(6, 12, GaussianBall(0.5), trace_penalty=1.0)
    answer = PrintedDescent(tol=1e-4, max_inner_iterations=1).solve(problem)
    assert {row["steps"] for row in answer.history} == {1}
    assert judge(problem, answer).solved(1e-4)


def test_a_weak_penalty_empties_the_graph():
    """``L = 0``, where equation 45 has 0/0, and where the bracket of Algorithm 1 is empty."""
    nominal = random_nominal(np.random.default_rng(0), 4, 9)
    for solver, ambiguity in [
        (PrintedGradient(), MomentBall(5.0)),
        (PrintedDescent(), GaussianBall(5.0)),
    ]:
        problem = GraphProblem(nominal, ambiguity, 0.1, trace_penalty=1e-4)
        answer = solver.solve(problem)
        assert not answer.laplacian.any()
        assert answer.value == pytest.approx(1e-4 * 16)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: PrintedGradient(tol=0.0), "tol must be finite and > 0"),
        (lambda: PrintedGradient(max_iterations=0), "max_iterations"),
        (lambda: PrintedGradient(time_limit=0.0), "time_limit"),
        (lambda: PrintedDescent(tol=np.nan), "tol"),
        (lambda: PrintedDescent(upper_factor=1.0), "upper_factor must be finite and > 1"),
        (lambda: PrintedDescent(lower_shift=0.0), "lower_shift must be finite and > 0"),
        (lambda: PrintedDescent(max_iterations=1.5), "max_iterations"),
        (lambda: PrintedDescent(max_inner_iterations=0), "max_inner_iterations"),
    ],
)
def test_bad_settings_are_named(build, message):
    with pytest.raises(ProblemError, match=message):
        build()


def test_problems_that_the_paper_does_not_have_are_refused():
    nominal = random_nominal(np.random.default_rng(0), 4, 9)
    bounds = EdgeBounds.from_edges(4, absent=[(0, 1)])
    for solver, good, bad in [
        (PrintedGradient(), MomentBall(0.5), GaussianBall(0.5)),
        (PrintedDescent(), GaussianBall(0.5), MomentBall(0.5)),
    ]:
        for problem, message in [
            (GraphProblem(nominal, good, 0.1), "fixes the trace. Give the problem trace_penalty"),
            (GraphProblem(nominal, bad, 0.1, trace_penalty=1.0), "solves problems with"),
            (GraphProblem(nominal, good, prior=LogDegree(1.0, 0.1)), "only the paper's prior"),
            (
                GraphProblem(nominal, good, 0.1, trace_penalty=1.0, bounds=bounds),
                "knows no bounds",
            ),
        ]:
            with pytest.raises(ProblemError, match=message):
                solver.solve(problem)
    with pytest.raises(ProblemError, match="a radius above 0"):
        PrintedDescent().solve(GraphProblem(nominal, GaussianBall(0.0), 0.1, trace_penalty=1.0))


def test_algorithm_2_refuses_what_it_cannot_start_from():
    problem = paper_problem(4, 8, GaussianBall(0.5), trace_penalty=1.0)
    with pytest.raises(ProblemError, match=r"multiplier must exceed λmax = 1.33333 of start"):
        PrintedGradient().solve_at(problem, 1.3)
    with pytest.raises(ProblemError, match="Algorithm 2 is for GaussianBall or WassersteinBall"):
        PrintedGradient().solve_at(paper_problem(4, 8, MomentBall(0.5), trace_penalty=1.0), 9.0)
    with pytest.raises(ProblemError, match="fixes the trace"):
        PrintedGradient().solve_at(paper_problem(4, 8, GaussianBall(0.5)), 9.0)


def test_they_are_registered_and_never_chosen_by_solve():
    for solver in (PrintedGradient, PrintedDescent):
        assert registered()[solver.__name__] is solver
        assert solver.rank is None

"""Moment balls: starts, limits, rounding, and what is reported."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from instances import frobenius_qp, paper_problem, random_nominal, seeds
from moments import EXPONENTS, check_solved, etas, exponents, penalties

from solvers import MomentNewton, registered
from solvers.norm.ascent import ascend
from solvers.norm.dual import MomentEvidence, moment_point
from solvers.qp import LaplacianQP
from wdro_cvx import (
    Certificate,
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    ProblemError,
    Solution,
    Status,
    judge,
)
from wdro_cvx.graphs.laplacian import complete_graph


@pytest.mark.parametrize("penalty", [None, 1.0])
@pytest.mark.parametrize("p", EXPONENTS)
def test_warm_starts_save_steps_and_change_nothing(p, penalty):
    problem = paper_problem(40, 60, MomentBall(0.5, p=p), trace_penalty=penalty)
    solver = MomentNewton()
    first = solver.solve(problem)
    assert solver.solve(problem, first).iterations <= 1
    cold_steps = warm_steps = 0
    previous = first
    for radius in (0.55, 0.6, 0.7):
        moved = replace(problem, ambiguity=MomentBall(radius, p=p))
        cold, warm = solver.solve(moved), solver.solve(moved, previous)
        check_solved(moved, warm)
        assert warm.value == pytest.approx(cold.value, rel=1e-6)
        cold_steps, warm_steps = cold_steps + cold.iterations, warm_steps + warm.iterations
        previous = warm
    assert warm_steps < cold_steps


@pytest.mark.parametrize("p", EXPONENTS)
def test_a_start_is_scaled_to_the_trace(p):
    """Twice the trace at half of η has twice the Laplacian for a solution."""
    problem = paper_problem(15, 20, MomentBall(0.5, p=p))
    twice = problem.replace(trace=2 * problem.target_trace, eta=problem.eta / 2)
    solution = MomentNewton().solve(twice, MomentNewton(tol=1e-10).solve(problem))
    check_solved(twice, solution)
    assert solution.iterations <= 1


@given(seeds, exponents, exponents, penalties, penalties, etas)
def test_any_solution_is_a_start(seed, p, other_p, penalty, other_penalty, eta):
    """From other data, another norm, another trace rule, or no certificate at all."""
    rng = np.random.default_rng(seed)
    first, second = (random_nominal(rng, 6, 4) for _ in range(2))
    start = MomentNewton().solve(
        GraphProblem(first, MomentBall(2.0, p=other_p), 0.3, trace_penalty=other_penalty)
    )
    problem = GraphProblem(second, MomentBall(0.5, p=p), eta, trace_penalty=penalty)
    for given_start in (start, replace(start, certificate=None)):
        check_solved(problem, MomentNewton().solve(problem, given_start))


def test_starts_that_say_nothing():
    problem = paper_problem(6, 10, MomentBall(0.5, p=1.0))
    theta = problem.nominal.second_moment
    for laplacian in (np.zeros((6, 6)), -np.eye(6)):
        start = Solution(laplacian, 0.0, Status.FAILED, certificate=Certificate(theta))
        check_solved(problem, MomentNewton().solve(problem, start))


@pytest.mark.parametrize("p", EXPONENTS)
def test_limits_are_reported_with_the_true_gap(p):
    problem = paper_problem(40, 60, MomentBall(0.5, p=p))
    optimum = MomentNewton(tol=1e-9).solve(problem).value
    solution = MomentNewton(max_iterations=1).solve(problem)
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.iterations == 1
    assert solution.gap > 1e-6
    assert solution.bound <= optimum * (1 + 1e-9) <= solution.value * (1 + 2e-9)
    verdict = judge(problem, solution.laplacian, solution.certificate)
    assert solution.value == pytest.approx(verdict.value, rel=1e-12)
    assert verdict.bound >= solution.bound * (1 - 1e-12)


@pytest.mark.parametrize("p", EXPONENTS)
def test_solved_means_that_the_gap_is_proved(p):
    problem = paper_problem(30, 20, MomentBall(0.5, p=p))
    claims = set()
    for limit in range(1, 12):
        solution = MomentNewton(tol=1e-6, max_iterations=limit).solve(problem)
        proved = solution.value - solution.bound <= 1e-6 * solution.value
        assert (solution.status is Status.SOLVED) == proved
        claims.add(proved)
    assert claims == {True, False}


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("d", [2, 5, 12])
def test_a_tolerance_beyond_rounding_ends_at_rounding(d, p):
    """For p = 1 all degrees may tie, and the Hessian is singular at the optimum itself."""
    problem = paper_problem(d, 30, MomentBall(5.0, p=p))
    solution = MomentNewton(tol=1e-13).solve(problem)
    assert solution.status is not Status.ITERATION_LIMIT
    assert abs(solution.gap) <= 1e-11


def test_a_newton_step_from_the_optimum_goes_nowhere():
    """Two vertices whose degrees tie: nothing but the damping's floor curves ``ν_1 - ν_2``."""
    ball = MomentBall(5.0, p=1.0)
    problem = paper_problem(2, 30, ball)
    moment, eta = problem.nominal.second_moment, problem.eta
    nu = np.full(2, 2 * eta + 5.0 / 2)  # of degrees 1, with the shift shared
    tau = np.trace(moment) - 2 * moment[0, 1] + nu.sum() + 4 * eta
    nominal = MomentEvidence(moment, nu, tau)
    point = moment_point(frobenius_qp(moment, eta, 2.0), ball, nominal)
    grad_nu, grad_tau = point.gradient()
    np.testing.assert_allclose(np.append(grad_nu, grad_tau), 0.0, atol=1e-13)
    d_nu, d_tau = point.curvature().direction(grad_nu, grad_tau)
    np.testing.assert_allclose(np.append(d_nu, d_tau), 0.0, atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_a_kink_does_not_stop_the_ascent(seed):
    """For p = 1 the largest degree errs to first order where the dual is flat to rounding."""
    nominal = random_nominal(np.random.default_rng(seed), 20, 10)
    problem = GraphProblem(nominal, MomentBall(20.0, p=1.0), 1e-3)
    check_solved(problem, MomentNewton(tol=1e-9).solve(problem), 1e-9)


@pytest.mark.parametrize("calls", [3, 5])
def test_stages_stop_as_soon_as_they_are_told(monkeypatch, calls):
    """The clock is read after every Newton step of a stage too, and not only between stages."""
    monkeypatch.setattr("solvers.norm.ascent._PLAIN_STEPS", 1)
    rng = np.random.default_rng(0)
    nominal = Nominal.from_samples(rng.standard_normal((3, 30)))
    problem = GraphProblem(nominal, MomentBall(10.0, p=1.1), eta=0.01).normalised
    qp, guess = LaplacianQP(problem.nominal.second_moment, problem.prior), complete_graph(30, 30.0)
    moment = problem.ambiguity.worst_case(problem.nominal, guess).second_moment
    start = MomentEvidence(moment, np.zeros(30), 0.0)
    heard = []

    def watch(value, bound):
        heard.append((value, bound))
        return len(heard) >= calls

    found = ascend(qp, problem.ambiguity, start, 1e-12, 500, watch)
    # Two of the calls are between stages.
    assert calls - 2 <= found.steps <= calls
    assert all(bound <= value for value, bound in heard)


def test_a_limit_without_any_edge_still_gives_a_graph():
    """With the radius all there is, the first prices lie in the ball and stand for no weight."""
    problem = paper_problem(10, 5, MomentBall(1e4, p=4.0), eta=1e-4)
    solution = MomentNewton(max_iterations=1).solve(problem)
    assert judge(problem, solution.laplacian).residuals.largest <= 1e-12
    assert np.isfinite(solution.gap)


@pytest.mark.parametrize("p", EXPONENTS)
def test_what_is_reported(p):
    problem = paper_problem(20, 30, MomentBall(0.5, p=p, alpha=2.0))
    solution = MomentNewton().solve(problem)
    worst = problem.ambiguity.worst_case(problem.nominal, solution.laplacian)
    assert solution.multiplier == worst.multiplier
    assert solution.solve_s > 0.0
    assert solution.certificate is not None
    assert solution.certificate.trace_multiplier is not None
    assert solution.history[-1]["value"] == pytest.approx(solution.value, rel=1e-9)
    # The judge may find a better bound than the last step's.
    assert solution.history[-1]["bound"] <= solution.bound * (1 + 1e-9)


@pytest.mark.parametrize("p", EXPONENTS)
def test_the_history_closes_in_from_both_sides(p):
    """The weights of a better dual point may be worse ones; what counts is the best so far."""
    for seed in range(4):
        ball = MomentBall(1e-3, p=p)
        problem = paper_problem(5, 1, ball, eta=10.0, trace_penalty=1.0, seed=seed)
        solution = MomentNewton().solve(problem)
        assert len(solution.history) == solution.iterations + 1
        values = [row["value"] for row in solution.history]
        bounds = [row["bound"] for row in solution.history]
        assert values == sorted(values, reverse=True)
        assert bounds == sorted(bounds)


def test_the_problem_is_left_alone():
    problem = paper_problem(10, 5, MomentBall(0.5, p=1.5))
    theta = problem.nominal.second_moment.copy()
    first, second = MomentNewton().solve(problem), MomentNewton().solve(problem)
    np.testing.assert_array_equal(problem.nominal.second_moment, theta)
    np.testing.assert_array_equal(first.laplacian, second.laplacian)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: MomentNewton(tol=0.0), "tol"),
        (lambda: MomentNewton(tol=-1.0), "tol"),
        (lambda: MomentNewton(max_iterations=0), "max_iterations"),
        (lambda: MomentNewton(max_iterations=2.5), "max_iterations"),
        (lambda: MomentNewton().check_claim(paper_problem(4, 5, GaussianBall(1.0))), "Gaussian"),
        (lambda: MomentNewton().solve(paper_problem(4, 5, GaussianBall(1.0))), "MomentBall"),
        (
            lambda: MomentNewton().solve(
                paper_problem(4, 5, MomentBall(1.0)),
                Solution(np.eye(5), 0.0, Status.SOLVED),
            ),
            r"start\.laplacian",
        ),
    ],
)
def test_bad_use_is_named(use, message):
    with pytest.raises(ProblemError, match=message):
        use()


def test_registration():
    assert registered()["MomentNewton"] is MomentNewton

"""Limits, callbacks, interrupts and starts of the certified solver."""

from dataclasses import replace

import numpy as np
import pytest
from certified import CONIC, HARD, SETS, assert_brackets, assert_honest, conic_value
from instances import paper_problem

from formulations import RobustPremium
from solvers.generic import CertifiedSolver
from wdro_cvx import GaussianBall, MomentBall, ProblemError, Status


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8])
@pytest.mark.parametrize(
    "problem", [paper_problem(15, 20, GaussianBall(0.5)), HARD], ids=["smooth", "hard"]
)
def test_a_limit_leaves_an_honest_gap(problem, limit):
    # The smooth instance takes 7 iterations to 1e-9, the hard one 12.
    tol = 1e-9
    solution = CertifiedSolver(tol, max_iterations=limit).solve(problem)
    if problem is HARD or limit <= 3:
        assert solution.status is Status.ITERATION_LIMIT
        assert solution.gap > tol
    assert solution.iterations <= limit
    if problem is HARD or solution.status is Status.ITERATION_LIMIT:
        assert solution.iterations == limit
    assert_brackets(solution, conic_value(problem), 1e-6 if problem is HARD else CONIC)
    assert_honest(problem, solution, tol)


@pytest.mark.parametrize(
    "problem",
    [paper_problem(15, 20, GaussianBall(0.5)), paper_problem(15, 20, MomentBall(0.5)), HARD],
    ids=["gaussian", "moment", "hard"],
)
def test_the_callback_sees_the_gap_close(problem):
    seen = []
    solution = CertifiedSolver(1e-8, callback=seen.append).solve(problem)
    iterations = [row.iteration for row in seen]
    assert len(seen) >= 3
    assert np.all(np.diff(iterations) > 0)
    assert np.all(np.diff([row.gap for row in seen]) <= 0)
    assert np.all(np.diff([row.seconds for row in seen]) >= 0)
    assert all(row.bound <= solution.value for row in seen)
    last = seen[-1]
    assert last.iteration == solution.iterations
    # The solution's figures are the judge's, rounded outwards; its τ may be better.
    assert last.value == pytest.approx(solution.value, rel=1e-11)
    assert last.bound * (1 - 1e-11) <= solution.bound
    assert [row["value"] for row in solution.history] == [row.value for row in seen]


def test_progress_goes_to_standard_error(capsys):
    problem = paper_problem(12, 20, GaussianBall(0.5))
    seen = []
    quiet = CertifiedSolver().solve(problem)
    assert capsys.readouterr() == ("", "")
    shown = CertifiedSolver(progress=True, callback=seen.append).solve(problem)
    written = capsys.readouterr()
    assert written.out == ""
    assert "gap" in written.err
    assert f"{shown.iterations} iterations" in written.err
    assert len(seen) == shown.iterations
    np.testing.assert_array_equal(shown.laplacian, quiet.laplacian)


@pytest.mark.parametrize("progress", [False, True])
@pytest.mark.parametrize("stop", [1, 3, 7])
def test_an_interrupt_returns_the_best_so_far(stop, progress, capsys):
    def interrupt(row):
        if row.iteration >= stop:
            raise KeyboardInterrupt

    solution = CertifiedSolver(callback=interrupt, progress=progress).solve(HARD)
    assert solution.status is Status.INTERRUPTED
    assert solution.iterations == stop
    assert 1e-6 < solution.gap < 1.0
    assert_brackets(solution, conic_value(HARD), 1e-6)
    assert_honest(HARD, solution, tol=0.0)


def test_other_exceptions_of_a_callback_pass():
    def fail(row):
        raise RuntimeError("from the callback")

    with pytest.raises(RuntimeError, match="from the callback"):
        CertifiedSolver(callback=fail).solve(HARD)


@pytest.mark.parametrize("penalty", [None, 1.0])
@pytest.mark.parametrize("ambiguity", SETS[1:], ids=repr)
def test_a_neighbour_is_a_good_start(ambiguity, penalty):
    problem = paper_problem(15, 40, ambiguity, trace_penalty=penalty)
    solver = CertifiedSolver(tol=1e-8)
    neighbour = solver.solve(replace(problem, ambiguity=replace(ambiguity, radius=0.51)))
    cold, warm = solver.solve(problem), solver.solve(problem, neighbour)
    again = solver.solve(problem, cold)
    assert warm.status is again.status is Status.SOLVED
    assert warm.iterations <= cold.iterations
    assert again.iterations == 1
    assert warm.value == pytest.approx(cold.value, rel=2e-8)
    assert again.value == pytest.approx(cold.value, rel=1e-14)
    assert_honest(problem, warm, 1e-8)


def test_a_start_that_is_not_feasible_is_not_the_answer():
    """The answer to the penalised problem has another trace, and a value below the optimum."""
    problem = paper_problem(12, 20, GaussianBall(0.5))
    solver = CertifiedSolver()
    penalised = solver.solve(problem.replace(trace_penalty=0.5))
    assert np.trace(penalised.laplacian) < 0.9 * 12
    solution = solver.solve(problem, penalised)
    assert solution.value == pytest.approx(conic_value(problem), rel=1e-6 + CONIC)
    assert_honest(problem, solution)


def test_a_start_that_is_nearly_feasible_is_made_so():
    """A trace short by 1e-7, as conic solvers leave it, gives a value below the optimum."""
    problem = paper_problem(12, 20, GaussianBall(0.5))
    reference = RobustPremium(problem).solve()
    start = replace(reference, laplacian=(1 - 1e-7) * reference.laplacian)
    solution = CertifiedSolver(tol=1e-8).solve(problem, start)
    assert solution.status is Status.SOLVED
    assert solution.gap >= -1e-12
    assert_honest(problem, solution, 1e-8)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: CertifiedSolver(tol=0.0), "tol"),
        (lambda: CertifiedSolver(tol=-1e-6), "tol"),
        (lambda: CertifiedSolver(tol=np.nan), "tol"),
        (lambda: CertifiedSolver(max_iterations=0), "max_iterations"),
        (lambda: CertifiedSolver(max_iterations=2.5), "max_iterations"),
        (
            lambda: CertifiedSolver().solve(
                HARD, CertifiedSolver().solve(paper_problem(4, 5, SETS[1]))
            ),
            "start",
        ),
    ],
)
def test_bad_use_is_named(build, message):
    with pytest.raises(ProblemError, match=message):
        build()

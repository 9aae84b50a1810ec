import numpy as np
import pytest
from instances import all_sets, paper_problem

from formulations import RobustPremium
from solvers import MomentNewton, solve, solve_path
from wdro_cvx import GaussianBall, MomentBall, ProblemError, Singleton, Status, judge


@pytest.mark.parametrize("penalty", [None, 5.0])
@pytest.mark.parametrize("ambiguity", all_sets(0.5), ids=str)
def test_solve_certifies_every_set(ambiguity, penalty):
    problem = paper_problem(15, 30, ambiguity, trace_penalty=penalty)
    answer = solve(problem, tol=1e-7)
    assert answer.status is Status.SOLVED
    verdict = judge(problem, answer.laplacian, answer.certificate)
    assert verdict.solved(1e-7)
    assert verdict.value == pytest.approx(answer.value, rel=1e-12)


@pytest.mark.parametrize("ambiguity", [GaussianBall(1.0), MomentBall(1.0, p=3.0)], ids=str)
def test_a_path_of_radii_is_its_single_problems(ambiguity):
    problem = paper_problem(12, 24, ambiguity)
    radii = [0.0, 0.1, 0.5, 2.0]
    path = solve_path(problem, radii, tol=1e-8)
    for radius, answer in zip(radii, path, strict=True):
        single = solve(paper_problem(12, 24, type(ambiguity)(radius, *_norm(ambiguity))), tol=1e-8)
        assert answer.status is Status.SOLVED
        assert answer.value == pytest.approx(single.value, rel=2e-8)
    assert np.all(np.diff([answer.value for answer in path]) > 0)  # more radius, more risk


def _norm(ambiguity):
    return (ambiguity.p,) if isinstance(ambiguity, MomentBall) else ()


def test_a_path_of_etas():
    problem = paper_problem(12, 24, GaussianBall(0.5))
    etas = [0.1, 0.3, 1.0]
    model = RobustPremium(problem)
    for eta, answer in zip(etas, solve_path(problem, etas=etas), strict=True):
        assert answer.value == pytest.approx(model.at(eta=eta).solve().value, rel=1e-6)


def test_warm_starts_save_iterations():
    problem = paper_problem(20, 40, GaussianBall(0.5), eta=0.05)
    radii = np.linspace(0.5, 1.5, 11)
    path = solve_path(problem, radii)
    cold = [solve(paper_problem(20, 40, GaussianBall(r), eta=0.05)) for r in radii]
    warm_total = sum(answer.iterations for answer in path)
    assert warm_total < sum(answer.iterations for answer in cold)


def test_paths_are_checked_before_the_first_problem_is_solved():
    problem = paper_problem(5, 9, GaussianBall(0.5))
    with pytest.raises(ProblemError, match="exactly one"):
        solve_path(problem)
    with pytest.raises(ProblemError, match="exactly one"):
        solve_path(problem, [0.1], etas=[0.1])
    with pytest.raises(ProblemError, match="radius"):
        solve_path(problem, [0.1, -1.0])
    with pytest.raises(ProblemError, match="tol"):
        solve(problem, tol=0.0)


def test_the_best_solver_is_chosen():
    """The moment ball has its own Newton: about ten factorisations, not a hundred iterations."""
    problem = paper_problem(15, 30, MomentBall(0.5, p=4.0))
    assert solve(problem).iterations == MomentNewton().solve(problem).iterations <= 30
    assert solve(paper_problem(15, 30, Singleton())).iterations == 1

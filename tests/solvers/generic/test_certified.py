"""The certified solver on the sets of the paper: values, units, radii, honesty."""

import numpy as np
import pytest
from certified import CONIC, SETS, assert_brackets, assert_honest, conic_value
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, paper_problem, random_nominal, seeds

from solvers import registered
from solvers.generic import CertifiedSolver
from wdro_cvx import GaussianBall, GraphProblem, MomentBall, Singleton, Status, WassersteinBall


@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
def test_value_is_the_conic_one(ambiguity):
    problem = paper_problem(12, 20, ambiguity, seed=1)
    solution = CertifiedSolver().solve(problem)
    assert solution.status is Status.SOLVED
    assert solution.iterations <= 40  # the risk is smooth here
    optimum = conic_value(problem)
    assert solution.value == pytest.approx(optimum, rel=1e-6 + CONIC)
    assert_brackets(solution, optimum)
    verdict = assert_honest(problem, solution)
    assert verdict.gap == pytest.approx(solution.gap, abs=1e-11)


@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
def test_one_sample_suffices(ambiguity):
    """With N = 1 most directions have no mass: the Gelbrich balls may be in the hard case."""
    problem = paper_problem(10, 1, ambiguity, seed=2)
    solution = CertifiedSolver().solve(problem)
    assert solution.status is Status.SOLVED
    assert_honest(problem, solution)
    assert solution.value == pytest.approx(conic_value(problem), rel=1e-6 + CONIC)


@examples(40)
@given(
    seeds,
    dimensions,
    st.sampled_from([1, 3, 30]),
    st.sampled_from([0.05, 0.5, 5.0]),
    st.sampled_from([0.01, 0.3, 3.0]),
    st.sampled_from([None, 0.01, 1.0]),
)
def test_solved_is_what_the_judge_says(seed, d, n, radius, eta, penalty):
    """For few iterations and many, large radii and small, solved or not."""
    rng = np.random.default_rng(seed)
    nominal = random_nominal(rng, d, n)
    ambiguity = [GaussianBall(radius), WassersteinBall(radius), MomentBall(radius, p=1.5)][seed % 3]
    problem = GraphProblem(nominal, ambiguity, eta, trace_penalty=penalty)
    for limit in (1, 4, 300):
        assert_honest(problem, CertifiedSolver(max_iterations=limit).solve(problem))


@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
def test_tight_tolerances_where_the_risk_is_smooth(ambiguity):
    problem = paper_problem(20, 100, ambiguity)
    solution = CertifiedSolver(tol=1e-9).solve(problem)
    assert solution.status is Status.SOLVED
    assert abs(solution.gap) <= 1e-9
    assert solution.iterations <= 60
    assert_honest(problem, solution, 1e-9)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
@pytest.mark.parametrize("ambiguity", [*SETS, GaussianBall(1.0), GaussianBall(20.0)], ids=repr)
def test_units_of_the_data(ambiguity, factor):
    """Another unit multiplies the value by a square and changes neither graph nor effort."""
    problem = paper_problem(10, 5, ambiguity, eta=0.02, seed=3)
    other = problem.scaled(factor)
    solution = CertifiedSolver().solve(problem)
    rescaled = CertifiedSolver().solve(other)
    assert rescaled.status is solution.status is Status.SOLVED
    assert rescaled.value / factor**2 == pytest.approx(solution.value, rel=2e-6)
    assert rescaled.iterations <= 1.5 * solution.iterations
    assert_honest(other, rescaled)


@pytest.mark.parametrize("n", [1, 20])
@pytest.mark.parametrize(
    "ambiguity", [GaussianBall(0.0), WassersteinBall(0.0), MomentBall(0.0, p=1.0), Singleton()]
)
def test_radius_zero_is_the_sample_average(ambiguity, n):
    problem = paper_problem(10, n, ambiguity)
    solution = CertifiedSolver(tol=1e-12).solve(problem)
    assert solution.status is Status.SOLVED
    assert solution.iterations == 1
    assert solution.value == pytest.approx(conic_value(problem), rel=CONIC)
    assert_honest(problem, solution, 1e-12)


def test_registration():
    assert registered()["CertifiedSolver"] is CertifiedSolver

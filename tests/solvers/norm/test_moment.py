"""Newton on the dual of moment balls: values by other routes, corners, units, closed relations."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, frobenius_qp, paper_problem, random_nominal, seeds
from moments import EXPONENTS, PENALTIES, check_solved, etas, exponents, penalties, radii

from formulations import GeneralRegularized
from solvers import MomentNewton, ProjectedGradient
from solvers.qp import solve_laplacian_qp
from wdro_cvx import GraphProblem, MomentBall, Nominal, Status


@pytest.mark.filterwarnings("ignore:pnorm with p")  # by many second-order cones, says CVXPY
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("p", [*EXPONENTS, 1.01, 50.0])
def test_the_value_is_the_conic_one(p, penalty):
    problem = paper_problem(10, 15, MomentBall(0.5, p=p), trace_penalty=penalty, seed=3)
    solution = MomentNewton(tol=1e-9).solve(problem)
    check_solved(problem, solution, 1e-8)
    reference = GeneralRegularized(problem).solve()
    # Clarabel's own tolerance; power cones with extreme exponents cost it some digits.
    assert solution.value == pytest.approx(reference.value, rel=1e-6)
    assert solution.bound <= reference.value * (1 + 1e-6)


def test_a_certificate_for_p_infinity_is_in_the_ball():
    """A radius that is small beside Θ: ``Θ + Δ`` is rounded by more than the judge puts right."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        nominal = Nominal.from_samples(10 * rng.standard_normal((2, 30)) + 30)
        ball = MomentBall(1e-3, p=np.inf)
        problem = GraphProblem(nominal, ball, 0.01, trace_penalty=100.0)
        solution = MomentNewton().solve(problem)
        check_solved(problem, solution)
        # The shift itself, not what is left of it in a matrix that has rounded it.
        assert ball.membership(nominal).distance(solution.certificate.moment) <= ball.radius


@pytest.mark.parametrize("penalty", [None, 1.0])
@pytest.mark.parametrize("p", [1.0, 1.5, 3.0, np.inf])
def test_the_value_is_that_of_projected_gradient(p, penalty):
    problem = paper_problem(30, 20, MomentBall(0.5, p=p), trace_penalty=penalty)
    solution, descent = MomentNewton().solve(problem), ProjectedGradient(1e-6).solve(problem)
    check_solved(problem, solution)
    assert solution.value == pytest.approx(descent.value, rel=2e-6)


@given(seeds, dimensions, exponents, radii, etas, penalties, st.sampled_from([1, 10]))
def test_random_problems_are_solved(seed, d, p, radius, eta, penalty, n):
    nominal = random_nominal(np.random.default_rng(seed), d, n)
    problem = GraphProblem(nominal, MomentBall(radius, p=p), eta, trace_penalty=penalty)
    check_solved(problem, MomentNewton().solve(problem))


AXES = (2, 3, 20, 60), (1, 10), (1e-3, 1.0, 1e3), (1e-3, 10.0), (1e-3, 20.0), EXPONENTS, (None, 1.0)
CORNERS = [
    *itertools.islice(itertools.product(*AXES), 0, None, 11),
    (20, 10, 1.0, 1e-6, 20.0, 2.0, None),  # slopes that are all close to zero
    (20, 10, 1.0, 1e-6, 20.0, 20.0, None),
]


@pytest.mark.parametrize(("d", "n", "scale", "eta", "radius", "p", "penalty"), CORNERS)
def test_hard_corners(d, n, scale, eta, radius, p, penalty):
    """Few samples, any unit, and regularisation that is next to nothing or nearly all."""
    nominal = random_nominal(np.random.default_rng([d, n]), d, n, scale)
    problem = GraphProblem(nominal, MomentBall(radius, p=p), eta, trace_penalty=penalty)
    check_solved(problem, MomentNewton().solve(problem))


def test_p_next_to_one():
    """A projection with q = 10001, in which entries and σ must not chase each other."""
    nominal = random_nominal(np.random.default_rng(20001), 20, 1)
    problem = GraphProblem(nominal, MomentBall(0.5, p=1.0001), 10.0)
    check_solved(problem, MomentNewton().solve(problem))


@pytest.mark.parametrize("p", EXPONENTS)
def test_laplacians_are_exactly_symmetric(p):
    """Prices that are left of much larger ones: any order of additions but one shows."""
    for seed in range(5):
        nominal = random_nominal(np.random.default_rng(seed), 5, 1, 1e3)
        problem = GraphProblem(nominal, MomentBall(1e-3, p=p), 1e-3)
        laplacian = MomentNewton().solve(problem).laplacian
        np.testing.assert_array_equal(laplacian, laplacian.T)


@pytest.mark.parametrize("p", EXPONENTS)
def test_a_larger_graph_takes_few_steps(p):
    problem = paper_problem(150, 300, MomentBall(0.5, p=p))
    solution = MomentNewton().solve(problem)
    check_solved(problem, solution)
    assert solution.iterations <= 15


@pytest.mark.parametrize("p", EXPONENTS)
def test_the_unit_of_the_data_does_not_matter(p):
    problem = paper_problem(12, 8, MomentBall(0.5, p=p))
    laplacian = MomentNewton(tol=1e-10).solve(problem).laplacian
    for factor in (1e-6, 1e-3, 1e3, 1e6):
        scaled = problem.scaled(factor)
        solution = MomentNewton(tol=1e-10).solve(scaled)
        check_solved(scaled, solution, 1e-9)
        # η‖L - L*‖² is at most the gap, so the Laplacian has half of its digits.
        np.testing.assert_allclose(solution.laplacian, laplacian, atol=1e-3)


@pytest.mark.parametrize("p", EXPONENTS)
def test_the_trace_is_free(p):
    problem = paper_problem(12, 8, MomentBall(0.5, p=p)).replace(trace=3.5)
    solution = MomentNewton().solve(problem)
    check_solved(problem, solution)
    assert np.trace(solution.laplacian) == pytest.approx(3.5, rel=1e-12)


@pytest.mark.parametrize("p", EXPONENTS)
def test_isolated_vertices(p):
    """A vertex too noisy to be joined: its slope vanishes for q < 2, and with it the Hessian's."""
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((30, 12)) * np.where(np.arange(12) < 2, 30.0, 1.0)
    problem = GraphProblem(Nominal.from_samples(samples), MomentBall(0.01, p=p), 0.01)
    solution = MomentNewton().solve(problem)
    check_solved(problem, solution)
    np.testing.assert_allclose(np.diagonal(solution.laplacian)[:2], 0.0, atol=1e-5)


@pytest.mark.parametrize("p", EXPONENTS)
def test_the_empty_graph(p):
    """A weak trace penalty leaves no edge; the worst case at L = 0 is the dual's to name."""
    problem = paper_problem(8, 10, MomentBall(5.0, p=p), trace_penalty=1e-3)
    solution = MomentNewton().solve(problem)
    np.testing.assert_array_equal(solution.laplacian, 0.0)
    assert solution.value == pytest.approx(1e-3 * 8**2, rel=1e-12)
    check_solved(problem, solution)


@pytest.mark.parametrize("p", EXPONENTS)
def test_degenerate_data(p):
    for samples in (np.zeros((3, 4)), np.tile(np.arange(4.0), (5, 1)), np.ones((1, 2))):
        problem = GraphProblem(Nominal.from_samples(samples), MomentBall(0.5, p=p), 0.1)
        check_solved(problem, MomentNewton().solve(problem))


# Closed relations with the sample average.


@pytest.mark.parametrize("penalty", PENALTIES)
def test_radius_zero_is_the_sample_average(penalty):
    for p in EXPONENTS:
        problem = paper_problem(10, 20, MomentBall(0.0, p=p), trace_penalty=penalty)
        qp = frobenius_qp(problem.nominal.second_moment, problem.eta, 10.0, penalty)
        solution = MomentNewton(tol=1e-11).solve(problem)
        assert solution.value == pytest.approx(solve_laplacian_qp(qp).value, rel=1e-10)
        check_solved(problem, solution)


def test_a_radius_near_zero_is_nearly_the_sample_average():
    for p, radius in itertools.product(EXPONENTS, [1e-15, 1e-100]):
        problem = paper_problem(10, 20, MomentBall(radius, p=p))
        qp = frobenius_qp(problem.nominal.second_moment, problem.eta, 10.0)
        solution = MomentNewton(tol=1e-11).solve(problem)
        assert solution.status is Status.SOLVED
        assert solution.value == pytest.approx(solve_laplacian_qp(qp).value, rel=1e-10)


def test_p_infinity_adds_a_constant():
    problem = paper_problem(10, 20, MomentBall(0.5, p=np.inf))
    average = frobenius_qp(problem.nominal.second_moment, problem.eta, 10.0)
    value = MomentNewton(tol=1e-11).solve(problem).value
    assert value == pytest.approx(solve_laplacian_qp(average).value + 2 * 0.5 * 10.0, rel=1e-10)


def test_p_two_is_on_the_path_of_the_sample_average():
    problem = paper_problem(15, 20, MomentBall(2.0, p=2.0))
    laplacian = MomentNewton(tol=1e-12).solve(problem).laplacian
    eta = problem.eta + 2.0 / (2 * np.linalg.norm(laplacian))
    average = solve_laplacian_qp(frobenius_qp(problem.nominal.second_moment, eta, 15.0))
    np.testing.assert_allclose(laplacian, average.laplacian, atol=1e-5)


def test_neighbouring_exponents_have_neighbouring_values():
    """Across the two ends of [1, ∞] and across p = 2, where the code takes other branches."""
    for p, near, slack in [(1.0, 1.001, 0.01), (2.0, 2.0001, 1e-3), (2.0, 1.9999, 1e-3),
                           (np.inf, 1e4, 0.01)]:  # fmt: skip
        values = [
            MomentNewton().solve(paper_problem(12, 10, MomentBall(1.0, p=exponent))).value
            for exponent in (p, near)
        ]
        assert values[0] == pytest.approx(values[1], rel=slack)
        assert values[0] != values[1]

"""The log-degree prior: against CVXPY, by its own identities, and for every set."""

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import paper_problem, random_nominal, seeds

from solvers import BlockDescent, MomentNewton, ProjectedGradient, solve, solve_laplacian_qp
from solvers.qp import LaplacianQP
from wdro_cvx import (
    EdgeBounds,
    GraphProblem,
    LogDegree,
    ProblemError,
    Singleton,
    Status,
    WassersteinBall,
    judge,
)


def problem_with(ambiguity, d=8, n=12, shape=0.1, seed=0, bounds=None):
    nominal = random_nominal(np.random.default_rng(seed), d, n)
    return GraphProblem(nominal, ambiguity, prior=LogDegree(1.0, shape, bounds))


@examples(30)
@given(seeds, st.integers(2, 12), st.sampled_from([1e-4, 0.01, 0.1, 1.0, 100.0]), st.booleans())
def test_the_qp_is_exact(seed, d, shape, bounded):
    rng = np.random.default_rng(seed)
    m = d * (d - 1) // 2
    bounds = EdgeBounds(np.zeros(m), rng.uniform(0.05, 3.0, m)) if bounded else None
    problem = problem_with(Singleton(), d, 2 * d, shape, seed % 100, bounds)
    answer = solve_laplacian_qp(LaplacianQP(problem.nominal.second_moment, problem.prior))
    assert answer.value - answer.bound <= 1e-9 * max(abs(answer.value), d)
    assert judge(problem, answer.laplacian).gap <= 1e-8


def test_the_optimum_balances_the_logarithms():
    """Scaling the graph changes nothing at the optimum: R + 4β‖w‖² = αd."""
    problem = problem_with(WassersteinBall(0.5), shape=0.3)
    answer = solve(problem, 1e-10)
    weights = -answer.laplacian[np.triu_indices(8, 1)]
    risk = problem.ambiguity.worst_case(problem.nominal, answer.laplacian).risk
    # A value that is right to 1e-10 leaves a scale that is right to its root.
    assert risk + 4 * 0.3 * float(weights @ weights) == pytest.approx(8.0, rel=1e-4)


def test_one_parameter_decides_the_shape():
    """L*(α, β) = α L*(1, αβ)."""
    nominal = random_nominal(np.random.default_rng(1), 7, 20)
    first = solve(GraphProblem(nominal, Singleton(), prior=LogDegree(5.0, 0.02)), 1e-10)
    second = solve(GraphProblem(nominal, Singleton(), prior=LogDegree(1.0, 0.1)), 1e-10)
    np.testing.assert_allclose(first.laplacian, 5.0 * second.laplacian, atol=1e-4)


def test_every_vertex_keeps_an_edge():
    samples = np.random.default_rng(0).standard_normal((30, 6))
    samples[:, 0] *= 50.0  # far from all others, and isolated under the paper's prior
    nominal = random_nominal(np.random.default_rng(0), 6, 30).from_samples(samples)
    logs = solve(GraphProblem(nominal, Singleton(), prior=LogDegree(1.0, 0.1)))
    plain = solve(GraphProblem(nominal, Singleton(), eta=0.1))
    assert np.diagonal(logs.laplacian).min() > 0.0
    assert np.diagonal(plain.laplacian).min() == 0.0


def test_an_isolated_vertex_is_infinitely_far_from_optimal():
    problem = problem_with(Singleton(), d=3)
    laplacian = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    verdict = judge(problem, laplacian)
    assert verdict.value == np.inf
    assert np.isfinite(verdict.bound)
    assert not verdict.solved(1e-6)


def test_a_graph_without_edges_is_infinitely_far_from_optimal_too():
    verdict = judge(problem_with(Singleton(), d=5), np.zeros((5, 5)))
    assert verdict.value == np.inf
    assert np.isfinite(verdict.bound)


def test_the_paper_s_algorithms_say_that_they_know_no_other_prior():
    problem = problem_with(WassersteinBall(0.5))
    for solver in (ProjectedGradient(), BlockDescent(), MomentNewton()):
        with pytest.raises(ProblemError):
            solver.check_claim(problem)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eta": 0.1, "prior": LogDegree(1.0, 1.0)}, "two priors"),
        ({}, "eta is missing"),
        ({"prior": "log"}, "prior must be a prior"),
    ],
)
def test_one_prior_is_to_be_given(options, message):
    nominal = random_nominal(np.random.default_rng(0), 4, 5)
    with pytest.raises(ProblemError, match=message):
        GraphProblem(nominal, Singleton(), **options)


def test_a_product_so_small_that_the_qp_alone_leaves_a_vertex_alone():
    from experiments.stress.grid import Corner, build

    problem, _ = build(Corner("Singleton", "log-degree", 60, 18))
    answer = solve(problem)
    assert answer.status is Status.SOLVED
    assert np.diagonal(answer.laplacian).min() > 0.0


@pytest.mark.parametrize("shape", [1e-3, 1e-4, 1e-6])
@pytest.mark.parametrize("n", [20, 400])
def test_small_products_are_reached_by_larger_ones(shape, n):
    """From a guess alone Newton gives up after 200 steps at 1e-6."""
    problem = paper_problem(200, n, Singleton())
    qp = LaplacianQP(problem.nominal.second_moment, LogDegree(1.0, shape))
    answer = solve_laplacian_qp(qp)
    assert answer.value - answer.bound <= 1e-10 * 200  # relative to αd
    assert answer.steps <= 40


def test_vertices_that_answer_each_other_leave_newton_little_to_do():
    problem = paper_problem(200, 400, Singleton())
    qp = LaplacianQP(problem.nominal.second_moment, LogDegree(1.0, 0.1))
    assert solve_laplacian_qp(qp).steps <= 6  # 12 if every vertex chose alone

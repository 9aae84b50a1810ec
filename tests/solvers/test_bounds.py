"""Bounds on edges: the same optimum by CVXPY, the certified solver and projected gradient."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import frobenius_qp, random_nominal, seeds

from formulations import GeneralRegularized, RobustPremium, SampleAverage
from solvers import BlockDescent, CertifiedSolver, ProjectedGradient, solve
from solvers.qp import solve_laplacian_qp
from solvers.qp.bounded import bounded_point
from wdro_cvx import (
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    MomentBall,
    ProblemError,
    Singleton,
    Status,
    judge,
)
from wdro_cvx.graphs.exact_sums import project_interval
from wdro_cvx.graphs.laplacian import laplacian_from_weights, weights_from_laplacian

# Clarabel's and our accuracy, relative.
CONIC = 1e-6


def random_bounds(rng, d, trace=None):
    """Some edges absent, some present, most of them bounded; the trace is possible."""
    m, half = d * (d - 1) // 2, (d if trace is None else trace) / 2
    lower = np.where(rng.random(m) < 0.3, rng.uniform(0, 0.6 * half / m, m), 0.0)
    upper = np.where(rng.random(m) < 0.5, lower + rng.uniform(0, 4 * half / m, m), np.inf)
    upper[rng.random(m) < 0.2] = 0.0
    upper = np.maximum(upper, lower)
    upper[rng.integers(m)] = np.inf
    return EdgeBounds(lower, upper)


def problem_with(seed, d, ambiguity, penalty=None, n=8):
    rng = np.random.default_rng(seed)
    nominal = random_nominal(rng, d, n)
    return GraphProblem(
        nominal, ambiguity, 0.2, trace_penalty=penalty, bounds=random_bounds(rng, d)
    )


@given(seeds, st.integers(1, 30), st.sampled_from([1.0, 1e6]))
def test_projection_satisfies_the_variational_inequality(seed, m, size):
    rng = np.random.default_rng(seed)
    d = int(np.ceil((1 + np.sqrt(1 + 8 * m)) / 2)) + 1
    bounds = random_bounds(rng, d)
    point = size * rng.standard_normal(bounds.lower.size)
    total = d / 2
    found = project_interval(point, bounds.lower, bounds.upper, total)
    assert found.sum() == pytest.approx(total, rel=1e-9)
    assert (found >= bounds.lower).all()
    assert (found <= bounds.upper).all()
    for _ in range(5):
        other = project_interval(rng.standard_normal(point.size), bounds.lower, bounds.upper, total)
        assert (point - found) @ (other - found) <= 1e-8 * size


@given(seeds, st.integers(3, 7), st.sampled_from([None, 1.0, 50.0]))
def test_quadratic_program_with_bounds(seed, d, penalty):
    problem = problem_with(seed, d, Singleton(), penalty)
    moment = problem.nominal.second_moment
    qp = frobenius_qp(moment, problem.eta, problem.target_trace, penalty, problem.bounds)
    answer = solve_laplacian_qp(qp)
    assert answer.gap <= 1e-10
    assert answer.value == pytest.approx(SampleAverage(problem).solve().value, rel=CONIC)
    weights = weights_from_laplacian(answer.laplacian)
    assert (weights >= problem.bounds.lower - 1e-12).all()
    assert (weights <= problem.bounds.upper + 1e-12).all()


@given(seeds)
def test_dual_gradient_by_finite_differences(seed):
    rng = np.random.default_rng(seed)
    problem = problem_with(seed, 5, Singleton(), penalty=3.0)
    qp = frobenius_qp(problem.nominal.second_moment, 0.2, 5.0, 3.0, problem.bounds)
    point = bounded_point(qp, problem.bounds)
    point = point.moved(point.nu + 0.1 * rng.standard_normal(5), point.tau + 0.1)
    grad_nu, grad_tau = point.gradient()
    direction, step = rng.standard_normal(6), 1e-6
    ahead, behind = (
        point.moved(point.nu + s * direction[:5], point.tau + s * direction[5]).value
        for s in (step, -step)
    )
    expected = grad_nu @ direction[:5] + grad_tau * direction[5]
    # Kinks of the derivative leave an error of the order of the step.
    assert (ahead - behind) / (2 * step) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("penalty", [None, 5.0])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("ambiguity", "formulation", "n"),
    [
        (GaussianBall(0.5), RobustPremium, 12),
        (GaussianBall(20.0), RobustPremium, 3),  # the hard case
        (MomentBall(0.5), GeneralRegularized, 12),
        (MomentBall(0.5, p=1.0), GeneralRegularized, 12),
    ],
)
def test_certified_optimum_is_the_conic_one(ambiguity, formulation, n, seed, penalty):
    problem = problem_with(seed, 7, ambiguity, penalty, n)
    conic = formulation(problem).solve()
    found = solve(problem)
    assert found.status is Status.SOLVED
    assert found.value == pytest.approx(conic.value, rel=2e-6)
    for answer in (found, conic):
        verdict = judge(problem, answer.laplacian, answer.certificate)
        assert verdict.solved(1e-5)
    assert judge(problem, found.laplacian, found.certificate).solved(1.1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_projected_gradient_and_block_descent_keep_to_the_bounds(seed):
    problem = problem_with(seed, 7, GaussianBall(0.5), n=12)
    optimum = CertifiedSolver(1e-8).solve(problem).value
    for solver in (ProjectedGradient(), BlockDescent()):
        answer = solver.solve(problem)
        assert answer.value == pytest.approx(optimum, rel=1e-6)
        assert judge(problem, answer.laplacian).solved(1e-5)


def test_loose_bounds_change_nothing_and_tight_ones_decide():
    plain = problem_with(0, 6, GaussianBall(0.5))
    free = GraphProblem(plain.nominal, plain.ambiguity, plain.eta)
    loose = GraphProblem(
        plain.nominal, plain.ambiguity, plain.eta, bounds=EdgeBounds(np.zeros(15), np.full(15, 99))
    )
    np.testing.assert_allclose(solve(free, 1e-9).laplacian, solve(loose, 1e-9).laplacian, atol=1e-3)
    weights = np.arange(15.0) / 32  # sums of these are exact
    tight = GraphProblem(
        plain.nominal,
        plain.ambiguity,
        plain.eta,
        trace=2 * float(weights.sum()),
        bounds=EdgeBounds(weights, weights),
    )
    np.testing.assert_allclose(solve(tight).laplacian, laplacian_from_weights(weights), atol=1e-9)


def test_absent_and_present_edges():
    nominal = problem_with(1, 6, Singleton()).nominal
    bounds = EdgeBounds.from_edges(
        6, absent=[(0, 1), (4, 2)], present=[(3, 5)], least=0.7, most=1.0
    )
    found = solve(GraphProblem(nominal, GaussianBall(0.3), 0.1, bounds=bounds)).laplacian
    assert found[0, 1] == found[1, 0] == found[2, 4] == 0.0
    assert -found[3, 5] >= 0.7 - 1e-12
    assert (-found + np.diag(np.diagonal(found))).max() <= 1.0 + 1e-12


def test_the_judge_sees_violated_bounds():
    problem = problem_with(2, 6, GaussianBall(0.5))
    free = solve(GraphProblem(problem.nominal, problem.ambiguity, problem.eta)).laplacian
    verdict = judge(problem, free)
    assert verdict.residuals.bounds > 1e-3
    assert not verdict.solved(1e-3)
    assert verdict.bound <= solve(problem).value <= verdict.value * (1 + 1e-6)


@pytest.mark.parametrize("share", [0.05, 30.0])
@pytest.mark.parametrize("penalty", [1e-2, 1e4])
def test_bounds_far_from_the_trace_that_a_penalty_asks_for(share, penalty):
    """The trace's multiplier is then as large as the penalty makes it, of either sign."""
    nominal = problem_with(4, 6, Singleton()).nominal
    weights = np.full(15, share * 3 / 15)
    bounds = EdgeBounds(0.99 * weights, weights)
    problem = GraphProblem(nominal, Singleton(), 0.2, trace_penalty=penalty, bounds=bounds)
    found = solve(problem)
    assert judge(problem, found.laplacian, found.certificate).solved(1e-9)
    qp = frobenius_qp(nominal.second_moment, 0.2, 6.0, penalty, bounds)
    tau = bounded_point(qp, bounds).tau
    assert abs(bounded_point(qp, bounds).gradient()[1]) <= 1e-9 * max(abs(tau) / penalty, 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EdgeBounds([0.0, 1.0], [1.0, 2.0]), "weights"),
        (lambda: EdgeBounds([0.0, -1.0, 0.0], [1.0] * 3), r"at least 0: edge \(0, 2\)"),
        (lambda: EdgeBounds([0.0, 0.0, 2.0], [1.0] * 3), r"exceeds .* edge \(1, 2\) has lower=2"),
        (lambda: EdgeBounds([np.nan], [1.0]), "NaN"),
        (lambda: EdgeBounds([0.0], [1.0, 2.0, 3.0]), "same length"),
        (lambda: EdgeBounds.from_edges(3, absent=[(0, 3)]), r"\(0, 3\) is not an edge"),
        (lambda: EdgeBounds.from_edges(3, present=[(1, 1)]), r"\(1, 1\) is not an edge"),
        (lambda: EdgeBounds.from_matrices(np.zeros((2, 3)), np.ones((2, 3))), "symmetric"),
    ],
)
def test_bad_bounds_are_named(make, message):
    with pytest.raises(ProblemError, match=message):
        make()


def test_bounds_that_do_not_fit_are_named():
    nominal = problem_with(3, 4, Singleton()).nominal
    with pytest.raises(ProblemError, match="3 vertices; the data have 4"):
        GraphProblem(nominal, Singleton(), 0.1, bounds=EdgeBounds.from_edges(3))
    with pytest.raises(ProblemError, match="no graph has this trace"):
        GraphProblem(nominal, Singleton(), 0.1, bounds=EdgeBounds.from_edges(4, most=0.1))

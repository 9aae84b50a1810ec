"""Moment balls with bounds on the edges."""

from dataclasses import replace

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, paper_problem, seeds
from moments import EXPONENTS, KINDS, bounded_problem, check_solved, etas, penalties, radii

from formulations import GeneralRegularized
from solvers import MomentNewton
from wdro_cvx import EdgeBounds, GraphProblem, MomentBall, Nominal
from wdro_cvx.graphs.laplacian import laplacian_from_weights


@pytest.mark.filterwarnings("ignore:pnorm with p")
@pytest.mark.parametrize("penalty", [None, 0.1, 100.0])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p", [1.0, 1.01, 1.2, 2.0, 4.0, 20.0, np.inf])
def test_the_value_with_bounds_is_the_conic_one(p, kind, penalty):
    problem = bounded_problem(1, 8, kind, MomentBall(2.0, p=p), penalty=penalty, trace=20.0)
    solution = MomentNewton(tol=1e-9).solve(problem)
    check_solved(problem, solution, 1e-8)
    reference = GeneralRegularized(problem).solve()
    assert solution.value == pytest.approx(reference.value, rel=1e-6)  # as without bounds


@examples(200)
@given(
    seeds, dimensions, st.sampled_from([*EXPONENTS, 1.01, 100.0]), radii, etas, penalties,
    st.sampled_from(KINDS), st.sampled_from([0.3, 1.0, 7.0]), st.sampled_from([1, 10]),
)  # fmt: skip
def test_random_problems_with_bounds_are_solved(seed, d, p, radius, eta, penalty, kind, size, n):
    ball = MomentBall(radius, p=p)
    problem = bounded_problem(seed, d, kind, ball, eta, penalty, size * d, n)
    check_solved(problem, MomentNewton().solve(problem))


@pytest.mark.parametrize("unit", [1e-3, 1e3])
@pytest.mark.parametrize(
    ("p", "penalty"),
    [pytest.param(1.01, None, marks=pytest.mark.slow), (1.05, 1e4), (4 / 3, 100.0)],
)
def test_prices_that_bend_next_to_nothing(p, penalty, unit):
    """Nearly all weights at a bound: without proximal stages this takes hundreds of steps."""
    problem = bounded_problem(0, 30, "mixed", MomentBall(20.0, p=p), 5e-4, penalty).scaled(unit)
    solution = MomentNewton(max_iterations=150).solve(problem)
    check_solved(problem, solution)
    values, bounds = ([row[name] for row in solution.history] for name in ("value", "bound"))
    assert values == sorted(values, reverse=True)
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("p", EXPONENTS)
def test_bounds_that_decide_everything(p):
    """All weights fixed, or all at their upper bounds: no price changes anything."""
    problem = bounded_problem(0, 6, "none", MomentBall(2.0, p=p))
    weights = np.arange(2.0, 17.0) / 16  # sums of these are exact
    trace = 2 * float(weights.sum())
    for lower in (weights, np.zeros(15)):
        bounds = EdgeBounds(lower, weights)
        tight = problem.replace(trace=trace, bounds=bounds)
        solution = MomentNewton().solve(tight)
        check_solved(tight, solution)
        np.testing.assert_allclose(solution.laplacian, laplacian_from_weights(weights), atol=1e-9)


@pytest.mark.parametrize("p", EXPONENTS)
def test_bounds_that_hold_nothing_change_nothing(p):
    problem = paper_problem(12, 10, MomentBall(0.5, p=p))
    loose = problem.replace(bounds=EdgeBounds(np.zeros(66), np.full(66, 99.0)))
    values = [MomentNewton(tol=1e-10).solve(each).value for each in (problem, loose)]
    assert values[0] == pytest.approx(values[1], rel=1e-9)


@pytest.mark.parametrize("p", EXPONENTS)
def test_warm_starts_with_bounds(p):
    problem = bounded_problem(3, 20, "mixed", MomentBall(0.5, p=p))
    free = problem.replace(bounds=None)
    first = MomentNewton().solve(problem)
    assert MomentNewton().solve(problem, first).iterations <= 2
    for start in (first, MomentNewton().solve(free)):
        nearby = replace(problem, ambiguity=MomentBall(0.6, p=p))
        check_solved(nearby, MomentNewton().solve(nearby, start))


@pytest.mark.parametrize("p", EXPONENTS)
def test_the_empty_graph_where_the_best_edge_is_absent(p):
    """Two vertices that always agree, and must not be joined; no other edge is worth its price."""
    samples = np.random.default_rng(0).standard_normal((10, 6))
    samples[:, 1] = samples[:, 0]
    problem = GraphProblem(
        Nominal.from_samples(10 * samples),
        MomentBall(0.5, p=p),
        0.1,
        trace_penalty=1.0,
        bounds=EdgeBounds.from_edges(6, absent=[(0, 1)]),
    )
    solution = MomentNewton().solve(problem)
    np.testing.assert_array_equal(solution.laplacian, 0.0)
    check_solved(problem, solution)
    joined = MomentNewton().solve(problem.replace(bounds=None))
    assert np.flatnonzero(joined.laplacian[0]).tolist() == [0, 1]

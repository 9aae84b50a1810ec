import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import dimensions, frobenius_qp, paper_problem, random_nominal, seeds, some_bounds

from formulations import GeneralRegularized
from solvers import MomentNewton, ProjectedGradient, registered
from solvers.laplacian_qp import solve_laplacian_qp
from solvers.moment.dual import Evidence, moment_point
from wdro_cvx import (
    Certificate,
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    ProblemError,
    Solution,
    Status,
    judge,
)
from wdro_cvx.graphs.laplacian import laplacian_from_weights

EXPONENTS = [1.0, 1.05, 4 / 3, 1.5, 2.0, 3.0, 4.0, 20.0, np.inf]
PENALTIES = [None, 1.0, 100.0]

exponents = st.sampled_from(EXPONENTS)
penalties = st.sampled_from([None, 0.1, 10.0])
radii = st.sampled_from([1e-3, 0.5, 20.0])
etas = st.sampled_from([1e-3, 0.1, 10.0])


def check_solved(problem, solution, tol=1e-6):
    assert solution.status is Status.SOLVED
    verdict = judge(problem, solution.laplacian, solution.certificate)
    # Not verdict.solved: one sample in a large unit loses more digits in ⟨Θ, L⟩ than that allows.
    assert verdict.gap <= tol
    assert verdict.residuals.largest <= 1e-12
    assert not verdict.notes
    rounding = 1e-15 * np.sum(np.abs(problem.nominal.second_moment * solution.laplacian))
    assert solution.value == pytest.approx(verdict.value, rel=1e-12, abs=rounding)
    assert solution.bound <= verdict.value * (1 + 1e-12) + rounding
    assert solution.gap <= tol


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


# Bounds on the edges.

KINDS = ["mask", "pins", "caps", "mixed"]


def bounded_problem(seed, d, kind, ball, eta=0.3, penalty=None, trace=None, n=None):
    rng = np.random.default_rng(seed)
    trace = float(d) if trace is None else trace
    nominal, bounds = random_nominal(rng, d, n or 2 * d), some_bounds(rng, d, kind, trace)
    return GraphProblem(nominal, ball, eta, trace, trace_penalty=penalty, bounds=bounds)


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


@settings(max_examples=300)
@given(
    seeds, dimensions, st.sampled_from([*EXPONENTS, 1.01, 100.0]), radii, etas, penalties,
    st.sampled_from(KINDS), st.sampled_from([0.3, 1.0, 7.0]), st.sampled_from([1, 10]),
)  # fmt: skip
def test_random_problems_with_bounds_are_solved(seed, d, p, radius, eta, penalty, kind, size, n):
    ball = MomentBall(radius, p=p)
    problem = bounded_problem(seed, d, kind, ball, eta, penalty, size * d, n)
    check_solved(problem, MomentNewton().solve(problem))


@pytest.mark.parametrize("unit", [1e-3, 1e3])
@pytest.mark.parametrize(("p", "penalty"), [(1.01, None), (1.05, 1e4), (4 / 3, 100.0)])
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
    weights = np.linspace(0.1, 0.9, 15)
    trace = 2 * float(weights.sum())
    for lower in (weights, np.zeros(15)):
        bounds = EdgeBounds(lower, weights)
        tight = replace(problem, trace=trace, bounds=bounds)
        solution = MomentNewton().solve(tight)
        check_solved(tight, solution)
        np.testing.assert_allclose(solution.laplacian, laplacian_from_weights(weights), atol=1e-9)


@pytest.mark.parametrize("p", EXPONENTS)
def test_bounds_that_hold_nothing_change_nothing(p):
    problem = paper_problem(12, 10, MomentBall(0.5, p=p))
    loose = replace(problem, bounds=EdgeBounds(np.zeros(66), np.full(66, 99.0)))
    values = [MomentNewton(tol=1e-10).solve(each).value for each in (problem, loose)]
    assert values[0] == pytest.approx(values[1], rel=1e-9)


@pytest.mark.parametrize("p", EXPONENTS)
def test_warm_starts_with_bounds(p):
    problem = bounded_problem(3, 20, "mixed", MomentBall(0.5, p=p))
    free = replace(problem, bounds=None)
    first = MomentNewton().solve(problem)
    assert MomentNewton().solve(problem, first).iterations <= 2
    for start in (first, MomentNewton().solve(free)):
        nearby = replace(problem, ambiguity=MomentBall(0.6, p=p))
        check_solved(nearby, MomentNewton().solve(nearby, start))


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
        assert ball.proved_distance(nominal, solution.certificate.moment) <= ball.radius


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
    joined = MomentNewton().solve(replace(problem, bounds=None))
    assert np.flatnonzero(joined.laplacian[0]).tolist() == [0, 1]


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
    problem = replace(paper_problem(12, 8, MomentBall(0.5, p=p)), trace=3.5)
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


# Starts, limits, what is reported.


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
    twice = replace(problem, trace=2 * problem.target_trace, eta=problem.eta / 2)
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
    nominal = Evidence(moment, nu, tau)
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

from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import all_sets, dimensions, paper_problem, random_laplacian, random_nominal, seeds

from solvers import solve
from wdro_cvx import (
    Certificate,
    ChiSquareBall,
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    KLBall,
    ProblemError,
    Singleton,
    judge,
)
from wdro_cvx.ambiguity.base import AmbiguitySet, WorstCase
from wdro_cvx.graphs.laplacian import complete_graph


def optimum(problem):
    """The optimal value by a plain CVXPY model of its own, for sets with a simple risk."""
    d, theta = problem.d, problem.nominal.second_moment
    laplacian = cp.Variable((d, d), symmetric=True)
    objective = cp.trace(theta @ laplacian) + problem.eta * cp.sum_squares(laplacian)
    if not isinstance(problem.ambiguity, Singleton):
        norm = cp.pnorm(cp.vec(laplacian, order="F"), problem.ambiguity.q)
        objective += problem.ambiguity.radius * norm
    constraints = [laplacian @ np.ones(d) == 0, laplacian - cp.diag(cp.diag(laplacian)) <= 0]
    if problem.trace_penalty is None:
        constraints.append(cp.trace(laplacian) == problem.target_trace)
    else:
        miss = cp.trace(laplacian) - problem.target_trace
        objective += problem.trace_penalty * cp.square(miss)
    model = cp.Problem(cp.Minimize(objective), constraints)
    model.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)
    return model.value, laplacian.value


@pytest.mark.parametrize("penalty", [None, 0.5, 50.0])
@pytest.mark.parametrize("kind", [0, 4, 5, 6])
@pytest.mark.parametrize("seed", range(3))
def test_brackets_an_independent_optimum(seed, kind, penalty):
    rng = np.random.default_rng(seed)
    nominal = random_nominal(rng, 6, 5)
    problem = GraphProblem(nominal, all_sets(0.4)[kind], 0.2, trace_penalty=penalty)
    value, laplacian = optimum(problem)
    tolerance = 1e-6 * abs(value)  # Clarabel's accuracy on these models, with room
    for candidate in (laplacian, random_laplacian(rng, 6), rng.standard_normal((6, 6))):
        verdict = judge(problem, candidate)
        assert verdict.bound <= value + tolerance
        assert verdict.value >= value - tolerance
    assert judge(problem, laplacian).gap < 1e-6


@given(seeds, dimensions, st.integers(0, 7), st.booleans())
def test_any_bound_is_below_any_value(seed, d, kind, penalised):
    """Weak duality: bounds and values of unrelated matrices never cross."""
    rng = np.random.default_rng(seed)
    penalty = 2.0 if penalised else None
    nominal = random_nominal(rng, d, 4)
    problem = GraphProblem(nominal, all_sets(0.7)[kind], 0.3, trace_penalty=penalty)
    matrices = [random_laplacian(rng, d) for _ in range(3)] + [rng.standard_normal((d, d))]
    verdicts = [judge(problem, matrix) for matrix in matrices]
    best = min(verdict.value for verdict in verdicts)
    assert max(verdict.bound for verdict in verdicts) <= best * (1 + 1e-12)


@given(seeds, dimensions, st.sampled_from([1, 6, 7]), st.booleans())
def test_offered_certificates_never_lift_the_bound_above_the_optimum(seed, d, kind, penalised):
    rng = np.random.default_rng(seed)
    nominal = random_nominal(rng, d, 4)
    penalty = 2.0 if penalised else None
    problem = GraphProblem(nominal, all_sets(0.7)[kind], 0.3, trace_penalty=penalty)
    laplacian = random_laplacian(rng, d)
    noise = rng.standard_normal((d, d)) * rng.choice([1e-9, 1e-3, 1.0, 100.0])
    moment = problem.ambiguity.worst_case(nominal, random_laplacian(rng, d)).second_moment
    lie = Certificate(moment + noise @ noise.T, rng.standard_normal(d), 0.0)
    values = [judge(problem, random_laplacian(rng, d)).value for _ in range(3)]
    assert judge(problem, laplacian, lie).bound <= min(values) * (1 + 1e-12)


def test_a_moment_outside_the_set_is_refused():
    nominal = random_nominal(np.random.default_rng(0), 4, 10)
    problem = GraphProblem(nominal, GaussianBall(0.1), 0.1)
    laplacian = random_laplacian(np.random.default_rng(1), 4)
    honest = judge(problem, laplacian)
    verdict = judge(problem, laplacian, Certificate(100 * np.eye(4)))
    assert "outside the ambiguity set" in verdict.notes[0]
    assert verdict.bound == honest.bound


def test_infeasible_matrices_are_reported_and_repaired():
    problem = GraphProblem(random_nominal(np.random.default_rng(0), 3, 5), Singleton(), 0.1)
    wrong = np.ones((3, 3))
    verdict = judge(problem, wrong)
    assert verdict.residuals.largest > 0.1
    assert not verdict.solved(1e-3)
    assert np.isfinite(verdict.value)
    assert verdict.bound <= verdict.value


def test_near_optimal_but_infeasible_is_not_solved():
    problem = GraphProblem(random_nominal(np.random.default_rng(0), 5, 5), Singleton(), 0.1)
    _, laplacian = optimum(problem)
    assert judge(problem, laplacian).solved(1e-6)
    assert not judge(problem, laplacian * 1.001).solved(1e-6)


@pytest.mark.parametrize("factor", [0.0, 0.5, 2.0, 1e40])
def test_of_a_set_of_one_point_no_other_moment_counts(factor):
    nominal = random_nominal(np.random.default_rng(0), 5, 5)
    problem = GraphProblem(nominal, Singleton(), 0.1)
    _, laplacian = optimum(problem)
    honest = judge(problem, laplacian)
    forged = Certificate(factor * nominal.second_moment)
    assert judge(problem, laplacian, forged).bound == honest.bound
    other = Certificate(np.eye(4))
    with pytest.raises(ProblemError, match=r"shape \(5, 5\); it has \(4, 4\)"):
        judge(problem, laplacian, other)


def test_a_worst_case_that_does_not_attain_its_risk_is_not_solved():
    class Optimist(AmbiguitySet):
        """Understates the risk, as a defective ambiguity set would."""

        def worst_case(self, nominal, laplacian):
            worst = Singleton().worst_case(nominal, laplacian)
            return replace(worst, risk=0.9 * worst.risk)

        def distance(self, nominal, second_moment):
            return Singleton().distance(nominal, second_moment)

    nominal = random_nominal(np.random.default_rng(0), 5, 5)
    _, laplacian = optimum(GraphProblem(nominal, Singleton(), 0.1))
    verdict = judge(GraphProblem(nominal, Optimist(0.0), 0.1), laplacian)
    assert verdict.oracle_error > 1e-3
    assert not verdict.solved(1e-6)


def test_a_worst_case_outside_its_set_does_not_fool_the_bound():
    class Pessimist(AmbiguitySet):
        """Returns a second moment far outside the ball."""

        def worst_case(self, nominal, laplacian):
            worst = GaussianBall(self.radius).worst_case(nominal, laplacian)
            moment = 3 * worst.second_moment
            return WorstCase(float(np.vdot(moment, laplacian)), moment, worst.multiplier)

        def distance(self, nominal, second_moment):
            return GaussianBall(self.radius).distance(nominal, second_moment)

    nominal = random_nominal(np.random.default_rng(0), 5, 20)
    laplacian = random_laplacian(np.random.default_rng(1), 5)
    true_value = judge(GraphProblem(nominal, GaussianBall(0.1), 0.1), laplacian).value
    verdict = judge(GraphProblem(nominal, Pessimist(0.1), 0.1), laplacian)
    assert verdict.bound <= true_value
    assert verdict.notes


def test_bad_arguments_are_named():
    problem = GraphProblem(random_nominal(np.random.default_rng(0), 3, 5), Singleton(), 0.1)
    laplacian = random_laplacian(np.random.default_rng(0), 3)
    with pytest.raises(ProblemError, match=r"laplacian must have shape \(3, 3\)"):
        judge(problem, np.eye(4))
    with pytest.raises(ProblemError, match="NaN"):
        judge(problem, laplacian * np.nan)
    with pytest.raises(ProblemError, match="second_moment"):
        judge(problem, laplacian, Certificate(np.eye(2)))
    with pytest.raises(ProblemError, match="degree_multipliers"):
        judge(problem, laplacian, Certificate(np.eye(3), np.zeros(2)))


@pytest.mark.parametrize("kind", [KLBall, ChiSquareBall])
@pytest.mark.parametrize("radius", [1e-12, 1e-10])
def test_weights_that_rounding_left_outside_a_small_ball_are_brought_in(kind, radius):
    """A divergence d of ratios near one is rounded by 1e-16/√d, relative: 1e-10 at 1e-12."""
    for seed in range(60):  # one in fifteen was left outside
        rng = np.random.default_rng(seed)
        problem = GraphProblem(random_nominal(rng, 6, 40), kind(radius), 0.1)
        assert judge(problem, random_laplacian(rng, 6)).notes == ()


@pytest.mark.parametrize("penalty", [1e-3, 0.1])
def test_a_weak_penalty_with_bounds(penalty):
    """The best multiplier of the trace is then far below every price."""
    nominal = random_nominal(np.random.default_rng(0), 2, 5, scale=10.0)
    free = GraphProblem(nominal, Singleton(), 0.01, trace_penalty=penalty)
    value, laplacian = optimum(free)
    bounded = free.replace(bounds=EdgeBounds(np.zeros(1), np.full(1, np.inf)))
    verdict = judge(bounded, laplacian)
    assert verdict.bound == pytest.approx(value, rel=1e-6)  # the accuracy of the reference
    # Which is off the empty graph by 3e-12, and that relative to a millionth of the trace.
    assert verdict.solved(1e-5)


@dataclass(frozen=True)
class Off(AmbiguitySet):
    """One point, whose risk is not what its moment attains."""

    offset: float = 0.0

    def worst_case(self, nominal, laplacian):
        attained = float(np.vdot(nominal.second_moment, laplacian))
        return WorstCase(attained * (1.0 + self.offset), nominal.second_moment, 0.0)

    def distance(self, nominal, second_moment):
        return float(np.abs(second_moment - nominal.second_moment).max())


@pytest.mark.parametrize("offset", [-1e-7, 1e-7])
def test_where_a_set_contradicts_itself_the_larger_risk_counts(offset):
    """Of a risk and of what its own moment attains, whichever is worse for the graph."""
    problem = paper_problem(5, 9, Off(0.5, offset))
    laplacian = complete_graph(5, 5.0)
    attained = float(np.vdot(problem.nominal.second_moment, laplacian))
    least = attained * (1.0 + max(offset, 0.0)) + problem.regularisation(laplacian)
    value = judge(problem, laplacian).value
    assert least <= value <= least * (1 + 1e-10)


def test_nothing_is_solved_for_a_set_that_contradicts_itself():
    """Its risk is below what its own moment attains, so that value and bound still meet."""
    best = solve(paper_problem(5, 9, Singleton()), 1e-9).laplacian
    assert judge(paper_problem(5, 9, Off(0.5)), best).solved(1e-6)
    verdict = judge(paper_problem(5, 9, Off(0.5, -1e-3)), best)
    assert 0.0 <= verdict.gap <= 1e-6
    assert not verdict.solved(1e-6)


def test_a_bound_above_the_value_proves_nothing():
    problem = paper_problem(5, 9, Singleton())
    verdict = judge(problem, solve(problem, 1e-9).laplacian)
    assert verdict.solved(1e-6)
    assert not replace(verdict, bound=verdict.value * (1 + 1e-9)).solved(1e-6)


def test_the_judge_tries_no_better_bound_than_it_is_asked_for():
    """The multipliers of the graph itself give a better bound than these, if they are tried."""
    problem = paper_problem(6, 3, GaussianBall(0.3))
    answer = solve(problem, 1e-9)
    poor = replace(
        answer.certificate, degree_multipliers=0.99 * answer.certificate.degree_multipliers
    )
    best = judge(problem, answer.laplacian, poor)
    quick = judge(problem, answer.laplacian, poor, enough=1e-2)
    assert quick.bound < best.bound <= quick.value == best.value
    assert best.gap < 1e-8 < quick.gap <= 1e-2
    assert judge(problem, answer.laplacian, poor, enough=quick.gap / 2).bound == best.bound

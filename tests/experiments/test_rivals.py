"""The rival algorithms for log-degree graphs: correct, and not among our solvers."""

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import paper_problem
from scipy.spatial.distance import pdist, squareform

import solvers
from experiments.bench.contests import LOG_DEGREE
from experiments.bench.rivals.fdpg import FDPG
from experiments.bench.rivals.primal_dual import PrimalDual
from experiments.bench.study import RIVALS
from experiments.measuring.isolated import run_isolated
from experiments.measuring.measurement import Assignment, Cell, carry_out
from experiments.measuring.outcome import Limits, Outcome
from formulations import SampleAverage
from solvers import solve
from wdro_cvx import GraphProblem, LogDegree, ProblemError, Singleton, Status, judge

RIVALRY = [
    PrimalDual(),
    PrimalDual(balance=1.0, share=0.5),
    FDPG(),
    FDPG(restart=True),
    FDPG(restart=True, local=True),
]


def problem_with(shape, d=30, n=60, alpha=1.0, seed=0):
    nominal = paper_problem(d, n, Singleton(), seed=seed).nominal
    return GraphProblem(nominal, Singleton(), prior=LogDegree(alpha, shape / alpha))


@pytest.mark.parametrize("rival", RIVALRY, ids=str)
@pytest.mark.parametrize("shape", [0.1, 0.01])
def test_rivals_find_the_optimum(rival, shape):
    problem = problem_with(shape)
    answer = rival.solve(problem)
    assert answer.status is Status.SOLVED
    assert judge(problem, answer).solved(1e-6)
    # Both values are within their gaps of the optimum, relative to αd at most.
    ours = solve(problem, 1e-9)
    assert answer.value - ours.value <= 1.1e-6 * max(abs(ours.value), 30.0)
    assert answer.value >= ours.bound


@pytest.mark.parametrize("d", [20, 60])
@pytest.mark.parametrize("shape", [0.1, 0.01])
def test_our_value_is_clarabel_s(d, shape):
    problem = problem_with(shape, d, 2 * d)
    ours = solve(problem, 1e-9)
    theirs = SampleAverage(problem).solve("CLARABEL", tol=1e-10)
    assert ours.value == pytest.approx(theirs.value, abs=1e-8 * d)  # relative to αd


@examples(10)
@given(st.integers(0, 100), st.floats(0.1, 30.0), st.floats(0.01, 1.0), st.sampled_from([1, 2]))
def test_gspbox_s_parameters_are_ours_times_the_number_of_signals(seed, a, b, times):
    """Its code minimises ``times·zᵀw - a Σ log deg + b‖w‖²``: once in 0.6.0, later twice."""
    rng = np.random.default_rng(seed)
    n, d = 15, 8
    signals = rng.standard_normal((n, d))
    distances = pdist(signals.T, "sqeuclidean")
    nominal = paper_problem(d, n, Singleton()).nominal.from_samples(signals)
    share = times * n
    problem = GraphProblem(nominal, Singleton(), prior=LogDegree(a / share, b / (2 * share)))
    weights = -solve(problem, 1e-10).laplacian[np.triu_indices(d, 1)]

    def objective(candidate):
        degrees = squareform(candidate).sum(axis=1)
        cost = times * distances @ candidate
        return cost - a * np.log(degrees).sum() + b * candidate @ candidate

    least = objective(weights)
    ours = share * problem.value(_laplacian(weights))
    assert least == pytest.approx(ours, rel=1e-9, abs=1e-9)
    for _ in range(20):
        other = weights * np.exp(0.05 * rng.standard_normal(weights.size))
        other += 1e-3 * rng.exponential(size=weights.size) * weights.max()
        assert objective(other) >= least - 1e-8 * a * d
    # Stationarity, edge by edge: times·z - a/u_i - a/u_j + 2bw ≥ 0, zero where there is an edge.
    slopes = -a / squareform(weights).sum(axis=1)
    heads, tails = np.triu_indices(d, 1)
    gradient = times * distances + slopes[heads] + slopes[tails] + 2 * b * weights
    # The gap of 1e-10 leaves weights that are right to its root, and so prices.
    assert gradient.min() >= -1e-3 * distances.max()
    assert np.abs(gradient[weights > 1e-3 * weights.max()]).max() <= 1e-3 * distances.max()


def _laplacian(weights):
    adjacency = squareform(weights)
    return np.diag(adjacency.sum(axis=1)) - adjacency


@pytest.mark.parametrize("rival", [PrimalDual(), FDPG()], ids=str)
def test_rivals_refuse_what_they_do_not_know(rival):
    with pytest.raises(ProblemError, match="sample averages under LogDegree"):
        rival.check_claim(paper_problem(5, 9, Singleton()))


def test_rivals_are_measured_by_name_and_are_not_among_our_solvers():
    planned = LOG_DEGREE[0].plan(Limits(60.0, 4096.0))
    for name in ("PrimalDual", "FDPG", "RestartedFDPG", "LocalFDPG"):
        item = next(item for item in planned if item.cell.method == name)
        assignment = Assignment(Cell(item.cell.instance, name), (RIVALS,))
        answer = run_isolated(carry_out, assignment, Limits(60.0, 4096.0))
        assert answer.outcome is Outcome.OK, answer.message
        assert answer.value[0]["is_solved"]
        assert name not in solvers.registered()

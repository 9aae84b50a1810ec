"""The sparse solver under every prior, and on lists of possible edges, against the dense one."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from edge_lists import without_matrix
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import random_nominal, seeds
from scipy import sparse

from solvers import CertifiedSolver, SparseSolver, solve, solve_path
from solvers.large.sparse_qp import SparseQP, solve_sparse_qp
from solvers.large.structure import Candidates
from solvers.qp import LaplacianQP, solve_laplacian_qp
from wdro_cvx import (
    CVaRBall,
    EdgeBounds,
    GraphProblem,
    KLBall,
    LogDegree,
    MahalanobisBall,
    MomentBall,
    Nominal,
    PairBall,
    ProblemError,
    Singleton,
    Status,
    TotalVariationBall,
    WassersteinBall,
    judge,
)
from wdro_cvx.generators import neighbour_graph, smooth_table
from wdro_cvx.graphs.laplacian import adjoint, edge_index, weights_from_laplacian
from wdro_cvx.priors import DegreePrior, Frobenius


def everyone(d):
    return Candidates(d, *(index.astype(np.int32) for index in edge_index(d)))


def priors(rng, d, bounds=None):
    """Return one of each kind; strengths over five orders of magnitude."""
    eta, beta = 10.0 ** rng.uniform(-3, 2, 2)
    log_degree = LogDegree(10.0 ** rng.uniform(-1, 1), beta, bounds)
    return [
        log_degree,
        log_degree.proximal(0.3 * beta),
        Frobenius(eta, float(d), trace_penalty=10.0 ** rng.uniform(-2, 2), bounds=bounds),
        Frobenius(eta, float(d), bounds=bounds),
    ]


@given(seeds, st.integers(2, 14), st.integers(0, 3), st.booleans())
@examples(120)
def test_the_sparse_qp_over_all_pairs_is_the_dense_one(seed, d, kind, bounded):
    rng = np.random.default_rng(seed)
    bounds = box = None
    if bounded:
        lower = rng.uniform(0, 0.1, d * (d - 1) // 2) * rng.integers(0, 2, d * (d - 1) // 2)
        box = lower, lower + rng.uniform(1.5, 3.0, lower.size) * d
        bounds = EdgeBounds(*box)
    prior = priors(rng, d, bounds)[kind]
    moment = random_nominal(rng, d, 9).second_moment
    dense = solve_laplacian_qp(LaplacianQP(moment, prior))
    found = solve_sparse_qp(SparseQP(everyone(d), adjoint(moment), prior, box), tol=1e-11)
    scale = max(abs(dense.value), prior.alpha * d)
    assert found.value <= dense.value + 1e-9 * scale
    # The sum over pairs and the dense one round differently, and a flat dual ends early.
    assert abs(found.value - dense.bound) <= 1e-8 * scale
    assert abs(found.primal - dense.value) <= 1e-8 * scale


def smooth(d, n, dimensions=2, seed=0):
    rng = np.random.default_rng(seed)
    return Nominal.from_samples(smooth_table(neighbour_graph(d, rng, dimensions), n, rng))


SETS = [
    Singleton(),
    WassersteinBall(0.8),
    MahalanobisBall.example(0.8, 60),
    MomentBall(0.8),
    MomentBall(0.8, p=1.0),
    MomentBall(0.8, p=np.inf),
    PairBall(0.8),
    PairBall.example(0.8, 60),
    KLBall(0.3),
    CVaRBall(0.3),
    TotalVariationBall(0.2),
]


@pytest.mark.parametrize("ambiguity", SETS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("shape", [1e-3, 0.1, 3.0])
def test_log_degree_graphs_are_those_of_the_dense_solver(ambiguity, shape):
    problem = GraphProblem(smooth(60, 40), ambiguity, prior=LogDegree(2.0, shape / 2))
    found, dense = SparseSolver(1e-7).solve(problem), CertifiedSolver(1e-9).solve(problem)
    assert found.status is Status.SOLVED
    assert abs(found.value - dense.value) <= 1e-7 * problem.floor
    assert judge(problem, found).solved(1e-7)  # the dense judge, on the dense Laplacian
    thin = sparse.csr_array(found.laplacian)
    assert judge(problem, thin, without_matrix(problem, found.certificate)).solved(1e-7)


@pytest.mark.parametrize("ambiguity", SETS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("penalty", [1e-3, 0.03, 1.0, 1e3])
def test_a_penalised_trace_is_that_of_the_dense_solver(ambiguity, penalty):
    problem = GraphProblem(smooth(60, 40), ambiguity, eta=0.3, trace_penalty=penalty)
    found, dense = SparseSolver(1e-7).solve(problem), CertifiedSolver(1e-9).solve(problem)
    assert found.status is Status.SOLVED
    assert found.value == pytest.approx(dense.value, rel=1e-7)
    assert judge(problem, found).solved(1e-7)


@pytest.mark.parametrize("shape", [1e-2, 1e-4, 1e-6])
def test_the_sparsest_log_degree_graphs(shape):
    problem = GraphProblem(smooth(400, 30), Singleton(), prior=LogDegree(1.0, shape))
    answer = SparseSolver().solve(problem)
    assert answer.status is Status.SOLVED
    assert np.diagonal(answer.laplacian).min() > 0.0


def test_log_degree_graphs_of_many_vertices_are_sparse_and_certified():
    d = 2500
    problem = GraphProblem(smooth(d, 10), WassersteinBall(2.0), prior=LogDegree(1.0, 0.2))
    tracemalloc.start()
    try:
        answer = solve(problem)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert answer.status is Status.SOLVED
    assert sparse.issparse(answer.laplacian)
    assert judge(problem, answer).solved(1e-6)
    # In the judge's own worst case the pairs pay alike.
    assert judge(problem, answer.laplacian).gap <= 1e-5
    assert peak < 8 * d * d


def near_list(nominal, count, rng):
    """Return the nearest neighbours of every vertex, and some other pairs."""
    d = nominal.d
    rows = nominal.factor.T
    distances = np.sum((rows[:, None] - rows[None]) ** 2, axis=2)
    near = np.argsort(distances, axis=1)[:, 1 : count + 1]
    ends = np.column_stack([np.repeat(np.arange(d), count), near.ravel()])
    apart = rng.integers(0, d - 1, d)
    return np.concatenate([ends, np.column_stack([apart, apart + 1])])


LISTED_PRIORS = [
    lambda bounds: Frobenius(0.3, 60.0, bounds=bounds),
    lambda bounds: Frobenius(0.3, 60.0, 1.0, bounds),
    lambda bounds: LogDegree(1.0, 0.1, bounds),
]


@pytest.mark.parametrize("ambiguity", SETS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("prior", LISTED_PRIORS, ids=["fixed", "penalty", "log-degree"])
@pytest.mark.parametrize("limited", [False, True])
def test_on_a_list_it_finds_what_the_dense_solver_finds(ambiguity, prior, limited):
    rng = np.random.default_rng(3)
    nominal = smooth(60, 40)
    pairs = near_list(nominal, 5, rng)
    lower = 0.02 * rng.integers(0, 2, len(pairs)) if limited else 0.0
    upper = 0.4 if limited else np.inf
    bounds = EdgeBounds.from_list(60, pairs, lower=lower, upper=upper)
    problem = GraphProblem(nominal, ambiguity, prior=prior(bounds))
    found, dense = SparseSolver(1e-7).solve(problem), CertifiedSolver(1e-9).solve(problem)
    assert found.status is Status.SOLVED
    assert abs(found.value - dense.value) <= 1e-7 * max(dense.value, problem.floor)
    assert judge(problem, found).solved(1e-7)
    thin = sparse.csr_array(found.laplacian)
    assert judge(problem, thin, without_matrix(problem, found.certificate)).solved(1e-7)
    weights = weights_from_laplacian(found.laplacian)
    assert (weights >= bounds.lower - 1e-12).all()
    assert (weights <= bounds.upper + 1e-12).all()


def test_a_list_of_many_vertices_costs_no_more_than_the_list():
    d, rng = 20_000, np.random.default_rng(0)
    truth = neighbour_graph(d, rng)
    nominal = Nominal.from_samples(smooth_table(truth, 4, rng))
    pairs = np.column_stack([truth.heads, truth.tails])
    tracemalloc.start()
    try:
        bounds = EdgeBounds.from_list(d, pairs)
        problem = GraphProblem(nominal, WassersteinBall(3.0), 0.3, bounds=bounds)
        answer = solve(problem)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert answer.status is Status.SOLVED
    allowed = set(zip(truth.heads.tolist(), truth.tails.tolist(), strict=True))
    edges = answer.edges
    assert set(zip(edges.heads.tolist(), edges.tails.tolist(), strict=True)) <= allowed
    assert peak < 1000 * len(pairs)  # a hundred numbers for a pair


def test_bounds_on_all_pairs_are_not_for_it():
    bounds = EdgeBounds.from_edges(9, absent=[(0, 1)])
    problem = GraphProblem(smooth(9, 20), Singleton(), 0.3, bounds=bounds)
    with pytest.raises(ProblemError, match="from_list"):
        SparseSolver().solve(problem)


def test_a_prior_of_one_problem_has_no_multipliers_for_another():
    """Multipliers that are outside of a prior's domain are no start for it."""
    prior = DegreePrior(0.1, 0.0, 1.0, LogDegree(1.0, 1.0).trace)
    qp = SparseQP(everyone(5), np.ones(10), prior)
    best = solve_sparse_qp(qp, tol=1e-12)
    again = solve_sparse_qp(qp, (np.full(5, 3.0), 1.0), tol=1e-12)
    assert again.value == pytest.approx(best.value, rel=1e-12)


@pytest.mark.parametrize("prior", LISTED_PRIORS, ids=["fixed", "penalty", "log-degree"])
@pytest.mark.parametrize("listed", [False, True])
def test_another_solution_is_a_start(prior, listed):
    """Sparse or dense, of another radius: the optimum is the same, and it is nearer."""
    nominal = smooth(60, 40)
    bounds = None
    if listed:
        bounds = EdgeBounds.from_list(60, near_list(nominal, 5, np.random.default_rng(3)))
    first = GraphProblem(nominal, WassersteinBall(0.5), prior=prior(bounds))
    problem = GraphProblem(nominal, WassersteinBall(0.52), prior=prior(bounds))
    near = SparseSolver(1e-7).solve(first)
    cold = SparseSolver(1e-7).solve(problem)
    for start in (near, replace(near, laplacian=sparse.csr_array(near.laplacian))):
        warm = SparseSolver(1e-7).solve(problem, start)
        assert warm.status is Status.SOLVED
        assert abs(warm.value - cold.value) <= 1e-7 * max(abs(cold.value), problem.floor)
    # From its own answer it is a shorter way than from the sample average.
    again = SparseSolver(1e-7).solve(problem, cold)
    assert again.iterations < cold.iterations


def test_a_start_that_helps_nothing_does_no_harm():
    nominal = smooth(60, 40)
    problem = GraphProblem(nominal, WassersteinBall(0.5), 0.3)
    best = SparseSolver(1e-7).solve(problem)
    empty = replace(best, laplacian=np.zeros((60, 60)))
    lonely = replace(best, laplacian=sparse.csr_array(np.pad([[1.0, -1.0], [-1.0, 1.0]], (0, 58))))
    for start in (empty, lonely):
        found = SparseSolver(1e-7).solve(problem, start)
        assert found.value == pytest.approx(best.value, rel=1e-7)
    logs = GraphProblem(nominal, WassersteinBall(0.5), prior=LogDegree(1.0, 0.2))
    assert SparseSolver().solve(logs, lonely).status is Status.SOLVED
    with pytest.raises(ProblemError, match=r"start.laplacian must have shape \(60, 60\)"):
        SparseSolver().solve(problem, replace(best, laplacian=np.zeros((3, 3))))


def test_a_path_of_radii_starts_each_graph_from_the_one_before(monkeypatch):
    starts = []
    solve_one = SparseSolver._solve

    def watched(self, problem, patient, start):
        starts.append(start)
        return solve_one(self, problem, patient, start)

    monkeypatch.setattr(SparseSolver, "_solve", watched)
    found = solve_path(GraphProblem(smooth(310, 20), WassersteinBall(1.0), 0.3), [0.5, 0.6])
    assert [answer.status for answer in found] == [Status.SOLVED] * 2
    assert starts == [None, found[0]]

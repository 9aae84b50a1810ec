"""The judge of sparse Laplacians under every prior and on lists, against the dense one."""

from dataclasses import astuple

import numpy as np
import pytest
from attacks import forge
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, random_laplacian, random_nominal, seeds
from scipy import sparse

from solvers import CertifiedSolver
from wdro_cvx import (
    Certificate,
    EdgeBounds,
    GraphProblem,
    LogDegree,
    MomentBall,
    Nominal,
    Singleton,
    WassersteinBall,
    judge,
)
from wdro_cvx.graphs.laplacian import laplacian_from_weights, weights_from_laplacian
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.priors import Frobenius

SETS = [Singleton(), WassersteinBall(0.3), MomentBall(0.3)]


def drawn(rng, d, kind, bounded):
    """Return a problem of some prior, on a list of edges that has a path in it or on all pairs."""
    bounds = None
    if bounded:
        path = np.column_stack([np.arange(d - 1), np.arange(1, d)])
        extra = rng.integers(0, d, (d, 2))
        extra = extra[extra[:, 0] != extra[:, 1]]
        pairs = np.concatenate([path, extra])
        # So that the path alone can just have the trace, and many bounds hold.
        upper = d / (2 * (d - 1)) * rng.uniform(1.01, 1.3, len(pairs))
        upper[rng.random(len(pairs)) < 0.3] = np.inf
        bounds = EdgeBounds.from_list(d, pairs, lower=0.01 * rng.integers(2), upper=upper)
    strength = 10.0 ** rng.uniform(-2, 1)
    prior = [
        LogDegree(10.0 ** rng.uniform(-1, 1), strength, bounds),
        Frobenius(strength, float(d), 10.0 ** rng.uniform(0, 2), bounds),
        Frobenius(strength, float(d), bounds=bounds),
    ][kind]
    nominal = random_nominal(rng, d, int(rng.integers(2, 12)))
    return GraphProblem(nominal, SETS[rng.integers(3)], prior=prior)


@given(seeds, dimensions, st.integers(0, 2), st.booleans())
@examples(80)
def test_it_brackets_what_the_dense_judge_finds(seed, d, kind, bounded):
    """Any Laplacian, feasible or not, with and without a certificate."""
    rng = np.random.default_rng(seed)
    problem = drawn(rng, d, kind, bounded)
    laplacian = random_laplacian(rng, d)
    feasible = problem.prior.repaired(laplacian)
    true = problem.value(feasible)
    optimum = CertifiedSolver(1e-9, time_limit=2.0).solve(problem)
    offers = [None, optimum.certificate]
    dense = judge(problem, laplacian)
    for certificate in offers:
        verdict = judge(problem, sparse.csr_array(laplacian), certificate)
        room = 1e-13 * max(abs(true), problem.floor) if np.isfinite(true) else 0.0
        assert verdict.value >= true - room
        assert verdict.bound <= optimum.value
        assert astuple(verdict.residuals) == pytest.approx(astuple(dense.residuals), abs=1e-12)


@pytest.mark.parametrize("ambiguity", SETS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize("bounded", [False, True])
def test_at_the_optimum_it_closes_the_gap(ambiguity, kind, bounded):
    rng = np.random.default_rng(7)
    problem = GraphProblem(
        random_nominal(rng, 12, 30), ambiguity, prior=drawn(rng, 12, kind, bounded).prior
    )
    answer = CertifiedSolver(1e-10).solve(problem)
    thin = sparse.csr_array(answer.laplacian)
    dense, found = judge(problem, answer), judge(problem, thin, answer.certificate)
    assert found.solved(3e-9)  # the premium may be above the truth by 1e-9 of itself
    scale = max(abs(dense.value), problem.floor)
    assert abs(found.value - dense.value) <= 2e-9 * scale
    assert abs(found.bound - dense.bound) <= 2e-9 * scale
    # By its own multipliers, the slopes at the degrees, and its own worst case. Where bounds hold
    # weights the slopes are those of the optimum too.
    assert judge(problem, thin).gap <= 1e-5
    best = weights_from_laplacian(answer.laplacian)
    listed = laplacian_from_weights(best)
    slack = 1e-4
    assert (found.edges.lower <= -listed[found.edges.heads, found.edges.tails] + slack).all()
    assert (-listed[found.edges.heads, found.edges.tails] <= found.edges.upper + slack).all()
    listed[found.edges.heads, found.edges.tails] = 0.0
    assert -np.triu(listed, 1).min() <= found.edges.others + slack


@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize("bounded", [False, True])
def test_forged_certificates_do_not_raise_the_bound(kind, bounded):
    rng = np.random.default_rng(5)
    problem = drawn(rng, 7, kind, bounded)
    answer = CertifiedSolver(1e-10, time_limit=5.0).solve(problem)
    for name, certificate in forge(problem, answer.laplacian, rng):
        verdict = judge(problem, sparse.csr_array(answer.laplacian), certificate)
        assert verdict.bound <= answer.value, name


def test_multipliers_that_bound_nothing_are_not_used():
    """Under logarithms a multiplier must be negative, or degrees could grow without end."""
    rng = np.random.default_rng(0)
    problem = GraphProblem(random_nominal(rng, 6, 9), Singleton(), prior=LogDegree(1.0, 0.2))
    laplacian = sparse.csr_array(CertifiedSolver().solve(problem).laplacian)
    offered = Certificate(TransportedMoment(problem.nominal.factor), np.ones(6))
    verdict = judge(problem, laplacian, offered)
    assert "another prior" in verdict.notes[0]
    assert verdict.solved(1e-5)


def test_an_isolated_vertex_has_no_finite_value_under_logarithms():
    rng = np.random.default_rng(0)
    problem = GraphProblem(random_nominal(rng, 4, 9), Singleton(), prior=LogDegree(1.0, 0.2))
    weights = np.array([1.0, 1.0, 0.0, 1.0, 0.0, 0.0])  # vertex 3 has none
    verdict = judge(problem, sparse.csr_array(laplacian_from_weights(weights)))
    assert verdict.value == np.inf
    assert not verdict.solved(1.0)
    assert verdict.bound < np.inf
    empty = judge(problem, sparse.csr_array((4, 4)))
    assert empty.value == np.inf


def test_weight_on_an_edge_that_is_not_listed_is_seen():
    rng = np.random.default_rng(0)
    bounds = EdgeBounds.from_list(4, [(0, 1), (1, 2), (2, 3)])
    problem = GraphProblem(random_nominal(rng, 4, 9), Singleton(), 0.3, bounds=bounds)
    answer = CertifiedSolver().solve(problem)
    assert judge(problem, sparse.csr_array(answer.laplacian)).solved(1e-6)
    moved = weights_from_laplacian(answer.laplacian)
    moved[1] += 0.01
    verdict = judge(problem, sparse.csr_array(laplacian_from_weights(moved)))
    assert verdict.residuals.bounds == pytest.approx(0.01 / 4)
    assert not verdict.solved(1e-3)


@pytest.mark.parametrize(("weight", "radius"), [(1e-161, 1.0), (3e-162, 1.0), (1e-309, 1e3)])
def test_a_graph_whose_squares_underflow_gives_a_shift_in_the_set(weight, radius):
    """Of tiny weights the squares have few digits; the shift along the graph was too long."""
    nominal = Nominal.from_samples([[0.3, -0.2], [0.1, 0.5]])
    problem = GraphProblem(nominal, MomentBall(radius), prior=LogDegree(1.0, 0.1))
    answer = CertifiedSolver(tol=1e-9).solve(problem)
    moment = TransportedMoment(nominal.rows)
    offered = Certificate(moment, answer.certificate.degree_multipliers)
    graph = sparse.csr_array(weight * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    verdict = judge(problem, graph, offered)
    assert -np.inf < verdict.bound <= answer.value


def test_no_edge_is_possible():
    """A penalised trace allows it. A graph with edges was looked up in an empty list."""
    bounds = EdgeBounds.from_list(4, [(0, 1)], upper=0.0)
    nominal = random_nominal(np.random.default_rng(0), 4, 5)
    prior = Frobenius(0.1, 4.0, 1.0, bounds)
    problem = GraphProblem(nominal, WassersteinBall(0.1), prior=prior)
    graph = laplacian_from_weights(np.ones(6))
    sparsely, densely = judge(problem, sparse.csr_array(graph)), judge(problem, graph)
    assert not sparsely.solved(1e-3)
    assert sparsely.value == pytest.approx(densely.value) == pytest.approx(16.0)
    assert sparsely.bound <= 16.0


@pytest.mark.parametrize("exponent", [-150, -200, -250, -290])
def test_the_premium_of_tiny_weights_is_not_lost_in_squares(exponent):
    """The penalty of a small trace is smaller than what a premium below zero took away."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        nominal = Nominal.from_samples(rng.standard_normal((5, 6)))
        prior = Frobenius(1e-49, 1e-48, trace_penalty=1e-49)
        problem = GraphProblem(nominal, WassersteinBall(0.3), prior=prior)
        graph = laplacian_from_weights(10.0 ** rng.uniform(exponent - 20, exponent, 15))
        verdict, dense = judge(problem, sparse.csr_array(graph)), judge(problem, graph)
        assert verdict.value >= dense.value * (1 - 1e-9)
        assert verdict.value <= dense.value * (1 + 1e-9)

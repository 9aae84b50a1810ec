"""Divergence balls at scale: the model over the ball, the Hessian, and answers of other solvers."""

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import seeds
from scipy.optimize import minimize

from solvers import CertifiedSolver, SparseSolver
from solvers.large.reweighed import curvature, edge_losses
from solvers.large.sparse_qp import SparseQP, solve_sparse_qp
from solvers.large.structure import Candidates
from solvers.qp.balls import share_ball
from solvers.qp.share_model import best_shares
from wdro_cvx import (
    ChiSquareBall,
    CVaRBall,
    Frobenius,
    GraphProblem,
    HellingerBall,
    KLBall,
    LogDegree,
    Nominal,
    Status,
    TotalVariationBall,
    judge,
)
from wdro_cvx.generators import neighbour_graph, smooth_table
from wdro_cvx.graphs.laplacian import edge_index

BALLS = [KLBall, ChiSquareBall, HellingerBall, CVaRBall, TotalVariationBall]


@given(seeds, st.sampled_from(BALLS), st.floats(0.01, 0.3), st.integers(3, 9))
@examples(60)
def test_the_model_is_maximised_over_the_ball(seed, kind, radius, count):
    """No probabilities in the ball do better: at a concave maximum all slopes point downwards."""
    rng = np.random.default_rng(seed)
    samples = rng.standard_normal((count, 4))
    atoms = kind(radius).structure(Nominal.from_samples(samples))
    slope, root = rng.standard_normal(count), rng.standard_normal((count, rng.integers(1, count)))
    bend, centre = -root @ root.T, atoms.shares
    best = best_shares(share_ball(atoms), slope, bend, centre)
    assert best.sum() == pytest.approx(1.0, abs=1e-9)
    assert atoms.divergence(np.maximum(best, 1e-300)) <= radius + 1e-8
    at_best = slope + bend @ (best - centre)
    # The ball's own worst case for these losses attains the largest slope.
    ratios, _, _ = kind(radius).tilted((at_best - at_best.min()) / np.ptp(at_best))
    assert (ratios / ratios.sum() - best) @ at_best <= 1e-7 * np.ptp(at_best)


def test_the_model_agrees_with_a_general_purpose_search():
    rng = np.random.default_rng(0)
    atoms = KLBall(0.1).structure(Nominal.from_samples(rng.standard_normal((5, 3))))
    slope, root = rng.standard_normal(5), rng.standard_normal((5, 2))
    bend = -root @ root.T
    best = best_shares(share_ball(atoms), slope, bend, atoms.shares)

    def loss(p):
        return -(slope @ p + (p - atoms.shares) @ bend @ (p - atoms.shares) / 2)

    found = minimize(
        loss, atoms.shares, method="SLSQP", bounds=[(1e-9, 1.0)] * 5, tol=1e-12,
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1.0},
            {"type": "ineq", "fun": lambda p: 0.1 - atoms.divergence(p)},
        ],
    )  # fmt: skip
    assert loss(best) == pytest.approx(found.fun, rel=1e-6)


@pytest.mark.parametrize(
    "prior",
    [Frobenius(0.3, 20.0), Frobenius(0.3, 20.0, trace_penalty=0.1), LogDegree(1.0, 0.2)],
    ids=["fixed", "penalty", "log-degree"],
)
def test_the_hessian_is_the_derivative_of_the_losses(prior):
    rng = np.random.default_rng(1)
    signals = rng.standard_normal((20, 6))
    edges = Candidates(20, *(index.astype(np.int32) for index in edge_index(20)))
    costs = np.square(signals[edges.heads] - signals[edges.tails])
    shares = rng.dirichlet(np.full(6, 5.0))

    def solved(p):
        return solve_sparse_qp(SparseQP(edges, costs @ p, prior), tol=1e-15)

    def losses(p):
        return edge_losses(signals, edges.heads, edges.tails, solved(p).weights)

    np.testing.assert_allclose(losses(shares), solved(shares).weights @ costs, rtol=1e-12)
    hessian = curvature(solved(shares), signals)
    step = 1e-6
    for k, unit in enumerate(np.eye(6)):
        change = (losses(shares + step * unit) - losses(shares - step * unit)) / (2 * step)
        # Weights may join or leave the graph within a step; that bends the losses, not the slope.
        np.testing.assert_allclose(change, hessian[k], atol=1e-4 * np.abs(hessian).max())


@pytest.mark.parametrize("kind", BALLS)
@pytest.mark.parametrize("radius", [1e-3, 0.05, 0.8, 5.0])
def test_graphs_of_all_divergences_are_those_of_the_dense_solver(kind, radius):
    """From almost no reweighing to all weight on the worst signals; equal signals too."""
    rng = np.random.default_rng(4)
    table = smooth_table(neighbour_graph(50, rng), 12, rng)
    nominal = Nominal.from_samples(np.vstack([table, table[:3], table[:1]]))
    problem = GraphProblem(nominal, kind(min(radius, 0.9) if radius < 5.0 else radius), eta=0.3)
    if kind in (HellingerBall, TotalVariationBall) and radius == 5.0:
        problem = problem.replace(radius=0.99)
    found, dense = SparseSolver(1e-6).solve(problem), CertifiedSolver(1e-8).solve(problem)
    assert found.status is Status.SOLVED
    assert abs(found.value - dense.value) <= 1e-6 * dense.value
    assert judge(problem, found).solved(1e-6)


def test_many_vertices_and_few_signals_are_solved_exactly():
    """The case that the dense interior point does not reach: its gap stayed at one per cent."""
    rng = np.random.default_rng(0)
    table = smooth_table(neighbour_graph(2100, rng), 20, rng)
    problem = GraphProblem(Nominal.from_samples(table), KLBall(0.5), eta=0.3)
    answer = SparseSolver().solve(problem)
    assert answer.status is Status.SOLVED
    verdict = judge(problem, answer)
    assert verdict.solved(1e-6)
    assert verdict.certificate.moment.weights.size == 20

"""The sparse solver and its parts, each against a dense or brute-force counterpart."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import random_laplacian, random_nominal, seeds
from scipy import sparse
from scipy.spatial.distance import squareform
from signal_tables import plain

from solvers import CertifiedSolver, Request, SparseSolver, solve
from solvers.large.charges import Charges
from solvers.large.neighbours import near_pairs, pivot_cells
from solvers.large.pricing import crowding, paying_pairs, paying_within
from solvers.large.sparse_qp import SparseQP, solve_sparse_qp
from solvers.large.structure import Candidates, squared_distances
from solvers.large.worst_case import worst_transport
from solvers.qp import LaplacianQP, solve_laplacian_qp
from wdro_cvx import (
    GaussianBall,
    GraphProblem,
    KLBall,
    MahalanobisBall,
    MomentBall,
    Nominal,
    PairBall,
    ProblemError,
    Singleton,
    Status,
    WassersteinBall,
    judge,
)
from wdro_cvx.ambiguity import Surcharge
from wdro_cvx.generators import neighbour_graph, smooth_table
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.graphs.laplacian import adjoint, edge_index, laplacian_from_weights
from wdro_cvx.priors import Frobenius


def smooth_problem(d, n, ambiguity, eta=0.3, dimensions=2, seed=0):
    rng = np.random.default_rng(seed)
    samples = smooth_table(neighbour_graph(d, rng, dimensions), n, rng)
    return GraphProblem(Nominal.from_samples(samples), ambiguity, eta)


def everyone(d):
    return Candidates(d, *(index.astype(np.int32) for index in edge_index(d)))


@given(seeds, st.integers(2, 15), st.floats(-3.0, 2.0))
@examples(60)
def test_the_sparse_qp_over_all_pairs_is_the_dense_one(seed, d, size):
    rng = np.random.default_rng(seed)
    moment, eta, trace = random_nominal(rng, d, 9).second_moment, 10.0**size, float(d)
    dense = solve_laplacian_qp(LaplacianQP(moment, Frobenius(eta, trace)))
    found = solve_sparse_qp(
        SparseQP(everyone(d), adjoint(moment), Frobenius(eta, trace)), tol=1e-12
    )
    assert found.value == pytest.approx(dense.bound, rel=1e-10)
    assert found.primal == pytest.approx(dense.value, rel=1e-10)
    assert found.feasible.sum() == pytest.approx(trace / 2, rel=1e-12)
    laplacian = laplacian_from_weights(found.feasible)
    # Strong convexity: values that agree to 1e-10 leave this much room.
    room = np.sqrt(2e-10 * abs(dense.value) / eta)
    assert np.linalg.norm(laplacian - dense.laplacian) <= room + 1e-12


def test_the_sparse_qp_uses_its_candidates_only():
    rng = np.random.default_rng(0)
    costs = rng.exponential(size=3)
    path = Candidates.from_pairs(4, np.array([0, 2, 3]), np.array([1, 1, 2]))
    assert path.heads.tolist() == [0, 1, 2]
    point = solve_sparse_qp(SparseQP(path, costs, Frobenius(0.2, 4.0)), tol=1e-13)
    best = point.primal
    for _ in range(200):  # no other weights of the same sum do better
        weights = np.maximum(point.feasible + 0.1 * rng.standard_normal(3), 0.0)
        weights *= 2.0 / weights.sum()
        degrees = path.degrees(weights)
        assert costs @ weights + 0.2 * (2 * weights @ weights + degrees @ degrees) >= best


@given(seeds, st.integers(3, 12), st.sampled_from([0.01, 0.1, 0.5]))
@examples(60)
def test_the_worst_transport_is_that_of_the_eigenvectors(seed, d, radius):
    rng = np.random.default_rng(seed)
    nominal, laplacian = random_nominal(rng, d, 40), random_laplacian(rng, d)
    found = worst_transport(sparse.csr_array(laplacian), nominal.factor.T, radius, 1e-10)
    worst = WassersteinBall(radius).worst_case(nominal, laplacian)
    premium = worst.risk - float(np.vdot(nominal.second_moment, laplacian))
    assert found.premium >= premium * (1 - 1e-11)
    moves = found.moves.astype(float)  # from single precision, whose errors cost their square
    assert np.linalg.norm(moves) == pytest.approx(radius, rel=1e-7)
    moves *= radius / np.linalg.norm(moves)
    if found.closed:
        assert found.premium == pytest.approx(premium, rel=1e-8)
        moved = nominal.factor.T + moves
        assert float(np.sum(moved * (laplacian @ moved))) == pytest.approx(worst.risk, rel=1e-8)
    else:  # only where λmax itself is in the way, and not its bound
        assert worst.multiplier <= float(np.linalg.eigvalsh(laplacian)[-1]) * (1 + 2e-3)


def test_a_rough_premium_is_too_large_never_too_small():
    """Where conjugate gradients stop early, what they left over is added, not taken away."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        nominal, laplacian = random_nominal(rng, 8, 40), random_laplacian(rng, 8)
        worst = WassersteinBall(0.5).worst_case(nominal, laplacian)
        premium = worst.risk - float(np.vdot(nominal.second_moment, laplacian))
        found = worst_transport(sparse.csr_array(laplacian), nominal.factor.T, 0.5, 0.1)
        assert premium <= found.premium <= 1.2 * premium


@given(seeds, st.integers(2, 40), st.floats(-3.0, 3.0), st.sampled_from([0.0, 0.3]))
@examples(60)
def test_pricing_finds_exactly_the_pairs_that_pay(seed, d, size, margin):
    rng = np.random.default_rng(seed)
    points = 10.0**size * rng.standard_normal((d, 5)) + rng.standard_normal(5)
    nu = rng.exponential(size=d)
    pairs = everyone(d)
    costs = squared_distances(points, pairs.heads, pairs.tails)
    levels = costs + nu[pairs.heads] + nu[pairs.tails]
    tau = float(rng.choice(levels)) * (1 + 1e-15)
    heads, tails, prices = paying_pairs(points, nu, tau, margin)
    expected = tau - costs - nu[pairs.heads] - nu[pairs.tails]
    kept = expected > -margin
    np.testing.assert_array_equal(heads, pairs.heads[kept])
    np.testing.assert_array_equal(tails, pairs.tails[kept])
    np.testing.assert_array_equal(prices, expected[kept])


@given(seeds, st.integers(2, 40), st.floats(-3.0, 3.0), st.booleans())
@examples(60)
def test_pricing_with_charges_finds_exactly_the_pairs_that_pay(seed, d, size, fixed):
    """Amounts over six orders of magnitude, in another order of the vertices."""
    rng = np.random.default_rng(seed)
    points, nu = rng.standard_normal((d, 5)), rng.exponential(size=d)
    amounts = 10.0 ** (size + rng.uniform(-3, 3, d * (d - 1) // 2))
    order = rng.permutation(d)
    surcharge = Surcharge(0.5, amounts)
    charges = Charges(surcharge, order, 4.0, surcharge.least if fixed else 0.0)
    pairs = everyone(d)
    matrix = squareform(0.5 * amounts - charges.free)[order][:, order] / 4.0
    paid = matrix[pairs.heads, pairs.tails]
    costs = squared_distances(points, pairs.heads, pairs.tails) + paid
    levels = costs + nu[pairs.heads] + nu[pairs.tails]
    tau = float(rng.choice(levels)) * (1 + 1e-12)
    heads, tails, prices = paying_pairs(points, nu, tau, charges=charges)
    expected = tau - levels
    # Sums in another order round differently, so pairs may tie within their rounding.
    rounding = 1e-13 * (np.abs(levels) + abs(tau))
    found = np.isin(pairs.keys, heads.astype(np.int64) * d + tails)
    assert found[expected > rounding].all()
    assert not found[expected < -rounding].any()
    np.testing.assert_allclose(prices, expected[found], atol=float(rounding.max()))
    all_cells = [np.arange(d)]
    within = paying_within(points, nu, tau, 0.0, all_cells, charges)
    np.testing.assert_array_equal(within[2], prices)


def test_whoever_computes_the_blocks_the_bits_are_the_same(monkeypatch):
    monkeypatch.setattr("solvers.large.pricing._BLOCK", 7)
    rng = np.random.default_rng(0)
    points, nu = rng.standard_normal((40, 3)), rng.exponential(size=40)
    alone = paying_pairs(points, nu, 4.0, 0.1)
    amounts = Surcharge(1.0, rng.exponential(size=780))
    charges = Charges(amounts, np.arange(40), 1.0, amounts.least)
    charged = paying_pairs(points, nu, 4.0, 0.1, charges=charges)
    with ThreadPoolExecutor(2) as pool:
        together = paying_pairs(points, nu, 4.0, 0.1, pool)
        charged_together = paying_pairs(points, nu, 4.0, 0.1, pool, charges=charges)
    assert alone[0].size > charged[0].size > 0
    for one, other in zip((*alone, *charged), (*together, *charged_together), strict=True):
        np.testing.assert_array_equal(one, other)


def test_pricing_within_cells_finds_their_pairs_and_no_others():
    rng = np.random.default_rng(0)
    points, nu = rng.standard_normal((30, 3)), np.zeros(30)
    cells = [np.array([3, 1, 4, 15]), np.array([9, 2, 6])]
    heads, tails, _ = paying_within(points, nu, 1e6, 0.0, cells)
    expected = {(1, 3), (1, 4), (1, 15), (3, 4), (3, 15), (4, 15), (2, 6), (2, 9), (6, 9)}
    assert set(zip(heads.tolist(), tails.tolist(), strict=True)) == expected


def test_crowding_leaves_about_as_many_pairs_as_asked_for():
    rng = np.random.default_rng(1)
    points, nu = rng.standard_normal((200, 4)), np.zeros(200)
    assert crowding(points, nu, 0.1, 0.5, 1e9, rng) == -0.5
    level = crowding(points, nu, 20.0, 0.5, 400, rng)
    count = paying_pairs(points, nu, 20.0, -level)[0].size
    assert 300 <= count <= 500  # all vertices are in the sample; each counts itself


def test_near_pairs_are_the_nearest_ones():
    points = np.random.default_rng(0).standard_normal((50, 3))
    found = near_pairs(points, 4, [])
    distances = np.sum((points[:, None] - points[None]) ** 2, axis=2)
    nearest = np.argsort(distances, axis=1)[:, 1:5]
    pairs = {(min(i, int(j)), max(i, int(j))) for i in range(50) for j in nearest[i]}
    assert set(zip(found.heads.tolist(), found.tails.tolist(), strict=True)) == pairs


SETS = [
    Singleton(),
    GaussianBall(0.8),
    WassersteinBall(0.8),
    MahalanobisBall.example(0.8, 60),
    MomentBall(0.8),
    MomentBall(20.0),
]


@pytest.mark.parametrize("ambiguity", SETS, ids=lambda s: f"{type(s).__name__}-{s.radius:g}")
@pytest.mark.parametrize("dimensions", [2, 10])
@pytest.mark.parametrize("eta", [0.02, 0.3, 5.0])
def test_it_finds_what_the_dense_solver_finds(ambiguity, dimensions, eta):
    problem = smooth_problem(60, 40, ambiguity, eta, dimensions)
    found, dense = SparseSolver(1e-7).solve(problem), CertifiedSolver(1e-9).solve(problem)
    assert found.status is Status.SOLVED
    assert found.value == pytest.approx(dense.value, rel=1e-7)
    assert judge(problem, found).solved(1e-7)  # the dense judge, on the dense Laplacian
    assert found.laplacian.shape == (60, 60)


def test_the_multiplier_of_a_moment_ball_is_that_of_its_worst_case():
    problem = smooth_problem(60, 40, MomentBall(0.8, alpha=2.0))
    found = SparseSolver().solve(problem)
    worst = problem.ambiguity.worst_case(problem.nominal, found.laplacian)
    assert found.multiplier == pytest.approx(worst.multiplier, rel=1e-9)


def test_cells_lead_to_the_same_answer(monkeypatch):
    problem = smooth_problem(120, 30, WassersteinBall(1.0))
    exact = SparseSolver(1e-8).solve(problem)
    monkeypatch.setattr("solvers.large.neighbours._EXACT", 0)
    monkeypatch.setattr("solvers.large.neighbours._CELL", 20)
    cells = pivot_cells(problem.nominal.factor.T, np.random.default_rng(0))
    assert len(cells) > 6
    assert max(cell.size for cell in cells) <= 40
    found = SparseSolver(1e-8).solve(problem)
    assert found.status is Status.SOLVED
    assert found.value == pytest.approx(exact.value, rel=1e-8)


def test_a_crowd_of_paying_pairs_is_let_in_by_and_by(monkeypatch):
    """While some of those that pay are left out there is no bound, and none must be claimed."""
    monkeypatch.setattr("solvers.large.rounds.NEIGHBOURS", 1)
    monkeypatch.setattr("solvers.large.rounds._MOST", 0.2)
    answer = SparseSolver().solve(smooth_problem(100, 20, WassersteinBall(1.0), eta=3.0))
    assert answer.status is Status.SOLVED
    assert any(row["bound"] == -np.inf for row in answer.history)


def test_a_cluster_computes_the_same_bits(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("solvers.large.pricing._BLOCK", 32)
    problem = smooth_problem(100, 20, WassersteinBall(1.0))
    alone = SparseSolver().solve(problem)
    with distributed.Client(processes=False, n_workers=2, dashboard_address=":0") as client:
        together = SparseSolver(executor=client).solve(problem)
    assert together.value == alone.value
    np.testing.assert_array_equal(together.laplacian, alone.laplacian)


def test_solve_goes_the_sparse_way_where_it_is_faster():
    problem = smooth_problem(400, 20, WassersteinBall(2.0))
    answer = solve(problem)
    assert answer.status is Status.SOLVED
    assert "edges" in answer.history[0]  # what the sparse solver notes
    assert isinstance(answer.laplacian, np.ndarray)
    assert answer.edges.weights.sum() == pytest.approx(200.0, rel=1e-12)
    assert judge(problem, answer).solved(1e-6)
    small = solve(smooth_problem(40, 20, WassersteinBall(0.5)))
    assert "edges" not in small.history[0]


@pytest.mark.parametrize(
    "ambiguity",
    [
        WassersteinBall(3.0),
        MomentBall(50.0, p=1.0),
        MomentBall(0.1, p=np.inf),
        PairBall(0.1),
        KLBall(0.1),
    ],
    ids=repr,
)
def test_large_laplacians_are_sparse_and_nothing_is_dense(ambiguity):
    d = 6000
    problem = smooth_problem(d, 5, ambiguity)
    tracemalloc.start()
    try:
        answer = solve(problem)
        verdict = judge(problem, answer)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert answer.status is Status.SOLVED
    assert sparse.issparse(answer.laplacian)
    assert verdict.solved(1e-6)
    assert peak < 8 * d * d / 2  # half of one dense array


def test_a_radius_for_every_pair_takes_no_more_than_its_scales():
    d = 4000
    scales = np.random.default_rng(0).uniform(0.5, 1.5, d * (d - 1) // 2)
    problem = smooth_problem(d, 5, PairBall(0.3, scales))
    tracemalloc.start()
    try:
        answer = solve(problem)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert answer.status is Status.SOLVED
    assert sparse.issparse(answer.laplacian)
    edges = answer.edges
    paid = squareform(scales, checks=False)[edges.heads, edges.tails] @ edges.weights
    assert answer.multiplier == pytest.approx(paid, rel=1e-12)
    assert peak < 8 * scales.size + 8 * d * d / 2  # their array, and half of one dense array


def test_the_estimator_takes_many_vertices():
    rng = np.random.default_rng(0)
    samples = smooth_table(neighbour_graph(2100, rng), 6, rng)
    model = plain(radius=2.0).fit(samples)
    assert sparse.issparse(model.laplacian_)
    degrees = model.laplacian_.diagonal()
    # What the threshold leaves out is less than it for each of a vertex's edges.
    assert np.abs(model.adjacency_.sum(axis=1) - degrees).max() < 1e-4 * 100
    assert 0.0 < model.score(samples) <= 1.0
    assert model.to_networkx().number_of_edges() == model.adjacency_.nnz // 2


@pytest.mark.parametrize("ambiguity", [WassersteinBall(40.0), WassersteinBall(2.0)])
def test_what_is_not_for_it_goes_to_the_dense_solver(ambiguity, monkeypatch):
    """A hard case, and a graph that is not sparse."""
    monkeypatch.setattr("solvers.large.solve.LARGE_FROM", 2)
    eta = 0.3 if ambiguity.radius > 10.0 else 100.0
    problem = smooth_problem(30, 5, ambiguity, eta)
    assert SparseSolver.try_solve(problem, Request()) is None
    answer = solve(problem, 1e-5, time_limit=60.0)
    assert answer.status is Status.SOLVED


def test_who_looks_sees_rounds_pricing_and_gap(capsys):
    seen = []
    problem = smooth_problem(300, 20, WassersteinBall(2.0))
    quiet = SparseSolver(callback=seen.append).solve(problem)
    assert capsys.readouterr().err == ""
    shown = SparseSolver(callback=seen.append, progress=True).solve(problem)
    said = capsys.readouterr().err
    assert "round 1," in said
    assert "candidates: pricing all pairs, 0%" in said
    assert "gap 1e" in said or f"gap {seen[-1].gap:.0e}" in said
    assert len(seen) == 2 * len(quiet.history)  # a callback is told after rounds, not within
    assert shown.value == quiet.value


def test_a_time_limit_ends_it_with_a_valid_answer(monkeypatch):
    """Before there is an answer, at once with the first one: no pairs are priced any more."""

    def priced(*_):
        raise AssertionError("pairs were priced after the time limit")

    monkeypatch.setattr("solvers.large.rounds.paying_pairs", priced)
    problem = smooth_problem(300, 20, WassersteinBall(2.0))
    answer = SparseSolver(1e-12, time_limit=1e-3).solve(problem)
    assert answer.status is Status.TIME_LIMIT
    assert np.trace(answer.laplacian) == pytest.approx(300.0, rel=1e-12)
    assert answer.bound <= answer.value


def test_what_it_does_not_solve_it_says():
    nominal = random_nominal(np.random.default_rng(0), 5, 9)
    with pytest.raises(ProblemError, match="MomentBall"):
        SparseSolver().solve(GraphProblem(nominal, MomentBall(0.1, p=3.0), 0.3))


@pytest.mark.parametrize("d", [2, 3])
def test_the_smallest_graphs(d):
    problem = GraphProblem(random_nominal(np.random.default_rng(0), d, 9), WassersteinBall(0.1), 1)
    found = SparseSolver().solve(problem)
    assert found.value == pytest.approx(CertifiedSolver().solve(problem).value, rel=1e-6)


def test_signals_have_the_covariance_that_is_promised():
    rng = np.random.default_rng(0)
    graph = neighbour_graph(6, rng, neighbours=2)
    assert graph.degrees.sum() == pytest.approx(6.0)
    table = smooth_table(graph, 40_000, rng, noise=0.2, level=0.5)
    expected = np.linalg.inv(graph.laplacian().toarray() + 0.5 * np.eye(6)) + 0.04 * np.eye(6)
    # Six deviations of an entry's estimate: √(2/n) of the largest variance.
    np.testing.assert_allclose(np.cov(table.T), expected, atol=6 * np.sqrt(2 / 4e4) * 2.0)


def test_an_edge_list_is_its_laplacian():
    laplacian = random_laplacian(np.random.default_rng(0), 7)
    graph = EdgeList.from_laplacian(laplacian)
    np.testing.assert_allclose(graph.laplacian().toarray(), laplacian, atol=1e-15)
    assert graph.square == pytest.approx(float(np.vdot(laplacian, laplacian)), rel=1e-14)
    again = EdgeList.from_laplacian(sparse.csr_array(laplacian))
    np.testing.assert_array_equal(again.heads, graph.heads)
    assert (graph.heads < graph.tails).all()

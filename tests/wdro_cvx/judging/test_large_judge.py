"""The judge for sparse Laplacians: against the dense one, exact arithmetic and forgeries."""

from dataclasses import astuple, replace
from fractions import Fraction

import numpy as np
import pytest
from attacks import exact_objective, forge
from edge_lists import without_matrix
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, random_laplacian, random_nominal, seeds
from scipy import sparse
from scipy.spatial.distance import squareform

import wdro_cvx.judging.sparse.dual as large_dual
from solvers import CertifiedSolver
from wdro_cvx import (
    Certificate,
    ChiSquareBall,
    CVaRBall,
    GaussianBall,
    GraphProblem,
    KLBall,
    LogDegree,
    MahalanobisBall,
    MomentBall,
    Nominal,
    PairBall,
    ProblemError,
    Singleton,
    WassersteinBall,
    judge,
)
from wdro_cvx.ambiguity import Surcharge
from wdro_cvx.ambiguity.transport import TransportMembership
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.graphs.laplacian import laplacian_from_weights, weights_from_laplacian
from wdro_cvx.judging.sparse.premium import premium_bound
from wdro_cvx.judging.sparse.prices import TooManyError, pairs_below
from wdro_cvx.judging.sparse.shift import DearerPairs, PeakShift
from wdro_cvx.judging.sparse.top import eigenvalue_bound
from wdro_cvx.moments.points import TransportedMoment


def transports(radius, d):
    return [
        Singleton(),
        GaussianBall(radius),
        WassersteinBall(radius),
        MahalanobisBall.example(radius, d),
        MomentBall(radius),
        MomentBall(radius, p=1.0),
        MomentBall(radius, p=np.inf),
        PairBall(radius),
        PairBall.example(radius, d),
        KLBall(radius),
        ChiSquareBall(radius),
        CVaRBall(radius),
    ]


KINDS = 12


@given(seeds, dimensions, st.sampled_from([0.0, 1e-3, 0.1, 0.5, 3.0]), st.integers(0, KINDS - 1))
@examples(60)
def test_it_brackets_what_the_dense_judge_finds(seed, d, radius, kind):
    """Any Laplacian, with and without a certificate: the true value lies in either bracket."""
    rng = np.random.default_rng(seed)
    nominal = random_nominal(rng, d, int(rng.integers(2, 12)))
    problem = GraphProblem(nominal, transports(radius, d)[kind], eta=10.0 ** rng.uniform(-2, 1))
    laplacian = random_laplacian(rng, d)
    worst = problem.ambiguity.worst_case(nominal, laplacian)
    true = worst.risk + problem.regularisation(laplacian)
    optimum = CertifiedSolver(1e-9, time_limit=2.0).solve(problem)
    offers = [None, Certificate(worst.moment), optimum.certificate]
    for certificate in offers:
        verdict = judge(problem, sparse.csr_array(laplacian), certificate)
        assert verdict.value >= true * (1 - 1e-13)
        assert verdict.bound <= optimum.value


@pytest.mark.parametrize("kind", range(KINDS))
def test_at_the_optimum_it_closes_the_gap(kind):
    rng = np.random.default_rng(7)
    problem = GraphProblem(random_nominal(rng, 12, 30), transports(0.4, 12)[kind], eta=0.5)
    answer = CertifiedSolver(1e-9).solve(problem)
    thin = replace(
        answer,
        laplacian=sparse.csr_array(answer.laplacian),
        certificate=without_matrix(problem, answer.certificate),
    )
    dense, found = judge(problem, answer), judge(problem, thin)
    assert found.solved(3e-9)  # the premium may be above the truth by 1e-9 of itself
    assert found.value == pytest.approx(dense.value, rel=2e-9)
    assert found.bound == pytest.approx(dense.bound, rel=2e-9)
    ties = problem.ambiguity in (MomentBall(0.4, p=1.0), CVaRBall(0.4))
    # By its own worst case; where degrees or losses tie, only a certificate tells the mixture.
    assert judge(problem, thin.laplacian).gap <= (0.05 if ties else 1e-6)


def test_the_optimal_weights_are_in_the_brackets():
    rng = np.random.default_rng(8)
    problem = GraphProblem(random_nominal(rng, 10, 30), WassersteinBall(0.3), eta=0.5)
    best = weights_from_laplacian(CertifiedSolver(1e-11).solve(problem).laplacian)
    rough = CertifiedSolver(1e-4).solve(problem)
    found = judge(problem, replace(rough, laplacian=sparse.csr_array(rough.laplacian)))
    matrix = laplacian_from_weights(best)
    listed = -matrix[found.edges.heads, found.edges.tails]
    slack = 1e-4  # the best weights are known to √(1e-11·value/η)
    assert (found.edges.lower <= listed + slack).all()
    assert (listed <= found.edges.upper + slack).all()
    others = laplacian_from_weights(best)
    others[found.edges.heads, found.edges.tails] = 0.0
    assert -np.triu(others, 1).min() <= found.edges.others + slack
    assert sum(found.edges.counts().values()) == 45


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("column", [1.0, 1e5])
def test_exact_arithmetic_agrees(offset, column):
    """Sixty digits, from the raw data: the value is above it, and the bound below."""
    rng = np.random.default_rng(3)
    samples = rng.standard_normal((8, 5)) + offset
    samples[:, 2] *= column
    for ambiguity in transports(0.7, 5):
        problem = GraphProblem(Nominal.from_samples(samples), ambiguity, eta=0.2)
        answer = CertifiedSolver(1e-9, time_limit=5.0).solve(problem)
        exact = float(exact_objective(problem, answer.laplacian))
        thin = replace(answer, laplacian=sparse.csr_array(answer.laplacian))
        verdict = judge(problem, thin)
        assert verdict.bound <= exact
        # The exact objective is taken at a multiplier that may be above the best by 1e-13.
        assert verdict.value >= exact * (1 - 1e-12)


def forged_bounds(seed, kind):
    rng = np.random.default_rng(seed)
    samples = rng.standard_normal((9, 6)) * np.geomspace(1e-2, 1e2, 6)
    problem = GraphProblem(Nominal.from_samples(samples), transports(0.3, 6)[kind], eta=0.2)
    answer = CertifiedSolver(1e-10, time_limit=5.0).solve(problem)
    for name, certificate in forge(problem, answer.laplacian, rng):
        verdict = judge(problem, sparse.csr_array(answer.laplacian), certificate)
        yield name, verdict.bound, answer.value


@pytest.mark.parametrize("kind", range(KINDS))
def test_forged_certificates_do_not_raise_the_bound_above_the_optimum(kind):
    for name, bound, optimum in forged_bounds(5, kind):
        assert bound <= optimum, name


def test_the_forgers_would_succeed_if_membership_were_not_asked_for(monkeypatch):
    monkeypatch.setattr(TransportMembership, "measure", lambda *_: 0.0)
    assert any(bound > optimum for _, bound, optimum in forged_bounds(5, 2))


@given(seeds, dimensions)
@examples(50)
def test_no_eigenvalue_exceeds_its_bound(seed, d):
    laplacian = random_laplacian(np.random.default_rng(seed), d, density=0.4)
    top = float(np.linalg.eigvalsh(laplacian)[-1])
    assert eigenvalue_bound(sparse.csr_array(laplacian)) >= top * (1 - 1e-14)


def test_the_eigenvalue_bound_is_sharp_for_bipartite_graphs():
    weights = np.zeros(45)
    weights[:9] = np.linspace(0.5, 2.0, 9)  # a star; |L| has the eigenvalues of L
    laplacian = laplacian_from_weights(weights)
    top = float(np.linalg.eigvalsh(laplacian)[-1])
    assert eigenvalue_bound(sparse.csr_array(laplacian)) == pytest.approx(top, rel=1e-6)


@given(seeds, dimensions, st.floats(0.01, 5.0), st.booleans())
@examples(60)
def test_the_premium_is_never_understated_whatever_the_start(seed, d, radius, wild):
    rng = np.random.default_rng(seed)
    nominal = random_nominal(rng, d, int(rng.integers(1, 10)))
    laplacian = random_laplacian(rng, d)
    start = rng.standard_normal(nominal.factor.T.shape) if wild else None
    bound = premium_bound(sparse.csr_array(laplacian), nominal.factor.T, radius, start)
    risk = WassersteinBall(radius).worst_case(nominal, laplacian).risk
    true = risk - float(np.vdot(nominal.second_moment, laplacian))
    assert bound.value >= true * (1 - 1e-12)


def test_the_premium_is_exact_where_the_worst_case_is_unique():
    rng = np.random.default_rng(1)
    nominal, laplacian = random_nominal(rng, 9, 40), random_laplacian(rng, 9)
    found = premium_bound(sparse.csr_array(laplacian), nominal.factor.T, 0.2)
    worst = WassersteinBall(0.2).worst_case(nominal, laplacian)
    true = worst.risk - float(np.vdot(nominal.second_moment, laplacian))
    assert found.value == pytest.approx(true, rel=1e-8)  # 1e-9 is what the sweeps leave
    assert found.multiplier == pytest.approx(worst.multiplier, rel=1e-3)


@given(seeds, st.integers(2, 40), st.floats(-1.0, 8.0))
@examples(60)
def test_no_pair_that_pays_is_missed(seed, d, size):
    """Prices around zero, with columns that are far from each other and from the origin."""
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((d, 7)) + 10.0**size * rng.standard_normal(7)
    columns[rng.integers(d)] *= 100.0
    nu = rng.exponential(size=d)
    costs = np.sum((columns[:, None] - columns[None]) ** 2, axis=2) + nu[:, None] + nu[None]
    tau = float(rng.choice(costs[np.triu_indices(d, 1)])) * (1 + 1e-15)
    heads, tails = pairs_below(columns, nu, tau, d * d)
    assert (heads < tails).all()
    found = set(zip(heads.tolist(), tails.tolist(), strict=True))
    paying = np.argwhere(np.triu(costs < tau, 1))
    assert {(int(i), int(j)) for i, j in paying} <= found


def test_a_pair_that_pays_after_rounding_is_found():
    """Its cost is 1; if both rows were moved by 0.01 it may be 0.98², which is below τ."""
    columns, nu = np.array([[0.0, 0.0], [1.0, 0.0]]), np.zeros(2)
    assert pairs_below(columns, nu, 0.97, 10)[0].size == 0
    heads, tails = pairs_below(columns, nu, 0.97, 10, np.full(2, 0.01))
    assert (heads.tolist(), tails.tolist()) == ([0], [1])


@given(seeds, st.integers(2, 12), st.floats(-30.0, 30.0), st.booleans())
@examples(60)
def test_charges_are_shifts_of_the_set_and_rounded_downwards(seed, d, size, isolated):
    """In fractions: what pairs are charged is at most what a shift in the set adds to them."""
    rng = np.random.default_rng(seed)
    scales = 10.0 ** rng.uniform(-6, 6, d * (d - 1) // 2)
    graph = EdgeList.from_laplacian(random_laplacian(rng, d))
    nu = 10.0**size * rng.standard_normal(d)
    nu[0] += 0.0 if isolated else 1.0
    every = np.triu_indices(d, 1)
    pairs = tuple(index.astype(np.int32) for index in every)
    raised, left = PeakShift(0.3).charges(graph, nu)
    assert sum(map(Fraction, raised.ends.tolist())) <= Fraction(0.3)
    assert (raised.ends >= 0.0).all()
    np.testing.assert_array_equal(left, nu - raised.ends)
    dearer = DearerPairs(Surcharge(0.7, scales), 4.0, d)
    whole = slice(0, d), slice(0, d)
    beyond = dearer.beyond(*whole)[every].tolist()
    listed = dearer.of(*pairs).tolist()
    for k, (exact, found) in enumerate(zip(scales.tolist(), listed, strict=True)):
        allowed = Fraction(0.7) * Fraction(exact) / 16
        ends = Fraction(dearer.ends[pairs[0][k]]) + Fraction(dearer.ends[pairs[1][k]])
        assert allowed * Fraction(1 - 1e-14) <= Fraction(found) <= allowed
        assert allowed * Fraction(1 - 1e-6) <= ends + 2 * Fraction(beyond[k]) <= allowed


def test_the_diagonal_that_multipliers_imply_is_the_best_one():
    """Any other diagonal of the same sum gives a lower bound."""
    rng = np.random.default_rng(0)
    nu = rng.standard_normal(7)
    raised, left = PeakShift(0.8).charges(EdgeList(7, *np.zeros((2, 0), np.int32), np.empty(0)), nu)
    assert raised.ends.sum() == pytest.approx(0.8, rel=1e-11)
    assert np.ptp(left[raised.ends > 0]) < 1e-12  # a common level
    for _ in range(50):
        other = 0.8 * rng.dirichlet(np.full(7, 0.3))
        assert np.sum(left**2) <= np.sum((nu - other) ** 2) + 1e-11


def test_pairs_of_different_blocks_are_found(monkeypatch):
    columns = np.random.default_rng(0).standard_normal((23, 4))
    whole = pairs_below(columns, np.zeros(23), 3.0, 1000)
    amounts = np.random.default_rng(1).exponential(size=253)
    dearer = DearerPairs(Surcharge(1.0, amounts), 1.0, 23)
    dear = pairs_below(columns, dearer.ends, 3.0, 1000, 0.0, dearer.beyond)
    monkeypatch.setattr("wdro_cvx.judging.sparse.prices._SIDE", 5)
    parts = pairs_below(columns, np.zeros(23), 3.0, 1000)
    assert set(zip(*whole, strict=True)) == set(zip(*parts, strict=True))
    dear_parts = pairs_below(columns, dearer.ends, 3.0, 1000, 0.0, dearer.beyond)
    costs = np.sum((columns[:, None] - columns[None]) ** 2, axis=2) + squareform(amounts)
    paying = {(int(i), int(j)) for i, j in np.argwhere(np.triu(costs < 3.0, 1))}
    assert 0 < len(paying) < whole[0].size
    for found in (dear, dear_parts):
        assert set(zip(*(ends.tolist() for ends in found), strict=True)) == paying
    with pytest.raises(TooManyError):
        pairs_below(columns, np.zeros(23), 1e9, 200)


def test_absurd_multipliers_prove_nothing_and_break_nothing(monkeypatch):
    monkeypatch.setattr(large_dual, "_MOST", (1, 50))
    problem = GraphProblem(random_nominal(np.random.default_rng(0), 20, 9), Singleton(), eta=0.2)
    graph = np.zeros(190)
    graph[0] = 10.0
    nu = np.full(20, -1e6)
    nu[:2] = 1e6
    certificate = Certificate(TransportedMoment(problem.nominal.factor), nu)
    verdict = judge(problem, sparse.csr_array(laplacian_from_weights(graph)), certificate)
    assert verdict.bound == -np.inf
    assert not verdict.solved(1.0)
    assert "too many" in verdict.notes[0]


def test_infeasible_matrices_are_reported_and_repaired():
    rng = np.random.default_rng(2)
    problem = GraphProblem(random_nominal(rng, 6, 9), WassersteinBall(0.1), eta=0.2)
    matrix = random_laplacian(rng, 6)
    matrix[0, 1] += 0.3
    matrix[2, 3] = matrix[3, 2] = 0.2
    dense, found = judge(problem, matrix), judge(problem, sparse.csr_array(matrix))
    assert astuple(found.residuals) == pytest.approx(astuple(dense.residuals), abs=1e-15)
    assert found.value == pytest.approx(dense.value, rel=1e-8)
    empty = judge(problem, sparse.csr_array((6, 6)))
    assert np.isfinite(empty.value)
    assert empty.residuals.trace == 1.0


def test_what_it_does_not_know_it_refuses():
    rng = np.random.default_rng(2)
    laplacian = sparse.csr_array(random_laplacian(rng, 6))
    nominal = random_nominal(rng, 6, 9)
    with pytest.raises(ProblemError, match="dense"):
        judge(GraphProblem(nominal, MomentBall(0.1, p=1.5), eta=0.2), laplacian)
    problem = GraphProblem(nominal, WassersteinBall(0.1), eta=0.2)
    with pytest.raises(ProblemError, match="shape"):
        judge(problem, laplacian[:5, :5])
    laplacian.data[0] = np.nan
    with pytest.raises(ProblemError, match="NaN"):
        judge(problem, laplacian)


def test_entries_that_are_listed_twice_do_not_hide_an_infeasible_diagonal():
    """Residuals are relative to the largest entry, which was one of two that cancel."""
    nominal = random_nominal(np.random.default_rng(0), 12, 30)
    problem = GraphProblem(nominal, WassersteinBall(0.3), prior=LogDegree(1.0, 0.05))
    answer = CertifiedSolver(1e-9).solve(problem)
    wrong = np.array(answer.laplacian)
    wrong[0, 0] += 4e-6 * np.abs(wrong).max()
    entries = sparse.csr_array(wrong)
    twice = sparse.csr_array(
        (
            np.concatenate([[1e6, -1e6], entries.data]),
            np.concatenate([[0, 0], entries.indices]),
            np.concatenate([[0], entries.indptr[1:] + 2]),
        ),
        shape=wrong.shape,
    )
    count = twice.nnz
    found = judge(problem, twice, answer.certificate)
    assert found.residuals.largest > 3e-6
    assert not found.solved(1e-6)
    assert twice.nnz == count  # the given matrix is left as it is

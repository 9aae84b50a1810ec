"""The exact verifier: its arithmetic against identities, its proofs against known optima."""

import decimal
import json
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from functools import cache

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers import solve
from wdro_cvx import (
    ChiSquareBall,
    CVaRBall,
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    HellingerBall,
    KLBall,
    MahalanobisBall,
    MetricBall,
    MomentBall,
    Nominal,
    Singleton,
    TotalVariationBall,
    WassersteinBall,
    judge,
    verify,
)
from wdro_cvx.ambiguity import MomentUncertainty, PairBall
from wdro_cvx.ambiguity.reweighting import WeightsBall
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.moments.holes import nominal_with_holes
from wdro_cvx.priors import LogDegree
from wdro_cvx.proof import proof_document, proof_text

D, N = 5, 12
FINE_CONTEXT = decimal.Context(prec=150)

positive = st.fractions(min_value=Fraction(1, 10**30), max_value=10**30).filter(bool)
floats = st.floats(allow_nan=False, allow_infinity=False)


def precise(x: Fraction) -> Decimal:
    return FINE_CONTEXT.divide(Decimal(x.numerator), Decimal(x.denominator))


# ------------------------------------------------------------------ numbers


@given(st.lists(floats, max_size=6))
def test_floats_are_exactly_integers_over_a_power_of_two(values):
    numerators, bits = verify.integers(values)
    assert [Fraction(n, 2**bits) for n in numerators] == [Fraction(value) for value in values]


@given(positive, st.integers(-2000, 2000))
def test_roots_lie_above_by_next_to_nothing(x, power):
    x *= Fraction(2) ** power
    root = verify.root_above(x)
    assert x < root**2 < x * (1 + Fraction(1, 2**120))


@given(positive)
def test_logarithms_lie_between(x):
    low, high = verify.log_between(x)
    exact = Fraction(FINE_CONTEXT.ln(precise(x)))
    slack = Fraction(1, 10**140) * (1 + abs(exact))  # of this test's own rounding
    assert low < exact - slack < exact + slack < high
    assert high - low < Fraction(1, 10**52) * (1 + abs(exact))


@given(st.fractions(min_value=-3000, max_value=200))
def test_exponentials_lie_above(x):
    exact = Fraction(FINE_CONTEXT.exp(precise(x)))
    above = verify.exp_above(x)
    assert above > exact * (1 + Fraction(1, 10**140))
    if x >= -1000:
        assert above < exact * (1 + Fraction(1, 10**50))


@given(
    st.dictionaries(
        st.fractions(min_value=0, max_value=1000), st.integers(1, 5), min_size=1, max_size=5
    ),
    st.sampled_from([1, 2, 3, 4, 7]),
)
def test_norms_lie_above(sizes, order):
    norm = verify.norm_above(sizes, Fraction(order))
    exact = sum(count * size**order for size, count in sizes.items())
    assert exact <= norm**order <= exact * (1 + Fraction(1, 10**36))
    assert verify.norm_above(sizes, None) == max(sizes)


@given(st.dictionaries(positive, st.integers(1, 5), min_size=1, max_size=4))
def test_norms_of_broken_and_extreme_orders_lie_above(sizes):
    norms = [verify.norm_above(sizes, order) for order in (Fraction(4, 3), Fraction(3, 2))]
    for norm, power, times in zip(norms, (4, 3), (3, 2), strict=True):
        with decimal.localcontext(FINE_CONTEXT):
            terms = [
                count * (precise(x) ** power) ** (1 / Decimal(times)) for x, count in sizes.items()
            ]
            exact = sum(terms) ** (Decimal(times) / power)
        assert (
            Fraction(exact) * (1 + Fraction(1, 10**45))
            > norm
            > Fraction(exact) * (1 - Fraction(1, 10**90))
        )
    huge = verify.norm_above(sizes, Fraction(1e308))
    assert max(sizes) <= huge <= max(sizes) * (1 + Fraction(1, 10**50))


@given(positive, positive)
def test_shares_fit(limit, size):
    share = verify.share_within(limit, size)
    assert 0 <= share <= 1
    assert share * size <= limit
    assert share == 1 or (share + Fraction(1, verify.FINE)) * size > limit


@given(st.fractions(), st.fractions(), st.integers(2, 20))
def test_printed_decimals_are_rounded_outwards(bound, value, digits):
    low, high = (Fraction(Decimal(text)) for text in verify.outward(bound, value, digits))
    assert low <= bound
    assert high >= value
    assert bound - low <= abs(bound) * Fraction(10, 10**digits)
    assert high - value <= abs(value) * Fraction(10, 10**digits)


@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), st.fractions(0, 1))
def test_shortened_entries_are_no_longer_than_their_share(row, share):
    entries, _ = verify.integers(row)
    for n, short in zip(entries, verify.shortened(entries, share), strict=True):
        assert abs(short) <= share * abs(n) < abs(short) + 1
        assert short * n >= 0


def test_an_eigenvalue_limit_is_no_less_than_any_eigenvalue():
    rng = np.random.default_rng(3)
    for _ in range(20):
        weights = rng.random(10) * 10.0 ** rng.integers(-9, 9)
        graph = verify.Graph(
            5,
            list(zip(*map(list, edge_index(5)), strict=True)),
            *verify.integers(weights),
            Fraction(1),
        )
        matrix = [
            [graph.image([int(i == j) for i in range(5)])[k] for k in range(5)] for j in range(5)
        ]
        true = np.linalg.eigvalsh(np.array(matrix, dtype=float))[-1] / 2**graph.bits
        for guess in (true, true * (1 - 1e-9), true * (1 + 1e-9)):
            hints = verify.Evidence({}, [], 0.0, 0.0, float(guess))
            limit, gamma = verify.eigenvalue_limit(matrix, graph.bits, hints)
            assert true * (1 - 1e-14) <= limit < gamma <= true * (1 + 1e-7)


def proof_of(ambiguity, **prior):
    problem = GraphProblem(nominals()["samples"], ambiguity, **prior)
    return verify.read_proof(proof_document(problem, solve(problem, tol=1e-6)))


def test_logarithms_of_degrees_are_rounded_so_that_the_value_is_not_understated():
    proof = proof_of(Singleton(), prior=LogDegree(1.0, 0.3))
    unit = proof.graph.scale / 2**proof.graph.bits
    degrees = [unit * degree for degree in proof.graph.degrees]
    exact = proof.graph.scale * verify.risk_of(proof)
    exact += 2 * proof.prior.beta * unit**2 * sum(weight**2 for weight in proof.graph.weights)
    exact -= sum(proof.prior.alpha * Fraction(FINE_CONTEXT.ln(precise(u))) for u in degrees)
    assert proof.prior.kappa == 0
    assert exact < verify.value_of(proof) < exact + Fraction(1, 10**20)


def test_the_risk_of_a_divergence_is_rounded_up():
    proof = proof_of(KLBall(0.2), eta=0.3)
    losses, t = verify.losses_of(proof), Fraction(proof.certificate.multiplier)
    worst, context = max(losses), FINE_CONTEXT
    total = sum(n * Fraction(context.exp(precise((x - worst) / t))) for x, n in losses.items())
    mean = total / proof.table.total
    exact = worst + t * (proof.ambiguity.radius + Fraction(context.ln(precise(mean))))
    assert exact < verify.risk_of(proof) < exact + Fraction(1, 10**20)


@pytest.mark.parametrize("factor", [0.0, 0.5, 0.999, 1.001, 2.0])
def test_poor_guesses_make_the_value_loose_never_wrong(factor, monkeypatch):
    problem = GraphProblem(nominals()["samples"], WassersteinBall(0.6), prior=LogDegree(1.0, 0.3))
    document = proof_document(problem, solve(problem, tol=1e-9))
    best = verify.establish(document).value
    good, factorise = verify.solved, verify.cholesky
    monkeypatch.setattr(verify, "solved", lambda *a: [factor * y for y in good(*a)])
    solved_badly = verify.establish(document).value
    assert best < solved_badly
    monkeypatch.setattr(verify, "solved", good)

    def disturbed(lower):
        found = factorise(lower)
        return found and [[entry * (1 + 0.03 * (factor - 1)) for entry in row] for row in found]

    monkeypatch.setattr(verify, "cholesky", disturbed)
    assert best * (1 - 1e-9) <= verify.establish(document).value
    # Not even a factor of another matrix helps.
    other = [[1.0], [0.0, 1.0], [0.0, 0.0, factor]]
    monkeypatch.setattr(verify, "cholesky", lambda lower: other)
    matrix = [[3, -1, -2], [-1, 1, 0], [-2, 0, 2]]  # the largest eigenvalue is 3 + √3
    for top in (0.01, 4.7, 4.7320508, 5.0):
        hints = verify.Evidence({}, [], 0.0, 0.0, top)
        limit, gamma = verify.eigenvalue_limit(matrix, 0, hints)
        assert limit > 3
        assert (limit - 3) ** 2 >= 3
        assert gamma > limit


# ------------------------------------------------------------------ against the judge


@cache
def nominals() -> dict[str, Nominal]:
    rng = np.random.default_rng(0)
    X = smooth_signals(rbf_graph(D, rng), n=N, rng=rng, noise=0.1)
    weights = rng.random(N)
    weights[3] = 0.0
    holes = np.where(rng.random(X.shape) < 0.15, np.nan, X)
    return {
        "samples": Nominal.from_samples(X),
        "few": Nominal.from_samples(X[:3] + 1e6),
        "repeated": Nominal.from_samples(X[rng.integers(0, 6, N)]),
        "weights": Nominal.from_samples(X, weights),
        "rows": Nominal.from_rows(X.mean(axis=0), X / np.sqrt(N)),
        "moments": Nominal.from_moments(X.mean(axis=0), np.cov(X.T, bias=True)),
        "holes": nominal_with_holes(holes)[0],
        "weighted holes": nominal_with_holes(holes, weights + 0.1)[0],
        "no holes": nominal_with_holes(X)[0],
    }


SETS = [
    Singleton(), GaussianBall(0.3), WassersteinBall(1.0), WassersteinBall(0.0),
    MahalanobisBall.example(0.5, D), KLBall(0.3), ChiSquareBall(0.5), MomentBall(0.5),
    MomentBall(0.5, p=1), MomentBall(0.5, p=np.inf), MomentBall(0.5, p=1.5),
    PairBall.example(0.3, D), MomentUncertainty.example(0.1, D), HellingerBall(0.2),
    CVaRBall(0.5), TotalVariationBall(0.2), MetricBall.example(0.5, D),
]  # fmt: skip


def box() -> EdgeBounds:
    lower, upper = np.zeros((D, D)), np.full((D, D), np.inf)
    upper[0, 1] = upper[1, 0] = 0.0
    upper[2, 3] = upper[3, 2] = 0.3
    lower[2, 4] = lower[4, 2] = 0.05
    return EdgeBounds.from_matrices(lower, upper)


def listed() -> EdgeBounds:
    pairs = [(i, j) for i in range(D) for j in range(i + 1, D) if (i + j) % 3]
    return EdgeBounds.from_list(D, pairs, lower=0.0, upper=1.5)


PRIORS = {
    "trace": lambda: {"eta": 0.3},
    "penalty": lambda: {"eta": 0.3, "trace_penalty": 0.5},
    "bounds": lambda: {"eta": 0.3, "bounds": box()},
    "listed": lambda: {"eta": 0.3, "bounds": listed(), "trace": 4.3},
    "penalised bounds": lambda: {"eta": 0.3, "trace_penalty": 0.5, "bounds": box()},
    "logarithms": lambda: {"prior": LogDegree(1.0, 0.3)},
    "logarithms, bounds": lambda: {"prior": LogDegree(1.0, 0.3, bounds=box())},
    "logarithms, listed": lambda: {"prior": LogDegree(1.0, 0.3, bounds=listed())},
}


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
def test_value_bound_and_edges_agree_with_the_judge(ambiguity, prior):
    # Every set with every prior, and every set with all data, though not with every prior.
    first = list(PRIORS).index(prior)
    tried = 0
    for k, nominal in enumerate(nominals().values()):
        if (k - first) % 4 or (isinstance(ambiguity, WeightsBall) and nominal.samples is None):
            continue
        tried += 1
        problem = GraphProblem(nominal, ambiguity, **PRIORS[prior]())
        solution = solve(problem, tol=1e-7)
        verdict = judge(problem, solution)
        result = verify.prove(proof_document(problem, solution))
        assert result.bound <= Fraction(verdict.value)
        assert Fraction(verdict.bound) <= result.value
        gap = float(result.value - result.bound)
        assert gap <= 2 * (verdict.value - verdict.bound) + 1e-12 * abs(verdict.value)
        found = np.zeros((D, D))  # 1 is present, 2 is undecided
        for code, pairs in ((1, result.present), (2, result.undecided)):
            for i, j in pairs:
                found[i, j] = code
        kinds = found[edge_index(D)]
        edges = verdict.edges
        assert not np.any(edges.present()[kinds == 0])
        assert not np.any(edges.absent()[kinds == 1])
        assert np.all(edges.undecided()[kinds == 2])
        if nominal.table is not None and nominal.known_rows is not None:
            assert result.holes <= 1e-13
        else:
            assert result.holes is None
    assert tried or isinstance(ambiguity, WeightsBall)


# ------------------------------------------------------------------ against other truths


def worst_of(kind: str, X: np.ndarray, L: cp.Expression, radius: float) -> tuple:
    """Return the risk of a set in CVXPY, by its own dual, and the constraints that go with it."""
    n, d = X.shape
    theta = X.T @ X / n
    t, level = cp.Variable(nonneg=True), cp.Variable()
    y = cp.Variable(n)
    losses = cp.hstack([cp.sum(cp.multiply(np.outer(x, x), L)) for x in X])
    average = cp.sum(cp.multiply(theta, L))
    rows = X / np.sqrt(n)
    if kind == "WassersteinBall":
        return average + t * radius**2 + cp.matrix_frac(L @ rows.T, t * np.eye(d) - L), []
    if kind == "MahalanobisBall":
        metric = np.diag(np.array(MahalanobisBall.example(radius, d).scales) ** -2.0)
        return average + t * radius**2 + cp.matrix_frac(L @ rows.T, t * metric - L), []
    if kind == "KLBall":
        cone = cp.ExpCone(losses - level - t, t * np.ones(n), y)
        return radius * t + level + cp.sum(y) / n, [cone]
    if kind == "ChiSquareBall":
        squares = [cp.quad_over_lin(cp.pos(losses[i] - level + 2 * t), 4 * t) - t for i in range(n)]
        return radius * t + level + sum(squares) / n, []
    if kind == "HellingerBall":
        terms = [cp.quad_over_lin(t, level - losses[i]) for i in range(n)]
        return level - (2 - radius) * t + sum(terms) / n, []
    if kind == "CVaRBall":
        return level + (1 + radius) * cp.sum(cp.pos(losses - level)) / n, []
    if kind == "TotalVariationBall":
        return (1 - radius) * level + radius * cp.max(losses) + cp.sum(
            cp.pos(losses - level)
        ) / n, []
    if kind == "MetricBall":
        inverse = np.linalg.inv(np.array(MetricBall.example(radius, d).coordinates))
        metric = inverse.T @ inverse
        return average + t * radius**2 + cp.matrix_frac(L @ rows.T, t * metric - L), []
    if kind == "MomentBall":
        return average + radius * cp.pnorm(cp.vec(L, order="F"), 3), []
    mean = X.mean(axis=0)
    moved = cp.matrix_frac(L @ mean, t * np.eye(d) - L)
    return average + t * radius**2 + moved + radius * d * cp.norm(L, "fro"), []


@pytest.mark.parametrize("logarithms", [False, True])
@pytest.mark.parametrize(
    "ambiguity",
    [
        WassersteinBall(0.4), MahalanobisBall.example(0.4, 4), KLBall(0.4), ChiSquareBall(0.4),
        MomentBall(0.4, p=1.5), MomentUncertainty.example(0.4, 4), HellingerBall(0.4),
        CVaRBall(0.4), TotalVariationBall(0.4), MetricBall.example(0.4, 4),
    ],
    ids=lambda ambiguity: type(ambiguity).__name__,
)  # fmt: skip
def test_the_optimum_of_cvxpy_lies_between(ambiguity, logarithms):
    d = 4
    X = np.random.default_rng(1).standard_normal((5, d)) + np.arange(d)
    heads, tails = edge_index(d)
    w = cp.Variable(heads.size, nonneg=True)
    parts = []
    for i, j in zip(heads, tails, strict=True):
        part = np.zeros((d, d))
        part[i, i] = part[j, j] = 1.0
        part[i, j] = part[j, i] = -1.0
        parts.append(part)
    L = sum(w[k] * part for k, part in enumerate(parts))
    risk, constraints = worst_of(type(ambiguity).__name__, X, L, 0.4)
    degrees = cp.diag(L)
    if logarithms:
        objective = risk + 2 * 0.3 * cp.sum_squares(w) - cp.sum(cp.log(degrees))
        problem = GraphProblem(Nominal.from_samples(X), ambiguity, prior=LogDegree(1.0, 0.3))
    else:
        objective = risk + 0.3 * (2 * cp.sum_squares(w) + cp.sum_squares(degrees))
        constraints.append(cp.sum(w) == d / 2)
        problem = GraphProblem(Nominal.from_samples(X), ambiguity, eta=0.3)
    truth = cp.Problem(cp.Minimize(objective), constraints).solve(solver="CLARABEL")
    result = verify.prove(proof_document(problem, solve(problem, tol=1e-8)))
    assert float(result.bound) <= truth + 1e-5 * abs(truth)
    assert float(result.value) >= truth - 1e-5 * abs(truth)
    assert float(result.value - result.bound) <= 1e-6 * abs(truth)


@pytest.mark.parametrize("kind", ["transport", "moment", "chi-square", "pairs"])
def test_two_vertices_have_the_value_of_a_formula(kind):
    # With one edge, of weight 1, the objective is what it is: L = [[1, -1], [-1, 1]].
    X = np.array([[0.5, 2.0], [-1.0, 0.25]])
    squares = [Fraction(float(x[0] - x[1])) ** 2 for x in X]
    mean = precise((squares[0] + squares[1]) / 2)
    radius, eta = Decimal.from_float(0.3), Decimal.from_float(0.7)
    with decimal.localcontext(FINE_CONTEXT):
        prior = 4 * eta  # 2βw² + κ(1 + 1)
        if kind == "transport":
            ambiguity = WassersteinBall(0.3)
            truth = prior + (mean.sqrt() + Decimal(2).sqrt() * radius) ** 2
        elif kind == "moment":
            ambiguity = MomentBall(0.3, p=1.5)  # ‖vec L‖₃
            truth = prior + mean + radius * Decimal(4) ** (1 / Decimal(3))
        elif kind == "chi-square":
            ambiguity = ChiSquareBall(0.3)
            truth = prior + mean + radius.sqrt() * precise(abs(squares[0] - squares[1]) / 2)
        else:
            ambiguity = PairBall(0.3)
            truth = prior + mean + radius
    problem = GraphProblem(Nominal.from_samples(X), ambiguity, eta=0.7)
    result = verify.prove(proof_document(problem, solve(problem, tol=1e-9)))
    slack = Fraction(1, 10**100)
    assert result.bound - slack <= Fraction(truth) <= result.value + slack
    assert result.value - result.bound < Fraction(truth) / 10**9


@pytest.mark.parametrize("prior", ["trace", "penalty", "bounds", "logarithms"])
def test_edges_that_a_rough_graph_proves_are_those_of_the_optimal_one(prior):
    decided = 0
    for seed in range(4):
        X = np.random.default_rng(seed).standard_normal((20, D)) * np.arange(1, D + 1)
        ambiguity = [WassersteinBall(0.3), MomentBall(0.3), Singleton(), GaussianBall(0.9)][seed]
        problem = GraphProblem(Nominal.from_samples(X), ambiguity, **PRIORS[prior]())
        exact = solve(problem, tol=1e-11)
        weights = -exact.laplacian[edge_index(D)]
        for tol, threshold in ((1e-1, 1e-2), (1e-3, 1e-2), (1e-5, 1e-3)):
            document = proof_document(problem, solve(problem, tol=tol), threshold)
            result = verify.prove(document)
            present, undecided = set(result.present), set(result.undecided)
            for pair, weight in zip(zip(*edge_index(D), strict=True), weights, strict=True):
                if pair in present:
                    assert weight >= threshold - 1e-5
                elif pair not in undecided:
                    assert weight < threshold + 1e-5
            decided += weights.size - len(undecided)
    assert decided > 60


@pytest.mark.parametrize("prior", ["trace", "penalty", "logarithms"])
def test_a_weight_changes_by_no_more_than_the_inverse_of_a_matrix_says(prior):
    for d in (2, 3, 4, 7):
        X = np.random.default_rng(d).standard_normal((3, d))
        problem = GraphProblem(Nominal.from_samples(X), Singleton(), **PRIORS[prior]())
        found = verify.edge_reach(
            verify.read_proof(proof_document(problem, solve(problem, tol=1e-2)))
        )
        heads, tails = edge_index(d)
        incidence = np.zeros((d, heads.size))
        incidence[heads, np.arange(heads.size)] = incidence[tails, np.arange(heads.size)] = 1.0
        kappa = problem.prior.kappa
        form = 2 * problem.prior.beta * np.eye(heads.size) + kappa * incidence.T @ incidence
        across = np.eye(heads.size) - (1 / heads.size if prior == "trace" else 0.0)
        reach = (across @ np.linalg.inv(form) @ across)[0, 0]
        assert float(found) == pytest.approx(reach, rel=1e-12, abs=1e-14)


def test_a_graph_of_two_vertices_is_known_where_the_trace_is_fixed():
    problem = GraphProblem(Nominal.from_samples([[0.0, 1.0]]), WassersteinBall(3.0), eta=1.0)
    result = verify.prove(proof_document(problem, solve(problem, tol=1e-3), threshold=1.0))
    assert result.present == [(0, 1)]


def test_the_projection_of_a_table_with_holes_is_as_near_as_is_said():
    rng = np.random.default_rng(5)
    table = np.where(rng.random((6, 4)) < 0.3, np.nan, rng.standard_normal((6, 4)))
    table[0] = [1.0, 2.0, 4.0, 8.0]
    nominal, moved = nominal_with_holes(table, least_overlap=1)
    assert moved > 1e-3  # it is a projection
    problem = GraphProblem(nominal, Singleton(), eta=0.3)
    document = proof_document(problem, solve(problem, tol=1e-9))
    squares = np.nanmean((table[:, :, None] - table[:, None, :]) ** 2, axis=0)
    centre = np.eye(4) - 0.25
    values, vectors = np.linalg.eigh(-centre @ squares @ centre / 2)
    nearest = (vectors * np.maximum(values, 0.0)) @ vectors.T
    data = document["problem"]["data"]
    for change in (0.0, 1e-3, 0.5):
        data["rows"][0][0] += change
        rows = np.array(data["rows"])
        result = verify.establish(document)
        distance = np.linalg.norm(rows.T @ rows - nearest)
        assert distance - 1e-13 <= float(result.holes)
        assert change > 0.0 or float(result.holes) < 1e-13
    # A poor guess may make it loose, never wrong.
    rest, more = data["rest"], [3.0, -1.0, 0.5, 0.25]
    data["rest"] = []
    assert float(verify.establish(document).holes) >= distance
    data["rows"], data["rest"] = [*data["rows"], more], [*rest, more]  # their difference stays
    rows = np.array(data["rows"])
    result = verify.establish(document)
    assert float(result.holes) >= np.linalg.norm(rows.T @ rows - nearest)


# ------------------------------------------------------------------ far ends


def plain_document(ambiguity: dict, moment: dict | None, **changes) -> dict:
    """Return a proof about two vertices and two signals, with a poor certificate."""
    problem = {
        "vertices": 2,
        "data": {
            "kind": "signals",
            "table": [[0.0, 1.0], [0.0, 3.0]],
            "counts": None,
            "weights": None,
        },
        "ambiguity": ambiguity,
        "prior": {"kind": "log-degree", "alpha": 1.0, "beta": 1.0},
        "bounds": None,
    }
    return {
        "format": verify.FORMAT, "version": verify.VERSION, "problem": problem,
        "graph": {"pairs": [[0, 1]], "weights": [0.2]},
        "certificate": {
            "moment": moment, "nu": [-5.0, -5.0], "tau": 0.0, "multiplier": 1.0, "top": 0.4,
        },
        "edges": {"threshold": 1e-4, "present": [], "undecided": [[0, 1]]},
    } | changes  # fmt: skip


@pytest.mark.parametrize("radius", [1e-300, 1e-30, 1e-18, 1.0, 1e30, 1e300])
@pytest.mark.parametrize("kind", ["KLBall", "ChiSquareBall"])
def test_weights_are_drawn_into_balls_of_any_size(kind, radius):
    document = plain_document({"kind": kind, "radius": radius}, {"weights": [0.0, 1.0]})
    result = verify.prove(document)
    assert result.bound <= result.value
    # With equal weights a unit of weight costs 5, and with the second signal alone 9.
    used = verify.moment_costs(verify.read_proof(document))
    cost = Fraction(used.numerators[0], used.denominator)
    assert cost == 9 if radius >= 1.0 else 5 <= cost < 5 + 1e-8


def test_the_divergence_of_what_is_used_is_within_the_radius():
    table = np.array([[0.0, 1.0], [0.0, 3.0], [0.0, -4.0]])
    for kind, divergence in (
        ("KLBall", lambda r: np.mean(r * np.log(r))),
        ("ChiSquareBall", lambda r: np.mean((r - 1.0) ** 2)),
    ):
        for radius in (1e-9, 1e-3, 0.2):
            document = plain_document(
                {"kind": kind, "radius": radius}, {"weights": [1e-3, 0.4, 0.6]}
            )
            document["problem"]["data"]["table"] = table.tolist()
            proof = verify.read_proof(document)
            used = verify.moment_costs(proof)
            # Mixtures of the offered weights with equal ones, which the cost tells.
            costs = table[:, 1] ** 2
            offered = np.array([1e-3, 0.4, 0.6]) / 1.001
            ends = [costs.mean(), offered @ costs]
            share = (used.numerators[0] / used.denominator - ends[0]) / (ends[1] - ends[0])
            ratios = 3 * (share * offered + (1 - share) / 3)
            assert divergence(ratios) <= radius * (1 + 1e-6)
            assert share > 0.0


def test_moments_are_within_their_balls():
    moves = {"moves": [[3.0, -1.0], [0.5, 7.0]], "spread": [[1.0, 2.0]]}
    for radius in (1e-20, 0.7, 1e20):
        ambiguity = {"kind": "MahalanobisBall", "radius": radius, "scales": [2.0, 0.25]}
        proof = verify.read_proof(plain_document(ambiguity, moves))
        table = verify.Table([[12, -4], [2, 28], [4, 8]], 2, [1, 1, 2], 2)
        drawn = verify.drawn_moves(proof, table, Fraction(radius))
        cost = sum(
            Fraction(weight, 2)
            * sum(
                (Fraction(n, 4) / Fraction(s)) ** 2 for n, s in zip(row, (2.0, 0.25), strict=True)
            )
            for row, weight in zip(drawn.rows, drawn.weights, strict=True)
        )
        assert cost <= Fraction(radius) ** 2
        assert (drawn == table) == (radius == 1e20)


def test_subnormal_weights_prove_nothing_or_the_truth():
    tiny = 5e-324
    for weight in range(1, 8):
        for top in range(1, 24):
            document = plain_document(
                {"kind": "WassersteinBall", "radius": 2.0**536},
                {"moves": [[0.0, 0.0], [0.0, 0.0]], "spread": []},
                graph={"pairs": [[0, 1]], "weights": [weight * tiny]},
            )
            document["problem"]["data"]["table"] = [[0.0, 2.0**536], [0.0, 2.0**537]]
            document["certificate"] |= {"top": top * tiny, "multiplier": 0.0}
            try:
                result = verify.establish(document)
            except verify.RefusedError:
                continue
            # L = w[[1, -1], [-1, 1]] of a common direction: w(root mean square + √2·radius)²
            scaled = (np.sqrt(2.5) + np.sqrt(2.0)) ** 2
            risk = Fraction(weight * tiny) * Fraction(scaled * (1 - 1e-12)) * 2**1072
            log = verify.log_between(Fraction(weight * tiny))[1]
            assert result.value >= risk - 2 * log


def test_orders_next_to_one_and_to_infinity_are_read():
    for p in (1.0, 1.0 + 2**-52, 1e308, None):
        ambiguity = {"kind": "MomentBall", "radius": 0.5, "p": p}
        document = plain_document(ambiguity, {"shift": [[1.0, -1.0], [1.0]]})
        assert verify.prove(document).bound < verify.prove(document).value


# ------------------------------------------------------------------ as a program


def test_it_runs_with_the_standard_library_alone(tmp_path):
    problem = GraphProblem(nominals()["holes"], WassersteinBall(0.4), eta=0.3)
    document = proof_document(problem, solve(problem, tol=1e-8), threshold=0.000123456789)
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(proof_text(document), encoding="utf-8")
    bad.write_text(proof_text(document).replace("0.3", "0.4"), encoding="utf-8")
    command = [sys.executable, "-I", "-S", verify.__file__, str(good)]
    found = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (found.returncode, found.stderr) == (0, "")
    result = verify.prove(document)
    lines = found.stdout.splitlines()
    low, high = lines[1].split("(")[0].split(" ≤ optimum ≤ ")
    assert Fraction(Decimal(low.strip())) <= result.bound
    assert Fraction(Decimal(high.strip())) >= result.value
    assert Fraction(Decimal(high.strip())) - Fraction(Decimal(low.strip())) < Fraction(1, 10**6)
    assert "0.000123456789 or more" in lines[3]
    assert "WassersteinBall of radius 0.4" in lines[4]
    assert lines[5].endswith(result.digest)
    assert Fraction(Decimal(lines[6].split("within ")[1].split()[0])) >= result.holes
    both = subprocess.run([*command, str(bad)], capture_output=True, text=True, check=False)
    assert both.returncode == 1
    assert "digest does not belong" in both.stderr
    assert str(good) in both.stdout


def test_output_that_a_terminal_cannot_print_is_escaped(tmp_path):
    path = tmp_path / "β.json"
    document = plain_document({"kind": "Singleton", "radius": 0.0}, None)
    path.write_text(proof_text(document), encoding="utf-8")
    command = [sys.executable, "-S", verify.__file__, str(path)]
    found = subprocess.run(
        command,
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"},
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, b"")
    assert b"\\u2264 optimum" in found.stdout


def test_the_digest_of_a_problem_tells_problems_apart():
    problem = GraphProblem(nominals()["samples"], GaussianBall(0.3), eta=0.3)
    documents = [proof_document(problem, solve(problem, tol=tol)) for tol in (1e-2, 1e-8)]
    other = json.loads(json.dumps(documents[0]))
    other["problem"]["prior"]["eta"] = 0.30000000000000004
    first, second, third = (verify.establish(document) for document in (*documents, other))
    assert first.digest == second.digest != third.digest
    assert first.value != second.value

import cvxpy as cp
import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, frobenius_qp, paper_problem, random_laplacian, seeds

from solvers.qp import solve_laplacian_qp
from wdro_cvx import Singleton
from wdro_cvx.graphs.laplacian import adjoint, edge_index, residuals, weights_from_laplacian

etas = st.floats(-4, 3).map(lambda exponent: 10.0**exponent)
scales = st.floats(-6, 6).map(lambda exponent: 10.0**exponent)
penalties = st.sampled_from([None, 1e-3, 0.1, 10.0, 1e3])
kinds = st.sampled_from(["second moment", "rank one", "indefinite"])


def random_moment(rng, d, kind="second moment"):
    """The proximal step shifts second moments by a Laplacian, so they need not be PSD."""
    if kind == "indefinite":
        matrix = rng.standard_normal((d, d))
        return matrix + matrix.T
    samples = rng.standard_normal((1 if kind == "rank one" else 2 * d, d))
    return samples.T @ samples / samples.shape[0]


def random_qp(rng, d, eta=0.1, scale=1.0, penalty=None, kind="second moment"):
    """The penalty is in the unit of the moment, so that every scale meets empty and full graphs."""
    moment = scale * random_moment(rng, d, kind)
    return frobenius_qp(moment, eta, float(d), None if penalty is None else penalty * scale)


def trace_of(qp):
    return qp.prior.trace.target


def penalty_of(qp):
    return None if qp.prior.trace.fixed else qp.prior.trace.stiffness


def objective(qp, laplacian):
    value = np.sum(qp.moment * laplacian) + qp.prior.eta * np.sum(laplacian**2)
    if penalty_of(qp) is not None:
        value += penalty_of(qp) * (np.trace(laplacian) - trace_of(qp)) ** 2
    return value


def magnitude(qp, laplacian):
    """The size of the sums of which the objective is the difference: rounding is relative to it."""
    regularisation = (
        qp.prior.eta * np.sum(laplacian**2) + (penalty_of(qp) or 0.0) * trace_of(qp) ** 2
    )
    return np.sum(np.abs(qp.moment * laplacian)) + regularisation


def conic_value(qp):
    """Solve over the matrix L itself, with CVXPY and Clarabel; nothing in common with Newton."""
    d = qp.moment.shape[0]
    scale = np.abs(qp.moment).max()
    L = cp.Variable((d, d), symmetric=True)
    constraints = [L @ np.ones(d) == 0, cp.upper_tri(L) <= 0]
    cost = cp.trace((qp.moment / scale) @ L) + qp.prior.eta / scale * cp.sum_squares(L)
    if penalty_of(qp) is None:
        constraints.append(cp.trace(L) == trace_of(qp))
    else:
        cost += penalty_of(qp) / scale * cp.square(cp.trace(L) - trace_of(qp))
    return scale * cp.Problem(cp.Minimize(cost), constraints).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("penalty", [None, 0.05, 2.0, 100.0])
@pytest.mark.parametrize("eta", [1e-3, 0.03, 0.5, 10.0])
@pytest.mark.parametrize(
    ("d", "kind"), [(2, "indefinite"), (5, "second moment"), (8, "rank one"), (8, "indefinite")]
)
def test_value_is_the_conic_one(d, kind, eta, penalty):
    qp = random_qp(np.random.default_rng([d, round(1e3 * eta)]), d, eta, penalty=penalty, kind=kind)
    given_moment = qp.moment.copy()
    answer = solve_laplacian_qp(qp)
    # Clarabel stops at 1e-8 of its own scale.
    tolerance = 1e-7 * magnitude(qp, answer.laplacian)
    assert answer.value == pytest.approx(conic_value(qp), abs=tolerance)
    assert answer.bound == pytest.approx(answer.value, abs=1e-12 * magnitude(qp, answer.laplacian))
    np.testing.assert_array_equal(qp.moment, given_moment)


@examples(200)
@given(seeds, dimensions, etas, scales, penalties, kinds)
def test_the_gap_closes_and_the_answer_is_feasible(seed, d, eta, scale, penalty, kind):
    qp = random_qp(np.random.default_rng(seed), d, eta, scale, penalty, kind)
    answer = solve_laplacian_qp(qp)
    # An indefinite moment may have an optimum near zero, of which no relative gap is left.
    assert abs(answer.value - answer.bound) <= 1e-12 * max(
        abs(answer.value), 0.01 * magnitude(qp, answer.laplacian)
    )
    assert answer.value == pytest.approx(
        objective(qp, answer.laplacian), abs=1e-13 * magnitude(qp, answer.laplacian)
    )
    assert residuals(answer.laplacian, trace_of(qp), fixed_trace=penalty is None).largest <= 1e-14
    assert answer.steps <= 25


@given(seeds, dimensions, etas, penalties, st.sampled_from([1e-2, 1.0, 1e2]))
def test_the_bound_holds_at_any_multipliers(seed, d, eta, penalty, size):
    rng = np.random.default_rng(seed)
    qp = random_qp(rng, d, eta, penalty=penalty, kind="indefinite")
    start = size * rng.standard_normal(d), size * rng.standard_normal()
    early = solve_laplacian_qp(qp, start, tol=np.inf)  # takes no step
    assert early.steps == 0
    answer = solve_laplacian_qp(qp)
    slack = 1e-12 * magnitude(qp, answer.laplacian)
    assert early.bound <= answer.value + slack
    assert early.value >= answer.bound - slack
    for _ in range(20):
        trace = trace_of(qp) if penalty is None else trace_of(qp) * rng.uniform(0, 2)
        other = objective(qp, random_laplacian(rng, d, trace or 1.0, rng.uniform(0.1, 1.0)))
        assert early.bound <= other + slack
        assert answer.bound <= other + slack


@given(seeds, dimensions, etas, penalties, kinds)
def test_optimality_conditions(seed, d, eta, penalty, kind):
    """Prices are equal on edges in use and no lower elsewhere; ν = 2η·deg; τ = 4β(T - Tr L)."""
    qp = random_qp(np.random.default_rng(seed), d, eta, penalty=penalty, kind=kind)
    answer = solve_laplacian_qp(qp, tol=1e-16)
    heads, tails = edge_index(d)
    weights = weights_from_laplacian(answer.laplacian)
    degrees = np.diagonal(answer.laplacian)
    prices = adjoint(qp.moment) + answer.nu[heads] + answer.nu[tails]
    scale = np.abs(adjoint(qp.moment)).max() + 4 * eta * trace_of(qp)
    used = weights > 0.0
    np.testing.assert_allclose(
        prices[used] + 4 * eta * weights[used], answer.tau, atol=1e-9 * scale
    )
    assert np.all(prices[~used] >= answer.tau - 1e-9 * scale)
    np.testing.assert_allclose(answer.nu, 2 * eta * degrees, rtol=0, atol=1e-9 * scale)
    if penalty is not None and used.any():
        shortfall = trace_of(qp) - np.trace(answer.laplacian)
        # The dual is flat in τ, of curvature 1/16β: rounding of its value is this much of τ.
        blur = np.sqrt(16 * penalty * 1e-15 * magnitude(qp, answer.laplacian))
        assert answer.tau == pytest.approx(4 * penalty * shortfall, abs=blur + 1e-9 * scale)


@given(seeds, dimensions, etas, penalties)
def test_a_warm_start_saves_steps_and_changes_nothing(seed, d, eta, penalty):
    rng = np.random.default_rng(seed)
    qp = random_qp(rng, d, eta, penalty=penalty)
    cold = solve_laplacian_qp(qp)
    again = solve_laplacian_qp(qp, (cold.nu, cold.tau))
    assert again.steps == 0
    shift = random_moment(rng, d, "indefinite")
    near = frobenius_qp(qp.moment + 1e-9 * shift, eta, trace_of(qp), penalty_of(qp))
    cold, warm = solve_laplacian_qp(near), solve_laplacian_qp(near, (cold.nu, cold.tau))
    assert warm.steps <= max(cold.steps, 1)
    slack = 2e-12 * magnitude(qp, cold.laplacian)
    assert warm.value == pytest.approx(cold.value, abs=slack)
    # η‖L - L*‖² is at most the gap.
    assert np.linalg.norm(warm.laplacian - cold.laplacian) <= 2 * np.sqrt(slack / eta)


@pytest.mark.parametrize("penalty", [None, 5.0])
def test_warm_starts_save_steps_along_a_path(penalty):
    problem = paper_problem(60, 40, Singleton())
    moment, start, warm_steps, cold_steps = problem.nominal.second_moment, None, 0, 0
    for eta in np.geomspace(0.3, 0.4, 6):
        qp = frobenius_qp(moment, eta, 60.0, penalty)
        warm, cold = solve_laplacian_qp(qp, start), solve_laplacian_qp(qp)
        assert warm.value == pytest.approx(cold.value, rel=2e-12)
        warm_steps, cold_steps = warm_steps + warm.steps, cold_steps + cold.steps
        start = warm.nu, warm.tau
    assert warm_steps < cold_steps


@given(
    seeds,
    dimensions,
    etas,
    penalties,
    st.sampled_from([0.0, 1e-6, 1.0, 1e4]),
    st.sampled_from([-1e4, -1.0, 0.0, 1.0, 1e4]),
)
def test_a_warm_start_from_another_problem_converges(seed, d, eta, penalty, size, tau):
    """With τ far below the prices no edge is active, and Newton alone would see no slope."""
    rng = np.random.default_rng(seed)
    qp = random_qp(rng, d, eta, penalty=penalty)
    cold = solve_laplacian_qp(qp)
    lost = solve_laplacian_qp(qp, (size * rng.standard_normal(d), tau))
    assert lost.steps <= 60
    # Rounding in the dual is relative to the multipliers it came through, at most 1e4 here.
    assert abs(lost.gap) <= 1e-11
    assert lost.value == pytest.approx(cold.value, rel=1e-11)


@pytest.mark.parametrize("d", [2, 5, 9])
def test_the_empty_graph_is_found_where_no_edge_is_worth_its_price(d):
    """The first edge pays once β exceeds C_ij/4T."""
    rng = np.random.default_rng(d)
    moment = random_moment(rng, d)
    costs = np.sort(adjoint(moment))
    threshold = costs[0] / (4 * d)
    for share in (1e-6, 0.5, 0.999):
        answer = solve_laplacian_qp(frobenius_qp(moment, 0.1, float(d), share * threshold))
        np.testing.assert_array_equal(answer.laplacian, 0.0)
        assert answer.value == pytest.approx(share * threshold * d**2, rel=1e-12)
        assert abs(answer.gap) <= 1e-12
    # Just above it the cheapest edge is in use, with a weight in closed form, and no other.
    beta = 1.001 * threshold
    answer = solve_laplacian_qp(frobenius_qp(moment, 0.1, float(d), beta), tol=1e-16)
    weights = weights_from_laplacian(answer.laplacian)
    expected = (4 * beta * d - costs[0]) / (8 * (beta + 0.1))
    assert np.count_nonzero(weights) == 1
    assert weights.max() == pytest.approx(expected, rel=1e-6)


@given(seeds, etas, scales)
def test_two_vertices_have_one_graph(seed, eta, scale):
    qp = random_qp(np.random.default_rng(seed), 2, eta, scale)
    answer = solve_laplacian_qp(qp)
    np.testing.assert_allclose(answer.laplacian, [[1, -1], [-1, 1]], rtol=1e-14)
    assert answer.value == pytest.approx(adjoint(qp.moment)[0] + 4 * eta, rel=1e-12)


def test_equal_prices_give_the_complete_graph():
    answer = solve_laplacian_qp(frobenius_qp(np.zeros((6, 6)), 0.2, 6.0))
    weights = weights_from_laplacian(answer.laplacian)
    np.testing.assert_allclose(weights, 3 / 15, rtol=1e-13)
    assert answer.value == pytest.approx(0.2 * (2 * 15 / 25 + 6), rel=1e-13)


@pytest.mark.parametrize("eta", [0.01, 0.3, 3.0])
def test_a_large_graph_takes_few_steps(eta):
    moment = paper_problem(200, 300, Singleton()).nominal.second_moment
    answer = solve_laplacian_qp(frobenius_qp(moment, eta, 200.0))
    assert abs(answer.gap) <= 1e-12
    assert answer.steps <= 25

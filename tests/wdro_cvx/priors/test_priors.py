import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import random_laplacian, seeds
from scipy.optimize import minimize_scalar

from wdro_cvx import EdgeBounds, GraphProblem, Nominal, ProblemError, Singleton
from wdro_cvx.graphs.laplacian import degrees, laplacian_from_weights, laplacian_operator
from wdro_cvx.priors import DegreePrior, Frobenius, LogDegree, TraceRule, frobenius_of

FREE = TraceRule(0.0, 0.0)
PRIORS = [
    Frobenius(0.3, 5.0),
    Frobenius(0.3, 5.0, trace_penalty=2.0),
    LogDegree(0.7, 0.2),
    DegreePrior(0.4, 0.25, 0.7, FREE),
    DegreePrior(0.4, 0.25, 0.7, TraceRule(5.0, np.inf)),
]
each = pytest.mark.parametrize("prior", PRIORS, ids=repr)


@each
def test_slope_and_bend_by_finite_differences(prior):
    u = np.array([0.3, 1.0, 4.0])
    step = 1e-6

    def phi(u):
        logs = np.log(u) if prior.alpha > 0 else 0.0
        return prior.kappa * u**2 - prior.alpha * logs

    np.testing.assert_allclose(
        (phi(u + step) - phi(u - step)) / (2 * step), prior.slope(u), rtol=1e-7, atol=1e-8
    )
    change = (prior.slope(u + step) - prior.slope(u - step)) / (2 * step)
    np.testing.assert_allclose(change, prior.bend(u), rtol=1e-7)


@each
@given(nu=st.floats(-50.0, 50.0))
def test_the_conjugate_by_its_definition(prior, nu):
    if prior.kappa == 0.0:
        nu = -abs(nu) - 1e-3
    array = np.array([nu])
    low = 1e-12 if prior.alpha > 0 else -1e3

    def negative(u):
        logs = np.log(u) if prior.alpha > 0 else 0.0
        return prior.kappa * u**2 - prior.alpha * logs - nu * u

    found = minimize_scalar(negative, bounds=(low, 1e3), method="bounded", options={"xatol": 1e-10})
    assert prior.conjugate(array) == pytest.approx(-found.fun, rel=1e-6, abs=1e-6)
    degree = prior.degrees(array)
    np.testing.assert_allclose(prior.slope(degree), array, rtol=1e-9, atol=1e-9)
    step = 1e-5 * (1 + abs(nu)) * (0.01 if prior.kappa == 0.0 else 1.0)
    if prior.kappa > 0.0 or nu + step < 0.0:
        slope = (prior.conjugate(array + step) - prior.conjugate(array - step)) / (2 * step)
        assert slope == pytest.approx(float(degree[0]), rel=1e-4, abs=1e-6)
        spring = (prior.degrees(array + step) - prior.degrees(array - step)) / (2 * step)
        assert float(spring[0]) == pytest.approx(float(prior.spring(array)[0]), rel=1e-3)


@each
def test_a_proximal_step_stays_in_the_family(prior):
    laplacian = random_laplacian(np.random.default_rng(0), 5, density=1.0)
    weights = -laplacian[np.triu_indices(5, 1)]
    rho = 0.9
    added = prior.proximal(rho).value(weights, degrees(weights)) - prior.value(
        weights, degrees(weights)
    )
    assert added == pytest.approx(rho / 2 * np.vdot(laplacian, laplacian), rel=1e-12)


@each
def test_units(prior):
    weights = np.random.default_rng(0).exponential(size=10)
    scaled = prior.scaled(16.0)
    assert type(scaled) is type(prior)
    assert scaled.value(weights, degrees(weights)) == pytest.approx(
        16.0 * prior.value(weights, degrees(weights)), rel=1e-13
    )


@each
def test_the_reach_of_edges_and_graphs_by_dense_algebra(prior):
    d = 5
    operator = laplacian_operator(d).toarray()
    ends = np.abs(operator[:: d + 1])  # the rows of the diagonal: degrees
    growth = 2 * prior.beta * np.eye(10) + prior.kappa * ends.T @ ends
    basis = np.linalg.svd(np.ones((1, 10)))[2][1:].T if prior.trace.fixed else np.eye(10)
    inverse = basis @ np.linalg.inv(basis.T @ growth @ basis) @ basis.T
    assert prior.edge_reach(d) == pytest.approx(inverse[0, 0], rel=1e-9)
    largest = np.linalg.eigvals(np.linalg.inv(growth) @ (operator.T @ operator)).real.max()
    assert prior.reach(d) == pytest.approx(largest, rel=1e-9)


@given(seeds)
def test_steps_stay_in_the_domain(seed):
    rng = np.random.default_rng(seed)
    nu, step = -rng.exponential(size=6) - 1e-9, rng.standard_normal(6)
    limit = LogDegree(1.0, 1.0).step_limit(nu, step)
    assert np.all(nu + min(limit, 1e6) * step < 0.0)
    assert Frobenius(1.0, 2.0).step_limit(nu, step) == np.inf


def test_isolated_vertices_cost_everything_under_logarithms():
    weights = np.array([1.0, 0.0, 0.0])
    assert LogDegree(1.0, 1.0).value(weights, degrees(weights)) == np.inf
    assert np.isfinite(Frobenius(1.0, 2.0).value(weights, degrees(weights)))


@each
def test_a_start_is_feasible(prior):
    laplacian = prior.start(5)
    assert prior.infeasibility(laplacian).largest <= 1e-15
    bounds = EdgeBounds(np.zeros(10), np.linspace(0.3, 2.0, 10))
    bounded = DegreePrior(prior.beta, prior.kappa, prior.alpha, prior.trace, bounds)
    assert bounded.infeasibility(bounded.start(5)).largest <= 1e-14
    off = laplacian_from_weights(np.full(10, 5.0))
    assert bounded.infeasibility(off).bounds > 0.1
    assert bounded.infeasibility(bounded.repaired(off)).largest <= 1e-14


def test_the_paper_s_algorithms_know_one_prior():
    assert frobenius_of(PRIORS[0], "It") is PRIORS[0]
    with pytest.raises(ProblemError, match="Use CertifiedSolver"):
        frobenius_of(LogDegree(1.0, 1.0), "It")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: LogDegree(0.0, 1.0), "alpha must be finite and > 0"),
        (lambda: LogDegree(1.0, -1.0), "beta must be finite and > 0"),
        (
            lambda: LogDegree(1.0, 1.0, EdgeBounds.from_edges(3, absent=[(0, 1), (0, 2)])),
            "vertex 0",
        ),
        (lambda: Frobenius(-0.1, 1.0), "eta must be finite and ≥ 0"),
        (lambda: Frobenius(0.1, None, 1.0), "trace_penalty needs a trace"),
        (lambda: Frobenius(1.0, 0.0), "trace must be finite and > 0"),
        (lambda: Frobenius(1.0, 2.0, 0.0), "trace_penalty"),
        (lambda: Frobenius(1.0, 9.0, bounds=EdgeBounds([0.0], [1.0])), "no graph has this trace"),
    ],
)
def test_bad_numbers_are_named(build, message):
    with pytest.raises(ProblemError, match=message):
        build()


NARROW = EdgeBounds.from_edges(4, most=0.1)
LONELY = EdgeBounds.from_edges(4, absent=[(0, 1), (0, 2), (0, 3)])


@pytest.mark.parametrize(
    ("prior", "told"),
    [
        (DegreePrior(-1.0, 1.0, 0.0, FREE), "beta must be"),
        (DegreePrior(1.0, np.nan, 0.0, FREE), "kappa must be"),
        (DegreePrior(1.0, 1.0, np.inf, FREE), "alpha must be"),
        (DegreePrior(np.ones(2), 1.0, 1.0, FREE), "beta must be"),  # type: ignore[arg-type]
        (DegreePrior(1.0, 1.0, 0.0, TraceRule(0.0, np.inf)), "target must be"),
        (DegreePrior(1.0, 1.0, 0.0, TraceRule(np.nan, 1.0)), "target must be"),
        (DegreePrior(1.0, 1.0, 0.0, TraceRule(4.0, -1.0)), "stiffness must be"),
        (DegreePrior(1.0, 1.0, 0.0, 4.0), "trace must be a TraceRule"),  # type: ignore[arg-type]
        (DegreePrior(1.0, 1.0, 0.0, TraceRule(4.0, np.inf), NARROW), "no graph has this trace"),
        (DegreePrior(1.0, 1.0, 1.0, FREE, LONELY), "vertex 0 without an edge"),
    ],
)
def test_a_prior_built_by_its_attributes_is_checked_before_work_starts(prior, told):
    with pytest.raises(ProblemError, match=told):
        GraphProblem(Nominal.from_samples(np.eye(4)), Singleton(), prior=prior)


def test_numbers_of_low_precision_become_floats():
    given = DegreePrior(np.int8(1), np.float32(0.1), np.float16(1), TraceRule(np.int8(4), np.inf))
    prior = GraphProblem(Nominal.from_samples(np.eye(4)), Singleton(), prior=given).prior
    numbers = prior.beta, prior.kappa, prior.alpha, prior.trace.target, prior.trace.stiffness
    assert {type(number) for number in numbers} == {float}

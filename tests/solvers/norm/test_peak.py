"""The moment ball with p = 1 under any prior, by Newton's method on its dual."""

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import random_nominal, seeds, some_bounds
from scipy.optimize import minimize

from formulations import GeneralRegularized
from solvers import CertifiedSolver
from solvers.qp.peak import PeakPrior
from wdro_cvx import Frobenius, GraphProblem, LogDegree, MomentBall, Status, judge

PRIORS = {"logarithms": LogDegree(1.3, 0.2), "squares": Frobenius(0.4, trace=5.0)}


@examples(30)
@given(seeds, st.sampled_from(sorted(PRIORS)), st.integers(1, 6))
def test_the_conjugate_and_its_derivatives(seed, kind, count):
    rng = np.random.default_rng(seed)
    prior = PeakPrior.of(PRIORS[kind], 0.7)
    nu = -rng.uniform(0.2, 2.0, count)
    nu[0] += 0.5  # it may be positive, where the prior alone has no degrees
    if not prior.has_degrees(nu):
        assert prior.conjugate(nu) == np.inf
        return
    degrees = prior.degrees(nu)
    nothing = np.zeros(1)
    plain = prior.trace.penalty(float(degrees.sum()))
    # Fenchel's equality at the degrees, and its inequality elsewhere.
    attained = float(nu @ degrees) - prior.value(nothing, degrees) + plain
    assert prior.conjugate(nu) == pytest.approx(attained, abs=1e-10)
    others = degrees * np.exp(rng.normal(0.0, 0.3, (20, count)))
    for other in others:
        reached = float(nu @ other) - prior.value(nothing, other)
        assert reached + prior.trace.penalty(float(other.sum())) <= attained + 1e-10
    assert prior.shift(nu).sum() == pytest.approx(0.7)
    # Where no further multiplier ties, the conjugate is smooth, and its gradient has a derivative.
    if np.abs(nu - prior.level(nu)).min() > 1e-4:
        weight, tied = prior.common(nu)
        hessian = np.diag(np.where(tied > 0, 0.0, prior.spring(nu))) + weight * np.outer(tied, tied)
        for k, unit in enumerate(np.eye(count)):
            high, low = nu + 1e-6 * unit, nu - 1e-6 * unit
            slope = (prior.conjugate(high) - prior.conjugate(low)) / 2e-6
            assert slope == pytest.approx(degrees[k], rel=1e-6, abs=1e-8)
            change = (prior.degrees(high) - prior.degrees(low)) / 2e-6
            np.testing.assert_allclose(change, hessian[k], rtol=1e-5, atol=1e-6)


def test_the_conjugate_is_the_maximum_that_a_search_finds():
    prior, nu = PeakPrior.of(LogDegree(1.0, 0.1), 0.5), np.array([-0.3, -0.5, -2.0])
    found = minimize(
        lambda x: np.exp(x).max() * 0.5 - x.sum() - nu @ np.exp(x), np.zeros(3),
        method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
    )  # fmt: skip
    assert prior.conjugate(nu) == pytest.approx(-found.fun, rel=1e-8)


@pytest.mark.parametrize("kind", ["none", "mask", "mixed"])
@pytest.mark.parametrize("radius", [0.5, 30.0])
def test_logarithms_agree_with_the_conic_program(radius, kind):
    rng = np.random.default_rng(3)
    nominal, bounds = random_nominal(rng, 9, 5), some_bounds(rng, 9, kind, 9.0)
    problem = GraphProblem(
        nominal, MomentBall(radius, p=1.0), prior=LogDegree(1.0, 0.05, bounds=bounds)
    )
    answer = CertifiedSolver().solve(problem)
    assert answer.status is Status.SOLVED
    assert answer.value == pytest.approx(GeneralRegularized(problem).solve().value, rel=2e-6)
    degrees = np.diagonal(answer.laplacian)
    assert np.count_nonzero(degrees > degrees.max() * (1 - 1e-5)) > 1  # a kink


@pytest.mark.parametrize("beta", [0.1, 0.005])
def test_many_ties_take_few_steps(beta):
    """Two hundred degrees tie; a bundle of worst cases ends at a gap of 2e-6 after 20 s."""
    nominal = random_nominal(np.random.default_rng(0), 300, 75)
    problem = GraphProblem(nominal, MomentBall(40.0, p=1.0), prior=LogDegree(1.0, beta))
    answer = CertifiedSolver(tol=1e-8, max_iterations=40).solve(problem)
    assert answer.status is Status.SOLVED
    assert judge(problem, answer).solved(1e-8)


@pytest.mark.parametrize("radius", [1e-25, 1e-18, 1e-16])
@pytest.mark.parametrize("kind", sorted(PRIORS))
def test_a_radius_below_the_rounding_of_the_multipliers(radius, kind):
    """The common level is then the largest multiplier, and no diagonal entry is raised."""
    nu = np.array([-0.5, -0.5, -0.7])
    prior = PeakPrior.of(PRIORS[kind], radius)
    assert prior.level(nu) == pytest.approx(-0.5, rel=1e-12)
    assert np.isfinite(prior.common(nu)[0])
    for seed in (8, 9):
        nominal = random_nominal(np.random.default_rng(seed), 6, 5)
        problem = GraphProblem(nominal, MomentBall(radius, p=1.0), prior=PRIORS[kind])
        assert judge(problem, CertifiedSolver().solve(problem)).solved(1e-6)

"""The judge's dual bound never exceeds the same sum in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, random_nominal, seeds

import wdro_cvx.judging.dual_bound as dual_bounds
from wdro_cvx import GraphProblem, Singleton
from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.judging.dual_bound import best_tau, dual_bound
from wdro_cvx.priors import Frobenius


@given(seeds, dimensions)
def test_it_is_never_above_the_dual_in_exact_arithmetic(seed, d):
    rng = np.random.default_rng(seed)
    problem = GraphProblem(random_nominal(rng, d, 5), Singleton(), 0.3, trace=1.7 * d)
    costs = 10.0 ** rng.uniform(-3, 3, d * (d - 1) // 2)  # few edges pay
    found = dual_bound(problem, costs, 10.0 * rng.standard_normal(d))
    nu, tau, eta = [Fraction(float(x)) for x in found.nu], Fraction(found.tau), Fraction(0.3)
    exact = tau * Fraction(problem.trace) / 2 - sum(x * x for x in nu) / (4 * eta)
    for cost, i, j in zip(costs, *edge_index(d), strict=True):
        weight = max(tau - Fraction(float(cost)) - nu[i] - nu[j], Fraction(0)) / (4 * eta)
        exact -= 2 * eta * weight * weight
    assert Fraction(found.value) <= exact
    # Rounding outwards costs next to nothing: terms are some hundred in size.
    assert float(exact) - found.value <= 1e-9 * d


@given(seeds, st.sampled_from([None, 0.01, 100.0]), st.sampled_from([1e-3, 1.0, 1e3]))
def test_of_many_edges_the_same_tau_whether_or_not_a_part_is_asked_first(seed, penalty, scale):
    """It solves ``Σ(τ - level)₊ = 4β(T/2 - 2κτ)``; the edges next to each other are alike."""
    rng = np.random.default_rng(seed)
    prior = Frobenius(0.3, 70.0, penalty)
    levels = np.sort(scale * rng.standard_exponential(30_000))
    tau = best_tau(prior, levels)
    needed = 4 * prior.beta * (prior.trace.target / 2 - 2 * prior.trace.curvature * tau)
    assert np.maximum(tau - levels, 0.0).sum() == pytest.approx(needed, rel=1e-9, abs=1e-9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dual_bounds, "_MANY", np.inf)
        assert tau == pytest.approx(best_tau(prior, levels), rel=1e-12)

"""The judge's dual bound against the same sum in exact fractions, which rounding may not pass."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from instances import dimensions, random_nominal, seeds

from wdro_cvx import GraphProblem, Singleton
from wdro_cvx.dual_bound import dual_bound
from wdro_cvx.graphs.laplacian import edge_index


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

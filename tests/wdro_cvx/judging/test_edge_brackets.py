"""Brackets of the optimal weights at excesses and slopes close to overflow."""

import numpy as np
import pytest

from wdro_cvx import EdgeBounds, GraphProblem, LogDegree, Nominal, Singleton, judge
from wdro_cvx.graphs.laplacian import laplacian_from_weights
from wdro_cvx.judging.edges import dual_brackets


@pytest.mark.parametrize("excess", [1e100, 5e306, 1e308, 1.7e308])
@pytest.mark.parametrize("price", [1.0, -1.0, -1e160])
def test_a_huge_excess_proves_little(excess, price):
    beta, most = 1.0, np.inf
    lower, upper = dual_brackets(beta, np.array([price]), 0.0, most, excess)
    middle, slope = max(price / (4 * beta), 0.0), max(-price, 0.0)
    # The root of 2βx² + slope·x = excess, in a form without squares.
    apart = 2 * (excess / (slope + np.hypot(slope, np.sqrt(8 * beta) * np.sqrt(excess))))
    assert lower[0] <= max(middle - apart, 0.0)
    assert upper[0] >= middle + apart


def test_degrees_close_to_zero_under_logarithms():
    """Their multipliers are huge, so the bound proves nothing of any edge."""
    nominal = Nominal.from_samples(np.eye(3))
    bounds = EdgeBounds.from_list(3, [(0, 1), (1, 2)])
    problem = GraphProblem(nominal, Singleton(), prior=LogDegree(1.0, 1.0, bounds=bounds))
    optimum = np.linspace(0.1, 1.0, 9001)  # the two weights are equal by symmetry
    values = 4 * optimum / 3 + 4 * optimum**2 - 2 * np.log(optimum) - np.log(2 * optimum)
    best = float(optimum[np.argmin(values)])
    for tiny in 10.0 ** np.arange(-153.9, -153.0, 0.05):
        verdict = judge(problem, laplacian_from_weights(np.array([tiny, 0.0, tiny])))
        for edge in (0, 2):
            assert verdict.edges.lower[edge] <= best <= verdict.edges.upper[edge] + 1e-3

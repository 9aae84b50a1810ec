"""The refit of given edges by likelihood."""

import numpy as np
import pytest
from scipy.optimize import minimize

from solvers.selection.refit import refit_weights
from wdro_cvx import ProblemError


def problem(d=7, n=30, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, d))
    moment = rows.T @ rows / n
    heads, tails = np.triu_indices(d, 1)
    costs = np.diag(moment)[heads] + np.diag(moment)[tails] - 2 * moment[heads, tails]
    return costs, heads, tails, d


def objective(weights, costs, heads, tails, d):
    laplacian = np.zeros((d, d))
    np.add.at(laplacian, (heads, tails), -weights)
    laplacian += laplacian.T
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    return costs @ weights - np.linalg.slogdet(laplacian + 1.0 / d)[1]


@pytest.mark.parametrize("seed", range(3))
def test_the_refit_is_the_optimum_that_scipy_finds(seed):
    costs, heads, tails, d = problem(seed=seed)
    found = refit_weights(costs, heads, tails, d, tol=1e-9)
    start = np.full(costs.size, 0.1)
    other = minimize(
        objective, start, (costs, heads, tails, d), "L-BFGS-B", bounds=[(0.0, None)] * costs.size,
        options={"ftol": 1e-14, "maxfun": 100_000},
    )  # fmt: skip
    value = objective(found, costs, heads, tails, d)
    assert value <= other.fun + 1e-9
    assert value == pytest.approx(other.fun, abs=1e-5)  # SciPy differentiates numerically
    assert (found >= 0.0).all()
    assert (found == 0.0).any()  # some bounds are active


def test_the_gap_is_at_most_the_tolerance_per_vertex():
    costs, heads, tails, d = problem(d=12)
    best = objective(refit_weights(costs, heads, tails, d, 1e-10), costs, heads, tails, d)
    for tol in (0.3, 1e-2):
        rough = objective(refit_weights(costs, heads, tails, d, tol), costs, heads, tails, d)
        assert best - 1e-9 <= rough <= best + (d - 1) * np.log1p(tol)


def test_edges_that_do_not_connect_are_refused():
    with pytest.raises(ProblemError, match="must connect all vertices"):
        refit_weights(np.ones(2), np.array([0, 2]), np.array([1, 3]), 4)


def test_equal_columns_have_a_finite_weight():
    weights = refit_weights(np.array([0.0, 1.0]), np.array([0, 1]), np.array([1, 2]), 3)
    assert np.isfinite(weights).all()
    assert weights[0] > 1e6 * weights[1]

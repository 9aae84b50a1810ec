"""The start of Newton's method: multipliers on which the vertices agree."""

import numpy as np
import pytest
from instances import frobenius_qp
from signal_tables import signals

from solvers.qp import solve_laplacian_qp, start
from solvers.qp.qp import edge_gains


def many_vertices(eta, d=220):
    table = signals(60, d, seed=3)
    return frobenius_qp(table.T @ table / 60, eta, d)


@pytest.mark.parametrize("eta", [0.01, 0.1])
def test_the_optimal_multipliers_are_those_that_vertices_agree_on(eta):
    qp = many_vertices(eta)
    found = solve_laplacian_qp(qp)
    assert (found.laplacian < 0.0).sum(axis=1).max() <= start._NEARER  # all edges are looked at
    nearest = start._nearest(edge_gains(qp.moment), start._NEARER)
    again, tau = start._agreed(qp.prior, *nearest, found.nu)
    # The first τ is found from above in a few rounds, which moves single vertices a little.
    np.testing.assert_allclose(again, found.nu, atol=3e-2 * np.abs(found.nu).max())
    assert tau == pytest.approx(found.tau, rel=1e-2)


@pytest.mark.parametrize("eta", [0.01, 0.3, 3.0])
def test_newton_takes_fewer_steps_from_there(eta, monkeypatch):
    qp = many_vertices(eta)
    found = solve_laplacian_qp(qp)
    monkeypatch.setattr(start, "_LARGE", np.inf)
    plain = solve_laplacian_qp(qp)
    assert found.steps < plain.steps
    assert found.bound == pytest.approx(plain.bound, rel=1e-11)


def test_costs_that_leave_no_edge_leave_the_guess():
    prior = many_vertices(0.1).prior
    near = np.tile(np.arange(1, 65), (220, 1))
    nu = np.full(220, 0.2)
    left, tau = start._agreed(prior, near, np.full((220, 64), np.inf), nu)
    np.testing.assert_array_equal(left, nu)
    assert tau is None


def test_the_nearest_are_found_by_value_and_where_many_are_alike_by_place():
    rng = np.random.default_rng(5)
    gains = -rng.random((40, 40))
    np.fill_diagonal(gains, -np.inf)
    ends, costs = start._nearest(gains, 7)
    np.testing.assert_array_equal(np.sort(costs, axis=1), np.sort(-gains, axis=1)[:, :7])
    np.testing.assert_array_equal(costs, -np.take_along_axis(gains, ends, axis=1))
    alike = np.round(gains, 1)  # ties everywhere
    ends, costs = start._nearest(alike, 7)
    np.testing.assert_array_equal(np.sort(costs, axis=1), np.sort(-alike, axis=1)[:, :7])
    huge = gains * 1e200  # beyond single precision: no warning, and the same answer
    assert set(start._nearest(huge, 7)[0][0]) == set(start._nearest(gains, 7)[0][0])

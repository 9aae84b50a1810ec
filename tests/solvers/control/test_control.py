"""The control of iterations: acceleration, backtracking and balancing."""

import numpy as np
import pytest
from scipy import linalg

from solvers.control.admm import Anderson, TransportADMM, polar_coupling
from solvers.control.spectral import MEMORY, SpectralControl


def test_anderson_solves_a_linear_iteration_of_few_modes_at_once():
    """Five rates, five differences: the combination whose residual vanishes is the fixed point."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    rates = np.where(np.arange(30) < 4, [0.95, 0.8, 0.5, 0.2] + [0.0] * 26, 0.0)
    matrix, goal = (basis * rates) @ basis.T, rng.standard_normal(30)
    point, anderson = np.zeros(30), Anderson(5)
    assert anderson.shares() is None
    for _ in range(8):
        image = matrix @ point + goal - matrix @ goal
        anderson.add(image, image - point)
        point = image
    assert len(anderson.images) == 6
    shares = anderson.shares()
    combined = np.append(shares, 1.0 - shares.sum()) @ np.stack(anderson.images)
    assert np.linalg.norm(combined - goal) <= 1e-8 * np.linalg.norm(point - goal)
    anderson.forget()
    assert anderson.shares() is None


def test_a_step_may_be_worse_than_the_last_value_but_not_than_all_of_the_last():
    control = SpectralControl(beta=1.0)
    control.restart(10.0)
    for value in (9.0, 8.0, 7.0, 6.0):
        control.take(value, 1.0, 1.0)
    assert control.accepts(9.0, 1.0)
    assert not control.accepts(10.0, 1.0)
    assert control.accepts(10.0, 1.0, slack=0.1)
    control.take(5.0, 1.0, 1.0)
    assert len(control.recent) == MEMORY
    assert not control.accepts(9.5, 1.0)
    control.restart(1.0)
    assert not control.accepts(2.0, 1.0)


def test_curvature_is_the_secant_of_the_last_step_and_doubles_where_it_was_too_small():
    control = SpectralControl(beta=2.0)
    control.restart(0.0)
    assert not control.proximal
    control.shorten()
    assert control.rho == 2.0
    control.shorten()
    assert control.rho == 4.0
    assert control.proximal
    control.take(-1.0, turn=3.0, length=0.5)
    assert control.rho == 6.0
    control.take(-2.0, turn=-3.0, length=0.5)
    assert control.rho == 0.0


class Rotation(TransportADMM[np.ndarray]):
    """A contraction towards ``goal``; it notes what the control asks of it."""

    def __init__(self, dual=1.0, worse=False):
        super().__init__(np.array([3.0, -2.0]), 1.0, 1.0)
        self.goal, self.dual, self.worse = np.array([1.0, 2.0]), dual, worse
        self.certified, self.states = 0, []

    def step(self):
        self.states.append(self.state)
        move = 0.1 * np.array([[-1.0, 0.5], [-0.5, -1.0]]) @ (self.state - self.goal)
        return self.state + move, move

    def certify(self):
        self.certified += 1
        return bool(np.linalg.norm(self.state - self.goal) < 1e-6)

    def combined(self, images, shares):
        if self.worse:
            return images[-1] + 100.0
        return np.append(shares, 1.0 - shares.sum()) @ np.stack(images)

    def errors(self, image):
        return 1.0, self.dual, lambda factor: image + (1.0 - factor)


def test_acceleration_reaches_the_fixed_point_before_the_first_certificate():
    admm = Rotation()
    admm.run(100)
    assert admm.certified == 1
    assert len(admm.states) == 20
    assert admm.rho == 1.0


def test_an_acceleration_that_makes_the_residual_grow_is_undone():
    admm = Rotation(worse=True)
    admm.run(19)
    # After five steps the state jumps; the run goes back to the fifth image.
    assert np.linalg.norm(admm.states[5] - admm.states[4]) > 100.0
    assert np.linalg.norm(admm.states[6] - admm.states[4]) < 1.0


@pytest.mark.parametrize(("dual", "rho"), [(0.3, 1.0), (3.9, 1.0), (1 / 9, 3.0), (1e-6, 5.0)])
def test_the_penalty_follows_the_ratio_of_residuals(dual, rho):
    admm = Rotation(dual=dual)
    admm.certify = lambda: False
    admm.run(20)
    assert admm.rho == pytest.approx(rho)
    assert bool(admm.anderson.images) == (rho == 1.0)


@pytest.mark.parametrize("rows", [2, 5, 9])
def test_a_coupling_costs_what_its_dual_does(rows):
    rng = np.random.default_rng(rows)
    first, second = rng.standard_normal((rows, 6)), rng.standard_normal((rows, 5))
    moves, spread = polar_coupling(first, second)
    assert moves.shape == (5, 6)
    cost = np.sum(moves**2) + np.sum(spread**2)
    assert cost == pytest.approx(np.sum(first**2))
    # Moves and spread have the dual's second moment in the corner of the graph.
    np.testing.assert_allclose(moves.T @ moves + spread.T @ spread, first.T @ first, atol=1e-12)


def test_a_decomposition_that_does_not_converge_is_tried_by_another_method(monkeypatch):
    """LAPACK's divide and conquer failed on a matrix with nearly equal singular values."""
    matrix, usual = np.random.default_rng(0).standard_normal((4, 3)), linalg.svd

    def fails(given, *, lapack_driver="gesdd", **options):
        if lapack_driver == "gesdd":
            raise linalg.LinAlgError("SVD did not converge")
        return usual(given, lapack_driver=lapack_driver, **options)

    expected = polar_coupling(matrix, matrix)
    monkeypatch.setattr(linalg, "svd", fails)
    for found, wanted in zip(polar_coupling(matrix, matrix), expected, strict=True):
        np.testing.assert_allclose(np.abs(found), np.abs(wanted), atol=1e-12)

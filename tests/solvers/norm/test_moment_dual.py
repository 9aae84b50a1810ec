from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, frobenius_qp, random_laplacian, random_nominal, seeds, some_bounds

from solvers.norm.dual import moment_point
from solvers.norm.newton import _guess
from solvers.qp import LaplacianQP
from solvers.qp.ascent import Curvature
from solvers.qp.bounded import bounded_point
from solvers.qp.dense import quadratic_point
from wdro_cvx import (
    GraphProblem,
    MomentBall,
)

MOVING = [1.0, 1.05, 4 / 3, 1.5, 2.0, 3.0, 4.0, 20.0]  # p = ∞ needs no dual of its own
moving = st.sampled_from(MOVING)
penalties = st.sampled_from([None, 0.1, 10.0])
radii = st.sampled_from([1e-3, 0.5, 20.0])
kinds = st.sampled_from(["none", "mask", "pins", "caps", "mixed"])


def random_point(seed, d, p, penalty, radius=0.5, eta=0.3, kind="none"):
    """The dual of a random problem at multipliers with some edges active and some not."""
    rng = np.random.default_rng(seed)
    ball = MomentBall(radius, p=p)
    problem = GraphProblem(
        random_nominal(rng, d, 5),
        ball,
        eta,
        trace_penalty=penalty,
        bounds=some_bounds(rng, d, kind, d),
    )
    qp = LaplacianQP(problem.nominal.second_moment, problem.prior)
    point = moment_point(qp, ball, _guess(problem, ball, None))
    nu = point.nu * rng.uniform(0.3, 2.0, d)
    return problem, point.moved(nu, point.tau * rng.uniform(0.8, 1.5) + 0.1)


def dense(curvature: Curvature):
    """The matrix that a Curvature stands for, entry by entry."""
    lower = np.tril(curvature.edges, -1)
    d = lower.shape[0]
    matrix = np.zeros((d + 1, d + 1))
    matrix[:d, :d] = lower + lower.T + np.diag(curvature.counts + curvature.vertices)
    matrix[:d, d] = matrix[d, :d] = -curvature.counts
    matrix[d, d] = lower.sum() + curvature.tau
    if curvature.bump is not None:
        weight, b_nu, b_tau = curvature.bump
        b = np.append(b_nu, b_tau)
        matrix += weight * np.outer(b, b)
    return matrix / curvature.unit


@given(seeds, dimensions, moving, penalties, kinds)
def test_the_gradient_of_the_dual_by_finite_differences(seed, d, p, penalty, kind):
    _, point = random_point(seed, d, p, penalty, kind=kind)
    rng = np.random.default_rng(seed)
    direction, turn, step = rng.standard_normal(d), rng.standard_normal(), 1e-6
    values = [
        point.moved(point.nu + s * direction, point.tau + s * turn).value for s in (step, -step)
    ]
    grad_nu, grad_tau = point.gradient()
    difference = (values[0] - values[1]) / (2 * step)
    # The gradient is Lipschitz with constant d/4η: its kinks cost as much as that times the step.
    scale = 1.0 + abs(point.value) + np.abs(grad_nu).sum()
    assert grad_nu @ direction + grad_tau * turn == pytest.approx(difference, abs=1e-5 * d * scale)


@given(seeds, dimensions, moving, penalties, kinds)
def test_the_hessian_of_the_dual_by_finite_differences(seed, d, p, penalty, kind):
    _, point = random_point(seed, d, p, penalty, kind=kind)
    if p == 1.0:
        return  # piecewise quadratic: its pieces are tested with the split
    rng = np.random.default_rng(seed)
    direction, step = rng.standard_normal(d + 1), 1e-6
    sides = [point.moved(point.nu + s * direction[:d], point.tau + s * direction[d])
             for s in (step, -step)]  # fmt: skip
    if sides[0].ends[0].size != sides[1].ends[0].size:
        return  # an edge came or went in between
    if not np.array_equal(sides[0].split.slopes == 0.0, sides[1].split.slopes == 0.0):
        return  # or met a bound
    gradients = [np.append(*side.gradient()) for side in sides]
    curvature = point.curvature()
    # The damping is no part of the Hessian; it is what the vertices have beyond their slopes.
    exact = replace(curvature, vertices=2 * point.split.slopes[:d])
    damping = curvature.vertices - exact.vertices
    assert damping.min() > 0.0
    assert damping.max() <= 0.02
    difference = (gradients[0] - gradients[1]) / (2 * step)
    matrix = dense(exact)
    np.testing.assert_allclose(
        -matrix @ direction, difference, atol=1e-4 * (1 + np.abs(matrix).max())
    )


@given(seeds, dimensions, moving, penalties, kinds)
def test_the_newton_direction_solves_the_dense_system(seed, d, p, penalty, kind):
    _, point = random_point(seed, d, p, penalty, kind=kind)
    gradient = np.append(*point.gradient())
    matrix = dense(point.curvature())
    d_nu, d_tau = point.curvature().direction(gradient[:d], gradient[d])
    if np.linalg.cond(matrix) < 1e9:  # the elimination loses no more digits than that
        expected = np.linalg.solve(matrix, gradient)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(np.append(d_nu, d_tau), expected, atol=1e-6 * scale)


@given(seeds, dimensions, moving, penalties, radii, kinds)
def test_every_iterate_carries_a_bound_and_its_certificate(seed, d, p, penalty, radius, kind):
    problem, point = random_point(seed, d, p, penalty, radius, kind=kind)
    moment, nu, tau = point.evidence()
    assert problem.ambiguity.distance(problem.nominal, moment) <= radius
    bounds = problem.bounds
    qp = frobenius_qp(moment, problem.eta, problem.target_trace, penalty, bounds)
    # The moment is pulled into the ball by what rounding takes, and no more.
    slack = 1e-9 * (abs(point.value) + np.abs(problem.nominal.second_moment).max() * d)
    start = nu, tau
    by_qp = quadratic_point(qp, start) if bounds is None else bounded_point(qp, bounds, start)
    if by_qp.tau == tau:  # without an active edge the QP takes a better τ
        assert by_qp.value == pytest.approx(point.value, abs=slack)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        trace = d if penalty is None else d * rng.uniform(0.1, 1.5)
        graph = problem.prior.repaired(random_laplacian(rng, d, trace))
        assert point.value <= problem.value(graph) + slack
    laplacian = point.laplacian()
    assert problem.prior.infeasibility(laplacian).largest <= 1e-12
    if point.weights.any():
        assert point.primal_value() == pytest.approx(problem.value(laplacian), rel=1e-9)

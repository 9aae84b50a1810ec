"""The interior point in weights and probabilities: its linear systems and its steps."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import seeds
from reweighing import balls, model_of, random_problem

from solvers.atoms import model as model_module
from solvers.atoms.model import starting_point
from solvers.qp.saddle import advance, residual
from solvers.qp.saddle_stack import advance_all, stack_key
from solvers.qp.saddle_system import SaddleCurvature, SaddleVector, newton_solver
from wdro_cvx import ChiSquareBall, KLBall, LogDegree
from wdro_cvx.graphs.laplacian import laplacian_from_weights


def dense_matrix(model, at):
    """The Newton system as it is printed, nothing eliminated."""
    z = np.hstack([tile for _, _, tile in replace(model.spread, tall=False).tiles()])
    a, (k, m) = np.asarray(model.incidence), z.shape
    matrix = np.zeros((m + k + 3, m + k + 3))
    e, q, (lam, tau, theta) = slice(0, m), slice(m, m + k), range(m + k, m + k + 3)
    matrix[e, e] = np.diag(at.edges) + a.T @ np.diag(at.vertices) @ a
    matrix[e, q], matrix[e, tau] = z.T, -1.0
    matrix[q, e], matrix[q, q] = -z, np.diag(at.cases)
    matrix[q, lam], matrix[q, theta] = at.slope, 1.0
    matrix[lam, q], matrix[lam, lam] = at.slope, -at.slack
    matrix[tau, e], matrix[tau, tau] = -1.0, -at.softness
    matrix[theta, q] = 1.0
    return matrix


def flat(vector):
    rest = [vector.budget, vector.total, vector.mass]
    return np.concatenate([vector.edges, vector.cases, rest])


@given(seeds, st.integers(3, 6), st.integers(2, 40), st.sampled_from([0.0, 0.3]), st.booleans())
def test_both_eliminations_solve_the_whole_system(seed, d, n, softness, bounded):
    rng = np.random.default_rng(seed)
    model = model_of(random_problem(seed, KLBall(0.5), d, n, bounded))
    m, k = model.free.size, model.ball.shares.size
    at = SaddleCurvature(
        edges=rng.exponential(size=m) + 0.1,
        vertices=rng.exponential(size=d) + 0.1,
        cases=rng.exponential(size=k) + 0.1,
        slope=rng.standard_normal(k),
        slack=float(rng.exponential()),
        softness=softness,
    )
    side = SaddleVector(rng.standard_normal(m), rng.standard_normal(k), *rng.standard_normal(3))
    matrix = dense_matrix(model, at)
    for tall in (False, True):
        turned = replace(model, spread=replace(model.spread, tall=tall))
        found = flat(newton_solver(turned, at)(side))
        # The rounding of a solution of this size, with two digits for the eliminations.
        size = np.abs(matrix) @ np.abs(found) + np.abs(flat(side))
        np.testing.assert_allclose(matrix @ found / size, flat(side) / size, atol=1e-11)


@pytest.mark.parametrize("tall", [False, True])
def test_tiles_change_nothing(monkeypatch, tall):
    model = model_of(random_problem(3, KLBall(0.5), 6, 11))
    whole = replace(model.spread, tall=tall)
    rng = np.random.default_rng(0)
    weights, q = rng.random(15), rng.random(11)
    expected = whole.losses(weights), whole.costs(q)
    monkeypatch.setattr(model_module, "_TILE", 33)
    for stored in (model_module._STORED, 0):
        monkeypatch.setattr(model_module, "_STORED", stored)
        tiled = replace(whole)
        tiles = list(tiled.tiles())
        assert len(tiles) > 3
        assert max(tile.size for _, _, tile in tiles) <= 33
        np.testing.assert_allclose(tiled.losses(weights), expected[0], rtol=1e-13)
        np.testing.assert_allclose(tiled.costs(q), expected[1], rtol=1e-13)
        at = SaddleCurvature(np.ones(15), np.ones(6), np.ones(11), q, 1.0, 0.0)
        side = SaddleVector(weights, q, 1.0, 1.0, 1.0)
        results = [
            flat(newton_solver(replace(model, spread=spread), at)(side))
            for spread in (whole, tiled)
        ]
        np.testing.assert_allclose(results[0], results[1], rtol=1e-9)


@given(seeds, balls, st.booleans(), st.sampled_from([None, 0.5]))
def test_pull_and_risks_are_the_gradient_of_the_saddle_function(seed, kind, bounded, penalty):
    """In the problem's own terms: the value of a graph against fixed probabilities."""
    rng = np.random.default_rng(seed)
    problem = random_problem(seed, kind(0.5), 5, 7, bounded, trace=3.0, penalty=penalty)
    model = model_of(problem)
    x, q = rng.random(model.free.size), rng.dirichlet(np.ones(7))
    direction = rng.standard_normal(x.size)

    def smoothness(excess):
        laplacian = laplacian_from_weights(model.weights(excess))
        return float(np.vdot(model.ball.atoms.moment(q).second_moment, laplacian)) / unit

    def value(excess):
        laplacian = laplacian_from_weights(model.weights(excess))
        return smoothness(excess) + problem.eta * float(np.sum(laplacian**2)) / unit

    unit = model.price * model.scale
    size = value(x) + value(np.abs(direction)) + 1.0
    # The function is quadratic: central differences are exact but for rounding.
    slope = (value(x + direction) - value(x - direction)) / 2
    assert slope == pytest.approx(float(model.pull(x, q) @ direction), abs=1e-12 * size)
    assert smoothness(x) == pytest.approx(float(q @ model.risks(x)), abs=1e-12 * size)


@given(seeds, balls, st.booleans(), st.sampled_from([None, 0.5, 50.0]), st.sampled_from([4, 40]))
def test_short_steps_shrink_residuals_in_proportion(seed, kind, bounded, penalty, n):
    """Newton's defining property, of all equations at once."""
    problem = random_problem(seed, kind(0.5), 5, n, bounded, penalty=penalty)
    model = model_of(problem)
    point = starting_point(model)
    moved, length = advance(model, point)
    step = moved.moved(point, -1.0)
    short = 1e-6
    before = flat(residual(model, point))
    after = flat(residual(model, point.moved(step, short / length)))
    # The error is quadratic in the step; the divergence's third derivatives are of order n.
    size = np.abs(before).max() + 1.0
    np.testing.assert_allclose(after, (1 - short) * before, atol=1e-3 * short * size)


@pytest.mark.parametrize("prior", [None, LogDegree(0.5, 0.1)])
@pytest.mark.parametrize("kind", [KLBall, ChiSquareBall])
def test_steps_of_a_stack_are_those_of_its_problems(kind, prior):
    """Three steps, with more atoms than edges in one case; only the order of sums differs."""
    problems = [random_problem(seed, kind(0.1 + 0.3 * seed), 5, 14) for seed in range(3)]
    if prior is not None:
        problems = [replace(problem, prior=prior) for problem in problems]
    models = [model_of(problem) for problem in problems]
    assert len({stack_key(model) for model in models}) == 1
    points = together = [starting_point(model) for model in models]
    for _ in range(3):
        alone = [advance(model, point) for model, point in zip(models, points, strict=True)]
        found = advance_all(models, together)
        for (moved, length), (expected, usual) in zip(found, alone, strict=True):
            assert length == pytest.approx(usual, rel=1e-9)
            np.testing.assert_allclose(moved.ours, expected.ours, rtol=1e-8)
            np.testing.assert_allclose(moved.theirs, expected.theirs, rtol=1e-8)
            assert (moved.tau, moved.theta) == pytest.approx((expected.tau, expected.theta))
        points, together = ([moved for moved, _ in some] for some in (alone, found))


def test_a_model_that_fails_does_not_spoil_its_stack():
    models = [model_of(random_problem(seed, KLBall(0.5), 5, 7)) for seed in range(3)]
    points = [starting_point(model) for model in models]
    points[1] = replace(points[1], ours=points[1].ours * np.nan)
    found = advance_all(models, points)
    assert [np.isfinite(moved.complementarity) for moved, _ in found] == [True, False, True]


def test_bounds_and_long_tables_are_not_stacked():
    bounded = [model_of(random_problem(seed, KLBall(0.5), 5, 7, True)) for seed in range(2)]
    long = [model_of(random_problem(seed, KLBall(0.5), 5, 200)) for seed in range(2)]
    assert len({stack_key(model) for model in bounded + long}) == 4

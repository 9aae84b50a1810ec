"""The interior point in weights and probabilities: its system, its steps, its answers."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import random_nominal, seeds
from scipy.optimize import brentq

from formulations import ChiSquarePremium, KLDual
from solvers import CertifiedSolver
from solvers.atoms import model as model_module
from solvers.atoms import solve_atoms
from solvers.atoms.interior_point import advance, residual, starting_point
from solvers.atoms.model import build_model
from solvers.atoms.solve import pulled_inside
from solvers.atoms.system import Curvature, Vector, newton_solver
from solvers.incumbent import Incumbent
from wdro_cvx import (
    ChiSquareBall,
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    KLBall,
    Nominal,
    Status,
    judge,
)
from wdro_cvx.ambiguity.reweighting import ReweightingBall
from wdro_cvx.laplacian import laplacian_from_weights

balls = st.sampled_from([KLBall, ChiSquareBall])
# From almost none to beyond the hard limit of any number of samples used here.
radii = st.sampled_from([1e-4, 1e-2, 0.3, 2.0, 100.0])
# Clarabel's accuracy, relative.
CONIC = 2e-6


def random_bounds(rng, d, half):
    """Absent, pinned and capped edges; two are free, so that the trace is possible."""
    m = d * (d - 1) // 2
    lower = np.where(rng.random(m) < 0.3, rng.uniform(0, 0.5 * half / m, m), 0.0)
    upper = np.where(rng.random(m) < 0.5, lower + rng.uniform(0, 4 * half / m, m), np.inf)
    upper[rng.random(m) < 0.2] = 0.0
    pinned = rng.random(m) < 0.1
    upper = np.where(pinned, lower, np.maximum(upper, lower))
    upper[rng.integers(m, size=2)] = np.inf
    return EdgeBounds(lower, upper)


def random_problem(seed, ball, d, n, bounded=False, eta=0.1, trace=None, penalty=None, tails=False):
    rng = np.random.default_rng(seed)
    nominal = random_nominal(rng, d, n)
    if tails:
        nominal = Nominal.from_samples(rng.standard_t(2, (n, d)))
    trace = float(d) if trace is None else trace
    bounds = random_bounds(rng, d, trace / 2) if bounded else None
    return GraphProblem(nominal, ball, eta, trace=trace, trace_penalty=penalty, bounds=bounds)


def first_incumbent(problem):
    """What one bound knows: the interior point has all the work before it."""
    incumbent = Incumbent(problem)
    answer = incumbent.bound_by(problem.nominal.second_moment, None)
    incumbent.evaluate(answer.laplacian)
    return incumbent


def model_of(problem):
    incumbent = first_incumbent(problem)
    atoms = problem.ambiguity.atoms(problem.nominal)
    return build_model(problem, atoms, incumbent.laplacian, incumbent.value)


def dense_matrix(model, at):
    """The Newton system as it is printed, nothing eliminated."""
    z = np.hstack([tile for _, _, tile in replace(model.spread, tall=False).tiles()])
    a, (k, m) = model.incidence.toarray(), z.shape
    matrix = np.zeros((m + k + 3, m + k + 3))
    e, q, (lam, tau, theta) = slice(0, m), slice(m, m + k), range(m + k, m + k + 3)
    matrix[e, e] = np.diag(at.edges) + a.T @ np.diag(at.vertices) @ a
    matrix[e, q], matrix[e, tau] = z.T, -1.0
    matrix[q, e], matrix[q, q] = -z, np.diag(at.atoms)
    matrix[q, lam], matrix[q, theta] = at.slope, 1.0
    matrix[lam, q], matrix[lam, lam] = at.slope, -at.slack
    matrix[tau, e], matrix[tau, tau] = -1.0, -at.softness
    matrix[theta, q] = 1.0
    return matrix


def flat(vector):
    rest = [vector.budget, vector.total, vector.mass]
    return np.concatenate([vector.edges, vector.atoms, rest])


@given(seeds, st.integers(3, 6), st.integers(2, 40), st.sampled_from([0.0, 0.3]), st.booleans())
def test_both_eliminations_solve_the_whole_system(seed, d, n, softness, bounded):
    rng = np.random.default_rng(seed)
    model = model_of(random_problem(seed, KLBall(0.5), d, n, bounded))
    m, k = model.free.size, model.atoms.shares.size
    at = Curvature(
        edges=rng.exponential(size=m) + 0.1,
        vertices=rng.exponential(size=d) + 0.1,
        atoms=rng.exponential(size=k) + 0.1,
        slope=rng.standard_normal(k),
        slack=float(rng.exponential()),
        softness=softness,
    )
    side = Vector(rng.standard_normal(m), rng.standard_normal(k), *rng.standard_normal(3))
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
        at = Curvature(np.ones(15), np.ones(6), np.ones(11), q, 1.0, 0.0)
        side = Vector(weights, q, 1.0, 1.0, 1.0)
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
        return float(np.vdot(model.atoms.moment(q).second_moment, laplacian)) / unit

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


@given(seeds, balls, radii, st.sampled_from([1e-12, 1.0]), st.integers(2, 30))
def test_probabilities_are_pulled_inside_and_no_further(seed, kind, radius, share, n):
    rng = np.random.default_rng(seed)
    atoms = kind(radius * share).atoms(random_nominal(rng, 3, n))
    q = pulled_inside(atoms, rng.dirichlet(np.full(n, 0.3)) + 1e-300)
    assert atoms.divergence(q) <= atoms.radius
    assert q.min() >= 0.0
    assert q.sum() == pytest.approx(1.0, rel=1e-14)
    np.testing.assert_array_equal(pulled_inside(atoms, q), q / q.sum())
    barely = replace(atoms, radius=atoms.divergence(q) * (1 - 1e-9) + 1e-30)
    pulled = pulled_inside(barely, q)
    assert barely.divergence(pulled) <= barely.radius
    np.testing.assert_allclose(pulled, q, rtol=1e-7, atol=1e-8 * q.max())


@pytest.mark.parametrize("penalty", [None, 1e-2, 100.0])
@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("n", [2, 5, 40])
@pytest.mark.parametrize("radius", [0.05, 1.0, 50.0])
@pytest.mark.parametrize(("kind", "form"), [(KLBall, KLDual), (ChiSquareBall, ChiSquarePremium)])
def test_optimum_is_the_conic_one(kind, form, radius, n, bounded, penalty):
    problem = random_problem(n, kind(radius), 7, n, bounded, 0.01, 4.0, penalty)
    incumbent = first_incumbent(problem)
    solve_atoms(incumbent, 1e-8, 100)
    assert incumbent.gap <= 1e-8
    assert incumbent.value == pytest.approx(form(problem).solve().value, rel=CONIC)
    verdict = judge(problem, incumbent.laplacian, incumbent.certificate)
    assert verdict.solved(1e-6)


@settings(max_examples=60)
@given(
    seed=seeds,
    kind=balls,
    radius=radii,
    d=st.sampled_from([2, 3, 6, 10]),
    n=st.sampled_from([1, 2, 5, 50]),
    eta=st.sampled_from([1e-4, 0.1, 10.0]),
    trace=st.sampled_from([0.1, 5.0, 100.0]),
    penalty=st.sampled_from([None, None, 1e-4, 1e4]),
    bounded=st.booleans(),
    tails=st.booleans(),
)
def test_every_problem_is_solved_without_the_bundle(
    seed, kind, radius, d, n, eta, trace, penalty, bounded, tails
):
    problem = random_problem(
        seed, kind(radius), d, n, bounded and d > 3, eta, trace, penalty, tails
    )
    # No more iterations than the smooth phase and the interior point can take.
    answer = CertifiedSolver(1e-7, max_iterations=150).solve(problem)
    assert answer.status is Status.SOLVED
    assert judge(problem, answer.laplacian, answer.certificate).solved(1e-6)


@pytest.mark.parametrize("kind", [KLBall, ChiSquareBall])
@pytest.mark.parametrize(
    ("n", "radius", "eta"), [(3, 1.0, 1e-4), (12, 2.0, 1e-3), (60, 99.0, 0.01)]
)
def test_the_interior_point_takes_few_steps(kind, n, radius, eta):
    """On problems on which gradients fail; it takes 9 to 12, and 16 without its corrector."""
    problem = random_problem(n, kind(radius), 12, n, eta=eta, tails=True)
    incumbent = first_incumbent(problem)
    assert incumbent.gap > 1e-3
    solve_atoms(incumbent, 1e-9, 13)
    assert incumbent.gap <= 1e-9


@pytest.mark.parametrize("kind", [KLBall, ChiSquareBall])
@pytest.mark.parametrize("penalty", [None, 1e3])
def test_a_signal_that_dwarfs_the_others_is_no_obstacle(kind, penalty):
    """From equal weights, whose risk is 10⁴ times the optimal one, no step was possible."""
    samples = np.random.default_rng(1).standard_normal((2, 40))
    samples[0] *= 100.0
    nominal = Nominal.from_samples(samples)
    incumbent = first_incumbent(GraphProblem(nominal, kind(0.05), 0.05, trace_penalty=penalty))
    solve_atoms(incumbent, 1e-9, 20)
    assert incumbent.gap <= 1e-9


@pytest.mark.parametrize("kind", [KLBall, ChiSquareBall])
def test_repetition_does_not_matter(kind):
    """The same distribution, of which every sample is written three times."""
    once = random_problem(5, kind(0.8), 6, 7, eta=0.01)
    samples = np.repeat(once.nominal.samples, 3, axis=0)
    thrice = replace(once, nominal=Nominal.from_samples(samples))
    values = [CertifiedSolver(1e-9).solve(problem).value for problem in (once, thrice)]
    assert values[0] == pytest.approx(values[1], rel=2e-9)
    assert thrice.ambiguity.atoms(thrice.nominal).shares.size == 7


@dataclass(frozen=True)
class BurgBall(ReweightingBall):
    """``mean(ρ - 1 - log ρ) ≤ radius``: a divergence that the toolkit does not have."""

    def divergence(self, ratios):
        with np.errstate(divide="ignore"):
            return float(np.mean(ratios - 1.0 - np.log(ratios)))

    def slope(self, ratios):
        return 1.0 - 1.0 / ratios

    def bend(self, ratios):
        return ratios**-2.0

    def link(self, scores):
        raise NotImplementedError

    def tilt(self, losses):
        """The worst ratios are ``∝ 1/(θ - l)``; θ is found to spend the radius."""

        def ratios(log_slack):
            inverse = 1.0 / (losses.max() - losses + np.exp(log_slack))
            return inverse / inverse.mean()

        scale = np.log(np.ptp(losses))
        root = brentq(
            lambda s: self.divergence(ratios(s)) - self.radius, scale - 60, scale + 20, xtol=1e-14
        )
        found = ratios(root)
        return found, float(np.exp(root)) * float(found.max())


@pytest.mark.parametrize("radius", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("n", [2, 6, 30])
def test_another_divergence_needs_no_more_than_its_derivatives(n, radius):
    """The value is the set's own, the bound that of probabilities inside: together a proof."""
    problem = random_problem(n, BurgBall(radius), 6, n, eta=1e-3)
    incumbent = first_incumbent(problem)
    solve_atoms(incumbent, 1e-9, 100)
    assert incumbent.gap <= 1e-9


def test_where_there_is_nothing_to_do_nothing_is_done():
    rng = np.random.default_rng(0)
    weights = rng.random(10)
    pinned = EdgeBounds(weights, weights)
    base = random_problem(1, KLBall(0.5), 5, 6, trace=2 * float(weights.sum()))
    alone = replace(base, nominal=Nominal.from_samples(np.tile(rng.standard_normal(5), (4, 1))))
    for problem in (
        replace(base, ambiguity=GaussianBall(0.5)),
        replace(base, bounds=pinned),
        replace(base, ambiguity=KLBall(0.0)),
        alone,
    ):
        incumbent = first_incumbent(problem)
        solve_atoms(incumbent, 0.0, 100)
        assert incumbent.iterations == 0
    incumbent = Incumbent(base)
    solve_atoms(incumbent, 1e-6, 100)
    assert incumbent.laplacian is None


def test_limits_are_kept_and_an_impossible_tolerance_ends_at_rounding():
    problem = random_problem(2, ChiSquareBall(1.0), 8, 5, eta=1e-3)
    incumbent = first_incumbent(problem)
    solve_atoms(incumbent, 1e-9, 3)
    assert incumbent.iterations == 3
    incumbent = first_incumbent(problem)
    solve_atoms(incumbent, -1.0, 1000)
    assert incumbent.iterations < 60
    assert abs(incumbent.gap) <= 1e-12

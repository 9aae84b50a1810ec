"""The interior point in weights and probabilities: its answers."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import random_nominal, seeds
from reweighing import balls, first_incumbent, random_problem
from scipy.optimize import brentq

from formulations import ChiSquarePremium, KLDual
from solvers import CertifiedSolver
from solvers.atoms import solve_atoms
from solvers.bracket.incumbent import Incumbent
from solvers.bracket.limits import Clock, OutOfTime
from solvers.bracket.requests import alone
from solvers.qp.balls import pulled_inside
from wdro_cvx import (
    ChiSquareBall,
    CVaRBall,
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    HellingerBall,
    KLBall,
    Nominal,
    Status,
    TotalVariationBall,
    judge,
)
from wdro_cvx.ambiguity import Atoms
from wdro_cvx.ambiguity.reweighting import ReweightingBall
from wdro_cvx.priors import LogDegree

# From almost none to beyond the hard limit of any number of samples used here.
radii = st.sampled_from([1e-4, 1e-2, 0.3, 2.0, 100.0])
# Clarabel's accuracy, relative.
CONIC = 2e-6


@given(seeds, balls, radii, st.sampled_from([1e-12, 1.0]), st.integers(2, 30))
def test_probabilities_are_pulled_inside_and_no_further(seed, kind, radius, share, n):
    rng = np.random.default_rng(seed)
    atoms = kind(radius * share).structure(random_nominal(rng, 3, n))
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
    incumbent.tol = 1e-8
    alone(solve_atoms(incumbent, 100))
    assert incumbent.gap <= 1e-8
    assert incumbent.value == pytest.approx(form(problem).solve().value, rel=CONIC)
    verdict = judge(problem, incumbent.laplacian, incumbent.certificate)
    assert verdict.solved(1e-6)


@examples(60)
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
    incumbent.tol = 1e-9
    alone(solve_atoms(incumbent, 13))
    assert incumbent.gap <= 1e-9


@pytest.mark.parametrize("kind", [KLBall, ChiSquareBall])
@pytest.mark.parametrize("penalty", [None, 1e3])
def test_a_signal_that_dwarfs_the_others_is_no_obstacle(kind, penalty):
    """From equal weights, whose risk is 10⁴ times the optimal one, no step was possible."""
    samples = np.random.default_rng(1).standard_normal((2, 40))
    samples[0] *= 100.0
    nominal = Nominal.from_samples(samples)
    incumbent = first_incumbent(GraphProblem(nominal, kind(0.05), 0.05, trace_penalty=penalty))
    incumbent.tol = 1e-9
    alone(solve_atoms(incumbent, 20))
    assert incumbent.gap <= 1e-9


@pytest.mark.parametrize("kind", [KLBall, ChiSquareBall])
def test_repetition_does_not_matter(kind):
    """The same distribution, of which every sample is written three times."""
    once = random_problem(5, kind(0.8), 6, 7, eta=0.01)
    samples = np.repeat(once.nominal.samples, 3, axis=0)
    thrice = replace(once, nominal=Nominal.from_samples(samples))
    values = [CertifiedSolver(1e-9).solve(problem).value for problem in (once, thrice)]
    assert values[0] == pytest.approx(values[1], rel=2e-9)
    assert thrice.structure.shares.size == 7


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
    incumbent.tol = 1e-9
    alone(solve_atoms(incumbent, 100))
    assert incumbent.gap <= 1e-9


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("n", [2, 7, 40])
@pytest.mark.parametrize(("kind", "form"), [(KLBall, KLDual), (ChiSquareBall, ChiSquarePremium)])
def test_another_prior_has_the_conic_optimum_too(kind, form, n, bounded):
    """No trace, and logarithms that keep every vertex connected."""
    stated = random_problem(n, kind(0.8), 6, n, bounded)
    bounds = stated.bounds
    if bounds is not None:  # every vertex may have an edge
        bounds = EdgeBounds(bounds.lower, np.where(bounds.upper == 0.0, 0.5, bounds.upper))
    problem = GraphProblem(stated.nominal, stated.ambiguity, prior=LogDegree(1.0, 0.05, bounds))
    incumbent = first_incumbent(problem)
    incumbent.tol = 1e-8
    alone(solve_atoms(incumbent, 100))
    assert incumbent.gap <= 1e-8
    conic = form(problem).solve()
    # Relative to what the prior is worth: the value itself may be close to zero.
    assert incumbent.value == pytest.approx(conic.value, abs=CONIC * 6)
    assert judge(problem, incumbent.laplacian, incumbent.certificate).solved(1e-6)


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("kind", [CVaRBall, TotalVariationBall, HellingerBall])
def test_the_interior_point_alone_solves_divergences_with_pieces(kind, bounded):
    """Ties of the losses: no single worst case is near the optimal weights."""
    for seed, radius, samples in ((2, 0.5, 40), (3, 0.1, 12), (4, 2.0, 200)):
        problem = random_problem(seed, kind(radius), 8, samples, bounded, eta=1e-2)
        incumbent = first_incumbent(problem)
        alone(solve_atoms(incumbent, 100))
        assert incumbent.solved
        assert judge(problem, incumbent.laplacian, incumbent.certificate).solved(1e-6)


def test_the_clock_is_looked_at_between_steps():
    incumbent = first_incumbent(random_problem(2, ChiSquareBall(1.0), 8, 5, eta=1e-3))
    incumbent.run.clock, incumbent.tol = Clock(1e-9), 1e-9
    with pytest.raises(OutOfTime):
        alone(solve_atoms(incumbent, 100))
    assert incumbent.iterations == 0


def test_where_there_is_nothing_to_do_nothing_is_done():
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 1024, 10) / 1024  # sums of these are exact
    pinned = EdgeBounds(weights, weights)
    base = random_problem(1, KLBall(0.5), 5, 6, trace=2 * float(weights.sum()))
    single = replace(base, nominal=Nominal.from_samples(np.tile(rng.standard_normal(5), (4, 1))))
    for problem in (
        replace(base, ambiguity=GaussianBall(0.5)),
        base.replace(bounds=pinned),
        replace(base, ambiguity=KLBall(0.0)),
        single,
    ):
        incumbent = first_incumbent(problem)
        incumbent.tol = 0.0
        alone(solve_atoms(incumbent, 100))
        assert incumbent.iterations == 0
    incumbent = Incumbent(base)
    alone(solve_atoms(incumbent, 100))
    assert incumbent.laplacian is None


def test_limits_are_kept_and_an_impossible_tolerance_ends_at_rounding():
    problem = random_problem(2, ChiSquareBall(1.0), 8, 5, eta=1e-3)
    incumbent = first_incumbent(problem)
    incumbent.tol = 1e-9
    alone(solve_atoms(incumbent, 3))
    assert incumbent.iterations == 3
    incumbent = first_incumbent(problem)
    incumbent.tol = -1.0
    alone(solve_atoms(incumbent, 1000))
    assert incumbent.iterations < 60
    assert abs(incumbent.gap) <= 1e-12


def test_a_steep_risk_goes_to_the_interior_point_after_one_step(monkeypatch):
    """A large radius makes the risk steep; the smooth phase would take more than twenty steps."""
    seen = []
    own = solve_atoms

    def spied(incumbent, *others):
        seen.append(incumbent.iterations)
        return own(incumbent, *others)

    monkeypatch.setattr("solvers.atoms.solve_atoms", spied)
    rng = np.random.default_rng(0)
    nominal = Nominal.from_samples(rng.standard_normal((30, 20)))
    for radius, steep in ((0.5, True), (1e-3, False)):
        answer = CertifiedSolver().solve(GraphProblem(nominal, KLBall(radius), eta=0.3))
        assert answer.status is Status.SOLVED
        assert seen == ([1] if steep else [])  # not called if the smooth phase has solved it
        seen.clear()


@pytest.mark.parametrize("repeated", [False, True])
def test_atoms_are_the_distinct_samples(repeated):
    samples = np.random.default_rng(1).integers(0, 4, (12, 3)).astype(float)
    if not repeated:
        samples[:, 0] = np.random.default_rng(2).permutation(12)
    atoms = Atoms(samples, 0.1, KLBall(0.1))
    signals, which, counts = np.unique(samples, axis=0, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(atoms.signals, signals)
    np.testing.assert_array_equal(atoms.which, which.ravel())
    np.testing.assert_array_equal(atoms.shares, counts / 12)

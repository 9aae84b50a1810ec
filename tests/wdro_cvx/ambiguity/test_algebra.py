"""The algebra of sets: sums, multiples, intersections, coordinates."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from combinations import ALL, FEW, NORMS, QUICK, T
from hypothesis import given
from hypothesis import strategies as st
from instances import random_laplacian, random_nominal, seeds

from formulations.algebra import program_for
from solvers import solve
from wdro_cvx import (
    Certificate,
    ChiSquareBall,
    CombinedSet,
    CVaRBall,
    GraphProblem,
    HellingerBall,
    KLBall,
    MahalanobisBall,
    MetricBall,
    MomentBall,
    Nominal,
    PairBall,
    ProblemError,
    SetInCoordinates,
    TotalVariationBall,
    WassersteinBall,
    check_ambiguity,
    check_formulation,
    judge,
)
from wdro_cvx.moments.composite import SumMoment, mixture
from wdro_cvx.testing.problems import D, some_nominal

SETS = st.sampled_from(
    [WassersteinBall(0.3), KLBall(0.2), MomentBall(0.4, p=1.5), CVaRBall(0.7), NORMS, FEW]
)


def premium(ambiguity, nominal, laplacian):
    average = float(np.vdot(nominal.second_moment, laplacian))
    return ambiguity.worst_case(nominal, laplacian).risk - average


def instance(seed, d=D, n=9):
    rng = np.random.default_rng(seed)
    return random_nominal(rng, d, n), random_laplacian(rng, d)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else [pytest.mark.slow]) for n in ALL]
)
def test_a_combination_agrees_with_its_program_and_keeps_its_promises(name):
    ambiguity = ALL[name]
    report = check_ambiguity(ambiguity, instances=2)
    assert report.passed, str(report)
    for samples in (20, 3):  # smooth, and with kinks at the optimum
        problem = GraphProblem(some_nominal(samples=samples), ambiguity, eta=0.1)
        answer, conic = solve(problem), program_for(ambiguity)(problem).solve()
        verdict = judge(problem, answer)
        assert verdict.solved(1e-6), (verdict, answer.status)
        assert verdict.notes == ()
        # The conic answer is proved as well, by moments that are made of the parts' duals.
        assert judge(problem, conic).solved(1e-6)
        assert conic.value == pytest.approx(verdict.value, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kl + wasserstein", "kl & cvar", "norms", "twice"])
def test_the_program_of_a_combination_passes_its_checks(name):
    report = check_formulation(program_for(ALL[name]), ALL[name])
    assert report.passed, str(report)


@given(seeds, SETS, SETS, st.floats(0.0, 3.0))
def test_premiums_add_and_multiply(seed, a, b, factor):
    nominal, laplacian = instance(seed)
    parts = premium(a, nominal, laplacian) + factor * premium(b, nominal, laplacian)
    together = premium(a + factor * b, nominal, laplacian)
    assert together == pytest.approx(parts, rel=1e-9, abs=1e-12)
    halved = premium(replace(a + b, radius=0.5), nominal, laplacian)
    halves = [premium(replace(part, radius=part.radius / 2), nominal, laplacian) for part in (a, b)]
    assert halved == pytest.approx(sum(halves), rel=1e-9, abs=1e-12)


def test_sums_are_flat_and_coordinates_reach_the_parts():
    both = KLBall(0.1) + (WassersteinBall(0.2) + MomentBall(0.3))
    assert [type(part) for part in both.parts] == [KLBall, WassersteinBall, MomentBall]
    assert (2.0 * (3.0 * KLBall(0.1))).factors == (6.0,)
    turned = both.in_coordinates(T).parts
    assert [type(part) for part in turned] == [KLBall, MetricBall, SetInCoordinates]
    again = WassersteinBall(0.2).in_coordinates(T).in_coordinates(T)
    assert np.allclose(again.coordinates, T @ T)
    assert KLBall(0.1).in_coordinates(T) == KLBall(0.1)
    assert (CVaRBall(0.5) & CVaRBall(0.2)) == CVaRBall(0.2)


@given(seeds, st.sampled_from([1, 3, 20]), st.sampled_from([1e-2, 0.5, 5.0]))
def test_coordinates_that_are_scales_are_the_mahalanobis_ball(seed, n, radius):
    nominal, laplacian = instance(seed, n=n)
    scales = np.linspace(0.3, 2.0, D)
    full = WassersteinBall(radius).in_coordinates(np.diag(scales))
    diagonal = MahalanobisBall(radius, tuple(scales))
    here, there = (one.worst_case(nominal, laplacian) for one in (full, diagonal))
    assert here.risk == pytest.approx(there.risk, rel=1e-11)
    assert np.vdot(here.distribution.second_moment, laplacian) == pytest.approx(here.risk, rel=1e-9)


@given(seeds, st.sampled_from([1.0, 1.5, 2.0, np.inf]))
def test_a_norm_in_coordinates_is_the_norm_of_the_congruent_matrix(seed, p):
    nominal, laplacian = instance(seed)
    ball = MomentBall(0.4, p=p).in_coordinates(T)
    norm = np.linalg.norm((T.T @ laplacian @ T).ravel(), MomentBall(0.4, p=p).q)
    assert premium(ball, nominal, laplacian) == pytest.approx(0.4 * norm, rel=1e-9)


def test_a_level_that_other_coordinates_see_is_not_removed():
    """A constant signal costs nothing in x, but in y it is no constant."""
    mean, covariance = np.full(D, 5.0) + np.arange(D), np.eye(D)
    nominal = Nominal.from_moments(mean, covariance)
    inside = nominal.transformed(np.linalg.inv(T))
    back = T @ inside.second_moment @ T.T
    assert np.allclose(back, nominal.second_moment, rtol=1e-12, atol=1e-12)
    levelled = Nominal.from_moments(inside.mean, inside.covariance).second_moment
    assert not np.allclose(levelled, inside.second_moment, rtol=0.1)


@given(seeds, st.sampled_from([2, 9, 40]))
def test_the_worst_weights_of_an_intersection_are_those_of_a_convex_program(seed, n):
    nominal, laplacian = instance(seed, n=n)
    losses = np.einsum("ij,jk,ik->i", nominal.samples, laplacian, nominal.samples)
    ratios = cp.Variable(n, nonneg=True)
    limits = [
        cp.sum(ratios) == n,
        cp.sum(cp.kl_div(ratios, np.ones(n))) <= 0.3 * n,
        ratios <= 1.5,
    ]
    truth = cp.Problem(cp.Maximize(losses @ ratios / n), limits).solve(solver="CLARABEL")
    assert FEW.worst_case(nominal, laplacian).risk == pytest.approx(truth, rel=1e-6)


@given(seeds, st.sampled_from([(1.0, np.inf), (2.0, np.inf), (1.0, 2.0), (1.5, 3.0)]))
def test_the_worst_shift_of_an_intersection_is_that_of_a_convex_program(seed, orders):
    nominal, laplacian = instance(seed)
    radii = 1.0, 0.4 if np.isfinite(orders[1]) else 0.1
    balls = [MomentBall(radius, p=p) for radius, p in zip(radii, orders, strict=True)]
    shift = cp.Variable((D, D))
    limits = [cp.pnorm(cp.vec(shift, order="F"), ball.p) <= ball.radius for ball in balls]
    objective = cp.Maximize(cp.sum(cp.multiply(shift, laplacian)))
    truth = cp.Problem(objective, limits).solve(solver="CLARABEL")
    both = balls[0] & balls[1]
    assert premium(both, nominal, laplacian) == pytest.approx(truth, rel=1e-6)
    assert both.distance(nominal, both.worst_case(nominal, laplacian).second_moment) <= 1.0 + 1e-9


@given(seeds, st.sampled_from([WassersteinBall(0.4), KLBall(0.2) + MetricBall(0.3, T), NORMS]))
def test_a_mixture_of_points_is_a_point(seed, ambiguity):
    """Matrices mix, and so do the pieces that prove where they are."""
    rng = np.random.default_rng(seed)
    nominal, _ = instance(seed)
    moments = [ambiguity.worst_case(nominal, random_laplacian(rng, D)).moment for _ in range(4)]
    shares = rng.dirichlet(np.ones(4))
    mixed = mixture(moments, shares)
    average = sum(s * m.second_moment for s, m in zip(shares, moments, strict=True))
    assert np.allclose(mixed.second_moment, average, rtol=1e-11, atol=1e-12)
    assert ambiguity.membership(nominal).distance(mixed) <= ambiguity.radius * (1.0 + 1e-12)


# ------------------------------------------------------------------ attacks


def test_forged_points_of_a_sum_prove_nothing():
    ambiguity = KLBall(0.2) + WassersteinBall(0.4)
    problem = GraphProblem(some_nominal(samples=20), ambiguity, eta=0.1)
    answer = solve(problem)
    optimum = judge(problem, answer).value
    moment = answer.certificate.moment
    assert isinstance(moment, SumMoment)
    wide = WassersteinBall(4.0).worst_case(problem.nominal, answer.laplacian).moment
    forgeries = [
        replace(moment, parts=(moment.parts[0], wide)),  # a part outside its set
        replace(moment, parts=moment.parts[::-1]),
        replace(moment, factors=(1.0, 3.0)),
        replace(moment, centre=moment.centre + 5.0 * np.eye(D)),
        ambiguity.membership(problem.nominal).centre.scaled(3.0),
    ]
    for forged in forgeries:
        certificate = replace(answer.certificate, moment=forged)
        assert judge(problem, answer.laplacian, certificate).bound <= optimum
    bare = Certificate(2.0 * moment.second_moment, answer.certificate.degree_multipliers)
    assert judge(problem, answer.laplacian, bare).bound <= optimum


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WassersteinBall(0.1).in_coordinates(np.ones((D, D))), "invertible"),
        (lambda: MomentBall(0.1).in_coordinates(np.diag([1e9, 1.0])), "condition"),
        (lambda: MomentBall(0.1).in_coordinates(np.ones((2, 3))), "square"),
        (lambda: MetricBall.from_covariance(0.1, np.ones((2, 2))), "positive definite"),
        (lambda: PairBall(0.1).in_coordinates(np.eye(3)), "differences"),
        (lambda: KLBall(0.1) & WassersteinBall(0.1), "intersected"),
        (lambda: TotalVariationBall(0.1) & KLBall(0.1), "intersected"),
        (lambda: KLBall(0.1) + 0.3, "set"),
        (lambda: -1.0 * KLBall(0.1), "factor"),
        (lambda: np.inf * KLBall(0.1), "factor"),
        (lambda: CombinedSet(1.0, ()), "one or more"),
    ],
)
def test_what_makes_no_set_is_refused(make, message):
    with pytest.raises(ProblemError, match=message):
        make()


@pytest.mark.parametrize(
    "ambiguity",
    [
        KLBall(0.0) + WassersteinBall(0.0), KLBall(0.0) & CVaRBall(0.5), 0.0 * WassersteinBall(1.0),
        MomentBall(0.0).in_coordinates(T), MomentBall(0.0) & MomentBall(1.0, p=1.0),
        replace(KLBall(0.2) + WassersteinBall(0.4), radius=0.0),
    ],
    ids=repr,
)  # fmt: skip
def test_zero_radii_are_the_sample_average(ambiguity):
    problem = GraphProblem(some_nominal(samples=8), ambiguity, eta=0.1)
    plain = problem.replace(ambiguity=WassersteinBall(0.0))
    answer = solve(problem)
    assert judge(problem, answer).solved(1e-6)
    assert answer.value == pytest.approx(solve(plain).value, rel=1e-6)


@pytest.mark.parametrize("name", QUICK)
def test_signals_of_zeros_are_no_exception(name):
    samples = np.zeros((5, D))
    samples[1, 2] = 1.0
    for table in (samples, samples[:1]):
        problem = GraphProblem(Nominal.from_samples(table), ALL[name], eta=0.1)
        assert judge(problem, solve(problem)).solved(1e-6)


@given(seeds, st.sampled_from([2, 9, 40]), st.sampled_from([1e-4, 0.1, 0.6, 3.0]))
def test_risks_of_the_new_divergences_are_those_of_convex_programs(seed, n, radius):
    nominal, laplacian = instance(seed, n=n)
    losses = np.einsum("ij,jk,ik->i", nominal.samples, laplacian, nominal.samples)
    size = float(np.abs(losses).max())
    ratios = cp.Variable(n, nonneg=True)
    limits = {
        HellingerBall: 2 * n - 2 * cp.sum(cp.sqrt(ratios)) <= n * radius,
        CVaRBall: ratios <= 1 + radius,
        TotalVariationBall: cp.norm1(ratios - 1) <= 2 * n * radius,
    }
    for kind, limit in limits.items():
        objective = cp.Maximize(losses @ ratios / (n * size))
        truth = cp.Problem(objective, [cp.sum(ratios) == n, limit]).solve(solver="CLARABEL")
        assert kind(radius).worst_case(nominal, laplacian).risk == pytest.approx(
            truth * size, rel=3e-6
        )


def test_many_samples_and_ties_are_certified():
    """The worst weights are not unique: three thousand samples, of which many tie."""
    rng = np.random.default_rng(0)
    table = np.round(rng.standard_normal((3000, 8)), 1)
    for ambiguity in (CVaRBall(4.0), TotalVariationBall(0.1), HellingerBall(0.5)):
        problem = GraphProblem(Nominal.from_samples(table), ambiguity, eta=0.01)
        assert judge(problem, solve(problem)).solved(1e-6)
    assert isinstance(ChiSquareBall(0.1) & KLBall(0.1), type(FEW))

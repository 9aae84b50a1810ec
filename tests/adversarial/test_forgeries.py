"""Forgeries by a hostile reviewer: certificates that misreport their contents, data that cancel."""

import numpy as np
import pytest
from attacks import exact_objective

from solvers import solve
from wdro_cvx import (
    Certificate,
    ChiSquareBall,
    EdgeBounds,
    GraphProblem,
    KLBall,
    MahalanobisBall,
    MomentBall,
    Nominal,
    ProblemError,
    Singleton,
    Status,
    WassersteinBall,
    judge,
)
from wdro_cvx.graphs.laplacian import complete_graph, laplacian_from_weights
from wdro_cvx.moments.points import Moment, ReweighedMoment, TransportedMoment

SAMPLES = np.random.default_rng(0).standard_normal((12, 5))
NOMINAL = Nominal.from_samples(SAMPLES)
SETS = [Singleton(), WassersteinBall(0.1), MomentBall(0.1), KLBall(0.1), ChiSquareBall(0.1)]
each_set = pytest.mark.parametrize("ambiguity", SETS, ids=repr)


class Liar(TransportedMoment):
    """Moves nothing, and charges for much more."""

    @property
    def rows(self):
        return 100.0 * self.moved

    def scaled(self, factor):
        return Liar(self.moved * factor)


class Plain(Moment):
    """A matrix that is the nominal one, and a rest that is not."""

    d, rows = 5, None
    second_moment = NOMINAL.second_moment
    rest = 1e4 * NOMINAL.second_moment

    def pulled(self, centre, share):
        return self

    def scaled(self, factor):
        return self


@each_set
@pytest.mark.parametrize("moment", [Liar(NOMINAL.factor), Plain()], ids=["liar", "plain"])
def test_kinds_of_moments_that_are_not_ours_count_as_their_matrix(ambiguity, moment):
    problem = GraphProblem(NOMINAL, ambiguity, eta=0.1)
    best = solve(problem, 1e-9)
    assert judge(problem, best.laplacian, Certificate(moment)).bound <= best.value


@each_set
def test_what_is_measured_is_what_is_charged(ambiguity):
    """Small rows are lost in the matrix beside large ones, and must be lost in the costs too."""
    samples = np.zeros((2, 5))
    samples[:, 0] = 2.0**27
    nominal = Nominal.from_samples(samples)
    problem = GraphProblem(nominal, ambiguity, eta=0.1)
    best = solve(problem, 1e-4)  # the optimum, long before that is proved to the last digits
    spread = np.zeros((100, 5))
    spread[:, 0], spread[:, 1] = 0.7, -0.7
    for shift in (None, np.zeros((5, 5))):
        forged = TransportedMoment(nominal.factor, spread, shift)
        assert judge(problem, best.laplacian, Certificate(forged)).bound <= best.value


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_multipliers_of_low_precision_are_computed_with_in_full(kind):
    problem = GraphProblem(NOMINAL, Singleton(), eta=0.1)
    best = solve(problem, 1e-12)
    nu = best.certificate.degree_multipliers.astype(kind)
    forged = Certificate(NOMINAL.second_moment, nu)
    assert judge(problem, best.laplacian, forged).bound <= best.value


@pytest.mark.parametrize("size", [1e300, -1e160])
def test_absurd_multipliers_are_refused_with_a_note(size):
    problem = GraphProblem(NOMINAL, WassersteinBall(0.5), eta=0.1)
    certificate = Certificate(NOMINAL.second_moment, np.full(5, size))
    verdict = judge(problem, complete_graph(5, 5.0), certificate)
    assert "out of range" in verdict.notes[0]
    assert np.isfinite(verdict.bound)


@pytest.mark.parametrize("ambiguity", [KLBall(1.0), ChiSquareBall(1.0)], ids=repr)
def test_a_sample_whose_smoothness_cancels_is_not_forgotten(ambiguity):
    """It is a billion on three vertices, nearly equal, and its loss was rounded to nothing."""
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((2, 8))
    samples[1, :3] += 1e9
    upper = np.full((8, 8), np.inf)
    upper[:3, 3:] = upper[3:, :3] = 0.0
    bounds = EdgeBounds.from_matrices(np.zeros((8, 8)), upper)
    problem = GraphProblem(Nominal.from_samples(samples), ambiguity, eta=0.1, bounds=bounds)
    answer = solve(problem)
    exact = float(exact_objective(problem, answer.laplacian))
    assert answer.bound <= exact <= answer.value * (1 + 1e-9)


def test_sensors_of_very_different_noise():
    """SLS is decomposed, and its rounding is what counts."""
    rng = np.random.default_rng(3)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        samples = rng.standard_normal((2, 4)) * 10.0 ** rng.uniform(-3, 3, 4)
        ball = MahalanobisBall(1e-3, tuple(10.0 ** rng.uniform(-5, 5, 4)))
        problem = GraphProblem(Nominal.from_samples(samples), ball, eta=0.1)
        laplacian = laplacian_from_weights(rng.dirichlet(np.ones(6)) * 2.0)
        verdict = judge(problem, laplacian)
        # An upper bound of the truth by 1e-13 where its multiplier has to be nudged.
        assert float(exact_objective(problem, laplacian)) <= verdict.value * (1 + 1e-12)


@pytest.mark.parametrize("d", [500, 1500])
def test_large_sums_lose_nothing(d):
    """Constant signals: the value is η‖L‖², a sum over a million equal terms."""
    problem = GraphProblem(Nominal.from_samples(np.ones((1, d))), Singleton(), eta=1.0)
    verdict = judge(problem, complete_graph(d, float(d)))
    optimum = d * d / (d - 1)
    assert verdict.bound <= optimum <= verdict.value
    assert verdict.solved(1e-12)


def test_numbers_too_far_apart_are_refused_by_name():
    cases = {
        "trace": {"eta": 1.0, "trace": 1e-120},
        "eta": {"eta": 1e-150},
        "trace_penalty": {"eta": 1.0, "trace_penalty": 1e-150},
    }
    for name, options in cases.items():
        problem = GraphProblem(NOMINAL, Singleton(), **options)
        for work in (solve, lambda problem: judge(problem, complete_graph(5, 1.0))):
            with pytest.raises(ProblemError, match=f"{name} is"):
                work(problem)
    tiny = GraphProblem(NOMINAL, WassersteinBall(1e-150), eta=1.0)
    with pytest.raises(ProblemError, match="radius is"):
        solve(tiny)


def test_a_forbidden_edge_is_seen_whatever_the_trace_aimed_at():
    bounds = EdgeBounds.from_edges(4, absent=[(0, 1)])
    problem = GraphProblem(
        Nominal.from_samples(SAMPLES[:, :4]), Singleton(), 1.0,
        trace=1e7, trace_penalty=1e-7, bounds=bounds,
    )  # fmt: skip
    laplacian = solve(problem).laplacian.copy()
    for i, j, sign in ((0, 1, -1), (1, 0, -1), (0, 0, 1), (1, 1, 1)):
        laplacian[i, j] += sign * 0.5
    assert not judge(problem, laplacian).solved(1e-6)


def test_a_small_disturbance_everywhere_is_no_small_disturbance():
    d = 200
    problem = GraphProblem(Nominal.from_samples(np.ones((1, d))), Singleton(), eta=1.0)
    noise = np.triu(np.full((d, d), 1e-5), 1)
    verdict = judge(problem, complete_graph(d, float(d)) + noise - noise.T)
    assert not verdict.solved(1e-6)
    assert verdict.distance >= np.linalg.norm(noise - noise.T) * 0.99


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Certificate(np.eye(5), "x"), "degree_multipliers"),
        (lambda: Certificate(np.eye(5), np.ones(5), "x"), "trace_multiplier"),
        (lambda: Certificate(np.full((5, 5), np.nan)), "NaN"),
        (lambda: Certificate(ReweighedMoment(np.full((2, 5), np.nan), np.ones(2))), "NaN"),
    ],
)
def test_certificates_that_are_none_are_named(build, message):
    problem = GraphProblem(NOMINAL, KLBall(0.1), eta=0.1)
    with pytest.raises(ProblemError, match=message):
        judge(problem, complete_graph(5, 5.0), build())


def test_moment_balls_keep_to_time_and_callbacks():
    problem = GraphProblem(NOMINAL, MomentBall(0.5, p=3.0), eta=0.01)
    seen = []
    assert solve(problem, callback=seen.append).status is Status.SOLVED
    assert seen
    assert solve(problem, 1e-12, time_limit=1e-9).status in (Status.TIME_LIMIT, Status.SOLVED)
    with pytest.raises(ProblemError, match="time_limit"):
        solve(problem, time_limit=-1.0)

import numpy as np
import pytest

from solvers import solve
from solvers.selection import candidate_radii, choose_radius, data_scale, held_out
from wdro_cvx import (
    DataError,
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    ProblemError,
    Singleton,
)
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.metrics import reliability

ETA = 0.3


def signals(n=12, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return smooth_signals(rbf_graph(d, rng), n, rng, noise=0.1)


def answers(part, radii=(0.1, 1.0)):
    nominal = Nominal.from_samples(part)
    return [solve(GraphProblem(nominal, GaussianBall(radius), ETA)) for radius in radii]


def test_held_out_signals_are_not_learned_from():
    samples = signals()
    risks, shares = np.zeros(2), np.zeros(2)
    for fold in np.split(np.arange(12), 3):
        for index, answer in enumerate(answers(np.delete(samples, fold, axis=0))):
            left_out = Nominal.from_samples(samples[fold])
            risks[index] += GraphProblem(left_out, Singleton(), ETA).value(answer.laplacian) / 3
            shares[index] += reliability(answer.laplacian, answer.value, ETA, samples[fold]) / 3
    found = held_out(samples, answers, ETA, folds=3)
    np.testing.assert_allclose(found.risks, risks, rtol=1e-12)
    np.testing.assert_allclose(found.reliabilities, shares, rtol=1e-12)


@pytest.mark.parametrize("ball", [GaussianBall(0.0), MomentBall(0.0)])
def test_rules_choose_what_they_say(ball):
    samples = signals(30)
    radii = candidate_radii(samples, ball)

    def path(part):
        nominal = Nominal.from_samples(part)
        return [solve(GraphProblem(nominal, type(ball)(radius), ETA)) for radius in radii]

    scores = held_out(samples, path, ETA)
    best = choose_radius(samples, ball, ETA, "cv")
    # Answers from a path differ from answers one by one within the tolerance of the solver.
    assert scores.risks[radii.index(best)] == pytest.approx(scores.risks.min(), rel=1e-3)
    safe = choose_radius(samples, ball, ETA, "reliability")
    assert scores.reliabilities[radii.index(safe)] >= 0.95
    assert (scores.reliabilities[: radii.index(safe)] < 0.95).all()


def test_the_largest_radius_is_taken_if_none_is_reliable():
    assert choose_radius(signals(), GaussianBall(0.0), ETA, "reliability", [1e-4, 2e-4]) == 2e-4


@pytest.mark.parametrize("ball", [GaussianBall(0.0), MomentBall(0.0)])
def test_choice_follows_the_unit_of_the_data(ball):
    samples = signals(20)
    radius = choose_radius(samples, ball, ETA, "cv")
    scaled = choose_radius(10 * samples, ball, 100 * ETA, "cv")
    assert scaled == pytest.approx(radius * 10**ball.radius_degree, rel=1e-9)


def test_scale_ignores_what_a_laplacian_ignores():
    samples = signals()
    assert data_scale(samples + 7.0) == pytest.approx(data_scale(samples))
    assert choose_radius(np.ones((5, 4)), GaussianBall(0.0), ETA, "cv") == 0.0


@pytest.mark.parametrize(
    ("samples", "rule", "radii", "error", "message"),
    [
        (signals(), "best", None, ProblemError, "cv, reliability; it is 'best'"),
        (signals(), "cv", [2.0, 1.0], ProblemError, "ascending"),
        (signals(), "cv", [], ProblemError, "non-empty"),
        (signals(1), "cv", None, DataError, "give the radius as a number"),
    ],
)
def test_bad_choices_are_named(samples, rule, radii, error, message):
    with pytest.raises(error, match=message):
        choose_radius(samples, GaussianBall(0.0), ETA, rule, radii)

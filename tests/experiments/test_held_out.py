"""Held-out scores, and the radius with the least held-out risk."""

import numpy as np
import pytest
from signal_tables import signals

from experiments.measuring.held_out import SHARES, choose_radius, held_out
from solvers import solve, solve_many
from solvers.selection.radius import ChoiceWarning, candidate_radii
from solvers.selection.signals import Signals
from wdro_cvx import (
    DataError,
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    ProblemError,
    Singleton,
)
from wdro_cvx.metrics import reliability

ETA = 0.3


def build(nominal, radius):
    return GraphProblem(nominal, GaussianBall(radius), ETA)


def test_held_out_signals_are_not_learned_from():
    samples = signals(12)
    radii = [0.1, 1.0]
    risks, shares = np.zeros(2), np.zeros(2)
    for fold in np.split(np.arange(12), 3):
        nominal = Nominal.from_samples(np.delete(samples, fold, axis=0))
        for index, radius in enumerate(radii):
            answer = solve(build(nominal, radius))
            left_out = Nominal.from_samples(samples[fold])
            risks[index] += GraphProblem(left_out, Singleton(), ETA).value(answer.laplacian) / 3
            shares[index] += reliability(answer.laplacian, answer.value, ETA, samples[fold]) / 3
    found = list(held_out(samples, build, radii, ETA, folds=3))
    # A gap of 1e-6 in the value leaves about 1e-3 in the graph.
    np.testing.assert_allclose([score.risk for score in found], risks, rtol=1e-3)
    np.testing.assert_allclose([score.reliability for score in found], shares, atol=1e-12)


@pytest.mark.filterwarnings("ignore::solvers.selection.radius.ChoiceWarning")
@pytest.mark.parametrize("ball", [GaussianBall(0.0), MomentBall(0.0)])
def test_the_radius_has_the_least_risk(ball):
    samples = signals(30)
    radii = candidate_radii(Signals(samples), ball, SHARES)

    def of_ball(nominal, radius):
        return GraphProblem(nominal, type(ball)(radius), ETA)

    scores = list(held_out(samples, of_ball, radii, ETA, tol=1e-4))  # as the choice does
    risks = [score.risk for score in scores]
    assert choose_radius(samples, ball, ETA) == radii[int(np.argmin(risks))]


def test_hopeless_radii_are_not_solved(monkeypatch):
    """Large radii are the slow ones; the risk has its least before them."""
    asked = []

    def counted(problems, *arguments, **options):
        asked.extend(problem.ambiguity.radius for problem in problems)
        return solve_many(problems, *arguments, **options)

    monkeypatch.setattr("experiments.measuring.held_out.solve_many", counted)
    with pytest.warns(ChoiceWarning, match="0.1 is the smallest of 4 candidates"):
        chosen = choose_radius(signals(30), GaussianBall(0.0), 0.01, [0.1, 5.0, 50.0, 500.0])
    assert chosen == 0.1
    assert max(asked) == 5.0


@pytest.mark.filterwarnings("ignore::solvers.selection.radius.ChoiceWarning")
@pytest.mark.parametrize("ball", [GaussianBall(0.0), MomentBall(0.0)])
def test_choice_follows_the_unit_of_the_data(ball):
    samples = signals(20)
    unit = 10**ball.radius_degree
    radius = choose_radius(samples, ball, ETA)
    scaled = choose_radius(10 * samples, ball, 100 * ETA)
    assert scaled == pytest.approx(unit * radius, rel=1e-9)
    small, large = (
        candidate_radii(Signals(samples), ball, SHARES),
        candidate_radii(Signals(10 * samples), ball, SHARES),
    )
    np.testing.assert_allclose(large, unit * np.array(small), rtol=1e-12)


def test_constant_signals_need_no_radius():
    assert choose_radius(np.ones((5, 4)), GaussianBall(0.0), ETA) == 0.0


@pytest.mark.parametrize(
    ("samples", "radii", "error", "message"),
    [
        (signals(12), [2.0, 1.0], ProblemError, "ascending"),
        (signals(12), [], ProblemError, "non-empty"),
        (signals(1), None, DataError, "give the radius as a number"),
    ],
)
def test_bad_choices_are_named(samples, radii, error, message):
    with pytest.raises(error, match=message):
        choose_radius(samples, GaussianBall(0.0), ETA, radii)

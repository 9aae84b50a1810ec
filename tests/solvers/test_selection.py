import warnings
from dataclasses import replace

import numpy as np
import pytest
import signal_tables

from solvers import solve, solve_path
from solvers.selection.bootstrap import bootstrap_radius
from solvers.selection.prediction import Tried, best_prediction
from solvers.selection.radius import (
    ETAS,
    ChoiceWarning,
    candidate_radii,
    choose,
    choose_radius,
    held_out,
)
from solvers.selection.signals import Signals
from wdro_cvx import (
    DataError,
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    ProblemError,
    Singleton,
    Status,
)
from wdro_cvx.metrics import reliability

ETA = 0.3


def signals(n=12, **options):
    return signal_tables.signals(n, **options)


def build(nominal, radius):
    return GraphProblem(nominal, GaussianBall(radius), ETA)


def test_held_out_signals_are_not_learned_from():
    samples = signals()
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
def test_rules_choose_what_they_say(ball):
    samples = signals(30)
    radii = candidate_radii(Signals(samples), ball)

    def of_ball(nominal, radius):
        return GraphProblem(nominal, type(ball)(radius), ETA)

    scores = list(held_out(samples, of_ball, radii, ETA))
    risks = [score.risk for score in scores]
    assert choose_radius(samples, ball, ETA, "cv") == radii[int(np.argmin(risks))]
    safe = radii.index(choose_radius(samples, ball, ETA, "reliability"))
    assert scores[safe].reliability >= 0.95
    assert all(score.reliability < 0.95 for score in scores[:safe])


def test_hopeless_radii_are_not_solved(monkeypatch):
    """Large radii are the slow ones; the risk has its least before them."""
    asked = []

    def counted(problem, *arguments, **options):
        asked.append(problem.ambiguity.radius)
        return solve(problem, *arguments, **options)

    monkeypatch.setattr("solvers.selection.radius.solve", counted)
    with pytest.warns(ChoiceWarning, match="0.1 is the smallest of 4 candidates"):
        chosen = choose_radius(signals(30), GaussianBall(0.0), 0.01, "cv", [0.1, 5.0, 50.0, 500.0])
    assert chosen == 0.1
    assert max(asked) == 5.0


def test_the_largest_radius_is_taken_if_none_is_reliable():
    with pytest.warns(ChoiceWarning, match="0.0002 is the largest of 2 candidates"):
        chosen = choose_radius(signals(), GaussianBall(0.0), ETA, "reliability", [1e-4, 2e-4])
    assert chosen == 2e-4


@pytest.mark.filterwarnings("ignore::solvers.selection.radius.ChoiceWarning")
@pytest.mark.parametrize("ball", [GaussianBall(0.0), MomentBall(0.0)])
def test_choice_follows_the_unit_of_the_data(ball):
    samples = signals(20)
    unit = 10**ball.radius_degree
    radius = choose_radius(samples, ball, ETA, "reliability")
    scaled = choose_radius(10 * samples, ball, 100 * ETA, "reliability")
    assert scaled == pytest.approx(unit * radius, rel=1e-9)
    small, large = (
        candidate_radii(Signals(samples), ball),
        candidate_radii(Signals(10 * samples), ball),
    )
    np.testing.assert_allclose(large, unit * np.array(small), rtol=1e-12)


def test_scale_ignores_what_a_laplacian_ignores():
    samples = signals()
    assert Signals(samples + 7.0).unit() == pytest.approx(Signals(samples).unit())
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


def interrupted(problem, *arguments, **options):
    return replace(solve(problem), status=Status.INTERRUPTED)


def test_an_interrupt_ends_the_whole_search(monkeypatch):
    monkeypatch.setattr("solvers.selection.radius.solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        choose_radius(signals(), GaussianBall(0.0), ETA, "cv")


def test_an_interrupt_ends_a_path(monkeypatch):
    monkeypatch.setattr("solvers.path.solve", interrupted)
    problem = GraphProblem(Nominal.from_samples(signals()), GaussianBall(0.1), ETA)
    answers = solve_path(problem, [0.1, 0.2, 0.3])
    assert [answer.status for answer in answers] == [Status.INTERRUPTED]


# --- Prediction ----------------------------------------------------------------------------------


def test_prediction_is_the_best_of_all_candidates():
    """Against the plain double loop, each fit from the start."""
    samples = signals(20, noise=0.3)
    radii, etas = [0.0, 0.1, 0.4], [0.05, 0.5, 5.0]
    scores = {}
    for radius in radii:
        for eta in etas:
            found = []
            for fold in np.split(np.arange(20), 5):
                nominal = Nominal.from_samples(np.delete(samples, fold, axis=0))
                answer = solve(GraphProblem(nominal, GaussianBall(radius), eta))
                weights = np.where(answer.adjacency >= 1e-4, answer.adjacency, 0.0)
                found.append(Signals(samples[fold]).prediction(weights))
            scores[radius, eta] = np.mean(found)
    best, second = sorted(scores.values())[:-3:-1]
    assert best - second > 1e-3  # else tolerances would decide
    chosen = best_prediction(
        Signals(samples), lambda n, r, e: GraphProblem(n, GaussianBall(r), e), radii, etas, 1e-6
    )
    assert scores[chosen] == best


@pytest.mark.slow
def test_choices_join_rule_and_eta():
    table = Signals(signals(30))
    ball = GaussianBall(0.0)
    given = choose(table, ball, 0.2, 0.7)
    assert (given.radius, given.eta) == (0.2, 0.7)
    boot = choose(table, ball, "bootstrap", 0.7)
    assert boot.radius == bootstrap_radius(table, ball)
    assert choose(table, Singleton(), "bootstrap", 0.7).radius == 0.0
    at = choose(table, ball, 0.2, "auto")
    assert at.radius == 0.2
    assert at.eta in ETAS


def test_radius_zero_is_no_end_and_the_largest_is():
    table = Signals(signals(30))

    def choosing(candidate):
        def stand_in(*arguments):
            return [Tried(arguments[2][candidate], 0.3, (0.5,))]

        return stand_in

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("error")
        for candidate in (0, 1):
            patch.setattr("solvers.selection.radius.try_predictions", choosing(candidate))
            choose(table, GaussianBall(0.0), "prediction", 0.3)
        patch.setattr("solvers.selection.radius.try_predictions", choosing(-1))
        with pytest.raises(ChoiceWarning, match="largest of 9 candidates"):
            choose(table, GaussianBall(0.0), "prediction", 0.3)


@pytest.mark.parametrize("ball", [GaussianBall(0.0), MomentBall(0.0)])
def test_the_candidates_of_prediction_end_at_the_length_of_a_signal(ball):
    """As many noisy signals as vertices: larger radii would predict still better."""
    table = signals(20, d=20, seed=1, noise=0.3)
    table = Signals((table - table.mean(axis=0)) / table.std(axis=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChoiceWarning)
        chosen = choose(table, ball, "prediction", ETA)
    half, whole = candidate_radii(table, ball, [0.64, 1.0])
    assert half <= chosen.radius <= whole
    assert max(candidate.radius for candidate in chosen.tried) <= whole


def test_an_interrupt_ends_prediction_too(monkeypatch):
    monkeypatch.setattr("solvers.selection.prediction.solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        choose(Signals(signals()), GaussianBall(0.0), "prediction", ETA)


def test_a_radius_far_worse_ends_the_search(monkeypatch):
    """One error a tenth above the least, or two in a row half as much: none beyond is solved."""
    errors = {0.0: 0.50, 1.0: 0.40, 2.0: 0.41, 3.0: 0.425, 4.0: 0.1}
    tried = []

    class Answer:
        status = Status.SOLVED
        adjacency = np.zeros((5, 5))
        iterations = 1

    def spy(problem, tol, start=None):
        tried.append(problem.ambiguity.radius)
        return Answer()

    def at(signals, adjacency):
        return 1.0 - errors[tried[-1]]

    monkeypatch.setattr("solvers.selection.prediction.solve", spy)
    monkeypatch.setattr(Signals, "prediction", at)
    samples = Signals(np.random.default_rng(0).standard_normal((20, 5)))

    def both(nominal, radius, eta):
        return GraphProblem(nominal, GaussianBall(radius), eta)

    assert best_prediction(samples, both, list(errors), [0.3], 1e-4) == (1.0, 0.3)
    assert max(tried) == 3.0
    errors[2.0], errors[3.0] = 0.45, 0.1
    tried.clear()
    assert best_prediction(samples, both, list(errors), [0.3], 1e-4) == (1.0, 0.3)
    assert max(tried) == 2.0
    errors.update({0.0: 0.5, 1.0: 0.5, 2.0: 0.5, 3.0: 0.5, 4.0: 0.3})
    assert best_prediction(samples, both, list(errors), [0.3], 1e-4) == (4.0, 0.3)


def test_only_an_easy_answer_is_a_start_for_the_next(monkeypatch):
    iterations, given = {0.0: 1, 1.0: 40, 2.0: 3}, []

    class Answer:
        status = Status.SOLVED
        adjacency = np.zeros((5, 5))

        def __init__(self, iterations):
            self.iterations = iterations

    def spy(problem, tol, start=None):
        given.append((problem.ambiguity.radius, start is not None))
        return Answer(iterations[problem.ambiguity.radius])

    monkeypatch.setattr("solvers.selection.prediction.solve", spy)
    monkeypatch.setattr(Signals, "prediction", lambda self, adjacency: 0.5)
    samples = Signals(np.random.default_rng(0).standard_normal((20, 5)))

    def both(nominal, radius, eta):
        return GraphProblem(nominal, GaussianBall(radius), eta)

    best_prediction(samples, both, list(iterations), [0.3], 1e-4)
    assert set(given) == {(0.0, False), (1.0, True), (2.0, False)}

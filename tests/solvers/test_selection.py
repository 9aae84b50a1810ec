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
)
from solvers.selection.signals import Signals
from wdro_cvx import (
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    Singleton,
    Status,
)

ETA = 0.3


def signals(n=12, **options):
    return signal_tables.signals(n, **options)


def test_scale_ignores_what_a_laplacian_ignores():
    samples = signals()
    assert Signals(samples + 7.0).unit() == pytest.approx(Signals(samples).unit())


def interrupted(problem, *arguments, **options):
    return replace(solve(problem), status=Status.INTERRUPTED)


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


def test_a_radius_far_worse_ends_the_search(monkeypatch):
    """One error a tenth above the least, or two in a row half as much: none beyond is solved."""
    errors = {0.0: 0.50, 1.0: 0.40, 2.0: 0.41, 3.0: 0.425, 4.0: 0.1}
    tried = []

    class Answer:
        status = Status.SOLVED
        adjacency = np.zeros((5, 5))
        iterations = 1

    def spy(problems, tol, starts):
        tried.extend(problem.ambiguity.radius for problem in problems)
        return [Answer() for _ in problems]

    def at(signals, adjacency):
        return 1.0 - errors[tried[-1]]

    monkeypatch.setattr("solvers.selection.prediction.solve_many", spy)
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

    def spy(problems, tol, starts):
        radii = [problem.ambiguity.radius for problem in problems]
        given.extend(zip(radii, [start is not None for start in starts], strict=True))
        return [Answer(iterations[radius]) for radius in radii]

    monkeypatch.setattr("solvers.selection.prediction.solve_many", spy)
    monkeypatch.setattr(Signals, "prediction", lambda self, adjacency: 0.5)
    samples = Signals(np.random.default_rng(0).standard_normal((20, 5)))

    def both(nominal, radius, eta):
        return GraphProblem(nominal, GaussianBall(radius), eta)

    best_prediction(samples, both, list(iterations), [0.3], 1e-4)
    assert set(given) == {(0.0, False), (1.0, True), (2.0, False)}

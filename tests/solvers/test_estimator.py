"""The estimator: scikit-learn's checks, what fit solves, settings and signals that are refused."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from signal_tables import signals
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from solvers import CertifiedSolver, RobustGraph, solve
from solvers.selection.radius import ChoiceWarning, choose_radius
from wdro_cvx import (
    DataError,
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    ProblemError,
    Singleton,
    Status,
    WassersteinBall,
    judge,
)

ETA = 0.05  # not the default


# None is expected to fail; one skips itself unless SCIPY_ARRAY_API is set.
@parametrize_with_checks([RobustGraph(0.1, ambiguity="moment")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# Their tables are noise, which may well have its best radius at the end of the candidates.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::solvers.selection.radius.ChoiceWarning")
@parametrize_with_checks([RobustGraph()])
def test_scikit_learn_checks_with_the_default_radius(estimator, check, cheap_choice):
    check(estimator)


@pytest.mark.parametrize(
    ("ambiguity", "ball"),
    [
        ("wasserstein", WassersteinBall(0.4)),
        ("gaussian", GaussianBall(0.4)),
        ("moment", MomentBall(0.4)),
        (MomentBall(0.0, p=1.0), MomentBall(0.4, p=1.0)),
        (MomentBall(0.4, p=3.0), MomentBall(0.4, p=3.0)),
    ],
)
def test_fit_is_solve_and_the_judge_agrees(ambiguity, ball):
    samples = signals()
    problem = GraphProblem(Nominal.from_samples(samples), ball, ETA)
    answer = solve(problem, tol=1e-7)
    graph = RobustGraph(0.4, eta=ETA, ambiguity=ambiguity, tol=1e-7, unit=1.0).fit(samples)
    # The same computation twice, so equal to the last digit.
    np.testing.assert_array_equal(graph.laplacian_, answer.laplacian)
    assert (graph.value_, graph.bound_, graph.gap_) == (answer.value, answer.bound, answer.gap)
    assert graph.ambiguity_ == ball
    assert graph.radius_ == 0.4
    assert graph.status_ is Status.SOLVED
    assert graph.n_features_in_ == 6
    assert not hasattr(graph, "feature_names_in_")
    assert judge(problem, graph.laplacian_, graph.certificate_).solved(1e-7)


def test_radius_zero_is_the_sample_average():
    samples = signals()
    graph = RobustGraph(0, eta=ETA, ambiguity=Singleton()).fit(samples)
    average = GraphProblem(Nominal.from_samples(samples / graph.unit_), Singleton(), ETA)
    assert judge(average, graph.laplacian_).solved(1e-6)


@pytest.mark.filterwarnings("ignore::solvers.selection.radius.ChoiceWarning")
@pytest.mark.parametrize("rule", ["cv", "reliability"])
@pytest.mark.parametrize("kind", [WassersteinBall(0.0), MomentBall(0.0, p=1.0)])
def test_rules_choose_the_radius(rule, kind):
    samples = signals()
    graph = RobustGraph(rule, eta=ETA, ambiguity=kind).fit(samples)
    assert graph.radius_ == choose_radius(samples / graph.unit_, kind, ETA, rule)
    assert graph.radius_ == graph.ambiguity_.radius > 0.0
    assert graph.radius == rule


def test_an_unfinished_answer_is_announced(monkeypatch):
    def interrupted(problem, tol, **options):
        return replace(solve(problem, tol, **options), status=Status.TIME_LIMIT)

    monkeypatch.setattr("solvers.selection.fitting.solve", interrupted)
    with pytest.warns(ConvergenceWarning, match=r"relative gap of .* \(time limit\); tol is 1e-06"):
        graph = RobustGraph(0.1, ambiguity="moment").fit(signals())
    assert graph.status_ is Status.TIME_LIMIT


def test_a_bootstrap_that_cannot_keep_its_promise_says_so(cheap_choice):
    few = signals()[:4]
    assert len(few) < few.shape[1]
    with pytest.warns(ChoiceWarning, match=r"4 signals of .* fewer signals than vertices"):
        RobustGraph("bootstrap", block=2).fit(few)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RobustGraph("bootstrap").fit(few)
        RobustGraph("bootstrap", ambiguity="moment").fit(few)
        RobustGraph("bootstrap").fit(signals())


def test_clone_and_pickle(cheap_choice):
    graph = RobustGraph("bootstrap", 0.2, MomentBall(0.0, p=1.0), 1e-5).fit(signals())
    assert clone(graph).get_params() == graph.get_params()
    assert not hasattr(clone(graph), "laplacian_")
    again = pickle.loads(pickle.dumps(graph))
    np.testing.assert_array_equal(again.laplacian_, graph.laplacian_)
    assert again.status_ is graph.status_


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"radius": -0.1}, ProblemError, "radius must be finite and ≥ 0; it is -0.1"),
        ({"radius": None}, ProblemError, "radius must be a number; it is None"),
        ({"radius": "best"}, ProblemError, "bootstrap, prediction, reliability, cv; it is 'best'"),
        ({"eta": -1.0}, ProblemError, "eta must be finite and > 0; it is -1"),
        ({"eta": 0.0, "radius": 0.1}, ProblemError, "eta must be finite and > 0; it is 0"),
        ({"tol": 0.0, "radius": 0.1}, ProblemError, "tol must be finite and > 0"),
        ({"ambiguity": "ball"}, ProblemError, "one of .*wasserstein.*; it is 'ball'"),
        ({"ambiguity": MomentBall}, ProblemError, "ambiguity must be one of"),
        ({"ambiguity": ["moment"]}, ProblemError, "ambiguity must be one of"),
        ({"ambiguity": MomentBall(0.5)}, ProblemError, "radius 0.5, but radius is 'auto'"),
        ({"ambiguity": Singleton(), "radius": 0.1}, ProblemError, "radius must be 0 for Singleton"),
        ({"ambiguity": "mahalanobis"}, ProblemError, "needs scales; .*MahalanobisBall.0.0, scales"),
        ({"eta": "best"}, ProblemError, "eta must be a number or 'auto'; it is 'best'"),
        ({"eta": "auto", "radius": "cv"}, ProblemError, "use radius='prediction'"),
        ({"unit": "metre"}, ProblemError, "unit must be 'auto' or a number; it is 'metre'"),
        ({"unit": 0.0}, ProblemError, "unit must be finite and > 0"),
        (
            {"block": 11, "radius": "bootstrap"},
            ProblemError,
            "block must be at most half of the 20 signals",
        ),
    ],
)
def test_bad_settings_are_named(settings, error, message):
    with pytest.raises(error, match=message):
        RobustGraph(**settings).fit(signals())


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (signals(1), "give the radius as a number"),
        (signals()[:, :1], "1 feature.* minimum of 2 is required by RobustGraph"),
        (signals()[0], "Expected 2D array"),
        (np.full((3, 3), np.nan), "no value at all in column 0"),
        (np.full((3, 3), np.inf), "infinity"),
    ],
)
def test_bad_signals_are_named(samples, message):
    with pytest.raises(DataError, match=message):
        RobustGraph().fit(samples)


def test_one_signal_is_enough_for_a_given_radius():
    assert RobustGraph(0.5).fit(signals(1)).status_ is Status.SOLVED


def test_nothing_is_known_before_fit():
    with pytest.raises(NotFittedError):
        RobustGraph().score(signals())
    with pytest.raises(NotFittedError):
        RobustGraph().to_networkx()


def blas_threads():
    from threadpoolctl import threadpool_info

    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_small_problems_are_solved_on_one_thread_and_threads_are_given_back(monkeypatch):
    from threadpoolctl import threadpool_limits

    answer, seen = CertifiedSolver.try_solve, []

    def looked(*arguments):
        seen.append(blas_threads())
        return answer(*arguments)

    monkeypatch.setattr(CertifiedSolver, "try_solve", looked)
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()  # a library that was told to use one keeps to it
        RobustGraph(0.1).fit(signals())
        assert seen.pop() == [1] * len(before)
        assert blas_threads() == before
        monkeypatch.setattr("solvers.bracket.threads.ONE_THREAD_UP_TO", 5)
        RobustGraph(0.1).fit(signals())
        assert seen.pop() == before


@pytest.mark.slow
def test_the_default_rule_is_prediction_or_the_bootstrap_with_neighbours():
    samples = signals(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChoiceWarning)
        assert RobustGraph().fit(samples).radius_ == RobustGraph("prediction").fit(samples).radius_
    few = RobustGraph(neighbours=3).fit(samples)
    assert few.radius_ == RobustGraph("bootstrap", neighbours=3).fit(samples).radius_

"""The estimator: scikit-learn's checks, what fit solves, settings and signals that are refused."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from signal_tables import plain, signals
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from solvers import CertifiedSolver, RobustGraph, solve
from solvers.selection.bootstrap import quick_radius
from solvers.selection.radius import ChoiceWarning
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
    WassersteinBall,
    judge,
)

ETA = 0.05  # not the default


# None is expected to fail; one skips itself unless SCIPY_ARRAY_API is set.
@pytest.mark.filterwarnings("ignore::solvers.selection.radius.ChoiceWarning")
@pytest.mark.filterwarnings("ignore::solvers.selection.tables.TableWarning")
@parametrize_with_checks([RobustGraph(), plain(0.1, ambiguity="moment")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# Their tables are noise, which may well have its best radius at the end of the candidates.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::solvers.selection.radius.ChoiceWarning")
@pytest.mark.filterwarnings("ignore::solvers.selection.tables.TableWarning")
@parametrize_with_checks([plain("prediction")])
def test_scikit_learn_checks_of_prediction(estimator, check, cheap_choice):
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
    graph = plain(0.4, eta=ETA, ambiguity=ambiguity, tol=1e-7, unit=1.0).fit(samples)
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
    graph = plain(0, eta=ETA, ambiguity=Singleton()).fit(samples)
    average = GraphProblem(Nominal.from_samples(samples / graph.unit_), Singleton(), ETA)
    assert judge(average, graph.laplacian_).solved(1e-6)


@pytest.mark.parametrize("kind", [WassersteinBall(0.0), MomentBall(0.0, p=1.0)])
def test_the_default_radius_is_the_quick_one(kind):
    samples = signals(200)
    graph = plain(ambiguity=kind).fit(samples)
    assert graph.radius_ == quick_radius(Signals(samples / graph.unit_), kind)
    assert graph.radius_ == graph.ambiguity_.radius > 0.0
    assert graph.radius == "auto"


@pytest.mark.parametrize("rule", ["cv", "reliability"])
def test_rules_that_lost_are_refused_with_a_remedy(rule):
    with pytest.raises(ProblemError, match=f"one of auto, bootstrap, prediction; it is '{rule}'"):
        RobustGraph(rule).fit(signals())


@pytest.mark.filterwarnings("ignore::solvers.selection.radius.ChoiceWarning")
def test_the_rule_prediction_shows_what_it_compared():
    graph = plain("prediction", eta=ETA).fit(signals())
    table = graph.cv_results_
    best = int(np.argmax(table["mean_test_score"]))
    assert table["rank_test_score"][best] == 1
    assert table["param_radius"][best] == graph.radius_
    assert (table["param_eta"] == ETA).all()
    folds = [table[f"split{fold}_test_score"] for fold in range(5)]
    np.testing.assert_allclose(np.mean(folds, axis=0), table["mean_test_score"])
    # No candidate exceeds one length of a signal, which is the root of d in the data's unit.
    assert table["param_radius"].max() <= np.sqrt(6) * (1 + 1e-12)
    assert not hasattr(plain(0.1).fit(signals()), "cv_results_")


def test_an_unfinished_answer_is_announced(monkeypatch):
    def interrupted(problem, tol, **options):
        return replace(solve(problem, tol, **options), status=Status.TIME_LIMIT)

    monkeypatch.setattr("solvers.selection.fitting.solve", interrupted)
    with pytest.warns(ConvergenceWarning, match=r"relative gap of .* \(time limit\); tol is 1e-06"):
        graph = plain(0.1, ambiguity="moment").fit(signals())
    assert graph.status_ is Status.TIME_LIMIT


def test_a_bootstrap_that_cannot_keep_its_promise_says_so(cheap_choice):
    few = signals()[:4]
    assert len(few) < few.shape[1]
    with pytest.warns(ChoiceWarning, match=r"fewer signals \(4\) than vertices"):
        plain("bootstrap", block=2).fit(few)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain("bootstrap").fit(few)
        plain("bootstrap", ambiguity="moment").fit(few)
        plain("bootstrap").fit(signals())


def test_clone_and_pickle(cheap_choice):
    graph = plain("bootstrap", 0.2, MomentBall(0.0, p=1.0), 1e-5).fit(signals())
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
        ({"radius": "best"}, ProblemError, "auto, bootstrap, prediction; it is 'best'"),
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
        ({"edges": "some"}, ProblemError, "edges must be one of auto, all; it is 'some'"),
        ({"fdr": 1.0, "edges": "auto"}, ProblemError, "fdr .* must be below 1; it is 1"),
        ({"fdr": 0.1, "edges": "all"}, ProblemError, "edges='all' selects every edge, and fdr"),
        ({"moment": "best"}, ProblemError, "moment must be one of auto, clipped, sample"),
        ({"standardise": "yes"}, ProblemError, "standardise must be 'auto', True or False"),
        ({"absolute": "yes"}, ProblemError, "absolute must be True or False; it is 'yes'"),
        ({"neighbours": 3, "eta": 0.5}, ProblemError, "neighbours=3 chooses eta.*eta=0.5"),
        ({"neighbours": 3, "neighbors": 2}, ProblemError, "given in both spellings"),
        ({"standardise": True, "standardize": True}, ProblemError, "given in both spellings"),
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
        plain(**settings).fit(signals())


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
        plain().fit(samples)


def test_one_signal_is_enough_for_a_given_radius():
    assert plain(0.5).fit(signals(1)).status_ is Status.SOLVED


def test_nothing_is_known_before_fit():
    with pytest.raises(NotFittedError):
        plain().score(signals())
    with pytest.raises(NotFittedError):
        plain().to_networkx()


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
        plain(0.1).fit(signals())
        assert seen.pop() == [1] * len(before)
        assert blas_threads() == before
        monkeypatch.setattr("solvers.bracket.threads.ONE_THREAD_UP_TO", 5)
        plain(0.1).fit(signals())
        assert seen.pop() == before


def test_american_spellings_mean_the_same():
    samples = signals(40)
    samples = samples / samples.std(axis=0) * np.linspace(1.0, 1.5, 6)  # left alone by default
    british = RobustGraph(neighbours=3, standardise=True).fit(samples)
    american = RobustGraph(neighbors=3, standardize=True).fit(samples)
    np.testing.assert_array_equal(american.laplacian_, british.laplacian_)
    assert not np.array_equal(RobustGraph(neighbours=3).fit(samples).laplacian_, british.laplacian_)

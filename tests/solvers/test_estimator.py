import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from solvers import RobustGraph, solve
from solvers.selection import choose_radius
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
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.metrics import EDGE_THRESHOLD, mcc

ETA = 0.05  # not the default
PATH = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])


def signals(n=20, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return smooth_signals(rbf_graph(d, rng), n, rng, noise=0.1)


def fitted_with(adjacency):
    """Return an estimator with a given graph in place of the learned one."""
    d = len(adjacency)
    estimator = RobustGraph(radius=0.1).fit(signals(d=d))
    estimator.adjacency_ = np.asarray(adjacency)
    return estimator


# None is expected to fail; one skips itself unless SCIPY_ARRAY_API is set.
@parametrize_with_checks([RobustGraph(), RobustGraph(0.1, ambiguity="moment")])
def test_scikit_learn_checks(estimator, check):
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


@pytest.mark.filterwarnings("ignore::solvers.selection.ChoiceWarning")
@pytest.mark.parametrize("rule", ["cv", "reliability"])
@pytest.mark.parametrize("kind", [WassersteinBall(0.0), MomentBall(0.0, p=1.0)])
def test_rules_choose_the_radius(rule, kind):
    samples = signals()
    graph = RobustGraph(rule, eta=ETA, ambiguity=kind).fit(samples)
    assert graph.radius_ == choose_radius(samples / graph.unit_, kind, ETA, rule)
    assert graph.radius_ == graph.ambiguity_.radius > 0.0
    assert graph.radius == rule


def test_adjacency_leaves_faint_edges_out(monkeypatch):
    graph = RobustGraph(0.1, eta=ETA).fit(signals())
    weights = -graph.laplacian_ * (1 - np.eye(6))
    np.testing.assert_array_equal(graph.adjacency_, weights)  # here no edge is that faint
    assert weights[weights > 0.0].min() > EDGE_THRESHOLD
    threshold = float(np.median(weights[weights > 0.0]))
    monkeypatch.setattr("solvers.estimator.EDGE_THRESHOLD", threshold)
    graph.fit(signals())
    np.testing.assert_array_equal(graph.adjacency_, np.where(weights >= threshold, weights, 0.0))


def test_an_unfinished_answer_is_announced():
    with pytest.warns(ConvergenceWarning, match="relative gap of .* tol is 1e-300"):
        graph = RobustGraph(0.1, ambiguity="moment", tol=1e-300).fit(signals())
    assert graph.status_ is not Status.SOLVED


def test_score_by_hand():
    """The ends of the path are predicted by its middle, the middle by their mean."""
    samples = np.array([[0.0, 1.0, 5.0], [2.0, 2.0, -1.0]])
    errors = np.array([[1.0, 1.5, 4.0], [0.0, 1.5, 3.0]])
    uninformed = np.array([[3.0, 1.5, 4.5], [1.5, 1.5, 3.0]])
    expected = 1 - (errors**2).sum() / (uninformed**2).sum()
    graph = fitted_with(PATH)
    assert graph.score(samples) == pytest.approx(expected, rel=1e-12)
    # Neither the unit, nor a constant, nor the scale of the weights counts; rounding grows with
    # the constant.
    assert graph.score(1e3 * samples + 1e6) == pytest.approx(expected, rel=1e-8)
    assert fitted_with(7.0 * PATH).score(samples) == pytest.approx(expected, rel=1e-12)


def test_score_of_isolated_vertices_and_of_no_knowledge():
    samples = signals(d=3)
    pair = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    first, second, third = samples.T
    error = 2 * np.sum((first - second) ** 2) + np.sum((third - (first + second) / 2) ** 2)
    others = (samples.sum(axis=1, keepdims=True) - samples) / 2
    expected = 1 - error / np.sum((samples - others) ** 2)
    assert fitted_with(pair).score(samples) == pytest.approx(expected, rel=1e-12)
    assert fitted_with(1 - np.eye(3)).score(samples) == pytest.approx(0.0, abs=1e-12)
    assert fitted_with(np.zeros((3, 3))).score(samples) == 0.0
    assert fitted_with(PATH).score(np.full((4, 3), 0.1)) == 0.0
    assert fitted_with(PATH).score(np.zeros((4, 3))) == 0.0


def test_grid_search_finds_an_eta_between_the_extremes():
    rng = np.random.default_rng(0)
    truth = rbf_graph(12, rng)
    samples = smooth_signals(truth, 60, rng, noise=0.1)
    etas = [1e-3, 1.0, 1e3]
    search = GridSearchCV(RobustGraph(0.3, unit=1.0), {"eta": etas}, cv=3).fit(samples)
    assert search.best_params_ == {"eta": 1.0}
    assert search.best_estimator_.score(samples) == search.score(samples) > 0.0
    extremes = [RobustGraph(0.3, eta=eta, unit=1.0).fit(samples).laplacian_ for eta in (1e-3, 1e3)]
    best = mcc(search.best_estimator_.laplacian_, truth)
    assert best > max(mcc(laplacian, truth) for laplacian in extremes)


def test_grid_search_over_radius_and_set():
    grid = {"radius": ["bootstrap", 0.1], "ambiguity": ["gaussian", MomentBall(0.0, p=1.0)]}
    search = GridSearchCV(RobustGraph(), grid, cv=2).fit(signals())
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_pipeline_learns_from_scaled_signals():
    samples = signals() * np.array([1.0, 10.0, 100.0, 1.0, 1.0, 1.0]) + 5.0
    pipeline = make_pipeline(StandardScaler(), RobustGraph(0.2)).fit(samples)
    scaled = StandardScaler().fit_transform(samples)
    alone = RobustGraph(0.2).fit(scaled)
    np.testing.assert_array_equal(pipeline[-1].laplacian_, alone.laplacian_)
    assert pipeline.score(samples) == alone.score(scaled)


def test_clone_and_pickle():
    graph = RobustGraph("bootstrap", 0.2, MomentBall(0.0, p=1.0), 1e-5).fit(signals())
    assert clone(graph).get_params() == graph.get_params()
    assert not hasattr(clone(graph), "laplacian_")
    again = pickle.loads(pickle.dumps(graph))
    np.testing.assert_array_equal(again.laplacian_, graph.laplacian_)
    assert again.status_ is graph.status_


def test_names_of_a_data_frame_name_the_vertices():
    table = pd.DataFrame(signals(), columns=list("abcdef"))
    graph = RobustGraph(0.1, eta=0.03).fit(table)
    assert list(graph.feature_names_in_) == list("abcdef")
    network = graph.to_networkx()
    assert list(network) == list("abcdef")
    np.testing.assert_array_equal(nx.to_numpy_array(network), graph.adjacency_)
    assert 0 < network.number_of_edges() < 15
    with pytest.raises(ValueError, match="feature names"):
        graph.score(table.rename(columns={"a": "z"}))
    graph.fit(signals())
    assert not hasattr(graph, "feature_names_in_")


def test_vertices_without_names_are_numbered():
    graph = RobustGraph(0.1).fit(signals())
    network = graph.to_networkx()
    assert list(network) == list(range(6))
    np.testing.assert_array_equal(nx.to_numpy_array(network), graph.adjacency_)


def test_equal_names_are_refused_not_merged():
    table = pd.DataFrame(signals(), columns=list("abcdea"))
    with pytest.raises(ValueError, match="unique column names"):
        RobustGraph(0.1).fit(table)


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
        ({"ambiguity": MomentBall(0.5)}, ProblemError, "radius 0.5, but radius is 'bootstrap'"),
        ({"ambiguity": Singleton(), "radius": 0.1}, ProblemError, "radius must be 0 for Singleton"),
        ({"ambiguity": "mahalanobis"}, ProblemError, "needs scales; .*MahalanobisBall.0.0, scales"),
        ({"eta": "best"}, ProblemError, "eta must be a number or 'auto'; it is 'best'"),
        ({"eta": "auto", "radius": "cv"}, ProblemError, "use radius='prediction'"),
        ({"unit": "metre"}, ProblemError, "unit must be 'auto' or a number; it is 'metre'"),
        ({"unit": 0.0}, ProblemError, "unit must be finite and > 0"),
        ({"block": 11}, ProblemError, "block must be at most half of the 20 signals"),
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

"""The score of a graph, and searches and pipelines that use it."""

import numpy as np
import pytest
from signal_tables import plain, signals
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wdro_cvx import (
    MomentBall,
)
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.metrics import mcc

PATH = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])


def fitted_with(adjacency):
    """Return an estimator with a given graph in place of the learned one."""
    d = len(adjacency)
    estimator = plain(radius=0.1).fit(signals(d=d))
    estimator.adjacency_ = np.asarray(adjacency)
    return estimator


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


def test_score_with_holes_by_hand():
    samples = np.array([[0.0, 1.0, 5.0], [2.0, np.nan, -1.0], [np.nan, 1.0, np.nan]])
    # The middle of the path is missing in the second row: its ends are predicted by each other.
    errors = [1.0, 1.5, 4.0, 3.0, 3.0]
    plain = [3.0, 1.5, 4.5, 3.0, 3.0]
    expected = 1 - np.square(errors).sum() / np.square(plain).sum()
    assert fitted_with(PATH).score(samples) == pytest.approx(expected, rel=1e-12)


def test_grid_search_finds_an_eta_between_the_extremes():
    rng = np.random.default_rng(0)
    truth = rbf_graph(12, rng)
    samples = smooth_signals(truth, 60, rng, noise=0.1)
    etas = [1e-3, 1.0, 1e3]
    search = GridSearchCV(plain(0.3, unit=1.0), {"eta": etas}, cv=3).fit(samples)
    assert search.best_params_ == {"eta": 1.0}
    assert search.best_estimator_.score(samples) == search.score(samples) > 0.0
    extremes = [plain(0.3, eta=eta, unit=1.0).fit(samples).laplacian_ for eta in (1e-3, 1e3)]
    best = mcc(search.best_estimator_.laplacian_, truth)
    assert best > max(mcc(laplacian, truth) for laplacian in extremes)


@pytest.mark.slow
def test_grid_search_over_radius_and_set():
    grid = {"radius": ["bootstrap", 0.1], "ambiguity": ["gaussian", MomentBall(0.0, p=1.0)]}
    search = GridSearchCV(plain(), grid, cv=2).fit(signals())
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_pipeline_learns_from_scaled_signals():
    samples = signals() * np.array([1.0, 10.0, 100.0, 1.0, 1.0, 1.0]) + 5.0
    pipeline = make_pipeline(StandardScaler(), plain(0.2)).fit(samples)
    scaled = StandardScaler().fit_transform(samples)
    alone = plain(0.2).fit(scaled)
    np.testing.assert_array_equal(pipeline[-1].laplacian_, alone.laplacian_)
    assert pipeline.score(samples) == alone.score(scaled)

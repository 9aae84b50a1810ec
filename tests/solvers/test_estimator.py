import pickle
import warnings

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

from solvers import CertifiedSolver, RobustGraph, solve
from solvers.selection import ChoiceWarning, choose_radius
from wdro_cvx import (
    DataError,
    EdgeBounds,
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


# None is expected to fail; one skips itself unless SCIPY_ARRAY_API is set. Their tables are noise,
# which may well have its best radius at the end of the candidates.
@pytest.mark.filterwarnings("ignore::solvers.selection.ChoiceWarning")
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


# --- Units, holes, weights, knowledge, certainty -------------------------------------------------


@pytest.mark.parametrize("ambiguity", ["wasserstein", "moment", MomentBall(0.0, p=1.0)])
@pytest.mark.parametrize("factor", [1e-6, 1e4, 1e120])
def test_the_graph_does_not_depend_on_the_unit(ambiguity, factor):
    samples = signals()
    first = RobustGraph(0.3, ambiguity=ambiguity).fit(samples)
    second = RobustGraph(0.3, ambiguity=ambiguity).fit(factor * samples + 5.0 * factor)
    assert second.unit_ == pytest.approx(factor * first.unit_)
    # A gap of 1e-6 in the value leaves about 1e-3 in the graph.
    np.testing.assert_allclose(second.laplacian_, first.laplacian_, atol=5e-3)


def test_units_convert_as_the_documents_say():
    """Radius and eta of the data's own unit are those of one times unit_ and unit_ squared."""
    samples = 250.0 * signals()
    own = RobustGraph(0.3, eta=ETA).fit(samples)
    raw = RobustGraph(0.3 * own.unit_, eta=ETA * own.unit_**2, unit=1.0).fit(samples)
    assert raw.value_ == pytest.approx(own.value_ * own.unit_**2, rel=2e-6)
    np.testing.assert_allclose(raw.laplacian_, own.laplacian_, atol=5e-3)


def with_holes(samples, share=0.1, seed=1):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(samples.shape) < share, np.nan, samples)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"radius": "bootstrap"},
        {"eta": "auto"},
        {"ambiguity": "moment"},
        {"radius": 0, "ambiguity": "singleton"},
    ],
)
@pytest.mark.filterwarnings("ignore::solvers.selection.ChoiceWarning")
def test_tables_with_holes_are_learned_and_judged(settings):
    samples = with_holes(signals(60))
    graph = RobustGraph(**settings).fit(samples)
    assert graph.status_ is Status.SOLVED
    assert judge(graph.problem_, graph.laplacian_, graph.certificate_).solved(1e-6)
    assert 0.0 < graph.moved_ < 0.1
    assert 0.0 < graph.score(samples) < 1.0
    assert graph.stability(samples, 3).max() == 1.0


@pytest.mark.filterwarnings("ignore::solvers.selection.ChoiceWarning")
def test_holes_cost_little_where_signals_are_many():
    """10 % of the cells missing, N = 200: the paper's graphs are found about as well."""
    differences = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        truth = rbf_graph(20, rng)
        samples = smooth_signals(truth, 200, rng, noise=0.1)
        whole, holes = (
            mcc(RobustGraph().fit(x).laplacian_, truth)
            for x in (samples, with_holes(samples, seed=seed))
        )
        differences.append(whole - holes)
    assert abs(np.mean(differences)) <= 0.03


def test_rules_that_need_complete_signals_say_so():
    for rule in ("cv", "reliability"):
        with pytest.raises(ProblemError, match=r"needs complete signals.*use radius='bootstrap'"):
            RobustGraph(rule).fit(with_holes(signals()))


def test_columns_with_too_little_in_common_are_named():
    table = pd.DataFrame(signals(), columns=list("abcdef"))
    table.loc[:9, "b"] = np.nan
    table.loc[9:, "e"] = np.nan
    with pytest.raises(DataError, match="2 rows in common; b and e have fewer"):
        RobustGraph(0.1).fit(table)


def test_weights_are_repetitions_in_fit_and_score():
    samples = signals()
    counts = np.random.default_rng(2).integers(0, 3, 20)
    weighted = RobustGraph(0.3).fit(samples, sample_weight=counts)
    repeated = RobustGraph(0.3).fit(np.repeat(samples, counts, axis=0))
    assert weighted.unit_ == pytest.approx(repeated.unit_)
    np.testing.assert_allclose(weighted.laplacian_, repeated.laplacian_, atol=5e-3)
    assert weighted.score(samples, sample_weight=counts) == pytest.approx(
        weighted.score(np.repeat(samples, counts, axis=0))
    )
    with pytest.raises(DataError, match="one entry for each of the 20"):
        RobustGraph(0.3).fit(samples, sample_weight=[1.0])


def test_score_with_holes_by_hand():
    samples = np.array([[0.0, 1.0, 5.0], [2.0, np.nan, -1.0], [np.nan, 1.0, np.nan]])
    # The middle of the path is missing in the second row: its ends are predicted by each other.
    errors = [1.0, 1.5, 4.0, 3.0, 3.0]
    plain = [3.0, 1.5, 4.5, 3.0, 3.0]
    expected = 1 - np.square(errors).sum() / np.square(plain).sum()
    assert fitted_with(PATH).score(samples) == pytest.approx(expected, rel=1e-12)


def test_bounds_by_the_names_of_the_columns():
    table = pd.DataFrame(signals(), columns=list("abcdef"))
    free = RobustGraph(0.1).fit(table).to_networkx()
    gone = max(free.edges(data="weight"), key=lambda edge: edge[2])[:2]
    bounds = EdgeBounds.from_edges(list(table), absent=[gone])
    graph = RobustGraph(0.1, bounds=bounds).fit(table)
    assert not graph.to_networkx().has_edge(*gone)
    assert judge(graph.problem_, graph.laplacian_, graph.certificate_).solved(1e-6)


def test_certain_edges_are_edges_of_a_sharper_answer():
    table = pd.DataFrame(signals(30), columns=list("abcdef"))
    rough = RobustGraph(0.5, tol=1e-3).fit(table)
    sharp = RobustGraph(0.5, tol=1e-9).fit(table).to_networkx()
    edges = rough.edges_
    assert list(edges.columns) == ["source", "target", "weight", "certain"]
    assert edges["weight"].is_monotonic_decreasing
    assert len(edges) == rough.to_networkx().number_of_edges()
    assert edges["certain"].any()
    for source, target, _, certain in edges.itertuples(index=False):
        assert sharp.has_edge(source, target) or not certain
    assert int(edges["certain"].sum()) == rough.brackets_.counts()["present"]
    assert not RobustGraph(0.5, tol=0.5).fit(table).edges_["certain"].all()


def test_stability_is_one_where_signals_repeat_and_less_where_they_do_not():
    same = np.repeat(signals(1), 20, axis=0) + 1e-9 * signals(20)
    assert set(np.unique(RobustGraph(0.1).fit(same).stability(same, 5))) == {0.0, 1.0}
    samples = signals(8)
    shares = RobustGraph(0.05).fit(samples).stability(samples, 20)
    np.testing.assert_array_equal(shares, shares.T)
    assert ((shares > 0.0) & (shares < 1.0)).any()


def test_pictures():
    import matplotlib.pyplot as plt

    table = pd.DataFrame(signals(30), columns=list("abcdef"))
    graph = RobustGraph(0.3, tol=1e-2).fit(table)
    axes = graph.plot()
    assert {text.get_text() for text in axes.texts} == set("abcdef")
    assert f"{len(graph.edges_)} edges" in axes.get_title()
    widths = np.concatenate([lines.get_linewidths() for lines in axes.collections[:2]])
    assert len(widths) == len(graph.edges_)
    placed = graph.plot(places=np.arange(12.0).reshape(6, 2))
    np.testing.assert_array_equal(placed.collections[-1].get_offsets()[0], [0.0, 1.0])
    with pytest.raises(DataError, match="places must have shape"):
        graph.plot(places=np.zeros((5, 2)))
    path = graph.plot_path([0.1, 0.3, 1.0])
    weights = graph.adjacency_[np.triu_indices(6, 1)]
    at_radius = sorted(line.get_ydata()[1] for line in path.get_lines()[:-1])
    strong = sorted(weights[weights > 0.05])
    # Both are answers of their own tolerance: 1e-2 leaves a tenth of the graph.
    np.testing.assert_allclose(at_radius[-len(strong) :], strong, atol=0.1)
    plt.close("all")


def blas_threads():
    from threadpoolctl import threadpool_info

    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_small_problems_are_solved_on_one_thread_and_threads_are_given_back(monkeypatch):
    from threadpoolctl import threadpool_limits

    answer, seen = CertifiedSolver.answer, []

    def looked(*arguments):
        seen.append(blas_threads())
        return answer(*arguments)

    monkeypatch.setattr(CertifiedSolver, "answer", looked)
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()  # a library that was told to use one keeps to it
        RobustGraph(0.1).fit(signals())
        assert seen.pop() == [1] * len(before)
        assert blas_threads() == before
        monkeypatch.setattr("solvers.running.threads.ONE_THREAD_UP_TO", 5)
        RobustGraph(0.1).fit(signals())
        assert seen.pop() == before


def test_the_default_rule_is_prediction_or_the_bootstrap_with_neighbours():
    samples = signals(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChoiceWarning)
        assert RobustGraph().fit(samples).radius_ == RobustGraph("prediction").fit(samples).radius_
    few = RobustGraph(neighbours=3).fit(samples)
    assert few.radius_ == RobustGraph("bootstrap", neighbours=3).fit(samples).radius_

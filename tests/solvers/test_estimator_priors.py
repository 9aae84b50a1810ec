"""RobustGraph with the log-degree prior, and with a number of neighbours instead of an eta."""

import numpy as np
import pytest
import signal_tables
from sklearn.base import clone

from solvers import RobustGraph, solve, solve_for_neighbours
from solvers.selection.radius import ChoiceWarning
from wdro_cvx import (
    EdgeBounds,
    GraphProblem,
    LogDegree,
    LogDet,
    Nominal,
    ProblemError,
    Singleton,
    Status,
    judge,
)

pytestmark = pytest.mark.usefixtures("cheap_choice")


@pytest.fixture(scope="module")
def signals():
    return signal_tables.signals(60, 15)


def neighbours(graph):
    return np.count_nonzero(graph.adjacency_) / graph.n_features_in_


@pytest.mark.parametrize("prior", ["frobenius", "log-degree"])
@pytest.mark.parametrize("ambiguity", ["wasserstein", "moment", "singleton"])
def test_about_so_many_neighbours(signals, prior, ambiguity):
    radius = 0.0 if ambiguity == "singleton" else 0.1
    graph = RobustGraph(radius, ambiguity=ambiguity, prior=prior, neighbours=5).fit(signals)
    assert neighbours(graph) == pytest.approx(5.0, abs=2 * 2 / 15)  # two edges
    assert graph.status_ is Status.SOLVED
    assert judge(graph.problem_, graph.laplacian_, graph.certificate_).solved(1e-6)
    assert np.trace(graph.laplacian_) == pytest.approx(15.0, rel=1e-2)
    prior = graph.problem_.prior
    assert graph.eta_ == pytest.approx(np.sqrt(prior.beta * (prior.alpha or prior.beta)))


def test_the_strength_that_was_found_finds_the_same_graph(signals):
    first = RobustGraph(0.1, prior="log-degree", neighbours=4, tol=1e-9).fit(signals)
    second = RobustGraph(0.1, first.eta_, prior="log-degree", tol=1e-9).fit(signals)
    np.testing.assert_allclose(first.laplacian_, second.laplacian_, atol=1e-3)


def test_log_degree_is_kalofolias_model_at_trace_d(signals):
    graph = RobustGraph(0.0, 0.2, prior="log-degree", tol=1e-9).fit(signals)
    nominal = graph.problem_.nominal
    plain = solve(GraphProblem(nominal, graph.ambiguity_, prior=LogDegree(1.0, 0.04)), 1e-9)
    expected = plain.laplacian * 15 / np.trace(plain.laplacian)
    np.testing.assert_allclose(graph.laplacian_, expected, atol=1e-3)
    assert graph.eta_ == pytest.approx(0.2)
    assert np.diagonal(graph.laplacian_).min() > 0.0


def test_the_unit_of_measurement_does_not_matter(signals):
    first = RobustGraph(prior="log-degree", neighbours=5).fit(signals)
    second = RobustGraph(prior="log-degree", neighbours=5).fit(signals * 1e5)
    assert first.radius_ == pytest.approx(second.radius_)
    np.testing.assert_allclose(first.adjacency_ > 0, second.adjacency_ > 0)


def test_eta_is_chosen_by_prediction_under_either_prior(signals):
    graph = RobustGraph(0.05, "auto", prior="log-degree").fit(signals)
    assert 0.0 < graph.score(signals) < 1.0


def test_a_radius_that_keeps_too_many_edges_gives_way_if_a_rule_chose_it(signals):
    few = signals[:10]
    with pytest.warns(ChoiceWarning, match="lowered"):
        graph = RobustGraph("bootstrap", prior="log-degree", neighbours=2).fit(few)
    assert neighbours(graph) == pytest.approx(2.0, abs=2 * 2 / 15)
    assert graph.status_ is Status.SOLVED
    with pytest.raises(ProblemError, match="or take a smaller radius"):
        RobustGraph(3.0, prior="log-degree", neighbours=2).fit(few)


def test_bounds_are_kept(signals):
    bounds = EdgeBounds.from_edges(15, absent=[(0, 1), (2, 3)])
    graph = RobustGraph(0.05, bounds=bounds, prior="log-degree", neighbours=5).fit(signals)
    assert graph.adjacency_[0, 1] == graph.adjacency_[2, 3] == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": "lasso"}, "prior must be one of frobenius, log-degree"),
        ({"neighbours": 3, "radius": "prediction"}, "radius='prediction'"),
        ({"neighbours": 3, "fdr": 0.1}, "so does fdr=0.1"),
        ({"neighbours": 3, "eta": "auto"}, "eta='auto'"),
        ({"neighbours": 15}, "at most 14"),
        ({"neighbours": 0.5, "prior": "log-degree"}, "every vertex keeps an edge"),
    ],
)
def test_what_does_not_go_together_is_refused_with_a_remedy(signals, options, message):
    with pytest.raises(ProblemError, match=message):
        RobustGraph(**options).fit(signals)


def test_parameters_are_scikit_learn_s():
    graph = clone(RobustGraph(prior="log-degree", neighbours=3))
    assert (graph.prior, graph.neighbours) == ("log-degree", 3)


@pytest.mark.parametrize(("radius", "eta"), [(0.0, None), (0.0, 0.0), (0.2, 0.0), (0.2, 0.05)])
def test_likelihood_graphs_are_proved_and_have_their_own_scale(signals, radius, eta):
    graph = RobustGraph(radius, eta, prior="likelihood").fit(signals)
    assert judge(graph.problem_, graph.solution_).solved(1e-6)
    assert graph.problem_.prior.trace.free
    assert graph.problem_.eta == (0.01 if eta is None else eta)
    # Scaling the graph does not pay: risk and twice the cost of eta are d - 1 together.
    laplacian = graph.laplacian_
    risk = graph.problem_.ambiguity.worst_case(graph.problem_.nominal, laplacian).risk
    squares = graph.problem_.eta * float(np.sum(np.square(laplacian)))
    assert risk + 2 * squares == pytest.approx(14.0, rel=1e-3)


@pytest.mark.parametrize("options", [{"neighbours": 3.0}, {"eta": "auto"}, {"eta": -1.0}])
def test_what_the_likelihood_does_not_offer_is_named(signals, options):
    with pytest.raises(ProblemError, match="eta"):
        RobustGraph(0.1, prior="likelihood", **options).fit(signals)


def test_neighbours_are_not_chosen_for_problems_with_terms(signals):
    terms = (LogDet(1.0),)
    problem = GraphProblem(Nominal.from_samples(signals), Singleton(), eta=0.1, terms=terms)
    with pytest.raises(ProblemError, match="without terms"):
        solve_for_neighbours(problem, 3.0)

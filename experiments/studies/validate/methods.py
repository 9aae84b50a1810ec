"""Ways from a table to a graph, each with its usual automatic choices.

A method returns a score for every pair, by which pairs are ranked, and the edges that it would
draw.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from experiments.studies.validate.sources import Source
from solvers import RobustGraph, solve
from solvers.selection.prediction import best_prediction
from solvers.selection.signals import Signals
from wdro_cvx import GraphProblem, LogDegree, Nominal, Singleton
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.validation import Array

_DISCOVERY = 0.05  # share of false edges that tests of correlations allow
_BETAS = tuple(float(beta) for beta in np.geomspace(0.001, 10.0, 9))


@dataclass(frozen=True, eq=False)
class Learned:
    """Scores of all pairs, and which of them are edges."""

    scores: Array
    edges: NDArray[np.bool_]


def correlation(source: Source) -> Learned:
    """Rank by the size of the correlation; edges by Fisher's test, 5 % false discoveries."""
    found = np.abs(np.corrcoef(source.table.T))
    return Learned(found, _discoveries(found, len(source.table), 0))


def partial_correlation(source: Source) -> Learned:
    """Rank by the partial correlation under Ledoit and Wolf's covariance; edges likewise."""
    from sklearn.covariance import LedoitWolf

    found = _partial(LedoitWolf().fit(source.table).precision_)
    return Learned(found, _discoveries(found, len(source.table), found.shape[0] - 2))


def graphical_lasso(source: Source) -> Learned:
    """Rank by the partial correlation of GraphicalLassoCV; edges where it is not zero."""
    from sklearn.covariance import GraphicalLassoCV

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some penalties on its path do not converge
        found = _partial(GraphicalLassoCV().fit(source.table).precision_)
    return Learned(found, found > 0.0)


def log_degree(source: Source) -> Learned:
    """Log-degree graph learning (Kalofolias), its parameter by prediction."""

    def build(nominal: Nominal, radius: float, beta: float) -> GraphProblem:
        return GraphProblem(nominal, Singleton(), prior=LogDegree(1.0, beta))

    signals = Signals(source.table)
    _, beta = best_prediction(signals, build, [0.0], _BETAS, 1e-4)
    answer = solve(build(signals.nominal()[0], 0.0, beta))
    return _of(np.asarray(answer.adjacency))


def robust(radius: str | float, eta: str | float, ambiguity: str) -> Callable[[Source], Learned]:
    """Return ours, with a rule for the radius, an eta and a set."""

    def learn(source: Source) -> Learned:
        graph = RobustGraph(radius, eta, ambiguity, block=source.block)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a choice at the end of its candidates counts as it is
            return _of(np.asarray(graph.fit(source.table).adjacency_))

    return learn


#: What `wdro validate` compares.
METHODS: dict[str, Callable[[Source], Learned]] = {
    "RobustGraph": robust(RobustGraph().radius, 0.3, "wasserstein"),
    "RobustGraph, eta auto": robust(RobustGraph().radius, "auto", "wasserstein"),
    "RobustGraph, bootstrap": robust("bootstrap", 0.3, "wasserstein"),
    "sample average": robust(0.0, 0.3, "singleton"),
    "sample average, eta auto": robust(0.0, "auto", "singleton"),
    "log-degree": log_degree,
    "correlation": correlation,
    "partial correlation": partial_correlation,
    "graphical lasso": graphical_lasso,
}


def _of(adjacency: Array) -> Learned:
    return Learned(adjacency, adjacency >= EDGE_THRESHOLD)


def _partial(precision: Array) -> Array:
    root = np.sqrt(np.diagonal(precision))
    found = np.abs(precision / np.outer(root, root))
    np.fill_diagonal(found, 0.0)
    return found


def _discoveries(found: Array, n: int, given: int) -> NDArray[np.bool_]:
    """Return the pairs that differ from zero by Fisher's z, after Benjamini and Hochberg.

    With as many other vertices as signals no degrees of freedom are left for partial correlations;
    one is then taken.
    """
    pairs = np.triu_indices(len(found), 1)
    size = np.arctanh(np.minimum(found[pairs], 1.0 - 1e-12)) * np.sqrt(max(n - given - 3, 1))
    levels = stats.false_discovery_control(2 * stats.norm.sf(size))
    edges = np.zeros(found.shape, dtype=bool)
    edges[pairs] = levels <= _DISCOVERY
    return np.asarray(edges | edges.T)

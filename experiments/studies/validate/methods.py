"""Learn a graph from a table by several methods with their usual automatic choices; score it.

A method returns a score for every pair of vertices, which ranks the pairs, and the edges that it
would draw. A Laplacian joins what is similar, so all scores are signed: a negative correlation is
no evidence for an edge.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from experiments.studies.validate.sources import KnownGraph
from solvers import RobustGraph, solve
from solvers.selection.prediction import best_prediction
from solvers.selection.signals import Signals
from wdro_cvx import GraphProblem, LogDegree, Nominal, Singleton
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.metrics import edge_correlation
from wdro_cvx.validation import Array

_DISCOVERY = 0.05  # false discovery rate of the tests of correlations
_STABLE = 0.9  # share of resamples in which an edge must be found
_RESAMPLES = 50
_BETAS = tuple(float(beta) for beta in np.geomspace(0.001, 10.0, 9))
#: The scores: of the ranking, of the edges that the method draws (three), and of as many pairs from
#: the top of its ranking as there are true edges.
SCORES = ("average_precision", "mcc", "f1", "edges", "f1_equal")


@dataclass(frozen=True, eq=False)
class Learned:
    """The scores of all pairs, and whether each pair is an edge."""

    scores: Array
    edges: NDArray[np.bool_]


Learn = Callable[[KnownGraph], Learned]


def ours(**options: Any) -> Learn:
    """Return a method: RobustGraph with some options."""

    def learn(source: KnownGraph) -> Learned:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a choice at the edge of its grid is kept
            graph = RobustGraph(block=source.block, **options).fit(source.table)
        return Learned(np.asarray(graph.adjacency_), np.asarray(graph.support_))

    return learn


def stability_selection(source: KnownGraph) -> Learned:
    """Rank by how often resampled signals give an edge; take those of at least 90 %."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = (
            RobustGraph(block=source.block).fit(source.table).stability(source.table, _RESAMPLES)
        )
    shares = np.asarray(found, dtype=float)
    return Learned(shares, shares >= _STABLE)


def log_degree(source: KnownGraph) -> Learned:
    """Learn with the log-degree prior (Kalofolias); choose its parameter by prediction."""

    def build(nominal: Nominal, radius: float, beta: float) -> GraphProblem:
        return GraphProblem(nominal, Singleton(), prior=LogDegree(1.0, beta))

    signals = Signals(source.table)
    _, beta = best_prediction(signals, build, [0.0], _BETAS, 1e-4)
    adjacency = np.asarray(solve(build(signals.nominal()[0], 0.0, beta)).adjacency)
    return Learned(adjacency, adjacency >= EDGE_THRESHOLD)


def nearest_neighbours(source: KnownGraph) -> Learned:
    """Rank by correlation; join every vertex with the log d most similar ones."""
    found = np.asarray(np.corrcoef(source.table.T))
    np.fill_diagonal(found, -1.0)
    count = max(round(float(np.log(len(found)))), 1)
    edges = found >= np.sort(found, axis=1)[:, [-count]]
    return Learned(found, edges | edges.T)


def correlation(source: KnownGraph) -> Learned:
    """Rank by correlation; choose edges by Fisher's test at 5 % false discoveries."""
    found = np.asarray(np.corrcoef(source.table.T))
    return Learned(found, _discoveries(found, len(source.table), 0))


def partial_correlation(source: KnownGraph) -> Learned:
    """Rank by partial correlation with Ledoit and Wolf's covariance; choose edges by the test."""
    from sklearn.covariance import LedoitWolf

    found = _partial(LedoitWolf().fit(source.table).precision_)
    return Learned(found, _discoveries(found, len(source.table), found.shape[0] - 2))


def graphical_lasso(source: KnownGraph) -> Learned:
    """Rank by the partial correlation of GraphicalLassoCV; edges are the positive pairs."""
    from sklearn.covariance import GraphicalLassoCV

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some penalties of its path do not converge
        found = _partial(GraphicalLassoCV().fit(source.table).precision_)
    return Learned(found, found > 0.0)


#: The methods. The others are compared with the first.
METHODS: dict[str, Learn] = {
    "RobustGraph": ours(),
    "RobustGraph, radius 0": ours(radius=0.0),
    "paper's prior, bootstrap": ours(
        radius="bootstrap", prior="frobenius", moment="sample", edges="all"
    ),
    "paper's prior, radius 0, eta auto": ours(
        radius=0.0, eta="auto", prior="frobenius", moment="sample", edges="all"
    ),
    "log-det Laplacian": ours(radius=0.0, prior="likelihood", moment="sample", edges="all"),
    "stability selection": stability_selection,
    "log-degree": log_degree,
    "nearest neighbours": nearest_neighbours,
    "correlation": correlation,
    "partial correlation": partial_correlation,
    "graphical lasso": graphical_lasso,
}


def _partial(precision: Array) -> Array:
    root = np.sqrt(np.diagonal(precision))
    found = -precision / np.outer(root, root)
    np.fill_diagonal(found, -1.0)
    return np.asarray(found)


def _discoveries(found: Array, n: int, given: int) -> NDArray[np.bool_]:
    """Return the pairs above zero by Fisher's z under Benjamini-Hochberg control."""
    pairs = np.triu_indices(len(found), 1)
    # With few signals, partial correlations have no degree of freedom left; assume one.
    size = np.arctanh(np.clip(found[pairs], -1.0 + 1e-12, 1.0 - 1e-12))
    levels = stats.false_discovery_control(stats.norm.sf(size * np.sqrt(max(n - given - 3, 1))))
    edges = np.zeros(found.shape, dtype=bool)
    edges[pairs] = levels <= _DISCOVERY
    return np.asarray(edges | edges.T)


def average_precision(scores: Array, truth: NDArray[np.bool_]) -> float:
    """Return the average precision of a ranking; ties form one step."""
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(truth, scores))


def f1(edges: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Return the harmonic mean of precision and recall, or 0 without a hit."""
    hits = int(np.count_nonzero(edges & truth))
    return 2 * hits / max(int(np.count_nonzero(edges)) + int(np.count_nonzero(truth)), 1)


def score(source: KnownGraph, learned: Learned) -> dict[str, float]:
    """Return every score; see ``SCORES``."""
    pairs = np.triu_indices(len(source.truth), 1)
    scores, edges, truth = learned.scores[pairs], learned.edges[pairs], source.truth[pairs]
    # Noise far below any difference of scores breaks ties at random.
    tied = scores + 1e-12 * np.random.default_rng(0).standard_normal(scores.size)
    top = np.zeros_like(truth)
    top[np.argsort(-tied)[: np.count_nonzero(truth)]] = True
    found = (
        average_precision(scores, truth), edge_correlation(edges, truth), f1(edges, truth),
        float(np.count_nonzero(edges)), f1(top, truth),
    )  # fmt: skip
    return dict(zip(SCORES, found, strict=True))

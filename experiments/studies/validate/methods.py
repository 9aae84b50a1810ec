"""Learn a graph from a table by several methods with their usual automatic choices; score it.

A method returns a score for every pair of vertices, which ranks the pairs, and the edges that it
would draw.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from experiments.measuring.held_out import RULES as HELD_OUT_RULES
from experiments.measuring.held_out import choose_radius
from experiments.studies.validate.sources import KnownGraph
from solvers import RobustGraph, solve
from solvers.selection.prediction import best_prediction
from solvers.selection.radius import Choice, choose
from solvers.selection.signals import Signals
from wdro_cvx import AmbiguitySet, GraphProblem, LogDegree, Nominal, Singleton
from wdro_cvx.ambiguity import named_ambiguity
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.validation import Array

_DISCOVERY = 0.05  # false discovery rate of the tests of correlations
_RESAMPLES = 200
_BETAS = tuple(float(beta) for beta in np.geomspace(0.001, 10.0, 9))
#: The columns of a row of scores.
SCORES = (
    "average_precision", "f1", "edges", "average_precision_low", "average_precision_high", "f1_low",
    "f1_high",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Learned:
    """The scores of all pairs, and whether each pair is an edge."""

    scores: Array
    edges: NDArray[np.bool_]


Learn = Callable[[KnownGraph], Learned]


def correlation(source: KnownGraph) -> Learned:
    """Rank by absolute correlation; choose edges by Fisher's test at 5 % false discoveries."""
    found = np.abs(np.corrcoef(source.table.T))
    return Learned(found, _discoveries(found, len(source.table), 0))


def partial_correlation(source: KnownGraph) -> Learned:
    """Rank by partial correlation with Ledoit and Wolf's covariance; choose edges by the test."""
    from sklearn.covariance import LedoitWolf

    found = _partial(LedoitWolf().fit(source.table).precision_)
    return Learned(found, _discoveries(found, len(source.table), found.shape[0] - 2))


def graphical_lasso(source: KnownGraph) -> Learned:
    """Rank by the partial correlation of GraphicalLassoCV; edges are the nonzero pairs."""
    from sklearn.covariance import GraphicalLassoCV

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some penalties of its path do not converge
        found = _partial(GraphicalLassoCV().fit(source.table).precision_)
    return Learned(found, found > 0.0)


def log_degree(source: KnownGraph) -> Learned:
    """Learn with the log-degree prior (Kalofolias); choose its parameter by prediction."""

    def build(nominal: Nominal, radius: float, beta: float) -> GraphProblem:
        return GraphProblem(nominal, Singleton(), prior=LogDegree(1.0, beta))

    signals = Signals(source.table)
    _, beta = best_prediction(signals, build, [0.0], _BETAS, 1e-4)
    answer = solve(build(signals.nominal()[0], 0.0, beta))
    return _of(np.asarray(answer.adjacency))


def _choose(
    signals: Signals, kind: AmbiguitySet, radius: str | float, eta: str | float, block: int
) -> Choice:
    """Return radius and eta; rules that ``RobustGraph`` no longer has need a given eta."""
    if radius in HELD_OUT_RULES:
        number = float(eta)
        return Choice(choose_radius(signals, kind, number, str(radius)), number)
    return choose(signals, kind, radius, eta, block=block)


def robust(radius: str | float, eta: str | float, ambiguity: str) -> Learn:
    """Return a method: the paper's problem with a rule for the radius, an eta and a set."""

    def learn(source: KnownGraph) -> Learned:
        signals, _ = Signals(source.table).in_unit("auto")
        kind = named_ambiguity(ambiguity)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a choice at the edge of its grid is kept
            chosen = _choose(signals, kind, radius, eta, source.block)
            graph = RobustGraph(
                chosen.radius, chosen.eta, ambiguity, prior="frobenius", standardise=False,
                moment="sample", edges="all",
            )  # fmt: skip
            return _of(np.asarray(graph.fit(source.table).adjacency_))

    return learn


#: The methods that are compared.
METHODS: dict[str, Learn] = {
    "RobustGraph": robust("prediction", 0.3, "wasserstein"),
    "RobustGraph, eta auto": robust("prediction", "auto", "wasserstein"),
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
    """Return the pairs that differ from zero by Fisher's z under Benjamini-Hochberg control."""
    pairs = np.triu_indices(len(found), 1)
    # With few signals, partial correlations have no degree of freedom left; assume one.
    size = np.arctanh(np.minimum(found[pairs], 1.0 - 1e-12)) * np.sqrt(max(n - given - 3, 1))
    levels = stats.false_discovery_control(2 * stats.norm.sf(size))
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
    """Return both scores with 95 % intervals from resampled vertices.

    A resample of vertices keeps the graph among them and drops pairs of a vertex with itself. The
    interval shows how the scores depend on the vertices, not on the signals.
    """
    d = len(source.truth)
    rng = np.random.default_rng(0)
    pairs = np.triu_indices(d, 1)
    row = {
        "average_precision": average_precision(learned.scores[pairs], source.truth[pairs]),
        "f1": f1(learned.edges[pairs], source.truth[pairs]),
        "edges": float(np.count_nonzero(learned.edges[pairs])),
    }
    drawn: list[tuple[float, float]] = []
    for _ in range(_RESAMPLES):
        vertices = rng.integers(d, size=d)
        heads, tails = vertices[pairs[0]], vertices[pairs[1]]
        kept = heads != tails
        heads, tails = heads[kept], tails[kept]
        truth = source.truth[heads, tails]
        drawn.append(
            (average_precision(learned.scores[heads, tails], truth),
             f1(learned.edges[heads, tails], truth))
        )  # fmt: skip
    for name, values in zip(("average_precision", "f1"), np.array(drawn).T, strict=True):
        low, high = np.quantile(values, [0.025, 0.975])
        row |= {f"{name}_low": float(low), f"{name}_high": float(high)}
    return row

"""Draw tables of signals with known graphs of five families, clean, difficult or spoilt."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from wdro_cvx.generators import rbf_graph, sbm_graph, smooth_signals
from wdro_cvx.validation import Array

FAMILIES = ("rbf", "block", "erdos-renyi", "barabasi-albert", "grid")
#: What is done to the signals of a connected graph.
KINDS = ("gaussian", "student-5", "rows", "cells", "rescaled")
#: Truths that are not connected, or whose weights differ by orders of magnitude; and Gaussian
#: fields, whose rows have a level.
TRUTHS = ("disconnected", "lognormal", "field", "disconnected field")
#: Tables of independent columns.
NOISES = ("gaussian", "student-3", "autoregressive", "units")
_SEED = 2028
#: The place of a kind decides its random numbers; a new kind comes last.
_ORDER = (
    "gaussian", "student-5", "rows", "cells", "disconnected", "lognormal", "rescaled", "field",
    "disconnected field",
)  # fmt: skip
_LEVEL = 0.3  # added to the diagonal of the precision matrix of a field
_GRIDS = {10: (2, 5), 20: (4, 5), 25: (5, 5), 45: (5, 9)}
_PARTS = {20: (10, 10), 45: (20, 25)}


@dataclass(frozen=True)
class Table:
    """One table to draw; ``family`` is one of ``FAMILIES``, or ``noise``."""

    family: str
    kind: str
    d: int
    n: int
    trial: int


def draw(table: Table) -> tuple[Array, NDArray[np.bool_]]:
    """Return the signals, and which pairs are edges, in the order of ``numpy.triu_indices``."""
    pairs = np.triu_indices(table.d, 1)
    names = (*FAMILIES, "noise")
    kinds = NOISES if table.family == "noise" else _ORDER
    rng = np.random.default_rng(
        [_SEED, names.index(table.family), kinds.index(table.kind), table.d, table.n, table.trial]
    )
    if table.family == "noise":
        return _noise(table, rng), np.zeros(len(pairs[0]), dtype=bool)
    truth = _truth(table, rng)
    if table.kind.endswith("field"):
        root = np.linalg.cholesky(truth + _LEVEL * np.eye(table.d))
        signals = np.linalg.solve(root.T, rng.standard_normal((table.d, table.n))).T
        return signals, truth[pairs] < 0.0
    return _spoilt(smooth_signals(truth, table.n, rng), table.kind, rng), truth[pairs] < 0.0


def _truth(table: Table, rng: np.random.Generator) -> Array:
    """Return the Laplacian of the graph behind a table."""
    if table.kind.startswith("disconnected"):
        parts = [_connected(table.family, size, rng) for size in _PARTS[table.d]]
        return np.asarray(linalg.block_diag(*parts))
    laplacian = _connected(table.family, table.d, rng)
    if table.kind == "lognormal":
        factors = np.triu(rng.lognormal(size=laplacian.shape), 1)
        adjacency = np.maximum(-laplacian, 0.0) * (factors + factors.T)
        return np.asarray(np.diag(adjacency.sum(axis=0)) - adjacency)
    return laplacian


def _connected(family: str, d: int, rng: np.random.Generator) -> Array:
    """Return the Laplacian of a connected graph of a family."""
    while True:
        laplacian = _graph(family, d, rng)
        if nx.is_connected(nx.from_numpy_array(laplacian)):
            return laplacian


def _graph(family: str, d: int, rng: np.random.Generator) -> Array:
    if family == "rbf":
        return rbf_graph(d, rng, threshold=0.7 if d <= 20 else 0.85)
    if family == "block":
        blocks = max(2, d // 10)
        sizes = [d // blocks + (place < d % blocks) for place in range(blocks)]
        return sbm_graph(sizes, rng, 0.5, 0.03)[0]
    seed = int(rng.integers(2**31))
    graph = {
        "erdos-renyi": lambda: nx.gnp_random_graph(d, 4 / (d - 1), seed=seed),
        "barabasi-albert": lambda: nx.barabasi_albert_graph(d, 2, seed=seed),
        "grid": lambda: nx.grid_2d_graph(*_GRIDS[d]),
    }[family]()
    for first, second in graph.edges:
        graph[first][second]["weight"] = rng.uniform(0.5, 1.5)
    return np.asarray(nx.laplacian_matrix(graph).toarray(), dtype=float)


def _spoilt(signals: Array, kind: str, rng: np.random.Generator) -> Array:
    """Return signals with heavy tails, outlying rows, wrong cells or columns of unlike units."""
    n = len(signals)
    if kind == "student-5":
        return np.asarray(signals * np.sqrt(5 / rng.chisquare(5, (n, 1))))
    if kind == "rows":
        signals[rng.choice(n, n // 10, replace=False)] *= 10.0
    if kind == "cells":
        wrong = rng.random(signals.shape) < 0.02
        signals[wrong] += 10.0 * signals.std() * rng.standard_normal(np.count_nonzero(wrong))
    if kind == "rescaled":
        signals *= np.exp(rng.uniform(-np.log(2.0), np.log(2.0), signals.shape[1]))
    return signals


def _noise(table: Table, rng: np.random.Generator) -> Array:
    shape = table.n, table.d
    if table.kind == "student-3":
        return rng.standard_t(3, shape)
    noise = rng.standard_normal(shape)
    if table.kind == "units":
        noise *= np.exp(2.0 * rng.standard_normal(table.d))
    if table.kind == "autoregressive":
        for row in range(1, table.n):
            noise[row] += 0.5 * noise[row - 1]
    return noise

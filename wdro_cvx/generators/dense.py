"""Synthetic graphs and signals, as the paper's experiments describe them (section VI-A).

Ground truths are scaled to ``Tr L = d``, the scale of every learned graph, so that the two can be
compared; with ``scaled=False`` they keep the weights that they are drawn with. The paper does not
say which it takes, and the noise is larger relative to the signals of the second.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist

from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.laplacian import laplacian_from_weights, weights_from_laplacian
from wdro_cvx.validation import Array, finite_array, real_number, square_matrix, whole_number

_ATTEMPTS = 1000


def rbf_graph(
    d: int,
    rng: np.random.Generator,
    width: float = 0.5,
    threshold: float = 0.7,
    scaled: bool = True,
) -> Array:
    """Return a graph of ``d`` random points in the unit square.

    Points ``i, j`` share an edge of weight ``exp(-dist²/2·width²)`` if it exceeds ``threshold``.
    """
    d = whole_number("d", d, 2)
    width = real_number("width", width, 0.0, strict=True)
    threshold = real_number("threshold", threshold, 0.0)
    for _ in range(_ATTEMPTS):
        similarity = np.exp(-pdist(rng.random((d, 2)), "sqeuclidean") / (2 * width**2))
        weights = np.where(similarity > threshold, similarity, 0.0)
        if weights.any():
            return _laplacian(weights, scaled)
    raise ProblemError(
        f"threshold {threshold:g} leaves no edge among {d} points of width {width:g}; lower it."
    )


def sbm_graph(
    sizes: Sequence[int],
    rng: np.random.Generator,
    p_within: float = 0.3,
    p_between: float = 0.02,
    scaled: bool = True,
) -> tuple[Array, np.ndarray]:
    """Return a stochastic block model and the community of each vertex."""
    sizes = [whole_number("sizes", size, 1) for size in sizes]
    whole_number("sum(sizes)", sum(sizes), 2)
    for name, share in (("p_within", p_within), ("p_between", p_between)):
        if real_number(name, share, 0.0) > 1.0:
            raise ProblemError(f"{name} is a probability and must be ≤ 1; it is {share:g}.")
    import networkx as nx  # slow to import, and only needed here

    blocks = len(sizes)
    chances = np.full((blocks, blocks), p_between)
    np.fill_diagonal(chances, p_within)
    labels = np.repeat(np.arange(blocks), sizes)
    for _ in range(_ATTEMPTS):
        seed = int(rng.integers(2**32))
        graph = nx.stochastic_block_model(sizes, chances.tolist(), seed=seed)
        if graph.number_of_edges():
            adjacency = nx.to_numpy_array(graph)
            return _laplacian(weights_from_laplacian(-adjacency), scaled), labels
    raise ProblemError("p_within and p_between leave no edge at all; raise them.")


def smooth_signals(
    laplacian: ArrayLike, n: int, rng: np.random.Generator, noise: float = 0.0
) -> Array:
    """Draw ``n`` signals from ``N(0, L†)``, one per row, plus white noise."""
    matrix = square_matrix("laplacian", laplacian, error=ProblemError)
    n = whole_number("n", n, 1)
    noise = real_number("noise", noise, 0.0)
    values, vectors = np.linalg.eigh(matrix)
    kept = values > 1e-10 * values[-1]
    spread = np.where(kept, 1.0 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
    signals = rng.standard_normal((n, matrix.shape[0])) @ (vectors * spread).T
    return add_noise(signals, noise, rng)


def add_noise(signals: ArrayLike, noise: float, rng: np.random.Generator) -> Array:
    """Add independent Gaussian noise of deviation ``noise`` to every entry."""
    table = finite_array("signals", signals, 2)
    noise = real_number("noise", noise, 0.0)
    return table + noise * rng.standard_normal(table.shape)


def _laplacian(weights: Array, scaled: bool) -> Array:
    laplacian = laplacian_from_weights(weights)
    return scale_to_trace(laplacian) if scaled else laplacian


def scale_to_trace(laplacian: Array) -> Array:
    """Return the same graph with ``Tr L = d``."""
    return np.asarray(laplacian * (laplacian.shape[0] / np.trace(laplacian)))

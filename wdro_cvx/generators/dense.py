"""Synthetic graphs and signals of the paper's experiments (section VI-A).

Ground truths are scaled to ``Tr L = d``, the scale of every learned graph. With ``scaled=False``
they keep the weights as drawn; the same noise is then larger relative to the signals. The paper
does not say which it uses.
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
    """Return the Laplacian of a random geometric graph on ``d`` points of the unit square.

    Points at distance r share an edge of weight ``exp(-r²/(2·width²))`` if this weight exceeds
    ``threshold``.

    Parameters
    ----------
    d : int
    rng : numpy.random.Generator
    width : float > 0
    threshold : float ≥ 0
    scaled : bool
        Whether to scale to ``Tr L = d``.

    Returns
    -------
    array (d, d)

    Raises
    ------
    ProblemError
        If no draw has an edge.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx.generators import rbf_graph
    >>> laplacian = rbf_graph(6, np.random.default_rng(0), threshold=0.5)
    >>> laplacian.shape, round(float(np.trace(laplacian)), 6)
    ((6, 6), 6.0)
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
    """Return the Laplacian of a stochastic block model and the community of each vertex.

    Parameters
    ----------
    sizes : sequence of int
        The number of vertices of every community.
    rng : numpy.random.Generator
    p_within, p_between : float in [0, 1]
        The probabilities of an edge within a community and between two.
    scaled : bool
        Whether to scale to ``Tr L = d``.

    Returns
    -------
    laplacian : array (d, d)
    labels : array (d,) of int

    Raises
    ------
    ProblemError
        If a probability exceeds 1, or no draw has an edge.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx.generators import sbm_graph
    >>> laplacian, labels = sbm_graph([2, 3], np.random.default_rng(0), p_within=1.0, p_between=0.0)
    >>> labels.tolist(), int(np.linalg.matrix_rank(laplacian))  # two components
    ([0, 0, 1, 1, 1], 3)
    """
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
    """Draw ``n`` signals from ``N(0, L†)``, one per row, plus white noise.

    Parameters
    ----------
    laplacian : array (d, d)
    n : int
    rng : numpy.random.Generator
    noise : float ≥ 0
        The standard deviation of the noise.

    Returns
    -------
    array (n, d)

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx.generators import smooth_signals
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> signals = smooth_signals(edge, 4, np.random.default_rng(0))
    >>> signals.shape, bool(np.allclose(signals.sum(axis=1), 0.0))  # no constant component
    ((4, 2), True)
    """
    matrix = square_matrix("laplacian", laplacian, error=ProblemError)
    n = whole_number("n", n, 1)
    noise = real_number("noise", noise, 0.0)
    values, vectors = np.linalg.eigh(matrix)
    kept = values > 1e-10 * values[-1]
    spread = np.where(kept, 1.0 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
    # The symmetric root depends continuously on L. Rounding decides the sign of an eigenvector and
    # the basis of a double eigenvalue; with another root, it would also decide the signals.
    signals = rng.standard_normal((n, matrix.shape[0])) @ (vectors * spread) @ vectors.T
    return add_noise(signals, noise, rng)


def add_noise(signals: ArrayLike, noise: float, rng: np.random.Generator) -> Array:
    """Return signals plus independent Gaussian noise.

    Parameters
    ----------
    signals : array (n, d)
    noise : float ≥ 0
        The standard deviation of the noise.
    rng : numpy.random.Generator

    Returns
    -------
    array (n, d)

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx.generators import add_noise
    >>> noisy = add_noise(np.zeros((1000, 2)), 0.5, np.random.default_rng(0))
    >>> print(round(float(noisy.std()), 1))
    0.5
    """
    table = finite_array("signals", signals, 2)
    noise = real_number("noise", noise, 0.0)
    return table + noise * rng.standard_normal(table.shape)


def _laplacian(weights: Array, scaled: bool) -> Array:
    laplacian = laplacian_from_weights(weights)
    return scale_to_trace(laplacian) if scaled else laplacian


def scale_to_trace(laplacian: Array) -> Array:
    """Return the same graph scaled to ``Tr L = d``.

    Parameters
    ----------
    laplacian : array (d, d)

    Returns
    -------
    array (d, d)

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx.generators import scale_to_trace
    >>> scale_to_trace(np.array([[4.0, -4.0], [-4.0, 4.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    return np.asarray(laplacian * (laplacian.shape[0] / np.trace(laplacian)))

"""Neighbour graphs and smooth signals of any size, without d × d arrays.

Signals are drawn from ``N(0, (L + δI)⁻¹)``. With B the incidence matrix and standard normal ξ and
ζ, ``B√w ξ + √δ ζ`` has the covariance ``L + δI``; one sparse solve turns it into a signal.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from wdro_cvx.errors import SolverError
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.validation import Array, real_number, whole_number

_ACCURACY = 1e-6
_CHUNK = 16
_MAX_STEPS = 20_000


def neighbour_graph(
    d: int, rng: np.random.Generator, dimensions: int = 2, neighbours: int = 8
) -> EdgeList:
    """Return the nearest-neighbour graph of random points of the unit cube, with ``Tr L = d``.

    Parameters
    ----------
    d : int
    rng : numpy.random.Generator
    dimensions : int
        The dimension of the cube; in higher dimensions the graph is less local.
    neighbours : int
        The number of neighbours that every point is joined to. A vertex may have more edges, since
        others may choose it.

    Returns
    -------
    EdgeList

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx.generators import neighbour_graph
    >>> graph = neighbour_graph(6, np.random.default_rng(0), neighbours=2)
    >>> graph.d, graph.weights.size >= 6, round(float(graph.degrees.sum()), 6)
    (6, True, 6.0)
    """
    d, dimensions = whole_number("d", d, 2), whole_number("dimensions", dimensions, 1)
    neighbours = min(whole_number("neighbours", neighbours, 1), d - 1)
    points = rng.random((d, dimensions))
    _, found = cKDTree(points).query(points, neighbours + 1)
    ends = np.column_stack([np.repeat(np.arange(d), neighbours), found[:, 1:].ravel()])
    pairs = np.unique(np.sort(ends, axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]].astype(np.int32)
    return EdgeList(d, pairs[:, 0], pairs[:, 1], np.full(len(pairs), d / (2 * len(pairs))))


def smooth_table(
    graph: EdgeList, n: int, rng: np.random.Generator, noise: float = 0.1, level: float = 0.01
) -> Array:
    """Draw ``n`` signals from ``N(0, (L + level·I)⁻¹)``, one per row, plus white noise.

    Parameters
    ----------
    graph : EdgeList
    n : int
    rng : numpy.random.Generator
    noise : float ≥ 0
        The standard deviation of the noise.
    level : float > 0
        δ; smaller values give longer wavelengths.

    Returns
    -------
    array (n, d)

    Raises
    ------
    SolverError
        If conjugate gradients do not converge.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx.generators import neighbour_graph, smooth_table
    >>> rng = np.random.default_rng(0)
    >>> smooth_table(neighbour_graph(6, rng, neighbours=2), 20, rng).shape
    (20, 6)
    """
    n, d, m = whole_number("n", n, 1), graph.d, graph.weights.size
    noise, level = real_number("noise", noise, 0.0), real_number("level", level, 0.0, strict=True)
    matrix = graph.laplacian() + level * sparse.eye_array(d, format="csr")
    roots = np.sqrt(graph.weights)
    edges = np.arange(m)
    incidence = sparse.csr_array(
        (
            np.concatenate([roots, -roots]),
            (np.concatenate([graph.heads, graph.tails]), np.concatenate([edges, edges])),
        ),
        shape=(d, m),
    )
    table = np.empty((n, d))
    for first in range(0, n, _CHUNK):
        width = min(_CHUNK, n - first)
        side = incidence @ rng.standard_normal((m, width))
        side += np.sqrt(level) * rng.standard_normal((d, width))
        table[first : first + width] = _solved(matrix, side).T
        table[first : first + width] += noise * rng.standard_normal((width, d))
    return table


def _solved(matrix: sparse.csr_array, side: Array) -> Array:
    """Solve a positive definite system with several right-hand sides by conjugate gradients."""
    found = np.zeros_like(side)
    rest, along = side.copy(), side.copy()
    square = np.einsum("ij,ij->j", rest, rest)
    goal = _ACCURACY**2 * square
    for _ in range(_MAX_STEPS):
        if (square <= goal).all():
            return found
        image = matrix @ along
        step = square / np.maximum(np.einsum("ij,ij->j", along, image), np.finfo(float).tiny)
        found += step * along
        rest -= step * image
        previous, square = square, np.einsum("ij,ij->j", rest, rest)
        along *= square / np.maximum(previous, np.finfo(float).tiny)
        along += rest
    raise SolverError(f"conjugate gradients did not converge in {_MAX_STEPS} steps; raise level.")

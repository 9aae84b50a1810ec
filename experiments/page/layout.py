"""Places for the vertices of a large graph without coordinates, in seconds rather than minutes.

Slow vibrations of the graph give the start. Then edges pull, and each vertex is pushed away by the
few that are nearest to it: the far ones, which cost the square of their number, hardly matter.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackError, eigsh
from scipy.spatial import cKDTree

from experiments.drawing.graphs import spread_out
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.validation import Array

_SMALL = 500
_STEPS = 60
_NEAR = 12


def layout(edges: EdgeList) -> Array:
    """Return a place (d, 2) for every vertex, the same for the same graph."""
    adjacency = sparse.csr_array(-edges.laplacian())
    adjacency.setdiag(0.0)
    adjacency.eliminate_zeros()
    if edges.d <= _SMALL:
        return spread_out(adjacency.toarray())
    return _relaxed(adjacency, _vibrations(adjacency))


def _vibrations(adjacency: sparse.csr_array) -> Array:
    """Return the second and third eigenvectors of the normalised adjacency matrix."""
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    scale = 1.0 / np.sqrt(np.maximum(degrees, 1e-12 * degrees.max()))
    normalised = sparse.diags_array(scale) @ adjacency @ sparse.diags_array(scale)
    rng = np.random.default_rng(0)
    try:
        _, vectors = eigsh(
            normalised, k=3, which="LA", v0=rng.standard_normal(len(scale)), tol=1e-3
        )
    except ArpackError:
        vectors = rng.standard_normal((len(scale), 3))
    # Ranks instead of values: most vertices of a sparse graph share a few places otherwise.
    ranks = np.argsort(np.argsort(vectors[:, :2], axis=0, kind="stable"), axis=0, kind="stable")
    return np.asarray(ranks / len(scale) + 1e-3 * rng.standard_normal((len(scale), 2)))


def _relaxed(adjacency: sparse.csr_array, points: Array) -> Array:
    d = len(points)
    pattern = sparse.csr_array((np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr))
    counts = np.maximum(np.asarray(pattern.sum(axis=1)), 1.0)[:, np.newaxis]
    spacing = 1.0 / np.sqrt(d)
    for step in range(_STEPS):
        towards = (pattern @ points) / counts - points
        towards[np.asarray(pattern.sum(axis=1)) == 0] = 0.0
        distances, near = cKDTree(points).query(points, k=_NEAR + 1)
        away = points[:, np.newaxis] - points[near[:, 1:]]
        size = np.maximum(distances[:, 1:], 1e-3 * spacing)
        push = np.sum(away * (spacing / size**2)[..., np.newaxis], axis=1) * spacing / _NEAR
        move = 0.3 * towards + 2.0 * push
        longest = (1.0 - step / _STEPS) * 3 * spacing
        norm = np.linalg.norm(move, axis=1, keepdims=True)
        points = points + move * np.minimum(1.0, longest / np.maximum(norm, 1e-300))
    return points

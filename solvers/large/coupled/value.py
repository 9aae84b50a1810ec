"""The worst transport where γ meets λmax: the top eigenspace apart, the rest by gradients."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import linalg as sparse_linalg

from solvers.large.worst_case import WorstTransport
from wdro_cvx.validation import Array

_ABOVE = 1e-6  # of λmax: how far above it γ stays
_LANCZOS = 1e-9
_ACCURACY = 1e-9  # of residuals; an error costs its square
_MAX_CG = 2000
_MAX_PASSES = 10
_CLOSE = 1e-5


def top_eigenvectors(laplacian: sparse.csr_array, count: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues, in increasing order, and their vectors."""
    start = np.random.default_rng(0).standard_normal(laplacian.shape[0])
    values, vectors = sparse_linalg.eigsh(laplacian, count, which="LA", v0=start, tol=_LANCZOS)
    order = np.argsort(values)
    return values[order], vectors[:, order]


def hard_transport(
    laplacian: sparse.csr_array, points: Array, radius: float, count: int
) -> WorstTransport:
    """Return the worst transport, with ``count`` eigenvectors taken apart."""
    values, vectors = top_eigenvectors(laplacian, count)
    side = laplacian @ points
    along = vectors.T @ side
    rest = side - vectors @ along
    least = float(values[-1]) * (1.0 + _ABOVE)
    gamma, moves, known = least, rest / least, list[tuple[float, float]]()
    for _ in range(_MAX_PASSES):
        moves = _solved(laplacian, rest, gamma, moves, vectors)
        top = along / (gamma - values)[:, np.newaxis]
        length = float(np.sqrt(np.sum(moves**2) + np.sum(top**2)))
        known.append((gamma, 1.0 / length))
        if abs(length / radius - 1.0) <= _CLOSE or (gamma == least and length < radius):
            break
        if len(known) == 1:  # ‖Y‖ falls at least like this
            gamma += (length / radius - 1.0) * (gamma - float(values[-1]))
            continue
        (before, old), (_, new) = known[-2:]
        gamma = max(gamma + (1.0 / radius - new) * (gamma - before) / (new - old), least)
    premium = gamma * radius**2 + float(np.vdot(rest, moves)) + float(np.vdot(along, top))
    moves = moves + vectors @ top
    return WorstTransport(premium, gamma, moves.astype(np.float32), False)


def _solved(
    laplacian: sparse.csr_array, side: Array, gamma: float, found: Array, apart: Array
) -> Array:
    """Solve ``(γI - L)Y = side`` beside the eigenvectors that are taken apart."""
    found = found - apart @ (apart.T @ found)
    rest = side - gamma * found + laplacian @ found
    along = rest.copy()
    square = np.einsum("ij,ij->j", rest, rest)
    goal = (_ACCURACY * float(np.linalg.norm(side))) ** 2
    tiny = float(np.finfo(float).tiny)
    for _ in range(_MAX_CG):
        if float(square.sum()) <= goal:
            break
        image = gamma * along - laplacian @ along
        image -= apart @ (apart.T @ image)  # rounding would grow along these
        step = square / np.maximum(np.einsum("ij,ij->j", along, image), tiny)
        found += step * along
        rest -= step * image
        previous, square = square, np.einsum("ij,ij->j", rest, rest)
        along *= square / np.maximum(previous, tiny)
        along += rest
    return found

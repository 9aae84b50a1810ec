"""Edge weights and Laplacians: the paper's operator 𝒯, its adjoint and the feasible set.

Appendix C of the paper. Edges are ordered as the strict upper triangle, row by row, which is the
paper's own order (its index has a typo, docs/paper.md E8). ``L = 𝒯w`` is a Laplacian for every
``w ≥ 0``, ``Tr L = 2·1ᵀw`` and ``‖L‖_F² = 2‖w‖² + ‖deg‖²``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from wdro_cvx.errors import ProblemError
from wdro_cvx.stacks import column, diagonals, flat, number, set_diagonals
from wdro_cvx.validation import Array, finite_array, real_number, square_matrix

#: Edges per block in sums over edges.
BLOCK = 1024
_ROWS = 128  # per block


@lru_cache(maxsize=8)
def edge_index(d: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the end points ``(i, j)``, ``i < j``, of all ``d(d-1)/2`` edges."""
    heads, tails = np.triu_indices(d, 1)
    heads.flags.writeable = tails.flags.writeable = False
    return heads, tails


def vertex_count(weights: Array) -> int:
    """Return ``d`` from the number of edges ``d(d-1)/2``."""
    m = weights.shape[0]
    d = round((1 + (1 + 8 * m) ** 0.5) / 2)
    if d < 2 or d * (d - 1) // 2 != m:
        raise ProblemError(f"weights must have d(d-1)/2 entries for some d ≥ 2; it has {m}.")
    return d


def laplacian_from_weights(weights: Array) -> Array:
    """Apply 𝒯: return the Laplacian of the graph with these edge weights."""
    if weights.ndim > 1:
        return _stacked_laplacians(weights)
    d = vertex_count(weights)
    squareform = scipy.spatial.distance.squareform
    laplacian = -squareform(weights) if d > 2 else np.full((2, 2), -weights[0])
    set_diagonals(laplacian, 0.0)
    set_diagonals(laplacian, -laplacian.sum(axis=1))
    return np.asarray(laplacian)


def _stacked_laplacians(weights: Array) -> Array:
    d = vertex_count(weights[0])
    heads, tails = edge_index(d)
    laplacians = np.zeros((len(weights), d, d))
    laplacians[:, heads, tails] = laplacians[:, tails, heads] = -weights
    set_diagonals(laplacians, -laplacians.sum(axis=-1))
    return laplacians


def weights_from_laplacian(laplacian: Array) -> Array:
    """Return the edge weights of a symmetric Laplacian (the inverse of 𝒯 on its range)."""
    return -upper_entries(laplacian)


def upper_entries(matrix: Array) -> Array:
    """Return the entries above the diagonal of a matrix, or of each matrix of a stack."""
    if matrix.ndim == 2:
        # Faster than indices.
        return np.asarray(scipy.spatial.distance.squareform(matrix, checks=False))
    heads, tails = edge_index(matrix.shape[-1])
    return np.asarray(matrix[..., heads, tails])


def symmetric_weights(matrix: Array) -> Array:
    """Return the edge weights of the symmetric part of a matrix."""
    # Halved first, because the sum could overflow.
    return upper_entries(matrix) / -2.0 - upper_entries(np.swapaxes(matrix, -1, -2)) / 2


def adjoint(matrix: Array) -> Array:
    """Apply 𝒯*: return ``M_ii + M_jj - M_ij - M_ji`` for every edge."""
    heads, tails = edge_index(matrix.shape[0])
    diagonal = np.diagonal(matrix)
    return np.asarray(
        diagonal[heads] + diagonal[tails] - matrix[heads, tails] - matrix[tails, heads]
    )


def inner(first: Array, second: Array) -> float:
    """Return ``⟨A, B⟩``, summed pairwise to keep digits."""
    return float(np.sum(np.multiply(first, second)))


def edge_blocks(laplacian: Array) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], Array]]:
    """Yield the end points and weights of a Laplacian's edges in blocks."""
    heads, tails = edge_index(laplacian.shape[0])
    weights = -laplacian[heads, tails]
    used = np.flatnonzero(weights)
    for start in range(0, used.size, BLOCK):
        block = used[start : start + BLOCK]
        yield heads[block], tails[block], weights[block]


def degrees(weights: Array) -> Array:
    """Return the weighted degree of every vertex, ``A w``."""
    d = vertex_count(weights)
    heads, tails = edge_index(d)
    return np.asarray(np.bincount(heads, weights, d) + np.bincount(tails, weights, d), float)


def incidence(d: int) -> scipy.sparse.csr_array:
    """Return the unsigned incidence matrix ``A`` (d × m) as a sparse array."""
    heads, tails = edge_index(d)
    m = heads.size
    columns = np.arange(m)
    return scipy.sparse.csr_array(
        (np.ones(2 * m), (np.concatenate([heads, tails]), np.concatenate([columns, columns]))),
        shape=(d, m),
    )


def laplacian_operator(d: int) -> scipy.sparse.csr_array:
    """Return 𝒯 as a sparse (d² × m) matrix acting on ``w``; ``vec`` in either order."""
    heads, tails = edge_index(d)
    m = heads.size
    rows = np.concatenate([heads * d + tails, tails * d + heads, heads * (d + 1), tails * (d + 1)])
    columns = np.tile(np.arange(m), 4)
    values = np.repeat([-1.0, 1.0], 2 * m)
    return scipy.sparse.csr_array((values, (rows, columns)), shape=(d * d, m))


def complete_graph(d: int, trace: float) -> Array:
    """Return the Laplacian of the complete graph with equal weights and the given trace."""
    laplacian = np.full((d, d), -trace / (d * (d - 1)))
    np.fill_diagonal(laplacian, trace / d)
    return laplacian


def project_simplex(point: ArrayLike, total: float, slope: ArrayLike | None = None) -> Array:
    """Project onto the weighted simplex ``{w ≥ 0, slopeᵀw = total}`` in the Euclidean norm.

    Parameters
    ----------
    point : array (m,)
    total : float > 0
    slope : array (m,) of positive numbers, optional
        The coefficients of the equation; all ones if not given.
    """
    start = finite_array("point", point, 1)
    total = real_number("total", total, 0.0, strict=True)
    normal = np.ones_like(start) if slope is None else finite_array("slope", slope, 1)
    if normal.shape != start.shape or normal.min() <= 0:
        raise ProblemError("slope must be positive and of the same length as point.")
    # Adding multiples of the slope does not change the projection. With the maximum at zero, the
    # entries that matter keep their digits.
    start = start - float(np.max(start / normal)) * normal
    # w = (point - θ·slope)₊; the sorted breakpoints point/slope determine the positive entries.
    order = np.argsort(-start / normal)
    sorted_start, sorted_normal = start[order], normal[order]
    thresholds = (np.cumsum(sorted_start * sorted_normal) - total) / np.cumsum(sorted_normal**2)
    last = np.flatnonzero(sorted_start > thresholds * sorted_normal)
    theta = thresholds[last[-1]] if last.size else thresholds[0]
    return np.maximum(start - theta * normal, 0.0)


@dataclass(frozen=True)
class Residuals:
    """The violations of the constraints on Laplacians.

    Each is relative to the trace, or to the largest entry if the trace is not fixed. ``trace`` is
    zero if the trace is not fixed, and ``bounds`` is zero if there are none. ``repair`` is the
    distance to the repaired graph, relative to its norm.
    """

    symmetry: Any
    row_sums: Any
    sign: Any
    trace: Any
    bounds: float = 0.0
    repair: Any = 0.0

    @property
    def largest(self) -> float:
        """The largest violation; NaN if one of them is, so that it is below no tolerance."""
        found = (self.symmetry, self.row_sums, self.sign, self.trace, self.bounds, self.repair)
        return float(np.max(found))


def graph_size(size: Any, target: Any) -> Any:
    """Return the scale of a graph's errors if its trace is not fixed.

    It is at least a millionth of the target trace, because an empty graph has no scale of its own.
    """
    return number(np.maximum(np.maximum(size, 1e-6 * target), np.finfo(float).tiny))


def residuals(laplacian: ArrayLike, trace: float, *, fixed_trace: bool = True) -> Residuals:
    """Return by how much a matrix violates each Laplacian constraint."""
    return violations(
        square_matrix("laplacian", laplacian, error=ProblemError), trace, fixed_trace=fixed_trace
    )


def violations(matrix: Array, trace: Any, *, fixed_trace: bool = True) -> Residuals:
    """Return the :func:`residuals` of a matrix, or of a stack, that has already been validated."""
    # If the trace is not fixed, the graph may be far smaller than the target.
    both, d = (-2, -1), matrix.shape[-1]
    scale = trace if fixed_trace else graph_size(np.abs(matrix).max(axis=both), trace)
    skew = sign = number(np.zeros(matrix.shape[:-2]))
    with np.errstate(over="ignore"):  # entries may be close to overflow
        for start in range(0, d, _ROWS):  # blocks of rows stay in the cache
            rows = matrix[..., start : start + _ROWS, :]
            others = rows - np.swapaxes(matrix[..., start : start + _ROWS], -1, -2)
            # Every pair of entries occurs in both orders, so no absolute value is needed.
            skew = np.maximum(skew, flat(others).max(axis=-1))
            np.copyto(others, rows)
            flat(others)[..., start :: d + 1] = 0.0
            sign = np.maximum(sign, flat(others).max(axis=-1))
        total = diagonals(matrix).sum(axis=-1)
        return Residuals(
            symmetry=number(skew / scale),
            row_sums=number(np.abs(matrix.sum(axis=-1)).max(axis=-1) / scale),
            sign=number(sign / scale),
            trace=number(abs(total - trace) / scale) if fixed_trace else number(0.0 * total),
        )


def nearest_feasible(laplacian: Array, trace: Any) -> Array:
    """Return a Laplacian that is feasible up to rounding and close to the given matrix.

    Only the off-diagonal entries are read. Negative weights become zero. The weights are scaled to
    the trace if one is given; a matrix without positive weights then gives the complete graph. All
    matrices of a stack have positive weights.
    """
    weights = np.maximum(symmetric_weights(laplacian), 0.0)
    if trace is not None:
        largest = weights.max(axis=-1)
        if weights.ndim == 1 and largest <= 0.0:
            return complete_graph(laplacian.shape[0], trace)
        weights /= column(largest)  # so that the sum neither over- nor underflows
        weights *= column(trace / (2 * weights.sum(axis=-1)))
    return laplacian_from_weights(weights)

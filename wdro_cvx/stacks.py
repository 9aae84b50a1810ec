"""Formulas for one problem or for a stack of problems.

A stack has a leading axis: matrices are (B, d, d), vectors (B, d) and numbers (B,). A formula that
reduces over its last axes, and combines numbers with vectors through :func:`column`, serves both.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from wdro_cvx.validation import Array

#: A number, or one for each problem of a stack.
Number = Any


def column(value: Number) -> Any:
    """Return a number in the form in which it combines with vectors."""
    return value[..., np.newaxis] if isinstance(value, np.ndarray) else value


def plane(value: Number) -> Any:
    """Return a number in the form in which it combines with matrices."""
    return value[..., np.newaxis, np.newaxis] if isinstance(value, np.ndarray) else value


def choose(condition: Any, first: Any, second: Any) -> Any:
    """Return ``first`` where the condition holds, else ``second``."""
    if isinstance(condition, np.ndarray):
        return np.where(condition, first, second)
    return first if condition else second


def number(value: Any) -> Any:
    """Return a Python float for one problem, whose arithmetic is fast; an array for a stack."""
    return value if isinstance(value, np.ndarray) and value.ndim else float(value)


def is_zero(value: Number) -> bool:
    """Say whether a coefficient is zero; in a stack an array means that none of them is."""
    return not isinstance(value, np.ndarray) and value == 0.0


def flat(matrix: Array) -> Array:
    """Return the entries of a matrix, or of each matrix of a stack, in one axis."""
    return matrix.ravel() if matrix.ndim == 2 else matrix.reshape(len(matrix), -1)


def diagonals(matrix: Array) -> Array:
    """Return the diagonal of a matrix, or of each matrix of a stack, as a view."""
    return matrix.diagonal(axis1=-2, axis2=-1)


def set_diagonals(matrix: Any, values: Any) -> None:
    """Replace the diagonal of a contiguous matrix, or of each matrix of a stack."""
    if matrix.ndim == 2:
        matrix.flat[:: len(matrix) + 1] = values
    else:
        flat(matrix)[:, :: matrix.shape[-1] + 1] = values


def dot(first: Array, second: Array) -> Any:
    """Return the inner product of two vectors, or of each pair of a stack."""
    return float(first.dot(second)) if first.ndim == 1 else np.vecdot(first, second)


def sums(values: NDArray[np.floating]) -> Any:
    """Return the sums over the last axis, faster than ``sum`` but not pairwise."""
    one = ones(values.shape[-1])
    return values.dot(one) if values.ndim < 3 else values @ one


def some(condition: Any) -> bool:
    """Say whether a condition holds, or holds somewhere in a stack."""
    return bool(condition.any()) if isinstance(condition, np.ndarray) else bool(condition)


def largest_degree(laplacian: Array) -> Any:
    """Return the largest entry on the diagonal of a matrix, or of each matrix of a stack."""
    return number(diagonals(laplacian).max(axis=-1))


def eigen(matrix: Array) -> tuple[Array, Array]:
    """Return the ascending eigenvalues and the eigenvectors of symmetric matrices."""
    if matrix.ndim > 2:
        values, vectors = np.linalg.eigh(matrix)
        return values, vectors
    # LAPACK itself, because NumPy's checks take longer than a small decomposition.
    values, vectors, failed = scipy.linalg.lapack.dsyevd(matrix.T, lower=0)
    if failed:
        raise np.linalg.LinAlgError(f"the eigenvalues of a matrix did not converge ({failed})")
    return values, vectors


@lru_cache(maxsize=16)
def ones(d: int) -> Array:
    """Return d ones; a product with them sums rows faster than ``sum``."""
    found = np.ones(d)
    found.flags.writeable = False
    return found

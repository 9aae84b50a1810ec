"""A lower bound of the logarithm of a determinant, in floating point and never too large."""

from __future__ import annotations

import numpy as np
import scipy

from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)
_SUM = 64 * _EPS  # relative error of pairwise sums and of their terms


def log_det_below(matrix: Array, units: float = 0.0) -> float:
    """Return a lower bound of ``log det A`` for a symmetric matrix; ``-inf`` if none is found.

    With a triangular C close to the inverse of A's Cholesky factor, ``B = CACᵀ`` is close to the
    identity, and ``log det A = log det B - 2 Σ log c_ii``. For a matrix with dominant diagonal
    ``det B ≥ Π (b_ii - Σ_j≠i |b_ij|)`` (Ostrowski 1937). The rounding of the two products is at
    most ``(2d + 4)ε |C||A||C|ᵀ``. Only the row sums of this matrix are needed.

    Parameters
    ----------
    matrix : array (d, d)
    units : float
        The relative error of the entries, in units of rounding; the bound holds for all matrices
        within it.
    """
    d = len(matrix)
    if not np.isfinite(matrix).all():
        return -np.inf
    factor, failed = scipy.linalg.lapack.dpotrf(matrix, lower=True, clean=True)
    if failed:
        return -np.inf
    inverse, failed = scipy.linalg.lapack.dtrtri(factor, lower=True)
    diagonal = np.diagonal(inverse)
    if failed or not np.isfinite(inverse).all() or not diagonal.min() > 0.0:
        return -np.inf
    with np.errstate(over="ignore", invalid="ignore"):
        product = inverse @ matrix @ inverse.T
        sizes = np.abs(inverse)
        sums = sizes @ (np.abs(matrix) @ sizes.sum(axis=0))
        # The sums themselves are accurate to a few times dε, which the second factor covers.
        errors = (2 * d + 8 + units) * _EPS * sums * (1.0 + 8 * d * _EPS)
        rows = np.abs(product).sum(axis=1) * (1.0 + 2 * d * _EPS)
        # b_ii - Σ_j≠i |b_ij| = 2b_ii - Σ_j |b_ij| for positive b_ii.
        margins = 2 * np.diagonal(product) - rows - errors - 8 * _EPS
    if not margins.min() > 0.0:  # NaN included
        return -np.inf
    logs, margin_logs = np.log(diagonal), np.log(margins)
    total = float(margin_logs.sum()) - 2 * float(logs.sum())
    size = float(np.abs(margin_logs).sum()) + 2 * float(np.abs(logs).sum())
    return total - _SUM * size - d * _EPS

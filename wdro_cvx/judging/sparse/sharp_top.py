"""A sharp upper bound of the largest eigenvalue, proved by a factorisation.

If a graph has odd cycles, the top eigenvalue of ``|L|`` may exceed that of L, by a third for a
triangle and by nearly a factor of two for a large complete graph.

If the sparse factorisation ``P(λI - L)Pᵀ = GU`` has pivots D > 0, then with ``U = D(Gᵀ + F)``

    λI - L  =  Pᵀ(GDGᵀ + GDF - E)P,      |E| ≤ c·u·|G||U|,

so no eigenvalue of L exceeds λ by more than the largest row sum of ``|G|D|F|`` plus that of E's
bound. λ comes from Lanczos' method, which need not be accurate: if λ is too small, a pivot is
negative.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse import linalg as sparse_linalg

from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)
_EXCESSES = 1e-6, 1e-4, 1e-2  # relative excesses of λ over the estimate to try
_LANCZOS = 1e-7, 1e-5  # tolerances
_KEPT = 64  # Lanczos vectors; many help with clustered eigenvalues
_MOST_WORK = 2e11  # multiplications within the profile; takes minutes


def sharp_eigenvalue_bound(matrix: sparse.csr_array) -> float:
    """Return an upper bound of all eigenvalues; infinite if it would take too long.

    Parameters
    ----------
    matrix : sparse array (d, d)
        Symmetric positive semidefinite.
    """
    d = matrix.shape[0]
    if d < 4 or _work(matrix) > _MOST_WORK:
        return np.inf
    estimate = _estimate(matrix)
    if not np.isfinite(estimate):
        return np.inf
    for excess in _EXCESSES:
        bound = _proved(matrix, estimate * (1.0 + excess))
        if np.isfinite(bound):
            return bound
    return np.inf


def _estimate(matrix: sparse.csr_array) -> float:
    """Return the largest eigenvalue by Lanczos' method, with a looser tolerance on failure."""
    d = matrix.shape[0]
    start = np.random.default_rng(0).standard_normal(d)
    for accuracy in _LANCZOS:
        try:
            (found,) = sparse_linalg.eigsh(
                matrix, 1, which="LA", v0=start, tol=accuracy, ncv=min(_KEPT, d),
                return_eigenvectors=False,
            )  # fmt: skip
        except sparse_linalg.ArpackError:
            continue
        return float(found)
    return np.inf


def _work(matrix: sparse.csr_array) -> float:
    """Return the number of products of a factorisation that fills the profile of a banded order."""
    order = csgraph.reverse_cuthill_mckee(matrix, symmetric_mode=True)
    place = np.empty_like(order)
    place[order] = np.arange(order.size, dtype=order.dtype)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    reach = place[rows] - place[matrix.indices]
    widths = np.zeros(matrix.shape[0])
    np.maximum.at(widths, rows, reach)
    return float(widths @ widths)


def _proved(matrix: sparse.csr_array, level: float) -> float:
    """Return an upper bound close to ``level``, infinite if a pivot is not positive."""
    shifted = sparse.csc_array(level * sparse.eye_array(matrix.shape[0], format="csr") - matrix)
    try:
        factors = sparse_linalg.splu(
            shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )  # fmt: skip
    except RuntimeError:  # exactly singular
        return np.inf
    if not np.array_equal(factors.perm_r, factors.perm_c):
        return np.inf
    lower, upper = sparse.csr_array(factors.L), sparse.csr_array(factors.U)
    pivots = upper.diagonal()
    if not (np.isfinite(pivots).all() and pivots.min() > 0.0):
        return np.inf
    ones = np.ones(matrix.shape[0])
    size = abs(lower)
    skew = abs(sparse.diags_array(1.0 / pivots, format="csr") @ upper - lower.T)
    asymmetry = _largest(size @ (pivots * (skew @ ones)))
    terms = int(np.diff(lower.indptr).max()) + 8
    error = terms * _EPS * _largest(size @ (abs(upper) @ ones))
    # The rounding of the subtraction from λ and of these sums.
    rounding = 4 * _EPS * (level + float(matrix.diagonal().max()))
    return (level + 1.01 * (asymmetry + 2 * error) + rounding) * (1.0 + 4 * _EPS)


def _largest(sums: Array) -> float:
    return float(sums.max())

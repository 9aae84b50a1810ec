"""An upper bound of the largest eigenvalue of a sparse Laplacian, without eigenvectors.

Collatz and Wielandt: for a nonnegative matrix Q and any v > 0, ``λmax(Q) ≤ max_i (Qv)_i/v_i``. With
``|L| ≤ Q`` entrywise the same number bounds ``λmax(L)``. Products with Q improve it and never make
it worse.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

_EPS = float(np.finfo(float).eps)
_STEPS = 100
_SMALLEST = 1e-250


def longest_row(matrix: sparse.csr_array) -> int:
    """Return the largest number of entries in a row, which bounds the rounding of row sums."""
    return int(np.diff(matrix.indptr).max(initial=0))


def eigenvalue_bound(laplacian: sparse.csr_array) -> float:
    """Return an upper bound of all eigenvalues of the matrix."""
    size = abs(laplacian)
    vector = np.ones(laplacian.shape[0])
    best = np.inf
    for _ in range(_STEPS):
        image = size @ vector
        ratio = float(np.max(image / vector))
        if not ratio < best:
            break
        best = ratio
        if best == 0.0:  # no edge
            break
        # Entries far from the densest part decay, and isolated vertices have a zero image.
        vector = np.maximum(image / float(image.max()), _SMALLEST)
    return best * (1.0 + (longest_row(laplacian) + 8) * _EPS)

"""The worst transport near γ = λmax, by factorisations, which tolerate ill-conditioning."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import linalg as sparse_linalg

from solvers.large.worst_case import WorstTransport, top_bound
from wdro_cvx.validation import Array

_ABOVE = 1e-6  # least distance of γ above λmax, relative to λmax
_LANCZOS = 1e-8, 1e-6, 1e-4  # relative accuracies, tried in this order
_ROUGHLY = 1e-2
_WIDTH = 64  # Lanczos vectors kept
_MAX_PASSES = 10
_CLOSE = 1e-5


def top_eigenvectors(laplacian: sparse.csr_array, count: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues and their eigenvectors, approximately."""
    d = laplacian.shape[0]
    start = np.random.default_rng(0).standard_normal(d)
    width = min(2 * count + _WIDTH, d)
    found: tuple[Array, Array] = sparse_linalg.eigsh(
        laplacian, count, which="LA", v0=start, tol=_ROUGHLY, ncv=width
    )
    return found


def top_value(laplacian: sparse.csr_array) -> float:
    """Return the largest eigenvalue or slightly more; Lanczos is slow on clustered ones."""
    d = laplacian.shape[0]
    start = np.random.default_rng(0).standard_normal(d)
    for accuracy in _LANCZOS:
        try:
            (found,) = sparse_linalg.eigsh(
                laplacian, 1, which="LA", v0=start, tol=accuracy, ncv=min(_WIDTH, d),
                return_eigenvectors=False,
            )  # fmt: skip
        except sparse_linalg.ArpackNoConvergence:
            continue
        return float(found) * (1.0 + accuracy)
    return top_bound(laplacian)


def hard_transport(laplacian: sparse.csr_array, points: Array, radius: float) -> WorstTransport:
    """Return the worst transport; in the hard case, a part of the budget is left unspent.

    The worst case would spend this part in any direction of the top eigenspace.
    """
    top = top_value(laplacian)
    side = np.asarray(laplacian @ points)
    identity = sparse.eye_array(laplacian.shape[0], format="csr")
    least = gamma = top * (1.0 + _ABOVE)
    known: list[tuple[float, float]] = []
    for _ in range(_MAX_PASSES):
        shifted = sparse.csc_array(gamma * identity - laplacian)
        moves = sparse_linalg.splu(shifted, permc_spec="MMD_AT_PLUS_A").solve(side)
        length = float(np.linalg.norm(moves))
        if abs(length / radius - 1.0) <= _CLOSE or (gamma == least and length < radius):
            break
        known.append((gamma, 1.0 / length))
        # ‖Y‖ decays at least like 1/(γ - λmax); 1/‖Y‖ is nearly linear in γ.
        following = gamma + (length / radius - 1.0) * (gamma - top)
        if len(known) > 1:
            (before, old), (_, new) = known[-2:]
            if new != old:
                following = gamma + (1.0 / radius - new) * (gamma - before) / (new - old)
        gamma = min(max(following, least), 2 * gamma)
    premium = gamma * radius**2 + float(np.vdot(side, moves))
    return WorstTransport(premium, gamma, False, moves.astype(np.float32))

"""Fully corrective Frank-Wolfe on the dual, for risks that are not smooth at the optimum.

``max_M min_L ⟨M, L⟩ + η‖L‖²`` over the ambiguity set needs nothing but the worst case: each one
adds an atom, and the best convex combination of the atoms found so far is the next certificate
(Holloway, Math. Program. 1974). It is the last resort for a set that offers nothing better.
"""

from __future__ import annotations

import numpy as np

from solvers.incumbent import Incumbent
from wdro_cvx.laplacian import project_simplex
from wdro_cvx.validation import Array

_MAX_ATOMS = 60
_CORRECTIONS = 30  # gradient steps on the weights of the atoms for each new atom
_SHRINK = 0.5


def bundle_ascent(incumbent: Incumbent, tol: float, max_iterations: int) -> None:
    """Improve the incumbent until its gap is ``tol`` or the limit is reached."""
    laplacian = incumbent.laplacian
    if laplacian is None or incumbent.gap <= tol:
        return
    atoms: list[Array] = []
    shares = np.zeros(0)
    step = 0.0
    if incumbent.certificate is not None:
        atoms, shares = [incumbent.certificate.second_moment], np.ones(1)
    for _ in range(max_iterations):
        worst, _ = incumbent.evaluate(laplacian)
        atoms.append(worst.second_moment)
        shares = np.append(shares, 0.0 if shares.size else 1.0)
        laplacian, shares, step = _correct(incumbent, atoms, shares, step)
        incumbent.evaluate(laplacian)
        incumbent.record()
        if incumbent.gap <= tol:
            return
        kept = shares > 0.0
        if len(atoms) >= _MAX_ATOMS:
            kept &= shares > np.sort(shares)[len(atoms) - _MAX_ATOMS]
        atoms = [atom for atom, keep in zip(atoms, kept, strict=True) if keep]
        shares = shares[kept] / shares[kept].sum()


def _correct(
    incumbent: Incumbent, atoms: list[Array], shares: Array, step: float
) -> tuple[Array, Array, float]:
    """Maximise the bound over convex combinations of the atoms by projected gradient."""
    stack = np.stack(atoms)

    def bound(weights: Array) -> tuple[float, Array, Array]:
        answer = incumbent.bound_by(np.tensordot(weights, stack, axes=1), None)
        gradient = np.tensordot(stack, answer.laplacian, axes=2)
        return answer.bound, gradient, answer.laplacian

    value, gradient, laplacian = bound(shares)
    if step == 0.0:  # the first step may move the shares by as much as they can
        spread = float(np.ptp(gradient))
        step = 1.0 / spread if spread > 0.0 else 1.0
    for _ in range(_CORRECTIONS):
        trial = project_simplex(shares + step * gradient, 1.0)
        change = trial - shares
        if float(np.abs(change).max()) <= 1e-12:
            break
        trial_value, trial_gradient, trial_laplacian = bound(trial)
        if trial_value < value + 1e-4 * float(gradient @ change):
            step *= _SHRINK
            continue
        curvature = float(change @ (gradient - trial_gradient))
        step = float(change @ change) / curvature if curvature > 0 else 2 * step
        shares, value, gradient, laplacian = trial, trial_value, trial_gradient, trial_laplacian
    return laplacian, shares, step

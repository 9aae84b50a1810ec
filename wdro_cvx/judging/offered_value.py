"""The worst-case risk of a Euclidean transport ball from offered moves, rounded upwards.

Let λ̄ be at least all eigenvalues of L. For **any** moves Δ, any γ > λ̄ and ``R = (F + Δ)L - γΔ``,

    max { ‖(F + Δ')L^½‖² : ‖Δ'‖ ≤ ε }  ≤  γε² + ⟨(F + Δ)L, F⟩ + ⟨R, Δ⟩ + ‖R‖²/(γ - λ̄)

because ``⟨ΔL, F⟩ + ⟨R, Δ⟩ + Tr R(γI - L)⁻¹Rᵀ`` is ``Tr FL(γI - L)⁻¹LFᵀ``. If Δ is nearly the worst,
one matrix product proves nearly the exact risk, without eigenvalues. Wrong moves only make the
bound loose; then the caller computes the worst case itself. The bound also covers spread, which
moves rows of zeros appended to F.
"""

from __future__ import annotations

import numpy as np

from wdro_cvx.judging.court import EPS, SUM
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.validation import Array

_POWER_STEPS = 30
_ABOVE = 1e-3  # least relative distance of γ above λ̄
_LOSS, _ROUNDED = 1e-9, 1e-10  # losses relative to the risk that are small enough
_TINY = float(np.finfo(float).tiny)


def risk_bound(nominal: Nominal, laplacian: Array, moved: Array, radius: float) -> float | None:
    """Return an upper bound of the risk that is nearly exact, or None.

    Parameters
    ----------
    nominal : Nominal
    laplacian : array (d, d)
    moved : array (r, d)
        The rows of the nominal factor after the offered moves.
    radius : float > 0
    """
    rows = nominal.factor
    image, moves = moved @ laplacian, moved - rows
    square = float(np.sum(np.square(moves)))
    if not square > 0.0:
        return None
    along = float(np.sum(image * moves))
    gamma, top = along / square, eigenvalue_bound(laplacian)
    if not gamma > top * (1.0 + _ABOVE):
        return None
    start = float(np.sum(image * rows))
    image -= gamma * moves
    left = float(np.sum(image * moves))
    # An entry of the product misses by d roundings of |F + Δ||L|, and ‖|L|‖ ≤ top.
    length = float(np.linalg.norm(rows)) * (1.0 + SUM)
    size = float(np.linalg.norm(moved)) + length
    missed = (len(laplacian) + 16) * EPS * top * size
    rest = float(np.linalg.norm(image)) * (1.0 + SUM) + missed
    loss = rest**2 / ((gamma - top) * (1.0 - 4 * EPS))
    risk = gamma * radius**2 + start + left + loss
    # The last part: an error E of the factor adds at most ‖L‖(2‖E‖(‖F‖ + ε) + ‖E‖²).
    rounding = 2 * missed * size + SUM * (abs(risk) + abs(start) + 2 * abs(along))
    rounding += 4 * nominal.accumulation * top * length * (length + radius)
    found = risk + rounding
    small = loss <= _LOSS * abs(risk) and rounding <= _ROUNDED * abs(risk)
    return found if small and np.isfinite(found) else None


def eigenvalue_bound(laplacian: Array) -> float:
    """Return an upper bound of all eigenvalues, by power steps on ``|L|`` (Collatz, Wielandt)."""
    size = np.abs(laplacian)
    vector, best = np.ones(len(size)), np.inf
    for _ in range(_POWER_STEPS):
        image = size @ vector
        best = min(best, float(np.max(image / vector)))
        vector = np.maximum(image / max(float(image.max()), _TINY), 1e-250)
    return best * (1.0 + (len(size) + 8) * EPS)

"""Split a matrix into the second moment of an uncertain mean and a small rest.

``B = T + Δ`` with ``T = mmᵀ + W``, ``W ⪰ 0``. ``T`` is the second moment of a random mean whose
root mean square distance from ``μ`` is ``√(‖m - μ‖² + Tr W)``. The cheapest splits minimise ``½‖Δ‖²
+ κ(‖m - μ‖² + Tr W)``. With the best ``W`` this is convex in ``m``, and ``Δ`` has the eigenvalues
of ``B - mmᵀ``, cut off at κ.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from wdro_cvx.validation import Array

_REACH, _STRIDE = 34.0, 1.0  # of log κ: between the matrix's size and its rounding
_STATIONARY = 1e-10  # the slope, in units of κ and of the mean's reach
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class MomentSplit:
    """A split: the mean ``m``, and rows with moment ``W`` (None for zero); ``Δ`` is the rest."""

    mean: Array
    spread: Array | None


def split_moment(matrix: Array, mean: Array, mean_radius: float, rest_radius: float) -> MomentSplit:
    """Return the split with the least ``max(distance of T / mean_radius, ‖Δ‖ / rest_radius)``.

    Every split gives an upper bound of the distance; the best split found is returned.
    """
    from scipy.optimize import brentq, minimize  # slow to import, and only needed here

    gap = matrix - np.outer(mean, mean)
    size = float(np.linalg.norm(gap))
    found = MomentSplit(mean, None)
    if size == 0.0:
        return found
    best = size / rest_radius
    unit = mean_radius * best  # no better split moves the mean by more
    start = np.zeros_like(mean)

    def imbalance(log_kappa: float) -> float:
        """Return the log ratio of the two parts; it grows with κ."""
        nonlocal best, start, found
        kappa = size * np.exp(log_kappa)

        def cost(step: Array) -> tuple[float, Array]:
            values, vectors = _spectrum(gap, mean, unit * step)
            low = np.minimum(values, kappa)
            value = 0.5 * float(low @ low) + kappa * float((values - low).sum())
            pull = vectors @ (low * (vectors.T @ (mean / unit + step)))
            slope = 2.0 * (kappa * step - pull)
            return value / (kappa * unit**2) + float(step @ step), slope / kappa

        options = {"maxiter": 500, "ftol": 0.0, "gtol": _STATIONARY}
        start = minimize(cost, start, jac=True, method="L-BFGS-B", options=options).x
        values, vectors = _spectrum(gap, mean, unit * start)
        low = np.minimum(values, kappa)
        far = np.sqrt(unit**2 * float(start @ start) + float((values - low).sum())) / mean_radius
        wide = float(np.linalg.norm(low)) / rest_radius
        if max(far, wide) < best:
            best = max(far, wide)
            spread = values > kappa
            rows = np.sqrt(values[spread] - kappa)[:, np.newaxis] * vectors[:, spread].T
            found = MomentSplit(mean + unit * start, rows if spread.any() else None)
        return float(np.log(max(wide, _TINY)) - np.log(max(far, _TINY)))

    low, high = 0.0, 0.0
    if imbalance(0.0) > 0.0:
        while low > -_REACH and imbalance(low := low - _STRIDE) > 0.0:
            high = low
    else:
        while high < _REACH and imbalance(high := high + _STRIDE) < 0.0:
            low = high
    # Close to the root, rounding may leave no change of sign; the ends are then good enough.
    with suppress(ValueError):
        brentq(imbalance, low, high, xtol=1e-9, maxiter=40, disp=False)
    return found


def _spectrum(gap: Array, mean: Array, step: Array) -> tuple[Array, Array]:
    """Return the eigenvalues and eigenvectors of ``B - mmᵀ`` for the mean moved by a step."""
    cross = np.outer(mean + step / 2, step)
    values, vectors = np.linalg.eigh(gap - cross - cross.T)
    return values, vectors

"""Split a matrix into the second moment of an uncertain mean and a small rest.

``B = T + Δ`` with ``T = mmᵀ + W``, ``W ⪰ 0``, the second moment of a random mean that is
``√(‖m - μ‖² + Tr W)`` from ``μ`` in root mean square. The cheapest splits minimise
``½‖Δ‖² + κ(‖m - μ‖² + Tr W)``, which is convex in ``m`` once the best ``W`` is put in: ``Δ`` has
the eigenvalues of ``B - mmᵀ``, cut off at κ.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy.optimize import brentq, minimize

from wdro_cvx.validation import Array

_REACH, _STRIDE = 34.0, 1.0  # of log κ: from the size of the matrix to its rounding, and back
_STATIONARY = 1e-10  # the slope, in units of κ and of the reach of the mean
_TINY = 1e-300


def split_moment(matrix: Array, mean: Array, mean_radius: float, rest_radius: float) -> float:
    """Return the least ``max(distance of T / mean_radius, ‖Δ‖ / rest_radius)`` over the splits.

    Every split gives an upper bound; the least of those that were met is returned.
    """
    gap = matrix - np.outer(mean, mean)
    size = float(np.linalg.norm(gap))
    if size == 0.0:
        return 0.0
    best = size / rest_radius
    unit = mean_radius * best  # no better split moves the mean by more
    start = np.zeros_like(mean)

    def imbalance(log_kappa: float) -> float:
        """Return the log ratio of the two parts; it grows with κ."""
        nonlocal best, start
        kappa = size * np.exp(log_kappa)

        def cost(step: Array) -> tuple[float, Array]:
            rest, spread = _rest(gap, mean, unit * step, kappa)
            value = 0.5 * float(np.vdot(rest, rest)) + kappa * spread
            slope = 2.0 * (kappa * step - rest @ (mean / unit + step))
            return value / (kappa * unit**2) + float(step @ step), slope / kappa

        options = {"maxiter": 500, "ftol": 0.0, "gtol": _STATIONARY}
        start = minimize(cost, start, jac=True, method="L-BFGS-B", options=options).x
        rest, spread = _rest(gap, mean, unit * start, kappa)
        far = np.sqrt(unit**2 * float(start @ start) + spread) / mean_radius
        wide = float(np.linalg.norm(rest)) / rest_radius
        best = min(best, max(far, wide))
        return float(np.log(max(wide, _TINY)) - np.log(max(far, _TINY)))

    low, high = 0.0, 0.0
    if imbalance(0.0) > 0.0:
        while low > -_REACH and imbalance(low := low - _STRIDE) > 0.0:
            high = low
    else:
        while high < _REACH and imbalance(high := high + _STRIDE) < 0.0:
            low = high
    # Without a change of sign, which rounding may undo close to the root, the ends are as good.
    with suppress(ValueError):
        brentq(imbalance, low, high, xtol=1e-9, maxiter=40, disp=False)
    return best


def _rest(gap: Array, mean: Array, step: Array, kappa: float) -> tuple[Array, float]:
    """Return Δ for the best W, and the trace of W."""
    cross = np.outer(mean + step / 2, step)
    values, vectors = np.linalg.eigh(gap - cross - cross.T)
    rest = (vectors * np.minimum(values, kappa)) @ vectors.T
    return rest, float(np.maximum(values - kappa, 0.0).sum())

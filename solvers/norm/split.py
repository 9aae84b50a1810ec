"""The proximal step of Theorem 3's regulariser, which splits prices, and its derivative.

Minimising ``η‖v‖² + ε‖v‖_q - ⟨Y, v⟩`` over v is Moreau's decomposition: ``Y = 2ηv + Δ``, with Δ the
projection of ``Y`` onto ``{‖Δ‖_p ≤ ε}``, ``1/p + 1/q = 1``. For ``1 < q < ∞`` it has one unknown,
``σ = 2η‖v‖_q/ε``. With ``v = ‖v‖_q·z`` and ``Δ = ε·ζ`` it reads

    σz + ζ = Y/ε,    ζ = z^{q-1},    ‖z‖_q = ‖ζ‖_p = 1

All powers are of numbers of order at most 1, so q near 1 and large q are numerically safe.

If v is restricted to intervals, z solves the equation and is clipped to ``2η/εσ`` times their ends.
Both z and the clipping bounds decrease in σ, so σ is still unique. A clipped entry is constant in
``Y``, so its slope is 0. The rest of its price, beyond ``2ηv + Δ``, is the bound's multiplier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.graphs.laplacian import project_simplex
from wdro_cvx.validation import Array

_MAX_STEPS = 100
_CLOSE = 0.3  # relative error of the entries below which σ is updated too
_TOL = 1e-12  # relative error of ``‖z‖_q^q = 1`` and of every entry's equation; times max(p, q)


@dataclass(frozen=True)
class Split:
    """Prices split into ``2ηv + Δ``. The derivative ``2η·∂v/∂Y`` is ``diag(slopes) + weight·bbᵀ``.

    Attributes
    ----------
    values, shift : arrays (n,)
        v, and Δ with p-norm at most ε (up to rounding).
    slopes, b : arrays (n,)
        The slopes are between 0 and 1.
    weight : float
    """

    values: Array
    shift: Array
    slopes: Array
    b: Array
    weight: float


@dataclass(frozen=True)
class Box:
    """Intervals of the values, with nonnegative ends.

    Attributes
    ----------
    lower, upper : arrays (n,)
        ``upper`` may be infinite. An entry without an interval has 0 and ∞ and keeps its sign.
    """

    lower: Array
    upper: Array

    def clip(self, values: Array, scale: float) -> tuple[Array, NDArray[np.bool_]]:
        """Clip values to ``scale`` times the ends; also return which of them were clipped."""
        lower, upper = scale * self.lower, scale * self.upper
        return np.clip(values, lower, upper), (values < lower) | (values > upper)


def split_largest(
    prices: Array, d: int, radius: float, eta: float, box: Box | None = None
) -> Split:
    """Split prices for p = 1; only the first ``d`` entries can be the largest."""
    shift = np.zeros_like(prices)
    shift[:d] = radius * project_simplex(prices[:d] / radius, 1.0)
    tied = (shift > 0.0).astype(float)
    # No entry is tied if the radius is below the rounding of the prices.
    weight = 1.0 / max(float(tied.sum()), 1.0)
    values, slopes = (prices - shift) / (2 * eta), 1.0 - tied
    if box is not None:
        values[d:], cut = Box(box.lower[d:], box.upper[d:]).clip(values[d:], 1.0)
        slopes[d:][cut] = 0.0
    return Split(values, shift, slopes, tied, weight)


def split_norm(
    prices: Array, copies: Array, q: float, radius: float, eta: float, box: Box | None = None
) -> Split:
    """Split prices for 1 < q < ∞; entry k counts ``copies[k]`` times."""
    sizes, signs = np.abs(prices) / radius, np.sign(prices)
    if box is not None:
        kept = box.lower > 0.0  # positive even if the price is negative
        sizes[kept & (prices < 0.0)] = 0.0
        signs[kept] = 1.0
        unit = 2 * eta / radius
        box = Box(unit * box.lower, unit * box.upper)
    found = project(sizes, copies, q, box)
    if found.sigma == 0.0:
        zeros = np.zeros_like(prices)
        return Split(zeros, prices, zeros, zeros, 0.0)
    return Split(
        values=signs * found.z * (found.sigma * radius / (2 * eta)),
        shift=signs * found.zeta * radius,
        slopes=found.slopes,
        b=signs * found.slopes * found.zeta,
        weight=(q - 1.0) / (found.sigma * float(found.pull @ found.z)),
    )


class Projection(NamedTuple):
    """Result of :func:`project`: σ, z, ζ, ``σ·∂z/∂y`` and ``-σ·∂(Σ copies·z^q)/∂σ`` by entry."""

    sigma: float
    z: Array
    zeta: Array
    slopes: Array
    pull: Array  # to be multiplied by z; divided by q


def project(y: Array, copies: Array, q: float, box: Box | None = None) -> Projection:
    """Solve ``σz + ζ = y``, ``ζ = z^{q-1}``, ``Σ copies·z^q = 1`` for σ, z and ζ, given ``y ≥ 0``.

    Inside the unit ball of the p-norm, σ is 0 and ζ is y. A ``box`` restricts σz to intervals.

    The unknown x is z or ζ, chosen so that the equation is convex: ``αx + βx^r = y``, ``r ≥ 1``.
    Newton then stays above the root without cancellation, so tiny entries are as accurate as large
    ones. Newton also updates σ. For q ≤ 2 it is applied to ``1/‖z‖_q``, which is nearly linear in
    σ; for q > 2 to ``‖ζ‖_p``, which is convex, so no step overshoots.
    """
    p = q / (q - 1.0)
    norm = weighted_norm(y, copies, p)
    if norm <= 1.0 and (box is None or not box.lower.any()):
        zeros = np.zeros_like(y)
        return Projection(0.0, zeros, y, zeros, zeros)
    if q == 2.0 and box is None:
        z, slopes = y / norm, np.full_like(y, 1.0 - 1.0 / norm)
        return Projection(norm - 1.0, z, z, slopes, copies * z * slopes)
    r, tol = max(p, q) - 1.0, _TOL * max(p, q)
    root = _power(y, 1.0 / r)
    low, high = _bracket(y, copies, q, box)
    sigma, last = high, np.inf
    alpha, beta = (sigma, 1.0) if q > 2.0 else (1.0, sigma)
    x = np.minimum(y / alpha, root * beta ** (-1.0 / r))
    for _ in range(_MAX_STEPS):
        bend = _power(x, r - 1.0)
        stiffness = alpha + r * beta * bend
        excess = (alpha + beta * bend) * x - y
        if q > 2.0:
            z, zeta, slopes = x, bend * x, alpha / stiffness
        else:
            z, zeta, slopes = bend * x, x, r * beta * bend / stiffness
        pull = copies * zeta * slopes
        if box is not None:
            z, cut = box.clip(z, 1.0 / sigma)
            zeta = np.where(cut, _power(z, q - 1.0), zeta)
            slopes = np.where(cut, 0.0, slopes)
            pull = np.where(cut, copies * zeta, pull)
        total = float(copies @ (z * zeta))
        if abs(total - 1.0) <= tol and np.all(excess <= tol * y):
            break
        if np.all(excess <= _CLOSE * y):
            # Predict the total at the roots for this σ from their next Newton step.
            drift = pull @ excess if box is None else (pull * ~cut) @ excess
            ahead = max(total - q / sigma * float(drift), 0.1 * total)
            step = p / q * (1.0 - ahead ** (-1.0 / p)) if q > 2.0 else ahead ** (1.0 / q) - 1.0
            ratio = max(1.0 + ahead * step / float(pull @ z), 0.01)
            if box is not None:
                # Clipping or releasing an entry bends both functions the other way. The total gives
                # a bound on σ, since x exceeds its root by at most the error of its equation.
                far = float(np.max(excess[y > 0.0] / y[y > 0.0], initial=0.0))
                if total <= 1.0:
                    high = sigma
                elif total > (1.0 + far) ** (r + 1.0):
                    low = sigma
                if not low < ratio * sigma < high or abs(np.log(ratio)) > last / 2:
                    ratio = max(np.sqrt(low * high), 0.1 * high) / sigma
                last = abs(np.log(ratio))
            sigma = min(max(sigma * ratio, low), high)
            alpha, beta = (sigma, 1.0) if q > 2.0 else (1.0, sigma)
        x = (y + (r - 1.0) * beta * bend * x) / (alpha + r * beta * bend)
        x = np.minimum(x, root * beta ** (-1.0 / r))  # an upper bound, in case x was below the root
    return Projection(sigma, z, zeta, slopes, pull)


def _bracket(y: Array, copies: Array, q: float, box: Box | None) -> tuple[float, float]:
    """Return bounds on σ, from ``σz + ζ = y`` and the ordering of the norms.

    They are ``‖y‖_t - 1 ≤ σ ≤ ‖y‖_q`` with t = max(p, q). With a box, y is first clipped to it: σz
    is at most the clipped y, and σz + ζ at least. Also, ``σ = ‖σz‖_q`` is at least the norm of the
    lower ends.
    """
    p = q / (q - 1.0)
    least = 0.0
    if box is not None:
        y, least = box.clip(y, 1.0)[0], weighted_norm(box.lower, copies, q)
    high = weighted_norm(y, copies, q)
    low = weighted_norm(y, copies, p) if q < 2.0 else high
    return max(low - 1.0, least), high


def weighted_norm(entries: Array, copies: Array, p: float) -> float:
    """Return ``(Σ copies·|entries|^p)^{1/p}``, or the largest entry for p = ∞."""
    sizes = np.abs(entries)
    top = float(sizes.max())
    if top == 0.0 or np.isinf(p):
        return top
    return top * float(copies @ _power(sizes / top, p)) ** (1.0 / p)


def _power(x: Array, exponent: float) -> Array:
    """Return ``x**exponent`` for nonnegative arguments; this is faster than NumPy's ``**``."""
    if exponent == 2.0:
        return x * x
    if exponent == 0.0:
        return np.ones_like(x)
    with np.errstate(divide="ignore"):
        return np.exp(exponent * np.log(x))

"""Prices split by a norm: the proximal step of Theorem 3's regulariser, with its derivative.

Minimising ``η‖v‖² + ε‖v‖_q - ⟨Y, v⟩`` over v is Moreau's decomposition: ``Y = 2ηv + Δ`` with Δ the
projection of ``Y`` onto ``{‖Δ‖_p ≤ ε}``, ``1/p + 1/q = 1``. For ``1 < q < ∞`` it has one unknown,
``σ = 2η‖v‖_q/ε``: with ``v = ‖v‖_q·z`` and ``Δ = ε·ζ`` it reads

    σz + ζ = Y/ε,    ζ = z^{q-1},    ‖z‖_q = ‖ζ‖_p = 1

so that q near 1 and large q are no trouble: all powers are of numbers of order 1 and below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wdro_cvx.laplacian import project_simplex
from wdro_cvx.validation import Array

_MAX_STEPS = 100
_CLOSE = 0.3  # relative error of the entries below which σ moves along with them
_TOL = 1e-12  # relative, of ``‖z‖_q^q = 1`` and of every entry's equation; in proportion to p and q


@dataclass(frozen=True)
class Split:
    """Prices split into ``2ηv + Δ``. The derivative ``2η·∂v/∂Y`` is ``diag(slopes) + weight·bbᵀ``.

    Attributes
    ----------
    values, shift : arrays (n,)
        v, and Δ of p-norm ε (to rounding) or less.
    slopes, b : arrays (n,)
        Slopes are between 0 and 1.
    weight : float
    """

    values: Array
    shift: Array
    slopes: Array
    b: Array
    weight: float


def split_largest(prices: Array, d: int, radius: float, eta: float) -> Split:
    """Split prices for p = 1, where only the first ``d`` entries can be the largest."""
    shift = np.zeros_like(prices)
    shift[:d] = radius * project_simplex(prices[:d] / radius, 1.0)
    tied = (shift > 0.0).astype(float)
    # A radius that is lost in the rounding of the prices leaves no entry tied.
    weight = 1.0 / max(float(tied.sum()), 1.0)
    return Split((prices - shift) / (2 * eta), shift, 1.0 - tied, tied, weight)


def split_norm(prices: Array, copies: Array, q: float, radius: float, eta: float) -> Split:
    """Split prices for 1 < q < ∞, where entry k counts ``copies[k]`` times."""
    signs = np.sign(prices)
    sigma, z, zeta, slopes = project(np.abs(prices) / radius, copies, q)
    if sigma == 0.0:
        zeros = np.zeros_like(prices)
        return Split(zeros, prices, zeros, zeros, 0.0)
    mass = copies * z * zeta
    return Split(
        values=signs * z * (sigma * radius / (2 * eta)),
        shift=signs * zeta * radius,
        slopes=slopes,
        b=signs * slopes * zeta,
        weight=(q - 1.0) / (sigma * float(mass @ slopes)),
    )


def project(y: Array, copies: Array, q: float) -> tuple[float, Array, Array, Array]:
    """Solve ``σz + ζ = y``, ``ζ = z^{q-1}``, ``Σ copies·z^q = 1`` for σ, z and ζ, given ``y ≥ 0``.

    Also returns ``σ·∂z/∂y`` for fixed σ. Inside the unit ball of the p-norm σ is 0 and ζ is y.

    Of z and ζ the unknown x is the one in which the equation is convex, ``αx + βx^r = y`` with
    ``r > 1``: Newton then stays above the root, without cancellation, so that tiny entries are as
    accurate as large ones. σ moves along, also by Newton: for q < 2 on ``1/‖z‖_q``, which is nearly
    linear in it, for q > 2 on ``‖ζ‖_p``, which is convex, so that no step overshoots.
    """
    p = q / (q - 1.0)
    norm = weighted_norm(y, copies, p)
    if norm <= 1.0:
        return 0.0, np.zeros_like(y), y, np.zeros_like(y)
    if q == 2.0:
        return norm - 1.0, y / norm, y / norm, np.full_like(y, 1.0 - 1.0 / norm)
    r, tol = max(p, q) - 1.0, _TOL * max(p, q)
    root = _power(y, 1.0 / r)
    # From y = σz + ζ and the order of the norms: σ ≤ ‖y‖_q, and σ ≥ ‖y‖_t - 1 for t = max(p, q).
    sigma = high = weighted_norm(y, copies, q)
    low = max(norm if q < 2.0 else high, 1.0) - 1.0
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
        total = float(copies @ (z * zeta))
        if abs(total - 1.0) <= tol and np.all(excess <= tol * y):
            break
        if np.all(excess <= _CLOSE * y):
            pull = copies * zeta * slopes
            # What the total will be at the roots for this σ, by their next step.
            ahead = max(total - q / sigma * float(pull @ excess), 0.1 * total)
            step = p / q * (1.0 - ahead ** (-1.0 / p)) if q > 2.0 else ahead ** (1.0 / q) - 1.0
            ratio = 1.0 + ahead * step / float(pull @ z)
            sigma = min(max(sigma * max(ratio, 0.01), low), high)
            alpha, beta = (sigma, 1.0) if q > 2.0 else (1.0, sigma)
        x = (y + (r - 1.0) * beta * bend * x) / (alpha + r * beta * bend)
        x = np.minimum(x, root * beta ** (-1.0 / r))  # an upper bound, should x have been low
    return sigma, z, zeta, slopes


def weighted_norm(entries: Array, copies: Array, p: float) -> float:
    """Return ``(Σ copies·|entries|^p)^{1/p}``, or the largest entry for p = ∞."""
    sizes = np.abs(entries)
    top = float(sizes.max())
    if top == 0.0 or np.isinf(p):
        return top
    return top * float(copies @ _power(sizes / top, p)) ** (1.0 / p)


def _power(x: Array, exponent: float) -> Array:
    """Return ``x**exponent`` for ``x ≥ 0`` and a positive exponent, in half of NumPy's time."""
    if exponent == 2.0:
        return x * x
    with np.errstate(divide="ignore"):
        return np.exp(exponent * np.log(x))

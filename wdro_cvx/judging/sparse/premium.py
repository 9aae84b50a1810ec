"""An upper bound of the robustness premium of a sparse Laplacian.

Let λ̄ be at least all eigenvalues of L. For **any** γ > λ̄ and **any** Y, with ``B = LF`` and
``R = B - (γI - L)Y``,

    max { ‖L^½(F + Δ)‖² : ‖Δ‖ ≤ ε } - ‖L^½F‖²  ≤  γε² + ⟨B + R, Y⟩ + ‖R‖²/(γ - λ̄)

where F and Y have a row per vertex. Both sides are equal for the best γ and R = 0. The power method
``Δ ← ε·L(F + Δ)/‖L(F + Δ)‖`` converges to the worst transport and gives γ and Y. If it is slow,
Chebyshev's iteration improves Y. The inequality holds even if neither has converged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from wdro_cvx.judging.sparse.sharp_top import sharp_eigenvalue_bound
from wdro_cvx.judging.sparse.top import eigenvalue_bound, longest_row
from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)
_TINY = float(np.finfo(float).tiny)
_SUM = 64 * _EPS  # relative error of pairwise sums
_LARGEST_EXPONENT = 1000  # of units, so that they and their inverses are ordinary numbers
_WIDTH = 32  # columns at a time
_SWEEPS = 30
_CHEBYSHEV = 400
_ABOVE = 1e-3  # the least γ is λ̄·(1 + _ABOVE)
_NEXT = 1e-6  # the same if Y comes from a factorisation
_FACTORISATIONS = 8
_CLOSE = 1e-5
_LOSS = 1e-9  # a relative loss that is not worth another sweep


@dataclass(frozen=True, eq=False)
class Premium:
    """An upper bound of the premium, with its transport.

    Attributes
    ----------
    value : float
    multiplier : float
        γ; infinite if nothing moves.
    moves : array (d, r)
        Nearly the worst moves, of norm ε.
    top : float
        λ̄.
    """

    value: float
    multiplier: float
    moves: Array
    top: float


def premium_bound(
    laplacian: sparse.csr_array, points: Array, radius: float, start: Array | None = None
) -> Premium:
    """Return the bound; a good ``start`` for the moves saves sweeps.

    The start is overwritten to avoid a large copy.
    """
    # The bound is proportional to the Laplacian. Squares of a small one would underflow, so it is
    # measured in a power of two near its largest entry.
    exponent = math.frexp(float(np.abs(laplacian.data).max(initial=0.0)))[1]
    unit = math.ldexp(1.0, min(max(exponent, -_LARGEST_EXPONENT), _LARGEST_EXPONENT))
    found = _scaled_premium(laplacian / unit, points, radius, start)
    return Premium(found.value * unit, found.multiplier * unit, found.moves, found.top * unit)


def _scaled_premium(
    laplacian: sparse.csr_array, points: Array, radius: float, start: Array | None
) -> Premium:
    """Return the bound for a Laplacian of ordinary size."""
    top = eigenvalue_bound(laplacian)
    if radius == 0.0 or top <= _TINY:
        return Premium(0.0, np.inf, np.zeros_like(points), top)
    moves = np.zeros_like(points) if start is None else start
    gamma, loss = top, np.inf
    for _ in range(_SWEEPS):
        gamma, loss = _sweep(laplacian, points, moves, radius)
        if gamma > top and loss <= _LOSS * (gamma - top) * gamma * radius**2:
            break
    if gamma <= top * (1.0 + _ABOVE):  # γ is close to λ̄; a sharper λ̄ may help
        sharp = sharp_eigenvalue_bound(laplacian)
        top = min(top, sharp)
        for _ in range(_SWEEPS):
            if gamma > top and loss <= _LOSS * (gamma - top) * gamma * radius**2:
                break
            gamma, loss = _sweep(laplacian, points, moves, radius)
        if gamma <= top * (1.0 + _ABOVE) and np.isfinite(sharp):
            found = _next_to_top(laplacian, points, moves, radius, gamma, top)
            if np.isfinite(found.value):
                return found
    gamma = max(gamma, top * (1.0 + _ABOVE))
    value = _bound(laplacian, points, moves, radius, gamma, top)
    return Premium(value, gamma, moves, top)


def _next_to_top(
    laplacian: sparse.csr_array,
    points: Array,
    moves: Array,
    radius: float,
    gamma: float,
    top: float,
) -> Premium:
    """Return the bound for γ close to λmax, with Y from factorisations because iterations are slow.

    The search looks for γ with ``‖Y‖ = ε``; γ is next to λ̄ if Y is shorter even there. The bound
    is infinite if the factorisations fail.
    """
    least = top * (1.0 + _NEXT)
    gamma, side = max(gamma, least), np.asarray(laplacian @ points)
    identity = sparse.eye_array(laplacian.shape[0], format="csr")
    best, chosen, known = np.inf, gamma, list[tuple[float, float]]()
    for _ in range(_FACTORISATIONS):
        shifted = sparse.csc_array(gamma * identity - laplacian)
        try:
            found = splu(shifted, permc_spec="MMD_AT_PLUS_A").solve(side)
        except RuntimeError:  # singular to rounding
            break
        length = float(np.linalg.norm(found))
        value = _bound(laplacian, points, found, radius, gamma, top)
        if value < best:
            best, chosen = value, gamma
            moves[:] = found * (radius / max(length, radius))
        if abs(length / radius - 1.0) <= _CLOSE or (gamma == least and length <= radius):
            break
        known.append((gamma, 1.0 / max(length, _TINY)))  # the length is zero if L·points is
        following = gamma * (1.0 + _ABOVE) if length > radius else least
        if len(known) > 1 and known[-1][1] != known[-2][1]:
            rise = (known[-1][0] - known[-2][0]) / (known[-1][1] - known[-2][1])
            following = gamma + (1.0 / radius - known[-1][1]) * rise
        gamma = max(following, least)
    return Premium(best, chosen, moves, top)


def _sweep(
    laplacian: sparse.csr_array, points: Array, moves: Array, radius: float
) -> tuple[float, float]:
    """Make one power step in place; return γ and ``‖R‖²`` of the moves before it."""
    square = along = images = 0.0
    for part in _parts(points):
        old = moves[:, part]
        image = laplacian @ (points[:, part] + old)
        square += float(np.sum(old**2))
        along += float(np.sum(old * image))
        images += float(np.sum(image**2))
        moves[:, part] = image
    moves *= radius / max(float(np.sqrt(images)), _TINY)
    if square == 0.0:
        return 0.0, np.inf
    gamma = along / square
    return gamma, max(images - gamma * along, 0.0)


def _bound(
    laplacian: sparse.csr_array,
    points: Array,
    moves: Array,
    radius: float,
    gamma: float,
    top: float,
) -> float:
    """Return the right-hand side of the inequality, rounded upwards."""
    rounding = (2 * longest_row(laplacian) + 16) * _EPS
    room = (gamma - top) * (1.0 - 4 * _EPS)
    share = _LOSS * room * gamma * radius**2 / points.shape[1]
    form, left, slack = gamma * radius**2, 0.0, 0.0
    for part in _parts(points):
        columns = np.ascontiguousarray(points[:, part])
        side = laplacian @ columns
        found = np.ascontiguousarray(moves[:, part])
        found = _refined(laplacian, side, found, gamma, top, share * columns.shape[1])
        rest = side - gamma * found + laplacian @ found
        sizes = [float(np.linalg.norm(array)) for array in (columns, side, found, rest)]
        form += float(np.sum((side + rest) * found))
        missed = rounding * (top * sizes[0] + (gamma + top) * sizes[2])
        slack += (2 * missed + _SUM * (sizes[1] + sizes[3])) * sizes[2]
        left += (sizes[3] * (1.0 + _SUM) + missed) ** 2
    return (form + slack + left / room) * (1.0 + _SUM)


def _refined(
    laplacian: sparse.csr_array, side: Array, found: Array, gamma: float, top: float, goal: float
) -> Array:
    """Reduce ``‖side - (γI - L)Y‖²`` below a goal by Chebyshev's iteration on [γ - λ̄, γ]."""
    rest = side - gamma * found + laplacian @ found
    middle, reach = gamma - top / 2, top / 2
    ratio = reach / middle
    step = rest / middle
    for _ in range(_CHEBYSHEV):
        if float(np.sum(rest**2)) <= goal:
            break
        found = found + step
        rest = rest - gamma * step + laplacian @ step
        following = 1.0 / (2 * middle / reach - ratio)
        step = following * ratio * step + (2 * following / reach) * rest
        ratio = following
    return found


def _parts(points: Array) -> list[slice]:
    return [slice(first, first + _WIDTH) for first in range(0, points.shape[1], _WIDTH)]

"""The worst transport against a sparse Laplacian: conjugate gradients instead of eigenvectors.

    premium(L) = min_{γ > λmax} γε² + Tr BᵀA⁻¹B,    A = γI - L,  B = LZ   (one row per vertex)

``Y = A⁻¹B`` is solved a few columns at a time; γ is chosen such that ``‖Y‖ = ε``. Errors in both
enter only squared: with ``R = B - AY``, ``Tr BᵀA⁻¹B = ⟨B + R, Y⟩ + Tr RᵀA⁻¹R``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import linalg as sparse_linalg

from solvers.control.deadline import tick
from wdro_cvx.validation import Array

Single = NDArray[np.float32]

_CHUNK = 32
_MAX_CG = 400
_MAX_PASSES = 12
_POWER_STEPS = 30
_ABOVE = 1e-3  # least distance of γ above λmax, relative to λmax
_LANCZOS = 1e-5
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class Worst:
    """A worst case.

    Attributes
    ----------
    premium : float
        What it adds to the risk; exceeds the exact premium by at most the requested accuracy.
    multiplier : float
        γ; infinite if nothing moves.
    closed : bool
        Whether γ was found above λmax; in the hard case it is not.
    """

    premium: float
    multiplier: float
    closed: bool


@dataclass(frozen=True, eq=False)
class WorstTransport(Worst):
    """An approximate worst transport.

    Attributes
    ----------
    moves : array (d, r) of single precision
        How far every entry moves, with Frobenius norm ε. Single precision saves memory, and
        rounding enters only squared, because the worst moves are stationary.
    spread : array (d, s) or None
        In the hard case, the part of the budget that spreads mass in both directions.
    products : int
        The number of products of the Laplacian with a vector that it took.
    """

    moves: Single
    spread: Array | None = None
    products: int = 0


def top_bound(laplacian: sparse.csr_array) -> float:
    """Return an upper bound of the largest eigenvalue (Collatz and Wielandt).

    ``|L|`` is a nonnegative matrix, so ``max_i (|L|v)_i / v_i`` is an upper bound for every v > 0.
    Power steps make it sharper.
    """
    size = abs(laplacian)
    vector = np.ones(laplacian.shape[0])
    best = np.inf
    for _ in range(_POWER_STEPS):
        image = size @ vector
        best = min(best, float(np.max(image / vector)))
        vector = np.maximum(image / max(image.max(), _TINY), 1e-250)
    return best


def top_estimate(laplacian: sparse.csr_array) -> float:
    """Return an accurate largest eigenvalue (Lanczos), for when its upper bound is too loose."""
    start = np.random.default_rng(0).standard_normal(laplacian.shape[0])
    try:
        (found,) = sparse_linalg.eigsh(
            laplacian, 1, which="LA", v0=start, tol=_LANCZOS, return_eigenvectors=False
        )
    except (sparse_linalg.ArpackError, TypeError):  # Lanczos needs more than two vertices
        return np.inf
    return float(found) * (1.0 + _LANCZOS)


def worst_transport(
    laplacian: sparse.csr_array,
    points: Array,
    radius: float,
    accuracy: float,
    start: tuple[float, Single] | None = None,
) -> WorstTransport:
    """Return the worst transport to a relative accuracy of the premium.

    Parameters
    ----------
    laplacian : sparse array (d, d)
    points : array (d, r)
    radius : float ≥ 0
    accuracy : float
    start : (multiplier, moves), optional
        From a similar Laplacian.
    """
    if radius == 0.0:
        return WorstTransport(0.0, np.inf, True, np.zeros(points.shape, np.float32))
    top = top_bound(laplacian)
    size, centre = _first_moments(laplacian, points)
    if size == 0.0:
        return WorstTransport(radius**2 * top, top, False, np.zeros(points.shape, np.float32))
    gamma, guess = size / radius + centre, None
    if start is not None and np.isfinite(start[0]):
        gamma, guess = start
    sharp = gamma <= top * (1.0 + _ABOVE)
    if sharp:
        top = min(top, top_estimate(laplacian))
    gamma = max(gamma, top * (1.0 + _ABOVE))
    near = float(np.sqrt(accuracy))
    known: list[tuple[float, float]] = []
    products = 0
    while True:
        # How much the residuals may add to the premium, relative to its part γε².
        allowed = accuracy * gamma * radius**2 * (gamma - top)
        moves, length, form, rest, took = _solved(laplacian, points, gamma, guess, near, allowed)
        products += took
        premium = gamma * radius**2 + form + rest / (gamma - top)
        moves *= radius / length
        known.append((gamma, 1.0 / length))
        following = _next_multiplier(known, size, radius)
        close = abs(length / radius - 1.0) <= near
        if not (close or sharp) and following <= top * (1.0 + _ABOVE):
            sharp, top = True, min(top, top_estimate(laplacian))
        following = max(following, top * (1.0 + _ABOVE))
        if close or following == gamma or len(known) == _MAX_PASSES:
            return WorstTransport(premium, gamma, close, moves, products=products)
        gamma, guess = following, moves


def _next_multiplier(known: list[tuple[float, float]], size: float, radius: float) -> float:
    """Return the γ at which ``1/‖Y‖ = 1/ε``; ``1/‖Y‖`` is nearly linear in γ."""
    gamma, inverse = known[-1]
    if len(known) == 1:
        return gamma + size * (1.0 / radius - inverse)
    before, inverse_before = known[-2]
    rise = inverse - inverse_before
    return gamma + (1.0 / radius - inverse) * (gamma - before) / rise if rise != 0.0 else gamma


def _first_moments(laplacian: sparse.csr_array, points: Array) -> tuple[float, float]:
    """Return ``b = ‖B‖`` and ``c = ⟨B, LB⟩/b²``; for large γ, ``‖Y‖ ≈ b/(γ - c)``."""
    square = cross = 0.0
    for part in _parts(points):
        image = laplacian @ points[:, part]
        square += float(np.vdot(image, image))
        cross += float(np.vdot(image, laplacian @ image))
    return float(np.sqrt(square)), cross / max(square, _TINY)


def _solved(
    laplacian: sparse.csr_array,
    points: Array,
    gamma: float,
    start: Single | None,
    accuracy: float,
    allowed: float,
) -> tuple[Single, float, float, float, int]:
    """Return Y, ‖Y‖, ``⟨B + R, Y⟩``, ``‖R‖²`` and the number of products with L.

    ``‖R‖ ≤ accuracy·‖B‖`` and ``‖R‖² ≤ allowed``.
    """
    found = np.empty(points.shape, dtype=np.float32)
    form = left = length = 0.0
    products = 0
    for part in _parts(points):
        tick()
        side = laplacian @ np.ascontiguousarray(points[:, part])
        guess = side / gamma if start is None else start[:, part].astype(np.float64, order="C")
        rest = side - gamma * guess + laplacian @ guess
        goal = accuracy**2 * max(float(np.vdot(side, side)), _TINY)
        goal = min(goal, allowed * side.shape[1] / points.shape[1])
        along = rest.copy()
        square = np.einsum("ij,ij->j", rest, rest)
        for _ in range(_MAX_CG):
            if float(square.sum()) <= goal:
                break
            image = gamma * along - laplacian @ along
            products += along.shape[1]
            step = square / np.maximum(np.einsum("ij,ij->j", along, image), _TINY)
            guess += step * along
            rest -= step * image
            previous, square = square, np.einsum("ij,ij->j", rest, rest)
            along *= square / np.maximum(previous, _TINY)
            along += rest
        found[:, part] = guess
        length += float(np.vdot(guess, guess))
        form += float(np.vdot(side, guess)) + float(np.vdot(rest, guess))
        left += float(square.sum())
    return found, float(np.sqrt(length)), form, left, products


def _parts(points: Array) -> list[slice]:
    return [slice(first, first + _CHUNK) for first in range(0, points.shape[1], _CHUNK)]

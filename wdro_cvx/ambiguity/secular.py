"""The multiplier γ of a Gelbrich ball, from one eigendecomposition of L.

Let ``L = VΛVᵀ`` be the eigendecomposition and ``s_i = v_iᵀΘv_i``. Theorem 1's inner problem over γ
is then the scalar equation ``Σ s_i λ_i² / (γ - λ_i)² = ε²``. A step costs O(d), compared with O(d³)
for the paper's bisection. The unknown is ``δ = γ - λmax``, which keeps all digits if the root is
close to λmax. If the top eigenspace carries no mass, the equation may have no root. In this hard
case γ = λmax, and the rest of the budget moves mass along a top eigenvector.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from wdro_cvx.stacks import choose, dot
from wdro_cvx.validation import Array

_TINY = 1e-280
_BELOW = 1.0 - 1e-11  # a bound that rounding cannot lift above the root
_MAX_STEPS = 100  # Newton is monotone and takes far fewer.
# The last step, relative to the root. A step of relative size s leaves an error of at most 1.5s²,
# because |f''| ≤ 3f'/δ for f = 1/√φ: every derivative of a term divides it by at least δ.
_LAST = 1e-8


@dataclass(frozen=True)
class SecularRoot:
    """The solution of the γ-equation, or of a stack of equations.

    ``shift`` is ``γ - λmax``. ``leftover`` is the unused part of ε² in the hard case, else zero.
    """

    multiplier: Any
    shift: Any
    leftover: Any


def solve_secular(eigenvalues: Array, masses: Array, radius: float) -> SecularRoot:
    """Solve ``Σ masses_i λ_i² / (γ - λ_i)² = radius²`` for ``γ ≥ λmax``.

    Parameters
    ----------
    eigenvalues : array (d,), ascending, the last one positive
    masses : array (d,), nonnegative
    radius : float > 0
    """
    top = float(eigenvalues[-1])
    gaps = top - eigenvalues
    amplitudes = np.sqrt(masses) * np.abs(eigenvalues)
    # Each term alone gives a lower bound of the root, and so does a term for all of them at their
    # mean gap, by Jensen's inequality. So the start is left of the root; from there Newton on the
    # concave 1/√φ - 1/ε increases to the root without ever passing it.
    shift = max(float((amplitudes / radius - gaps).max()), _from_mean(amplitudes, gaps, radius))
    if shift <= 0.0:  # the top eigenspace may carry no mass, and then its terms are 0/0
        live = amplitudes > 0.0
        gaps, amplitudes = gaps[live], amplitudes[live]
        if amplitudes.size == 0:
            return SecularRoot(top, 0.0, radius**2)
        if gaps.min() > 0.0:
            spent = float(np.sum((amplitudes / gaps) ** 2))
            if spent <= radius**2:
                return SecularRoot(top, 0.0, radius**2 - spent)
        shift = 0.0
    for _ in range(_MAX_STEPS):
        distances = shift + gaps
        ratios = amplitudes / distances
        square = dot(ratios, ratios)
        slope = dot(ratios, ratios / distances)
        if slope == 0.0:  # the squares underflow
            break
        step = max(0.0, (math.sqrt(square) / radius - 1.0) * square / slope)
        shift += step
        if step <= _LAST * shift:
            break
    return SecularRoot(top + shift, shift, 0.0)


def _from_mean(amplitudes: Array, gaps: Array, radius: Any) -> Any:
    """Return a lower bound of the root from the mean gap; it is sharp if the root is far away."""
    squares = amplitudes * amplitudes
    total = dot(amplitudes, amplitudes)
    known = total > _TINY  # the squares do not underflow
    mean = dot(squares, gaps) / choose(known, total, 1.0)
    return choose(known, _BELOW * total**0.5 / radius - mean, 0.0)


def solve_seculars(eigenvalues: Array, masses: Array, radius: Array) -> SecularRoot:
    """Solve a stack of equations, with the same steps as :func:`solve_secular`.

    Arrays of one element take longer than the plain numbers of a single equation, so there are two
    loops.
    """
    top = eigenvalues[..., -1:]
    amplitudes = np.sqrt(masses) * np.abs(eigenvalues)
    # A term without mass is zero at every distance; a distance of λmax avoids 0/0.
    gaps = np.where(amplitudes > 0.0, top - eigenvalues, top)
    shift = (amplitudes / radius[:, np.newaxis] - gaps).max(axis=-1)
    shift = np.maximum(shift, _from_mean(amplitudes, gaps, radius))
    leftover = 0.0 * shift
    open_ = shift > 0.0
    if not open_.all():
        ratios = np.divide(amplitudes, gaps, out=np.full(gaps.shape, np.inf), where=gaps > 0.0)
        spare = radius**2 - np.square(ratios).sum(axis=-1)
        hard = ~open_ & (spare >= 0.0)
        leftover = np.where(hard, spare, 0.0)
        shift, open_ = np.maximum(shift, 0.0), ~hard
    for _ in range(_MAX_STEPS):
        distances = shift[:, np.newaxis] + gaps
        ratios = amplitudes / distances
        squares = ratios * ratios
        square = squares.sum(axis=-1)
        slope = (squares / distances).sum(axis=-1)
        # The squares may underflow.
        step = (np.sqrt(square) / radius - 1.0) * square / np.where(slope > 0.0, slope, np.inf)
        shift = shift + np.where(open_ & (step > 0.0), step, 0.0)
        open_ &= step > _LAST * shift
        if not open_.any():
            break
    return SecularRoot(top[..., 0] + shift, shift, leftover)

"""The multiplier γ of a Gelbrich ball, from the eigenvalues of L alone.

After one eigendecomposition ``L = VΛVᵀ``, with ``s_i = v_iᵀΘv_i``, Theorem 1's inner problem over γ
is the scalar equation ``Σ s_i λ_i² / (γ - λ_i)² = ε²``. A step costs O(d), compared with O(d³) for
the paper's bisection. The unknown is ``δ = γ - λmax``, which keeps all digits if the root is close
to λmax. If the top eigenspace carries no mass, the equation may have no root. In this hard case
γ = λmax, and the rest of the budget moves mass along a top eigenvector.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)
_MAX_STEPS = 100  # Newton is monotone and takes about five.


@dataclass(frozen=True)
class SecularRoot:
    """The solution of the γ-equation.

    ``shift`` is ``γ - λmax``. ``leftover`` is the unused part of ε² in the hard case, else zero.
    """

    multiplier: float
    shift: float
    leftover: float


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
    live = amplitudes > 0.0
    gaps, amplitudes = gaps[live], amplitudes[live]
    if amplitudes.size == 0:
        return SecularRoot(top, 0.0, radius**2)
    # Each term alone gives a lower bound of the root, so the start is left of it; from there
    # Newton on the concave 1/√φ - 1/ε increases to the root without ever passing it.
    shift = float(np.max(amplitudes / radius - gaps))
    if shift <= 0.0:
        if gaps.min() > 0.0:
            spent = float(np.sum((amplitudes / gaps) ** 2))
            if spent <= radius**2:
                return SecularRoot(top, 0.0, radius**2 - spent)
        shift = 0.0
    for _ in range(_MAX_STEPS):
        ratios = amplitudes / (shift + gaps)
        squares = ratios * ratios
        square = float(squares.sum())
        slope = float((squares / (shift + gaps)).sum())
        if slope == 0.0:  # the squares underflow
            break
        step = (math.sqrt(square) / radius - 1.0) * square / slope
        if not step > 2 * _EPS * shift:
            break
        shift += step
    return SecularRoot(top + shift, shift, 0.0)

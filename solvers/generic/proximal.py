"""Spectral proximal gradient in the Frobenius metric, with the Newton QP as its step.

It minimises ``R(L) + η‖L‖²`` by ``L⁺ = argmin ⟨M*(L), L'⟩ + ρ/2‖L' - L‖² + η‖L'‖²``, which is a
Laplacian QP. In this metric the condition number d of 𝒯*𝒯 does not affect the method. With ρ = 0
the dual value of the step is the certificate, so a bound costs nothing extra.
"""

from __future__ import annotations

import numpy as np

from solvers.bracket.incumbent import Incumbent
from solvers.control.spectral import SpectralControl
from solvers.qp import solve_laplacian_qp
from wdro_cvx.validation import Array

_MAX_DOUBLINGS = 60
_FALL = 0.8  # with limited patience, the gap must fall to this share


def proximal_descent(
    incumbent: Incumbent, start: Array, max_iterations: int, patience: int | None = None
) -> None:
    """Improve the incumbent until it is solved, the limit is reached or no step descends.

    With ``patience`` it also ends after that many trial steps that have hardly reduced the gap,
    which is typical of a kink. This suits sets for which another method follows.
    """
    laplacian = start
    worst, value = incumbent.evaluate(laplacian)
    control = SpectralControl(incumbent.problem.prior.beta)
    control.restart(value)
    multipliers: tuple[Array, float] | None = None
    mark, trials = np.inf, 0
    for _ in range(max_iterations):
        answer = incumbent.bound_by(worst, multipliers)
        multipliers = answer.nu, answer.tau
        incumbent.record()
        if incumbent.solved:
            return
        if incumbent.gap <= _FALL * mark:
            mark, trials = incumbent.gap, 0
        moved = answer.laplacian
        for _ in range(_MAX_DOUBLINGS):
            if trials == patience:
                return
            trials += 1
            if control.proximal:
                step = incumbent.quadratic(worst.second_moment, control.rho, laplacian)
                moved = solve_laplacian_qp(step, multipliers).laplacian
            change = moved - laplacian
            length = float(np.vdot(change, change))
            moved_worst, value = incumbent.evaluate(moved)
            if control.accepts(value, length):
                break
            if incumbent.solved:
                return
            control.shorten()
        else:
            return  # no step descends in double precision
        if length == 0.0:
            return
        turn = float(np.vdot(change, moved_worst.second_moment - worst.second_moment))
        control.take(value, turn, length)
        laplacian, worst = moved, moved_worst

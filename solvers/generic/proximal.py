"""Spectral proximal gradient in the Frobenius metric, with the Newton QP as its step.

Minimises ``R(L) + η‖L‖²`` by ``L⁺ = argmin ⟨M*(L), L'⟩ + ρ/2‖L' - L‖² + η‖L'‖²``, which is a
Laplacian QP. In this metric the method does not see the condition number d of 𝒯*𝒯. With ρ = 0 the
step's own dual value is the certificate, so a bound costs nothing extra.
"""

from __future__ import annotations

import numpy as np

from solvers.bracket.incumbent import Incumbent
from solvers.control.spectral import SpectralControl
from solvers.qp import solve_laplacian_qp
from wdro_cvx.validation import Array

_MAX_DOUBLINGS = 60
_FALL = 0.8  # of the gap, by which an impatient run must come down


def proximal_descent(
    incumbent: Incumbent, start: Array, max_iterations: int, patience: int | None = None
) -> None:
    """Run until the incumbent is solved, the limit is reached or no descent is left.

    With ``patience`` it also ends when so many trial steps have hardly narrowed the gap, as happens
    at a kink; for sets that have another method.
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
            return  # no descent is left in double precision
        if length == 0.0:
            return
        turn = float(np.vdot(change, moved_worst.second_moment - worst.second_moment))
        control.take(value, turn, length)
        laplacian, worst = moved, moved_worst

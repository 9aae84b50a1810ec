"""Spectral proximal gradient in the Frobenius metric, with the Newton QP as its step.

Minimises ``R(L) + η‖L‖²`` by ``L⁺ = argmin ⟨M*(L), L'⟩ + ρ/2‖L' - L‖² + η‖L'‖²``, which is a
Laplacian QP. In this metric the method does not see the condition number d of 𝒯*𝒯, and the
curvature ρ of the risk alone is estimated by Barzilai and Borwein's rule with a non-monotone
backtracking (Wright, Nowak and Figueiredo, IEEE Trans. Signal Process. 2009). With ρ = 0 the step's
own dual value is the certificate, so a bound costs nothing extra.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from solvers.bracket.incumbent import Incumbent
from solvers.qp import solve_laplacian_qp
from wdro_cvx.validation import Array

_MEMORY = 5
_DECREASE = 1e-4
_NEGLIGIBLE = 1e-2  # curvature below this share of η is not worth a second QP
_MAX_DOUBLINGS = 60
_FALL = 0.8  # of the gap, by which an impatient run must come down


def proximal_descent(
    incumbent: Incumbent,
    start: Array,
    tol: float,
    max_iterations: int,
    patience: int | None = None,
) -> None:
    """Run until the certified gap is ``tol``, the limit is reached or no descent is left.

    With ``patience`` it also ends when so many trial steps have hardly narrowed the gap, which is
    what a kink at the optimum does; for sets that have another method.
    """
    problem = incumbent.problem
    laplacian = start
    worst, value = incumbent.evaluate(laplacian)
    recent: deque[float] = deque([value], maxlen=_MEMORY)
    rho = 0.0
    multipliers: tuple[Array, float] | None = None
    mark, trials = np.inf, 0
    for _ in range(max_iterations):
        answer = incumbent.bound_by(worst, multipliers)
        multipliers = answer.nu, answer.tau
        incumbent.record()
        if incumbent.gap <= tol:
            return
        if incumbent.gap <= _FALL * mark:
            mark, trials = incumbent.gap, 0
        moved = answer.laplacian
        for _ in range(_MAX_DOUBLINGS):
            if trials == patience:
                return
            trials += 1
            if rho > _NEGLIGIBLE * problem.prior.beta:
                step = incumbent.quadratic(worst.second_moment, rho, laplacian)
                moved = solve_laplacian_qp(step, multipliers).laplacian
            change = moved - laplacian
            length = float(np.vdot(change, change))
            moved_worst, value = incumbent.evaluate(moved)
            if value <= max(recent) - _DECREASE * (problem.prior.beta + rho / 2) * length:
                break
            if incumbent.gap <= tol:
                return
            rho = max(2 * rho, problem.prior.beta)
        else:
            return  # no descent is left in double precision
        if length == 0.0:
            return
        turn = moved_worst.second_moment - worst.second_moment
        rho = max(float(np.vdot(change, turn)) / length, 0.0)
        laplacian, worst = moved, moved_worst
        recent.append(value)

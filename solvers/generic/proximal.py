"""Spectral proximal gradient in the Frobenius metric, with the Newton QP as its step.

It minimises ``R(L) + η‖L‖²`` by ``L⁺ = argmin ⟨M*(L), L'⟩ + ρ/2‖L' - L‖² + η‖L'‖²``, which is a
Laplacian QP. In this metric the condition number d of 𝒯*𝒯 does not affect the method. With ρ = 0
the dual value of the step is the certificate, so a bound costs nothing extra.

With ρ > 0 the multipliers of a degree in the step are ``φ'(u) + ρu``. The step therefore starts at
``ν + ρ·diag L``, and its own multipliers less ``ρ·diag L⁺`` give a bound at the next moment by one
evaluation of the dual. A QP for the bound is solved only if that bound is nearly good enough.

If the set moves signals, the first ρ comes from its structure. Without this estimate the first step
would have ρ = 0 and go too far, and ρ would be known only from the second step on. Under a prior
with logarithms the estimate saves nothing, and is not used.
"""

from __future__ import annotations

import numpy as np

from solvers.bracket.incumbent import Incumbent
from solvers.bracket.requests import Method, Optimum
from solvers.control.spectral import SpectralControl
from wdro_cvx import GraphProblem
from wdro_cvx.ambiguity import Transport
from wdro_cvx.validation import Array

_MAX_DOUBLINGS = 60
_FALL = 0.8  # with limited patience, the gap must fall to this share
_NEAR = 10.0  # times the tolerance: below it the best bound of a moment is worth its QP
# Accuracy of a QP, relative to the tolerance. An accuracy relative to the gap would save some of
# Newton's steps, but slow cases would then take many more iterations.
_ACCURACY = 1e-3


def proximal_descent(
    incumbent: Incumbent,
    start: Array,
    max_iterations: int,
    patience: int | None = None,
    multipliers: tuple[Array, float] | None = None,
    steepest: float = np.inf,
) -> Method[None]:
    """Improve the incumbent until it is solved, the limit is reached or no step descends.

    With ``patience`` it also ends after that many trial steps that have hardly reduced the gap,
    which is typical of a kink. It ends already after the first step if the curvature of the risk,
    in units of the prior's, is above ``steepest``. Both suit sets for which another method follows.
    ``multipliers`` are those of a similar QP; the first QP starts from them.
    """
    laplacian, tol = start, incumbent.tol
    worst, value = yield from incumbent.evaluation(laplacian)
    control = SpectralControl(incumbent.problem.prior.beta)
    control.restart(value)
    if multipliers is not None and incumbent.problem.prior.alpha == 0.0:
        control.rho = _first_curvature(incumbent.problem, laplacian)
    mark, trials = np.inf, 0
    for step in range(max_iterations):
        if control.proximal and multipliers is not None:
            yield from incumbent.bounding_at(worst, multipliers)
        if not control.proximal or tol < incumbent.gap <= _NEAR * tol:
            answer = yield from incumbent.bounding(worst, multipliers, _ACCURACY * tol)
            multipliers = answer.nu, answer.tau
        incumbent.record()
        gap = incumbent.gap
        if gap <= tol:
            return
        if gap <= _FALL * mark:
            mark, trials = gap, 0
        for _ in range(_MAX_DOUBLINGS):
            if trials == patience:
                return
            trials += 1
            if control.proximal:
                model = incumbent.quadratic(worst.second_moment, control.rho, laplacian)
                nearby = _shifted(multipliers, control.rho, laplacian)
                answer = yield Optimum(model, nearby, _ACCURACY * tol)
            moved = answer.laplacian
            change = moved - laplacian
            length = float(np.vdot(change, change))
            moved_worst, value = yield from incumbent.evaluation(moved)
            if control.accepts(value, length):
                break
            if incumbent.solved:
                return
            control.shorten()
        else:
            return  # no step descends in double precision
        if length == 0.0:
            return
        multipliers = answer.nu, answer.tau
        if control.proximal:
            multipliers = _shifted(multipliers, -control.rho, moved)
        turn = float(np.vdot(change, moved_worst.second_moment - worst.second_moment))
        control.take(value, turn, length)
        if step == 0 and control.rho > steepest * control.beta:
            return
        laplacian, worst = moved, moved_worst


def _first_curvature(problem: GraphProblem, laplacian: Array) -> float:
    """Return the usual curvature of a transport ball's risk; 0 for other sets.

    Its premium is about ``2ε‖FL‖``, whose second derivative along H is ``2ε‖FH‖²/‖FL‖`` at most.
    For an average direction ``‖FH‖²`` is ``‖F‖²‖H‖²/d``.
    """
    form = problem.structure
    if not (isinstance(form, Transport) and form.isotropic):
        return 0.0
    slope = float(np.linalg.norm(form.factor @ laplacian))
    square = float(np.vdot(form.factor, form.factor))
    return 2 * form.radius * square / (problem.d * slope) if slope > 0.0 else 0.0


def _shifted(
    multipliers: tuple[Array, float] | None, rho: float, laplacian: Array
) -> tuple[Array, float] | None:
    """Return multipliers for the problem with ``ρ/2‖L - laplacian‖²`` added."""
    if multipliers is None:
        return None
    return multipliers[0] + rho * laplacian.diagonal(), multipliers[1]

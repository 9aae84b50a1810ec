"""Newton's method on the moment ball's dual, with a proximal point method if it is slow.

If η is small, most weights sit at a bound. Only the few entries in between respond to the prices,
so Newton's steps are short. Adding ``ρ/2‖L - L_k‖²`` to the objective gives the same problem with
``Θ - ρL_k`` and ``η + ρ/2``, which is easy. The solutions ``L_k`` converge to the optimum for any
ρ, and faster for a smaller ρ (Rockafellar, SIAM J. Control Optim. 1976).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from solvers.norm.dual import MomentEvidence, MomentPoint, moment_point
from solvers.qp import LaplacianQP
from solvers.qp.ascent import Watch, maximise
from wdro_cvx import MomentBall
from wdro_cvx.ambiguity.moment import dual_norm
from wdro_cvx.graphs.laplacian import weights_from_laplacian
from wdro_cvx.solution import relative_gap
from wdro_cvx.validation import Array

_PLAIN_STEPS = 30  # Newton takes about ten unless it is slow
_STAGE_STEPS = 50
_SHRINK = 0.4  # factor on ρ from stage to stage
_LEAST = 1e-3  # smallest ρ, relative to η; a smaller one changes nothing
_STAGE_GAP = 0.03  # target gap of a stage, relative to the gap before it


@dataclass(frozen=True)
class Found:
    """The best Laplacian, the dual point with the highest bound, and the history of the run."""

    laplacian: Array
    point: MomentPoint
    steps: int
    history: list[tuple[float, float]]


def ascend(
    qp: LaplacianQP,
    ball: MomentBall,
    guess: MomentEvidence,
    tol: float,
    limit: int,
    watch: Watch | None = None,
) -> Found:
    """Solve the problem of the moment ball around the QP's moment to the relative gap ``tol``.

    Parameters
    ----------
    qp : LaplacianQP
    ball : MomentBall
        Its radius is positive and its p finite.
    guess : MomentEvidence
    tol : float
    limit : int
        Maximal number of Newton steps.
    watch : callable, optional
        Called with the current value and bound; returns whether to stop.
    """
    plain = maximise(moment_point(qp, ball, guess), tol, min(limit, _PLAIN_STEPS), watch)
    laplacian, value, point = plain.best.laplacian(), plain.value, plain.last
    steps, history = plain.steps, plain.history
    centre, nu, tau = laplacian, point.nu, point.tau
    rho = ball.radius / max(float(np.linalg.norm(laplacian)), qp.prior.trace.target / nu.size)
    while (gap := relative_gap(value, point.value)) > tol and rho > _LEAST * qp.prior.beta:
        if steps == limit or (watch is not None and watch(value, point.value)):
            break
        moment, shift = qp.moment - rho * centre, rho * np.diagonal(centre)
        stage = LaplacianQP(moment, qp.prior.proximal(rho))
        start = moment_point(stage, ball, MomentEvidence(moment, nu + shift, tau))
        told = None if watch is None else partial(_told, watch, value, point.value)
        near = maximise(start, _STAGE_GAP * gap, min(limit - steps, _STAGE_STEPS), told)
        centre = near.best.laplacian()
        reached = _objective(qp, ball, centre)
        if reached < value:
            laplacian, value = centre, reached
        # The stage's prices exceed those of the problem by ρv.
        nu, tau = near.last.nu - rho * near.last.split.values[: nu.size], near.last.tau
        again = moment_point(qp, ball, MomentEvidence(qp.moment, nu, tau))
        if again.value > point.value:
            point = again
        steps += near.steps
        history += [(value, point.value)] * near.steps
        rho *= _SHRINK
    return Found(laplacian, point, steps, history)


def _told(watch: Watch, value: float, bound: float, *_: float) -> bool:
    """Pass on the problem's own value and bound, whatever those of a stage are."""
    return watch(value, bound)


def _objective(qp: LaplacianQP, ball: MomentBall, laplacian: Array) -> float:
    risk = float(np.vdot(qp.moment, laplacian)) + ball.radius * dual_norm(laplacian, ball.q)[0]
    return risk + qp.prior.value(weights_from_laplacian(laplacian), np.diagonal(laplacian))

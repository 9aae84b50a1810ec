"""Solve a Laplacian QP, with or without bounds on the weights."""

from __future__ import annotations

import numpy as np

from solvers.laplacian_qp.ascent import Ascent, maximise
from solvers.laplacian_qp.bounded import BoundedPoint, bounded_point
from solvers.laplacian_qp.dense import QuadraticPoint, quadratic_point
from solvers.laplacian_qp.minimax import Master
from solvers.laplacian_qp.qp import LaplacianQP, QPSolution
from solvers.laplacian_qp.start import easier_priors
from wdro_cvx.laplacian import adjoint
from wdro_cvx.validation import Array

Climb = Ascent[QuadraticPoint] | Ascent[BoundedPoint]

# Newton takes 3 to 20 steps, unless logarithms with next to no quadratic term leave it thousands of
# pieces to cross: an interior point crosses them from the inside.
_MAX_STEPS = 40
_LAST_STEPS = 200
_INSIDE = 1e-10  # the accuracy, relative to the value, to which the interior point goes
_EASIER = 1e-4  # the gap at which an easier problem has shown the way


def solve_laplacian_qp(
    qp: LaplacianQP, start: tuple[Array, float] | None = None, tol: float = 1e-12
) -> QPSolution:
    """Solve a Laplacian QP to the relative gap ``tol``, or to rounding.

    Parameters
    ----------
    qp : LaplacianQP
    start : (nu, tau), optional
        Multipliers of a similar problem.
    tol : float
    """
    found = climb(qp, start, tol, _MAX_STEPS)
    steps = found.steps
    if steps == _MAX_STEPS:
        again = climb(qp, _from_inside(qp, found), tol, _LAST_STEPS)
        steps += again.steps
        if again.value - again.last.value < found.value - found.last.value:
            found = again
    last = found.last
    return QPSolution(found.best.laplacian(), found.value, last.value, last.nu, last.level, steps)


def climb(qp: LaplacianQP, start: tuple[Array, float] | None, tol: float, max_steps: int) -> Climb:
    """Climb a QP's dual from ``start``, or from a guess."""
    if qp.prior.bounds is not None:
        return maximise(bounded_point(qp, qp.prior.bounds, start), tol, max_steps)
    point = quadratic_point(qp, start)
    if start is None:
        for easier in easier_priors(qp.prior, point.gains):
            wider = quadratic_point(LaplacianQP(qp.moment, easier), start)
            found = maximise(wider, _EASIER, max_steps)
            start = found.last.nu, 0.0
        point = point if start is None else point.moved(*start)
    return maximise(point, tol, max_steps)


def _from_inside(qp: LaplacianQP, found: Climb) -> tuple[Array, float]:
    """Return multipliers next to the optimal ones, by an interior point."""
    nu, rule = found.last.nu, qp.prior.trace
    trace = rule.target or float(np.sum(qp.prior.degrees(nu)))
    master = Master.of(qp, max(abs(found.last.value), qp.floor), trace)
    if master.free.size == 0:  # there is but one graph
        return nu, found.last.level
    mixture = master.mix(adjoint(qp.moment)[np.newaxis], _INSIDE)
    return mixture.nu, 0.0 if rule.free else mixture.tau

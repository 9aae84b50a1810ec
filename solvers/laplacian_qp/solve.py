"""Solve a Laplacian QP, with or without bounds on the weights."""

from __future__ import annotations

from solvers.laplacian_qp.ascent import Ascent, maximise
from solvers.laplacian_qp.bounded import BoundedPoint, bounded_point
from solvers.laplacian_qp.dense import QuadraticPoint, quadratic_point
from solvers.laplacian_qp.qp import LaplacianQP, QPSolution
from solvers.laplacian_qp.start import easier_priors
from wdro_cvx.validation import Array

_MAX_STEPS = 200
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
    last = found.last
    return QPSolution(
        found.best.laplacian(), found.value, last.value, last.nu, last.level, found.steps
    )


def climb(
    qp: LaplacianQP, start: tuple[Array, float] | None, tol: float, max_steps: int
) -> Ascent[QuadraticPoint] | Ascent[BoundedPoint]:
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

"""Solve a Laplacian QP, with or without bounds on the weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from solvers.qp.ascent import Ascent, maximise
from solvers.qp.bounded import BoundedPoint, bounded_point
from solvers.qp.dense import QuadraticPoint, quadratic_point
from solvers.qp.qp import LaplacianQP, QPSolution
from solvers.qp.start import easier_priors
from wdro_cvx.graphs.laplacian import adjoint, laplacian_from_weights, weights_from_laplacian
from wdro_cvx.validation import Array

if TYPE_CHECKING:
    from solvers.qp.minimax import Mixture

Climb = Ascent[QuadraticPoint] | Ascent[BoundedPoint]

# Newton usually takes 3 to 20 steps. With logarithms and a very small quadratic term it would have
# to cross thousands of linear pieces; an interior-point method avoids them.
_MAX_STEPS = 40
_LAST_STEPS = 200
_ROUGH = 1e-10  # a smaller gap is attributed to rounding
_INSIDE = 1e-10  # accuracy of the interior-point method, relative to the value
_EASIER = 1e-4  # gap to which an easier problem is solved


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

    Returns
    -------
    QPSolution
        The graph, its value, and the multipliers of the lower bound.

    Examples
    --------
    >>> import numpy as np
    >>> from solvers import LaplacianQP, solve_laplacian_qp
    >>> from wdro_cvx import Frobenius
    >>> found = solve_laplacian_qp(LaplacianQP(np.diag([0.0, 0.0, 9.0]), Frobenius(0.3, trace=3.0)))
    >>> np.diagonal(found.laplacian).round(2)  # the third vertex is too expensive
    array([1.5, 1.5, 0. ])
    """
    found = climb(qp, start, tol, _MAX_STEPS)
    answer = _solution(found)
    if found.value - answer.bound <= max(tol, _ROUGH) * max(abs(answer.bound), qp.floor):
        return answer
    mixture = _from_inside(qp, found)
    if mixture is None:
        return answer
    tau = 0.0 if qp.prior.trace.free else mixture.tau
    again = _solution(climb(qp, (mixture.nu, tau), tol, _LAST_STEPS))
    bounded = again if again.bound > answer.bound else answer
    graphs = [(one.value, one.laplacian) for one in (answer, again)]
    inner = qp.prior.repaired(laplacian_from_weights(mixture.weights))
    weights = weights_from_laplacian(inner)
    cost = float(adjoint(qp.moment) @ weights) + qp.prior.value(weights, np.diagonal(inner))
    graphs.append((cost, inner))
    value, laplacian = min(graphs, key=lambda graph: graph[0])
    return replace(bounded, laplacian=laplacian, value=value, steps=answer.steps + again.steps)


def climb(qp: LaplacianQP, start: tuple[Array, float] | None, tol: float, max_steps: int) -> Climb:
    """Maximise a QP's dual from ``start``, or from a guess."""
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


def dual_point(qp: LaplacianQP, multipliers: tuple[Array, float]) -> QuadraticPoint | BoundedPoint:
    """Evaluate a QP's dual at ``(ν, τ)``, or at a guess if it is not defined at ν."""
    if qp.prior.bounds is not None:
        return bounded_point(qp, qp.prior.bounds, multipliers)
    return quadratic_point(qp, multipliers)


def _solution(found: Climb) -> QPSolution:
    last = found.last
    return QPSolution(
        found.best.laplacian(), found.value, last.value, last.nu, last.level, found.steps
    )


def _from_inside(qp: LaplacianQP, found: Climb) -> Mixture | None:
    """Return nearly optimal weights and multipliers, found by an interior-point method."""
    from solvers.qp.minimax import Master  # seldom needed

    nu, rule = found.last.nu, qp.prior.trace
    trace = rule.target or float(np.sum(qp.prior.degrees(nu)))
    master = Master.of(qp.d, qp.prior, max(abs(found.last.value), qp.floor), trace)
    if master.free.size == 0:  # only one graph is feasible
        return None
    return master.mix(adjoint(qp.moment)[np.newaxis], _INSIDE)

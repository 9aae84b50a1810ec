"""Solve many Laplacian QPs at once, as stacks of equal size.

A stack takes plain Newton steps with the formulas of solvers/qp/dense.py. The QPs that these do not
solve continue one by one in :func:`solve_laplacian_qp`, which has all safeguards. A stack is
therefore only a faster way to a good start, and no answer depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from solvers.qp.dense import QuadraticPoint, quadratic_point, relative_gains
from solvers.qp.qp import LaplacianQP, QPSolution
from solvers.qp.solve import climb, solve_laplacian_qp
from solvers.qp.start import easier_priors, stacked_tau
from wdro_cvx.priors import DegreePrior, TraceRule, stack_priors
from wdro_cvx.validation import Array

_MAX_STEPS = 20  # more steps are left to the safeguarded method
_HALVINGS = 4
_SUFFICIENT = 1e-4  # share of the increase that the slope predicts
_OFF = 0.1  # relative to the trace
_LARGE = 200  # from this many vertices on, a stack gains nothing

Start = tuple[Array, float] | None


def solve_laplacian_qps(
    qps: Sequence[LaplacianQP], starts: Sequence[Start], tol: float = 1e-12
) -> list[QPSolution]:
    """Return the solutions of :func:`solve_laplacian_qp` for several QPs, in their order."""
    found: dict[int, QPSolution] = {}
    begins = [
        _guess(qp) if start is None and qp.prior.alpha > 0.0 else start
        for qp, start in zip(qps, starts, strict=True)
    ]
    for places in _groups(qps, begins):
        point = _start(_stacked([qps[place] for place in places]), [begins[i] for i in places])
        left = np.asarray(places)
        for steps in range(_MAX_STEPS + 1):
            value = point.primal_value()
            done = _gaps(value, point) <= tol
            if done.any():
                answers = _solutions(_taken(point, done), value[done], steps)
                found.update(zip(left[done].tolist(), answers, strict=True))
                point, left = _taken(point, ~done), left[~done]
            if steps == _MAX_STEPS or not left.size:
                break
            trial, better = _newton_step(point)
            if not better.all():
                trial, left = _taken(trial, better), left[better]
            point = trial
            if not left.size:
                break
        for place, nu, tau in zip(left.tolist(), point.nu, _each(point.level, point), strict=True):
            begins[place] = nu, tau
    return [
        found[place] if place in found else solve_laplacian_qp(qp, begin, tol)
        for place, (qp, begin) in enumerate(zip(qps, begins, strict=True))
    ]


def evaluate_laplacian_qps(
    qps: Sequence[LaplacianQP], starts: Sequence[tuple[Array, float]]
) -> list[tuple[float, Array, float]]:
    """Return the dual value of every QP at given multipliers, and the multipliers."""
    found: dict[int, tuple[float, Array, float]] = {}
    for places in _groups(qps, starts):
        point = _at(_stacked([qps[place] for place in places]), [starts[i] for i in places])
        rows = zip(point.value.tolist(), point.nu, _each(point.level, point), strict=True)
        found.update(zip(places, rows, strict=True))
    for place, (qp, start) in enumerate(zip(qps, starts, strict=True)):
        if place not in found:
            last = climb(qp, start, 0.0, 0).last
            found[place] = last.value, last.nu, last.level
    return [found[place] for place in range(len(qps))]


def _guess(qp: LaplacianQP) -> Start:
    """Return the first multipliers of a QP with logarithms; None if it is solved alone."""
    if qp.prior.bounds is not None:
        return None
    point = quadratic_point(qp)
    return None if easier_priors(qp.prior, point.gains) else (point.nu, point.level)


def _groups(qps: Sequence[LaplacianQP], starts: Sequence[Start]) -> list[list[int]]:
    """Return the places of QPs that can be stacked: of equal size, without bounds, with a start."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, (qp, start) in enumerate(zip(qps, starts, strict=True)):
        prior, d = qp.prior, len(qp.moment)
        fixed, logs = prior.trace.fixed, prior.alpha > 0.0
        if prior.bounds is not None or d >= _LARGE or not (fixed or prior.trace.free):
            continue
        if (logs or not fixed) if start is None else (logs and not prior.has_degrees(start[0])):
            continue
        key = d, fixed, logs, prior.kappa == 0.0, start is None
        groups.setdefault(key, []).append(place)
    return [places for places in groups.values() if len(places) > 1]


def _stacked(qps: list[LaplacianQP]) -> LaplacianQP:
    """Return the stack of some QPs."""
    moments = np.stack([qp.moment for qp in qps])
    return LaplacianQP(moments, stack_priors([qp.prior for qp in qps]))


def _start(qp: LaplacianQP, starts: Sequence[Start]) -> QuadraticPoint:
    """Evaluate a stack at the given multipliers, or for equal degrees.

    If the trace is fixed and far off at some τ, every τ is replaced by the best one for ν.
    Otherwise Newton's first steps would be short.
    """
    prior, d = qp.prior, qp.d
    if starts[0] is not None:
        point = _at(qp, starts)
        off = np.abs(point.gradient()[1]) > _OFF * prior.trace.target
        if not prior.trace.fixed or not off.any():
            return point
        return point.moved(point.nu, stacked_tau(prior, point.gains, point.nu, point.tau))
    nu = np.repeat(2.0 * (prior.kappa * prior.trace.target / d)[:, np.newaxis], d, axis=1)  # type: ignore[index]
    gains, base = relative_gains(qp)
    return quadratic_point(qp, (nu, stacked_tau(prior, gains, nu) + base), (gains, base))


def _at(qp: LaplacianQP, starts: Sequence[Start]) -> QuadraticPoint:
    """Evaluate a stack at the given multipliers."""
    known = [start for start in starts if start is not None]
    tau = np.array([tau for _, tau in known])
    return quadratic_point(qp, (np.stack([nu for nu, _ in known]), tau))


def _taken(point: QuadraticPoint, which: Any) -> QuadraticPoint:
    """Return a part of a stack."""
    if which.all():
        return point

    def part(number: Any) -> Any:
        return number[which] if isinstance(number, np.ndarray) else number

    given, rule = point.qp.prior, point.qp.prior.trace
    prior = DegreePrior(
        part(given.beta), part(given.kappa), part(given.alpha),
        TraceRule(part(rule.target), rule.stiffness),
    )  # fmt: skip
    qp = LaplacianQP(point.qp.moment[which], prior)
    parts = (point.gains, point.base, point.nu, point.tau, point.prices, point.degrees)
    numbers = (point.total, point.square, point.value)
    return QuadraticPoint(qp, *map(part, parts), *map(part, numbers))


def _newton_step(point: QuadraticPoint) -> tuple[QuadraticPoint, Any]:
    """Return the next points, and which of them are higher than the last."""
    grad_nu, grad_tau = point.gradient()
    d_nu, d_tau = point.curvature().direction(grad_nu, grad_tau)
    slope = np.vecdot(grad_nu, d_nu) + grad_tau * d_tau
    length = np.minimum(np.ones(slope.size), point.step_limit(d_nu))
    for _ in range(_HALVINGS + 1):
        trial = point.moved(point.nu + length[:, np.newaxis] * d_nu, point.tau + length * d_tau)
        better = trial.value > point.value
        better &= trial.value >= point.value + _SUFFICIENT * length * slope
        if better.all():
            break
        length = np.where(better, length, length / 2)
    return trial, better


def _gaps(value: Array, point: QuadraticPoint) -> Array:
    """Return the relative gaps, as :func:`wdro_cvx.solution.relative_gap` defines them."""
    scale = np.maximum(np.maximum(np.abs(value), np.abs(point.value)), point.floor)
    with np.errstate(invalid="ignore", divide="ignore"):
        gaps = (value - point.value) / scale
    return np.where(np.isfinite(gaps), gaps, np.inf)


def _solutions(point: QuadraticPoint, value: Array, steps: int) -> list[QPSolution]:
    rows = zip(point.laplacian(), value.tolist(), point.value.tolist(), point.nu,
               _each(point.level, point), strict=True)  # fmt: skip
    return [QPSolution(*row, steps) for row in rows]


def _each(number: Any, point: QuadraticPoint) -> list[float]:
    """Return a number for every point of a stack."""
    return np.broadcast_to(number, point.value.shape).tolist()

"""Semismooth Newton ascent on the duals of problems over Laplacians.

The degrees ``u = Aw`` are treated as separate variables. The dual is then a concave function of one
multiplier ν_i per vertex and a multiplier τ of the trace: d + 1 unknowns instead of d(d-1)/2. Its
generalised Hessian is a signless Laplacian plus a diagonal, so a step is one Cholesky factorisation
of size d. The method is that of Qi and Sun (Math. Program. 1993). Every ``(ν, τ)`` gives a lower
bound, so the duality gap is the stopping rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from solvers.control.deadline import tick
from wdro_cvx.priors import DegreePrior
from wdro_cvx.solution import relative_gap
from wdro_cvx.stacks import choose, column, dot, number, set_diagonals, sums
from wdro_cvx.validation import Array

_SUFFICIENT = 1e-4  # share of the increase that the slope predicts
_EPS = float(np.finfo(float).eps)
_FLAT = 50.0  # times rounding: smaller differences of the dual are not significant
_KINK = 1e-12  # a smooth problem's gap is below this once its dual is flat to rounding


@dataclass(slots=True, eq=False)
class Curvature:
    """Minus the generalised Hessian of a dual in (ν, τ), times ``unit``.

    It is ``[[S + diag(vertices), -counts], [-countsᵀ, Σcounts/2 + tau]]``, plus ``weight·bbᵀ`` if
    there is a ``bump``. ``S`` is the signless Laplacian of the edges' slopes. Without a bump it may
    be a stack.

    Attributes
    ----------
    edges : array (d, d)
        The slope of every edge, 1 for a quadratic. Only the lower triangle is read, and
        :meth:`direction` overwrites it. Its dtype sets the precision of the step.
    counts : array (d,)
        The sum of the slopes of each vertex's edges.
    vertices : array (d,) or float
    tau, unit : float
        An infinite ``tau`` keeps τ fixed.
    reach : float
        The step in τ if there is no curvature: no edge is active and the trace is not penalised.
    bump : (weight, b in ν, b in τ), optional
    """

    edges: NDArray[np.floating]
    counts: Array
    vertices: Array | float
    tau: Any
    unit: Any
    reach: Any
    bump: tuple[float, Array, float] | None = None

    def direction(self, grad_nu: Array, grad_tau: Any) -> tuple[Array, Any]:
        """Return the Newton step, by a Cholesky factor in ν and elimination of the rest."""
        edges, counts = self.edges, self.counts
        set_diagonals(edges, counts + self.vertices)
        sides = np.empty((*counts.shape[:-1], 2 if self.bump is None else 3, counts.shape[-1]))
        sides[..., 0, :] = column(self.unit) * grad_nu
        sides[..., 1, :] = counts
        if self.bump is not None:
            sides[2] = self.bump[1]
        solved = _solved(edges, sides)
        free, pulled = solved[..., 0, :], solved[..., 1, :]
        pivot = number(sums(counts)) / 2 + self.tau - dot(counts, pulled)
        push = self.unit * grad_tau + dot(counts, free)
        if self.bump is None:
            curved = pivot > 0.0
            d_tau = choose(curved, push / choose(curved, pivot, 1.0), np.sign(push) * self.reach)
            return free + column(d_tau) * pulled, d_tau
        # The rank-one term adds one unknown, y = bᵀ(dν, dτ).
        weight, b_nu, b_tau = self.bump
        bent = solved[2]
        cross = b_tau + float(b_nu @ pulled)
        share = weight / (1.0 + weight * float(b_nu @ bent))
        pivot += share * cross**2
        push -= share * cross * float(b_nu @ free)
        d_tau = float(push / pivot) if pivot > 0.0 else float(np.sign(push)) * self.reach
        d_nu = free + d_tau * pulled - share * (float(b_nu @ free) + cross * d_tau) * bent
        return d_nu, d_tau


def common_bump(prior: DegreePrior, nu: Array) -> tuple[float, Array, float] | None:
    """Return the bump of a prior; None if each degree depends only on its own multiplier."""
    found = prior.common(nu)
    return None if found is None else (4 * prior.beta * found[0], found[1], 0.0)


def _solved(matrix: NDArray[np.floating], sides: Array) -> Array:
    """Solve for the rows of ``sides``, in place, with the lower triangle of a positive matrix.

    In a stack, the answers of a matrix that is not positive definite are NaN.
    """
    lapack = scipy.linalg.lapack
    if matrix.ndim > 2:
        for one, side in zip(matrix, sides, strict=True):
            if lapack.dposv(one.T, side.T, overwrite_a=1, overwrite_b=1)[2] != 0:
                side[:] = np.nan
        return sides
    # LAPACK itself, because SciPy's checks take longer than a small system. The transposes are in
    # its column-major order, so nothing is copied.
    if matrix.dtype == float:
        _, solved, info = lapack.dposv(matrix.T, sides.T, overwrite_a=1, overwrite_b=1)
    else:
        _, solved, info = lapack.sposv(matrix.T, sides.astype(matrix.dtype).T, overwrite_a=1)
    if info != 0:
        raise np.linalg.LinAlgError("the matrix is not positive definite")
    return np.asarray(solved.T, float)


class DualPoint(Protocol):
    """A concave dual, evaluated at one (ν, τ)."""

    @property
    def nu(self) -> Array:
        """The multipliers of ``u = Aw``."""

    @property
    def tau(self) -> float:
        """The multiplier of the trace."""

    @property
    def value(self) -> float:
        """The dual value, a lower bound on the optimum."""

    @property
    def floor(self) -> float:
        """The least denominator of a relative gap, for values close to zero."""

    def step_limit(self, d_nu: Array) -> float:
        """Return the longest multiple of a step in ν that stays in the domain of the dual."""

    def primal_value(self) -> float:
        """Return the objective at the feasible Laplacian of this point."""

    def gradient(self) -> tuple[Array, float]:
        """Return the gradient of the dual in ν and τ."""

    def curvature(self) -> Curvature:
        """Return the curvature for a Newton step at this point."""

    def moved(self, nu: Array, tau: float) -> Self:
        """Evaluate the same dual at another point."""


P = TypeVar("P", bound=DualPoint)


@dataclass(frozen=True)
class Ascent(Generic[P]):
    """The result of :func:`maximise`.

    Attributes
    ----------
    best : DualPoint
        The point with the least primal value.
    value : float
        The primal value at ``best``.
    last : DualPoint
        The point with the highest dual value.
    steps : int
    history : list of (value, bound)
        Least primal and highest dual value at the start and after every step.
    """

    best: P
    value: float
    last: P
    steps: int
    history: list[tuple[float, float]]


#: Called with the value and the bound after every step; returns whether to stop.
Watch = Callable[[float, float], bool]


def maximise(point: P, tol: float, max_steps: int, watch: Watch | None = None) -> Ascent[P]:
    """Maximise a dual to the relative gap ``tol``, or until rounding prevents an increase."""
    best, value, steps = point, point.primal_value(), 0
    history = [(value, point.value)]
    while (gap := relative_gap(value, point.value, floor=point.floor)) > tol and steps < max_steps:
        moved = _newton_step(point, gap)
        if moved is None:
            break
        point, steps = moved, steps + 1
        primal = point.primal_value()
        if primal < value:
            best, value = point, primal
        history.append((value, point.value))
        if watch is not None and watch(value, point.value):
            break
    return Ascent(best, value, point, steps, history)


def _newton_step(point: P, gap: float) -> P | None:
    """Return the next point, or None if no step increases the dual."""
    tick()
    grad_nu, grad_tau = point.gradient()
    try:
        d_nu, d_tau = point.curvature().direction(grad_nu, grad_tau)
    except np.linalg.LinAlgError:  # numbers of such different size that rounding hides curvature
        return None
    slope = dot(grad_nu, d_nu) + grad_tau * d_tau
    rounding = _EPS * max(abs(point.value), point.floor)
    # Stop if the dual is flat to rounding, unless the gap is still wide because of a kink in the
    # objective. In that case the norm of the gradient measures progress.
    kinked = gap > _KINK
    longest = length = min(1.0, point.step_limit(d_nu))
    while length * slope > rounding or (kinked and length == longest):
        trial = point.moved(point.nu + length * d_nu, point.tau + length * d_tau)
        if trial.value >= point.value + _SUFFICIENT * length * slope and trial.value > point.value:
            return trial
        flat = trial.value >= point.value - _FLAT * rounding
        if kinked and flat and _size(trial) <= _size(point) / 2:
            return trial
        length /= 2
    return None


def _size(point: DualPoint) -> float:
    grad_nu, grad_tau = point.gradient()
    return float(np.abs(grad_nu).sum()) + abs(grad_tau)

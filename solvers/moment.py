"""The moment ball of Theorem 3, exactly and with a certificate, for every norm type p in [1, ∞].

With ``v`` the entries of ``L`` (the degrees ``u = Aw``, and every weight twice) the problem is

    min cᵀw + η‖v‖² + ε‖v‖_q    s.t.  w ≥ 0,  1ᵀw = T/2,        1/p + 1/q = 1,  c = 𝒯*Θ

Multipliers ν of ``u = Aw`` and τ of the trace put a price ``Y`` on the entries: ν_i on a degree,
``(τ - c_ij - ν_i - ν_j)₊/2`` on either copy of a weight. Minimising ``η‖v‖² + ε‖v‖_q - ⟨Y, v⟩``
splits the prices (solvers/norm_split.py), so that the dual is, for every p,

    D(ν, τ) = -η‖v‖² + τT/2 - κτ²,    Y = 2ηv + Δ,    Δ the projection of Y onto {‖Δ‖_p ≤ ε}

with ``κ = 1/16β`` under a trace penalty, else 0. It is concave and differentiable, and ``∂v/∂Y`` is
a diagonal plus one rank: solvers/dual_ascent.py climbs it. ``Δ`` is the worst shift, and
``D(ν, τ)`` is the QP's dual for the moment ``Θ + Δ`` at ``(ν - diag Δ, τ)``: each iterate carries
its certificate, also where ``L`` alone does not determine the worst case (p = 1, the empty graph).

For p = ∞ and for radius 0 all Laplacians have the same worst case, and one QP is left.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.base import register
from solvers.dual_ascent import Curvature, maximise
from solvers.newton import best_tau, quadratic_point
from solvers.norm_split import Split, split_largest, split_norm, weighted_norm
from solvers.quadratic import LaplacianQP, edge_gains
from wdro_cvx import Certificate, GraphProblem, MomentBall, ProblemError, Solution, Status
from wdro_cvx.laplacian import complete_graph, nearest_feasible
from wdro_cvx.validation import Array, real_number, square_matrix, whole_number

# The Hessian is singular where slopes vanish: isolated vertices for q < 2, tied degrees for p = 1.
# In proportion to the gradient, damping keeps Newton's rate; the floor keeps rounding out.
_DAMPING = 1e-3
_DAMPING_FLOOR = 1e-7

_EPS = float(np.finfo(float).eps)

_Ends = tuple[NDArray[np.intp], NDArray[np.intp]]


@register
@dataclass(frozen=True)
class MomentNewton:
    """Semismooth Newton for the moment ball: about ten Cholesky factorisations for any p.

    Parameters
    ----------
    tol : float
        The relative gap between value and lower bound at which to stop.
    max_iterations : int
        Limit on Newton steps; the answer then has the status ``ITERATION_LIMIT`` and its true gap.
    """

    tol: float = 1e-6
    max_iterations: int = 200

    def __post_init__(self) -> None:
        real_number("tol", self.tol, 0.0, strict=True)
        whole_number("max_iterations", self.max_iterations, 1)

    def check_claim(self, problem: GraphProblem) -> None:
        """Raise ProblemError unless the ambiguity set is a moment ball."""
        if not isinstance(problem.ambiguity, MomentBall):
            raise ProblemError(
                "MomentNewton solves problems with MomentBall; this one has "
                f"{type(problem.ambiguity).__name__}. Use ProjectedGradient."
            )
        if problem.bounds is not None:
            raise ProblemError("MomentNewton knows no bounds on edges. Use CertifiedSolver.")

    def solve(self, problem: GraphProblem, start: Solution | None = None) -> Solution:
        """Solve the problem, from another problem's solution if one is given.

        Parameters
        ----------
        problem : GraphProblem
        start : Solution, optional
            The answer to a similar problem with the same vertices.
        """
        started = time.perf_counter()
        self.check_claim(problem)
        ball = problem.ambiguity
        assert isinstance(ball, MomentBall)
        evidence = _guess(problem, ball, start)
        tol, left, laplacian = self.tol / 2, self.max_iterations, None  # half is for rounding
        if ball.radius > 0.0 and not np.isinf(ball.p):
            found = maximise(_first_point(problem, ball, evidence), tol, left)
            laplacian, history = found.best.laplacian(), found.history
            evidence, left = found.last.evidence(), left - found.steps
        # The sample average of a moment in the ball gives the bound. For the moment found above it
        # is solved already; where the moment was known beforehand it is all there is to do.
        qp = _quadratic(problem, evidence.moment)
        average = maximise(quadratic_point(qp, (evidence.nu, evidence.tau)), tol, left)
        if laplacian is None:
            laplacian, history = average.best.laplacian(), average.history
        left -= average.steps
        worst = ball.worst_case(problem.nominal, laplacian)
        value, bound = worst.risk + problem.regularisation(laplacian), average.last.value
        status = Status.INACCURATE if left else Status.ITERATION_LIMIT
        if value - bound <= self.tol * abs(value):
            status = Status.SOLVED
        return Solution(
            laplacian=laplacian,
            value=value,
            status=status,
            bound=bound,
            iterations=self.max_iterations - left,
            multiplier=worst.multiplier,
            certificate=Certificate(evidence.moment, average.last.nu, average.last.tau),
            solve_s=time.perf_counter() - started,
            history=tuple({"value": row[0], "bound": row[1]} for row in history),
        )


class _Evidence(NamedTuple):
    """A second moment in the ball, and multipliers of its sample-average problem."""

    moment: Array
    nu: Array
    tau: float


@dataclass(frozen=True)
class _Model:
    """A problem in the form that its dual needs."""

    qp: LaplacianQP  # the sample average
    gains: Array  # -c below the diagonal, -∞ elsewhere, so that every edge counts once
    ball: MomentBall

    def at(self, nu: Array, tau: float) -> MomentPoint:
        """Evaluate the dual."""
        half = tau / 2 - nu
        levels = self.gains + half[:, np.newaxis]
        levels += half[np.newaxis, :]
        active = np.flatnonzero(levels > 0.0)
        d, eta = nu.size, self.qp.eta
        prices = np.concatenate([nu, levels.ravel()[active] / 2])
        copies = np.ones_like(prices)
        copies[d:] = 2.0
        if self.ball.p == 1.0:
            split = split_largest(prices, d, self.ball.radius, eta)
        else:
            split = split_norm(prices, copies, self.ball.q, self.ball.radius, eta)
        value = -eta * float(copies @ split.values**2)
        value += tau * self.qp.trace / 2 - self.qp.curvature * tau**2
        ends = np.divmod(active, d)
        degrees = _incident(ends, split.values[d:], d)
        return MomentPoint(self, nu, tau, ends, prices, copies, split, degrees, value)


@dataclass(frozen=True)
class MomentPoint:
    """The dual at (ν, τ): prices on the degrees, then on the active edges, and their split."""

    model: _Model
    nu: Array
    tau: float
    ends: _Ends
    prices: Array
    copies: Array  # how often an entry occurs in L: degrees once, weights twice
    split: Split
    degrees: Array  # Aw; at the optimum, and only there, it is the split's u
    value: float

    @property
    def weights(self) -> Array:
        """The weights of the active edges."""
        return self.split.values[self.nu.size :]

    def moved(self, nu: Array, tau: float) -> MomentPoint:
        """Evaluate the same dual elsewhere."""
        return self.model.at(nu, tau)

    def gradient(self) -> tuple[Array, float]:
        """Return the gradient of the dual in ν and τ."""
        qp = self.model.qp
        grad_tau = qp.trace / 2 - float(self.weights.sum()) - 2 * qp.curvature * self.tau
        return self.degrees - self.split.values[: self.nu.size], grad_tau

    def curvature(self) -> Curvature:
        """Return what a Newton step from here needs."""
        d, qp, split = self.nu.size, self.model.qp, self.split
        edges = np.zeros((d, d))
        edges[self.ends] = split.slopes[d:]
        counts = _incident(self.ends, split.slopes[d:], d)
        grad_nu, grad_tau = self.gradient()
        miss = min((float(np.abs(grad_nu).sum()) + abs(grad_tau)) / qp.trace, 1.0)
        scale = float((counts + 2 * split.slopes[:d]).max()) or 1.0
        damping = max(_DAMPING * miss * min(scale, 1.0), _DAMPING_FLOOR * scale)
        b_nu = split.b[:d] - _incident(self.ends, split.b[d:], d)
        return Curvature(
            edges=edges,
            counts=counts,
            vertices=2 * split.slopes[:d] + damping,
            tau=8 * qp.eta * qp.curvature,
            unit=4 * qp.eta,
            reach=2 * qp.eta * qp.trace + self.model.ball.radius,
            bump=(2 * split.weight, b_nu, float(split.b[d:].sum())),
        )

    def primal_value(self) -> float:
        """Return the objective at the weights, scaled to the trace.

        On active edges ``c_ij = τ - ν_i - ν_j - 2Y_ij``, so that the costs are not needed.
        """
        qp, weights, total = self.model.qp, self.weights, float(self.weights.sum())
        if total == 0.0:
            return np.inf if qp.trace_penalty is None else qp.trace_penalty * qp.trace**2
        scale = self._scale()
        cost = self.tau * total - float(self.nu @ self.degrees)
        cost -= 2 * float(self.prices[self.nu.size :] @ weights)
        ball, entries = self.model.ball, np.concatenate([self.degrees, weights])
        cost += ball.radius * weighted_norm(entries, self.copies, ball.q)
        value = scale * cost + qp.eta * scale**2 * float(self.copies @ entries**2)
        if qp.trace_penalty is not None:
            value += qp.trace_penalty * (2 * total - qp.trace) ** 2
        return value

    def laplacian(self) -> Array:
        """Return the feasible Laplacian that belongs to the point."""
        if self.model.qp.trace_penalty is None and not self.weights.any():
            return complete_graph(self.nu.size, self.model.qp.trace)
        scale = self._scale()
        return self._matrix(self.degrees * scale, self.weights * -scale)

    def evidence(self) -> _Evidence:
        """Return the moment and the multipliers at which a QP's dual has the value of this one."""
        d, theta = self.nu.size, self.model.qp.moment
        shift = np.concatenate([self.split.shift[:d], -self.split.shift[d:]])
        nominal = np.concatenate([np.diagonal(theta), theta[self.ends]])
        shift *= _share_inside(self.model.ball, nominal, shift, self.copies)
        return _Evidence(theta + self._matrix(shift[:d], shift[d:]), self.nu - shift[:d], self.tau)

    def _scale(self) -> float:
        """Return the factor from weights to feasible ones."""
        qp, total = self.model.qp, float(self.weights.sum())
        return 1.0 if qp.trace_penalty is not None or total == 0.0 else qp.trace / (2 * total)

    def _matrix(self, diagonal: Array, edges: Array) -> Array:
        matrix = np.zeros((diagonal.size, diagonal.size))
        matrix[self.ends] = edges
        matrix += matrix.T
        np.fill_diagonal(matrix, diagonal)
        return matrix


def _incident(ends: _Ends, values: Array, d: int) -> Array:
    """Return the sum of the values on the edges of every vertex."""
    return np.asarray(np.bincount(ends[0], values, d) + np.bincount(ends[1], values, d), float)


def _share_inside(ball: MomentBall, nominal: Array, shift: Array, copies: Array) -> float:
    """Return the share of a shift with which ``Θ + Δ``, once rounded, lies in the ball."""
    share, pull = 1.0, 1.0
    while share > 0.0:
        rounded = (nominal + share * shift) - nominal
        excess = weighted_norm(rounded, copies, ball.p) / ball.radius - 1.0
        if excess <= -8 * _EPS:
            return share
        share -= pull * (excess + 16 * _EPS)
        pull *= 2.0  # rounding to the digits of Θ may undo a small one
    return 0.0


def _first_point(problem: GraphProblem, ball: MomentBall, guess: _Evidence) -> MomentPoint:
    theta = problem.nominal.second_moment
    gains = np.where(np.tri(problem.d, k=-1, dtype=bool), edge_gains(theta), -np.inf)
    model = _Model(_quadratic(problem, theta), gains, ball)
    return model.at(guess.nu + np.diagonal(guess.moment - theta), guess.tau)


def _guess(problem: GraphProblem, ball: MomentBall, start: Solution | None) -> _Evidence:
    """Return the worst case of the start, or of the complete graph, and multipliers to match."""
    theta, trace = problem.nominal.second_moment, problem.target_trace
    if start is None:
        laplacian = complete_graph(problem.d, trace)
    else:
        given = square_matrix("start.laplacian", start.laplacian, problem.d, ProblemError)
        laplacian = nearest_feasible(given, trace if problem.trace_penalty is None else None)
    moment = ball.worst_case(problem.nominal, laplacian).second_moment
    if ball.p == 1.0 and start is not None and start.certificate is not None:
        # Rounding hides which degrees are the largest, and how they share the shift.
        shares = np.maximum(np.diagonal(start.certificate.second_moment - theta), 0.0)
        if shares.any():
            moment = theta + np.diag(ball.radius / shares.sum() * shares)
    nu = 2 * problem.eta * np.diagonal(laplacian)
    tau = best_tau(_quadratic(problem, moment), edge_gains(moment), nu)
    return _Evidence(moment, nu, tau)


def _quadratic(problem: GraphProblem, moment: Array) -> LaplacianQP:
    return LaplacianQP(moment, problem.eta, problem.target_trace, problem.trace_penalty)

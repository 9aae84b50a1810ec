"""The dual of the moment ball's problem, for every norm type p in [1, ∞).

Let ``v`` be the entries of ``L``: the degrees ``u = Aw``, and every weight twice. The problem is

    min cᵀw + η‖v‖² + ε‖v‖_q    s.t.  l ≤ w ≤ h,  1ᵀw = T/2,        1/p + 1/q = 1,  c = 𝒯*Θ

Multipliers ν of ``u = Aw`` and τ of the trace put a price ``Y`` on the entries: ν_i on a degree,
``(τ - c_ij - ν_i - ν_j)/2`` on each copy of a weight. Minimising ``η‖v‖² + ε‖v‖_q - ⟨Y, v⟩`` over
the intervals of the weights splits the prices (solvers/norm/split.py). This gives the dual

    D(ν, τ) = ⟨ηv + Δ - Y, v⟩ + τT/2 - κτ²,    ‖Δ‖_p ≤ ε,  ⟨Δ, v⟩ = ε‖v‖_q

with ``κ = 1/16β`` under a trace penalty, else 0. It is concave and differentiable, and ``∂v/∂Y`` is
diagonal plus rank one; solvers/qp/ascent.py maximises it. ``Δ`` is the worst shift, and ``D(ν, τ)``
is the QP's dual for the moment ``Θ + Δ`` at ``(ν - diag Δ, τ)``. Each iterate therefore has its own
certificate, even if ``L`` does not determine the worst case (p = 1, the empty graph).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.norm.split import Box, Split, split_largest, split_norm, weighted_norm
from solvers.qp import LaplacianQP, edge_gains
from solvers.qp.ascent import Curvature
from wdro_cvx import EdgeBounds, MomentBall
from wdro_cvx.graphs.laplacian import complete_graph, degrees, edge_index, laplacian_from_weights
from wdro_cvx.validation import Array

# The Hessian is singular if slopes vanish: isolated vertices for q < 2, tied degrees for p = 1.
# Damping in proportion to the gradient keeps Newton's rate. The floor guards against rounding.
_DAMPING = 1e-3
_DAMPING_FLOOR = 1e-7

_EPS = float(np.finfo(float).eps)

_Ends = tuple[NDArray[np.intp], NDArray[np.intp]]


class MomentEvidence(NamedTuple):
    """A second moment in the ball, and multipliers of its sample-average problem."""

    moment: Array
    nu: Array
    tau: float


@dataclass(frozen=True)
class _Limits:
    """The bounds of the weights as matrices."""

    lower: Array
    upper: Array
    kept: NDArray[np.bool_]  # edges below the diagonal with a positive lower bound

    @classmethod
    def of(cls, bounds: EdgeBounds) -> _Limits:
        lower, upper = bounds.matrices()
        return cls(lower, upper, np.tril(lower > 0.0))

    def box(self, ends: _Ends, d: int) -> Box:
        """Return the intervals of the degrees, which are unbounded, and of the given edges."""
        lower = np.concatenate([np.zeros(d), self.lower[ends]])
        return Box(lower, np.concatenate([np.full(d, np.inf), self.upper[ends]]))


@dataclass(frozen=True)
class _MomentDual:
    """The data of the dual."""

    qp: LaplacianQP  # the sample average
    ball: MomentBall
    gains: Array  # -c below the diagonal, -∞ elsewhere: every edge counts once
    limits: _Limits | None

    def at(self, nu: Array, tau: float) -> MomentPoint:
        """Evaluate the dual."""
        d, eta = nu.size, self.qp.prior.beta
        half = tau / 2 - nu
        levels = self.gains + half[:, np.newaxis]
        levels += half[np.newaxis, :]
        active = np.flatnonzero(
            levels > 0.0 if self.limits is None else (levels > 0.0) | self.limits.kept
        )
        ends = np.divmod(active, d)
        box = None if self.limits is None else self.limits.box(ends, d)
        prices = np.concatenate([nu, levels.ravel()[active] / 2])
        copies = np.ones_like(prices)
        copies[d:] = 2.0
        if self.ball.p == 1.0:
            split = split_largest(prices, d, self.ball.radius, eta, box)
        else:
            split = split_norm(prices, copies, self.ball.q, self.ball.radius, eta, box)
        if box is None:
            value = -eta * float(copies @ split.values**2)
        else:  # an active bound's multiplier is part of the price, beside 2ηv and Δ
            rest = eta * split.values + split.shift - prices
            value = float(copies @ (rest * split.values))
        value += tau * self.qp.prior.trace.target / 2 - self.qp.prior.trace.curvature * tau**2
        degrees = _incident(ends, split.values[d:], d)
        return MomentPoint(self, nu, tau, ends, prices, copies, split, degrees, value)


def moment_point(qp: LaplacianQP, ball: MomentBall, guess: MomentEvidence) -> MomentPoint:
    """Evaluate the dual of the ball around the QP's moment at the multipliers of ``guess``."""
    theta, d = qp.moment, qp.moment.shape[0]
    edges = np.tri(d, k=-1, dtype=bool)
    limits = None
    if qp.prior.bounds is not None:
        limits = _Limits.of(qp.prior.bounds)
        edges &= limits.upper > 0.0
    gains = np.where(edges, edge_gains(theta), -np.inf)
    model = _MomentDual(qp, ball, gains, limits)
    return model.at(guess.nu + np.diagonal(guess.moment - theta), guess.tau)


@dataclass(frozen=True)
class MomentPoint:
    """The dual at (ν, τ): prices on the degrees, then on the active edges, and their split."""

    model: _MomentDual
    nu: Array
    tau: float
    ends: _Ends
    prices: Array
    copies: Array  # how often each entry occurs in L: degrees once, weights twice
    split: Split
    degrees: Array  # Aw; equal to the split's u only at the optimum
    value: float

    floor = 0.0

    def step_limit(self, d_nu: Array) -> float:
        """Return the longest step in the domain: infinite, since the domain is the whole space."""
        return np.inf

    @property
    def weights(self) -> Array:
        """The weights of the active edges."""
        return self.split.values[self.nu.size :]

    def moved(self, nu: Array, tau: float) -> MomentPoint:
        """Evaluate the same dual at another point."""
        return self.model.at(nu, tau)

    def gradient(self) -> tuple[Array, float]:
        """Return the gradient of the dual in ν and τ."""
        qp = self.model.qp
        rule = qp.prior.trace
        grad_tau = rule.target / 2 - float(self.weights.sum()) - 2 * rule.curvature * self.tau
        return self.degrees - self.split.values[: self.nu.size], grad_tau

    def curvature(self) -> Curvature:
        """Return the curvature for a Newton step at this point."""
        d, qp, split = self.nu.size, self.model.qp, self.split
        edges = np.zeros((d, d))
        edges[self.ends] = split.slopes[d:]
        counts = _incident(self.ends, split.slopes[d:], d)
        grad_nu, grad_tau = self.gradient()
        miss = min((float(np.abs(grad_nu).sum()) + abs(grad_tau)) / qp.prior.trace.target, 1.0)
        scale = float((counts + 2 * split.slopes[:d]).max()) or 1.0
        damping = max(_DAMPING * miss * min(scale, 1.0), _DAMPING_FLOOR * scale)
        b_nu = split.b[:d] - _incident(self.ends, split.b[d:], d)
        return Curvature(
            edges=edges,
            counts=counts,
            vertices=2 * split.slopes[:d] + damping,
            tau=8 * qp.prior.beta * qp.prior.trace.curvature,
            unit=4 * qp.prior.beta,
            reach=2 * qp.prior.beta * qp.prior.trace.target + self.model.ball.radius,
            bump=(2 * split.weight, b_nu, float(split.b[d:].sum())),
        )

    def primal_value(self) -> float:
        """Return the objective at the feasible weights of this point."""
        qp, ball = self.model.qp, self.model.ball
        if qp.prior.bounds is not None:
            weights = self._bounded
            entries = np.concatenate([degrees(weights), weights])
            copies = np.repeat([1.0, 2.0], [self.nu.size, weights.size])
            heads, tails = edge_index(self.nu.size)
            costs = -self.model.gains[tails, heads]
            used = weights > 0.0  # the cost of an absent edge is infinite here
            scale, total = 1.0, float(weights.sum())
            cost = float(costs[used] @ weights[used])
        else:
            # On active edges c_ij = τ - ν_i - ν_j - 2Y_ij, so the costs are not needed.
            weights, total = self.weights, float(self.weights.sum())
            if total == 0.0:
                return np.inf if qp.prior.trace.fixed else qp.prior.trace.penalty(0.0)
            scale, copies = self._scale(), self.copies
            entries = np.concatenate([self.degrees, weights])
            cost = self.tau * total - float(self.nu @ self.degrees)
            cost -= 2 * float(self.prices[self.nu.size :] @ weights)
        cost += ball.radius * weighted_norm(entries, copies, ball.q)
        value = scale * cost + qp.prior.beta * scale**2 * float(copies @ entries**2)
        return value + qp.prior.trace.penalty(2 * total)

    def laplacian(self) -> Array:
        """Return the feasible Laplacian of this point."""
        qp = self.model.qp
        if qp.prior.bounds is not None:
            return laplacian_from_weights(self._bounded)
        if qp.prior.trace.fixed and not self.weights.any():
            return complete_graph(self.nu.size, qp.prior.trace.target)
        scale = self._scale()
        return self._matrix(self.degrees * scale, self.weights * -scale)

    def evidence(self) -> MomentEvidence:
        """Return a moment, and multipliers at which its QP's dual equals this dual's value."""
        d, theta = self.nu.size, self.model.qp.moment
        shift = np.concatenate([self.split.shift[:d], -self.split.shift[d:]])
        nominal = np.concatenate([np.diagonal(theta), theta[self.ends]])
        shift *= share_inside(self.model.ball, nominal, shift, self.copies)
        return MomentEvidence(
            theta + self._matrix(shift[:d], shift[d:]), self.nu - shift[:d], self.tau
        )

    def _scale(self) -> float:
        """Return the factor that makes the weights feasible."""
        qp, total = self.model.qp, float(self.weights.sum())
        rule = qp.prior.trace
        return rule.target / (2 * total) if rule.fixed and total > 0.0 else 1.0

    @cached_property
    def _bounded(self) -> Array:
        """The feasible weights of all edges, if they have bounds."""
        d = self.nu.size
        weights = self._matrix(np.zeros(d), self.weights)[edge_index(d)]
        return self.model.qp.prior.clipped(weights)

    def _matrix(self, diagonal: Array, edges: Array) -> Array:
        matrix = np.zeros((diagonal.size, diagonal.size))
        matrix[self.ends] = edges
        matrix += matrix.T
        np.fill_diagonal(matrix, diagonal)
        return matrix


def _incident(ends: _Ends, values: Array, d: int) -> Array:
    """Return, for every vertex, the sum of the values on its edges."""
    return np.asarray(np.bincount(ends[0], values, d) + np.bincount(ends[1], values, d), float)


def share_inside(ball: MomentBall, nominal: Array, shift: Array, copies: Array) -> float:
    """Return the factor on the shift Δ for which ``Θ + Δ``, after rounding, lies in the ball."""
    share, pull = 1.0, 1.0
    while share > 0.0:
        rounded = (nominal + share * shift) - nominal
        excess = weighted_norm(rounded, copies, ball.p) / ball.radius - 1.0
        if excess <= -40 * _EPS:  # the set's own distance allows 32 for rounding
            return share
        share -= pull * (excess + 48 * _EPS)
        pull *= 2.0  # rounding to the digits of Θ may undo a small reduction
    return 0.0

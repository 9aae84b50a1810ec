"""The objective of the likelihood solver over edge weights, with its derivatives and its dual.

    f(w) = R(L) - α log det(L + 11ᵀ/d) + 2β‖w‖² + κ‖Aw‖² + penalty(Tr L),    l ≤ w ≤ u

With ``P = (L + 11ᵀ/d)⁻¹`` and the effective resistances ``r = 𝒯*P`` its gradient is
``𝒯*∇R - αr + 4βw + ν_i + ν_j`` with ``ν = 2κ·deg``, plus the gradient of the penalty.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from solvers.likelihood.risks import BarrierRisk, LinearRisk, RiskPoint
from solvers.qp.start import tau_of_levels
from wdro_cvx import Certificate
from wdro_cvx.graphs.laplacian import adjoint, edge_index, laplacian_from_weights
from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array

_STEPS = 100  # for τ


@dataclass(frozen=True, eq=False)
class Bound:
    """A lower bound of the optimum, with its multipliers and the slope's share of ``-αP``."""

    value: float
    tau: float
    share: float


@dataclass(frozen=True, eq=False)
class Point:
    """Weights with what the derivatives of the objective need.

    ``value`` is that of the smoothed objective, ``above`` is at least the true one.
    """

    model: Model
    weights: Array
    degrees: Array
    risk: RiskPoint
    inverse: Array
    log_det: float
    value: float
    above: float

    @cached_property
    def costs(self) -> Array:
        """What every edge costs in the risk: 𝒯* of its gradient."""
        return adjoint(self.risk.gradient)

    @cached_property
    def resistances(self) -> Array:
        """The effective resistance of every pair of vertices."""
        return np.maximum(adjoint(self.inverse), 0.0)

    @property
    def nu(self) -> Array:
        """The prior's slopes at the degrees."""
        return 2 * self.model.prior.kappa * self.degrees

    @cached_property
    def gradient(self) -> Array:
        """The gradient of the smoothed objective, without a multiplier of the trace."""
        model, rule = self.model, self.model.prior.trace
        heads, tails = model.ends
        found = self.costs - model.alpha * self.resistances + 4 * model.prior.beta * self.weights
        nu = self.nu
        found += nu[heads] + nu[tails]
        if not rule.fixed and not rule.free:
            found += 4 * rule.stiffness * (2 * float(self.weights.sum()) - rule.target)
        return found

    def bound(self) -> Bound:
        """Return the best of two lower bounds: of the slope -αP, and of a shorter one.

        The shorter one is tried if the trace is free. It leaves no edge without an upper bound a
        positive price, because for β = 0 such a price would make the bound infinitely low.
        """
        model = self.model
        heads, tails = model.ends
        others = self.costs + self.nu[heads] + self.nu[tails]
        pulls = model.alpha * self.resistances
        shares = [1.0] if model.prior.beta > 0.0 or not model.prior.trace.free else []
        if model.prior.trace.free:
            over = model.unlimited & (pulls > others)
            limit = float(np.min(others[over] / pulls[over])) if over.any() else 1.0
            if limit > 0.0:
                shares.append(limit * (1.0 - 1e-14))
        found = [self._bound(others - share * pulls, share) for share in shares]
        return max(found, key=lambda one: one.value, default=Bound(-np.inf, 0.0, 1.0))

    def _bound(self, levels: Array, share: float) -> Bound:
        model, prior, d = self.model, self.model.prior, self.degrees.size
        rule = prior.trace
        tau = 0.0 if rule.free else best_tau(prior, levels, model.lower, model.upper)
        weights = _weights(prior.beta, tau - levels, model.lower, model.upper)
        if not np.isfinite(weights).all():
            return Bound(-np.inf, tau, share)
        value = float(np.sum(weights * (2 * prior.beta * weights + (levels - tau))))
        value += tau * rule.target / 2 - rule.curvature * tau**2
        value -= float(self.nu @ self.nu) / (4 * prior.kappa) if prior.kappa > 0.0 else 0.0
        value += model.alpha * (d * np.log(share) - self.log_det + d - share)
        return Bound(value, tau, share)

    def certificate(self, bound: Bound) -> Certificate:
        """Return the evidence for a bound."""
        slope = -self.model.alpha * bound.share * self.inverse
        return Certificate(self.risk.moment(), self.nu, bound.tau, (slope,))


@dataclass(frozen=True, eq=False)
class Model:
    """The objective of d vertices with a smooth risk."""

    d: int
    prior: DegreePrior
    risk: LinearRisk | BarrierRisk
    alpha: float

    @property
    def ends(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The end points of all edges."""
        return edge_index(self.d)

    @cached_property
    def lower(self) -> Array:
        """The lower bounds of the weights."""
        bounds, edges = self.prior.bounds, self.ends[0].size
        return np.zeros(edges) if bounds is None else bounds.lower

    @cached_property
    def upper(self) -> Array:
        """The upper bounds of the weights."""
        bounds, edges = self.prior.bounds, self.ends[0].size
        return np.full(edges, np.inf) if bounds is None else bounds.upper

    @cached_property
    def unlimited(self) -> NDArray[np.bool_]:
        """The edges without an upper bound."""
        return np.isinf(self.upper)

    def at(self, weights: Array) -> Point | None:
        """Return the point of some weights; None if they do not connect the graph."""
        d = self.d
        laplacian = laplacian_from_weights(weights)
        factor, failed = scipy.linalg.lapack.dpotrf(
            laplacian + 1.0 / d, lower=True, overwrite_a=True
        )
        diagonal = np.diagonal(factor)
        if failed or not diagonal.min() > 1e-10 * diagonal.max():
            return None
        log_det = 2 * float(np.log(diagonal).sum())
        inverse, _ = scipy.linalg.lapack.dpotri(factor, lower=True, overwrite_c=True)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        risk = self.risk.at(laplacian)
        own = np.diagonal(laplacian)
        rest = self.prior.value(weights, own) - self.alpha * log_det
        return Point(
            self, weights, own, risk, inverse, log_det, risk.value + rest, risk.above + rest
        )


def best_tau(prior: DegreePrior, levels: Array, lower: Array, upper: Array) -> float:
    """Return the multiplier of the trace with the largest dual value at the given levels.

    The dual's slope falls with τ. Newton steps, kept in a bracket by bisection, find its root.
    """
    rule, beta = prior.trace, prior.beta
    if prior.bounds is None and beta > 0.0:
        return tau_of_levels(prior, levels)
    half = rule.target / 2
    low = float(levels.min()) - 1.0
    high = float(np.max(levels + 4 * beta * np.minimum(upper, half)))
    if beta == 0.0 and np.isinf(upper).any():
        high = float(levels[np.isinf(upper)].min())
    if rule.curvature > 0.0:
        low, high = min(low, -half / (2 * rule.curvature)), min(high, half / (2 * rule.curvature))
    if _slope(prior, high, levels, lower, upper)[0] >= 0.0:
        return high
    tau = float(np.min(levels))
    for _ in range(_STEPS):
        slope, bend = _slope(prior, tau, levels, lower, upper)
        if slope == 0.0:
            return tau
        low, high = (tau, high) if slope > 0.0 else (low, tau)
        ahead = tau + slope / bend if bend > 0.0 else np.inf
        tau = ahead if low < ahead < high else (low + high) / 2
        if high - low <= 1e-15 * max(abs(low), abs(high)):
            break
    return low if beta == 0.0 else tau


def _slope(
    prior: DegreePrior, tau: float, levels: Array, lower: Array, upper: Array
) -> tuple[float, float]:
    """Return the slope of the dual in τ, and how fast it falls."""
    beta, curvature = prior.beta, prior.trace.curvature
    weights = _weights(beta, tau - levels, lower, upper)
    slope = prior.trace.target / 2 - float(weights.sum()) - 2 * curvature * tau
    free = np.count_nonzero((weights > lower) & (weights < upper))
    return slope, (free / (4 * beta) if beta > 0.0 else 0.0) + 2 * curvature


def _weights(beta: float, prices: Array, lower: Array, upper: Array) -> Array:
    if beta == 0.0:
        return np.where(prices > 0.0, upper, lower)
    return np.asarray(np.clip(prices / (4 * beta), lower, upper))

"""The judge's lower bound: the dual of the Laplacian QP at given multipliers, rounded downwards.

For **any** costs ``c`` below ``𝒯*M``, M in the ambiguity set, and **any** multipliers ``(ν, τ)``,

    Σ min { 2βw² - p_ij w : l_ij ≤ w ≤ u_ij } - Σ φ*(ν_i) + τT/2 - τ²/16s  ≤  optimum,
    p_ij = τ - level_ij,    level_ij = c_ij + ν_i + ν_j

where ``T`` is the trace. The last term is present only if the trace is penalised by s, and τ = 0 if
the trace is free. ``φ*(ν) = max νu - κu² + α log u`` is the conjugate of the cost of a degree. The
bound is exact at the optimum. Levels and sums are rounded down, which lowers it.

With bounds, τ may be as large as the cost of the most expensive edge, and ``Σ -τw + τT/2`` would
cancel. In that case the dual is computed at ``w = clip(p/4β)`` as

    Σ (2βw² + level·w) + τ(T/2 - Σw)

with an exact sum in the last bracket.

For β = 0, which only problems with terms have, an edge without an upper bound must not have a
positive price. Its level limits τ; with a free trace, a negative level proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.graphs.exact_sums import missing
from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.priors import DegreePrior
from wdro_cvx.problem import GraphProblem
from wdro_cvx.stacks import column, is_zero, number
from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)
_SUM = 64 * _EPS  # relative error of pairwise sums and of their terms
_STEPS = 400  # for τ; every second step halves its bracket
_MANY, _STRIDE = 20_000, 8


@dataclass(frozen=True, eq=False)
class DualBound:
    """A bound with its multipliers and edge prices."""

    value: float
    nu: Array
    tau: float
    prices: Array


@dataclass(frozen=True, eq=False)
class DualPoint:
    """The dual at some τ, rounded downwards, with the edge prices."""

    value: Any
    tau: Any
    prices: Array


def dual_bound(problem: GraphProblem, costs: Array, nu: Array) -> DualBound:
    """Return the bound at ν and a nearly optimal τ."""
    prior, bounds = problem.prior, problem.prior.bounds
    levels = safe_levels(costs, nu, *edge_index(problem.d))
    box = None if bounds is None else (bounds.lower, bounds.upper)
    found = best_dual(prior, levels, nu, box)
    return DualBound(found.value, nu, found.tau, found.prices)


def safe_levels(
    costs: Array, nu: Array, heads: NDArray[np.integer], tails: NDArray[np.integer]
) -> Array:
    """Return ``c_ij + ν_i + ν_j``, rounded downwards."""
    sizes = np.abs(nu)
    levels = np.abs(costs)
    levels += sizes.take(heads, axis=-1)
    levels += sizes.take(tails, axis=-1)
    levels *= -4 * _EPS
    levels += costs + nu.take(heads, axis=-1) + nu.take(tails, axis=-1)
    return np.asarray(levels)


def best_dual(
    prior: DegreePrior,
    levels: Array,
    nu: Array,
    box: tuple[Array, Array] | None,
    most: float = np.inf,
) -> DualPoint:
    """Return the dual at ν and a nearly optimal τ up to ``most``.

    Parameters
    ----------
    prior : DegreePrior
    levels : array (m,)
        The levels of the edges that may have weight, rounded downwards.
    nu : array (d,)
    box : pair of arrays (m,) or None
        The bounds of their weights.
    most : float
        Above it other edges would have positive prices.
    """
    if prior.trace.free:
        tau = 0.0
    elif is_zero(prior.beta):
        tau = flat_tau(prior, levels, box)
    elif box is not None:
        tau = bounded_tau(prior, levels, *box)
    else:
        tau = np.minimum(best_tau(prior, levels), most) if levels.size else most
    prices = column(tau) - levels  # rounded once: accurate to half a unit in the last place
    terms = [-prior.trace.curvature * tau**2]
    if box is None:
        # Edges without a positive price have no weight and contribute nothing. NaN is kept, so
        # that the bound is NaN.
        used = prices[~(prices <= 0.0)] if prices.ndim == 1 else np.maximum(prices, 0.0)
        if is_zero(prior.beta) and used.size:
            return DualPoint(-np.inf, float(tau), prices)
        earned = np.square(used).sum(axis=-1) / (8 * prior.beta) if used.size else 0.0
        terms += [-earned, tau * prior.trace.target / 2]
        size = earned
    else:
        # The weights are accurate to a few units in the last place and within the bounds. They miss
        # the minimum by about ε²·2βw², far less than what is subtracted below.
        weights = _weights(prior.beta, prices, *box)
        if not np.isfinite(weights).all():
            return DualPoint(-np.inf, float(tau), prices)
        squares, costs = 2 * prior.beta * np.square(weights), levels * weights
        crumb = missing(weights, prior.trace.target / 2) if tau != 0.0 else 0.0
        terms += [float(np.sum(squares + costs)), tau * crumb]
        size = float(np.sum(squares) + np.sum(np.abs(costs)))
    kept, kept_size = conjugate(prior, nu)
    size += kept_size + sum(abs(term) for term in terms)
    return DualPoint(number(sum(terms) - kept - _SUM * size), number(tau), prices)


def _weights(beta: float, prices: Array, lower: Array, upper: Array) -> Array:
    if beta == 0.0:
        return np.where(prices > 0.0, upper, lower)
    return np.asarray(np.clip(prices / (4 * beta), lower, upper))


def conjugate(prior: DegreePrior, nu: Array) -> tuple[Any, Any]:
    """Return ``Σ φ*(ν_i)``, and the sum of the absolute values of its terms."""
    kappa, alpha = column(prior.kappa), column(prior.alpha)
    if is_zero(alpha) and is_zero(kappa):  # degrees cost nothing: finite for ν = 0 only
        return (np.inf, 0.0) if nu.any() else (0.0, 0.0)
    if is_zero(alpha):
        total = np.square(nu).sum(axis=-1) / (4 * prior.kappa)
        return total, total
    if is_zero(kappa) and float(nu.max()) >= 0.0:
        return np.inf, 0.0  # degrees are unbounded: these multipliers prove nothing
    if is_zero(kappa):
        degrees = -alpha / nu
    else:
        root = np.sqrt(nu * nu + 8 * kappa * alpha)
        degrees = np.where(nu > 0.0, (root + nu) / (4 * kappa), 2 * alpha / (root + np.abs(nu)))
    # Stationary in the degrees, so their rounding enters at second order only.
    logs, lines = alpha * np.log(degrees), nu * degrees
    squares = kappa * np.square(degrees)
    size = (np.abs(logs) + np.abs(lines) + squares).sum(axis=-1) + prior.alpha * nu.shape[-1]
    return (lines - squares + logs).sum(axis=-1), size


def flat_tau(prior: DegreePrior, levels: Array, box: tuple[Array, Array] | None) -> float:
    """Return the best τ for β = 0, at which every unlimited edge has a price of at most zero.

    The dual's slope is ``T/2 - Σw - 2·curvature·τ``. An edge with a level below τ has its upper
    bound as its weight, any other edge its lower bound. The slope falls at every level.
    """
    lower, upper = (np.zeros_like(levels), np.full_like(levels, np.inf)) if box is None else box
    order = np.argsort(levels, kind="stable")
    sorted_levels, jumps = levels[order], (upper - lower)[order]
    curvature = prior.trace.curvature
    slope = prior.trace.target / 2 - float(lower.sum())  # below all levels, without curvature
    for level, jump in zip(sorted_levels.tolist(), jumps.tolist(), strict=True):
        if slope <= 2 * curvature * level:  # the root is below this level
            return slope / (2 * curvature) if curvature > 0.0 else level
        slope -= jump
        if slope <= 2 * curvature * level:
            return level
    return slope / (2 * curvature) if curvature > 0.0 else float(sorted_levels[-1])


def best_tau(prior: DegreePrior, levels: Array) -> Any:
    """Return τ with ``Σ(τ - level)₊ = 4β(T/2 - 2·curvature·τ)``.

    For a known set of used edges, τ is an average over them. Edges with levels above it are dropped
    until none is left. Levels are measured from the cheapest edge, so that small differences keep
    their digits. With many edges, first find τ on a subset; it is an upper bound.
    """
    beta, half_trace, curvature = prior.beta, prior.trace.target / 2, prior.trace.curvature
    if levels.ndim > 1:
        return _stacked_tau(levels, 4 * beta * half_trace)
    base = float(levels.min())
    used = levels - base
    target, slope = 4 * beta * (half_trace - 2 * curvature * base), 8 * beta * curvature
    if used.size > _MANY:
        used = used[used < _level_of(used[::_STRIDE], target, slope)]
    tau = _level_of(used, target, slope)
    if np.isfinite(tau):
        return base + tau
    return half_trace / (2 * curvature) if curvature > 0.0 else base


def _stacked_tau(levels: Array, target: Any) -> Array:
    """Return τ for a stack of problems with a fixed trace."""
    base = levels.min(axis=-1)
    rest = levels - column(base)
    used = np.ones(rest.shape, dtype=bool)
    while True:
        tau = (target + (rest * used).sum(axis=-1)) / used.sum(axis=-1)
        kept = rest < column(tau)
        if (kept == used).all():
            return np.asarray(base + tau)
        used = kept


def _level_of(used: Array, target: float, slope: float) -> float:
    """Return τ with ``Σ(τ - used)₊ + slope·τ = target``; infinite if no edge is used there."""
    while used.size:
        tau = (target + float(used.sum())) / (used.size + slope)
        kept = used[used < tau]
        if kept.size == used.size:
            return tau
        used = kept
    return float("inf")


def bounded_tau(prior: DegreePrior, levels: Array, lower: Array, upper: Array) -> float:
    """Return the best τ for bounded weights, or the next floating-point number below it.

    The loss of the dual is then at most a rounding of ``τ·slope``.

    The dual's slope decreases with τ and is piecewise linear. Its sign is exact: if the caps nearly
    fill the trace, the slope may stay close to zero over a wide range of τ. Newton steps, kept in a
    bracket by bisection, find the right piece.
    """
    beta, half_trace, curvature = prior.beta, prior.trace.target / 2, prior.trace.curvature
    some = lower < upper
    low = high = 0.0  # if all weights are fixed, any τ will do
    if some.any():
        low = float(np.min((levels + 4 * beta * lower)[some]))
        high = float(np.max((levels + 4 * beta * np.minimum(upper, half_trace))[some]))
    if curvature > 0.0:
        high = (half_trace - float(lower.sum())) / (2 * curvature)
        low = min(low, high)
    tau = (low + high) / 2
    for step in range(_STEPS):
        weights = _weights(beta, tau - levels, lower, upper)
        slope = half_trace - float(weights.sum())
        if abs(slope) <= _SUM * half_trace:
            slope = missing(weights, half_trace)
        slope -= 2 * curvature * tau
        if slope == 0.0:
            return tau
        low, high = (tau, high) if slope > 0.0 else (low, tau)
        free = np.count_nonzero((weights > lower) & (weights < upper))
        bend = free / (4 * beta) + 2 * curvature
        newton = tau + slope / bend if bend > 0.0 else np.inf
        if newton == tau:
            return tau
        middle = (low + high) / 2
        tau = newton if low < newton < high and step % 2 == 0 else middle
        if not low < tau < high:
            break
    return low

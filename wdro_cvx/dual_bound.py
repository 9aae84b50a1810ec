"""The judge's lower bound: the dual of the Laplacian QP at given multipliers, rounded downwards.

For **any** costs ``c`` below ``𝒯*M``, M in the ambiguity set, and **any** multipliers ``(ν, τ)``,

    Σ min { 2βw² - p_ij w : l_ij ≤ w ≤ u_ij } - Σ φ*(ν_i) + τT/2 - τ²/16s  ≤  optimum,
    p_ij = τ - c_ij - ν_i - ν_j

with ``T`` the trace, the last term only where it is penalised by s, and τ = 0 where it is free;
``φ*(ν) = max νu - κu² + α log u`` is the conjugate of what a degree costs. It is exact at the
optimum. Prices are rounded up and the sum down, so that the inequality holds in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.priors import DegreePrior
from wdro_cvx.problem import GraphProblem
from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)
_SUM = 64 * _EPS  # of pairwise sums of any length, and the few roundings of each term
_BISECTIONS = 200
_MANY, _STRIDE = 20_000, 8
_DOUBLINGS = 200


@dataclass(frozen=True, eq=False)
class DualBound:
    """A bound, with the multipliers and the prices of the edges that gave it."""

    value: float
    nu: Array
    tau: float
    prices: Array


def dual_bound(problem: GraphProblem, costs: Array, nu: Array) -> DualBound:
    """Return the bound at ν and nearly the best τ."""
    heads, tails = edge_index(problem.d)
    prior = problem.prior
    levels = costs + nu[heads] + nu[tails]
    tau = 0.0
    if not prior.trace.free:
        bounds = prior.bounds
        tau = (
            best_tau(prior, levels)
            if bounds is None
            else bounded_tau(prior, levels, bounds.lower, bounds.upper)
        )
    beta, half_trace, curvature = prior.beta, prior.trace.target / 2, prior.trace.curvature
    rounded = np.abs(nu) + abs(tau) / 2
    prices = np.abs(costs) + rounded[heads] + rounded[tails]
    prices *= 4 * _EPS
    prices += tau - levels
    if prior.bounds is None:
        used = prices[prices > 0.0]  # the others have no weight, and none of what follows
        weights = used / (4 * beta)
    else:
        used = prices
        weights = np.clip(prices / (4 * beta), prior.bounds.lower, prior.bounds.upper)
    squares, earned = 2 * beta * np.square(weights), used * weights
    kept, kept_size = conjugate(prior, nu)
    terms = [tau * half_trace, curvature * tau**2]
    value = float(np.sum(squares - earned)) - kept + terms[0] - terms[1]
    rounding = float(np.sum(squares) + np.sum(np.abs(earned))) + kept_size
    rounding += sum(abs(term) for term in terms)
    return DualBound(value - _SUM * rounding, nu, tau, prices)


def conjugate(prior: DegreePrior, nu: Array) -> tuple[float, float]:
    """Return ``Σ φ*(ν_i)``, and the sum of the sizes of the terms that it was added up from."""
    kappa, alpha = prior.kappa, prior.alpha
    if alpha == 0.0:
        total = float(np.sum(np.square(nu))) / (4 * kappa)
        return total, total
    if kappa == 0.0 and float(nu.max()) >= 0.0:
        return np.inf, 0.0  # degrees could grow without end: these multipliers bound nothing
    if kappa == 0.0:
        degrees = -alpha / nu
    else:
        root = np.sqrt(nu * nu + 8 * kappa * alpha)
        degrees = np.where(nu > 0.0, (root + nu) / (4 * kappa), 2 * alpha / (root + np.abs(nu)))
    # Stationary in the degrees, so that their rounding counts only to second order.
    logs, lines = alpha * np.log(degrees), nu * degrees
    squares = kappa * np.square(degrees)
    size = float(np.sum(np.abs(logs) + np.abs(lines) + squares)) + alpha * nu.size
    return float(np.sum(lines - squares + logs)), size


def best_tau(prior: DegreePrior, levels: Array) -> float:
    """Return τ with ``Σ(τ - level)₊ = 4β(T/2 - 2κτ)``.

    With the edges in use known it is an average over them; those that it leaves above are not in
    use, and each round drops some, until none is above. Counted from the cheapest edge, small
    differences between the levels keep their digits. Of many edges a part is asked first: what is
    above its τ is above that of all, since more edges need a lower one.
    """
    beta, half_trace, curvature = prior.beta, prior.trace.target / 2, prior.trace.curvature
    base = float(levels.min())
    used = levels - base
    target, slope = 4 * beta * (half_trace - 2 * curvature * base), 8 * beta * curvature
    if used.size > _MANY:
        used = used[used < _level_of(used[::_STRIDE], target, slope)]
    tau = _level_of(used, target, slope)
    if np.isfinite(tau):
        return base + tau
    return half_trace / (2 * curvature) if curvature > 0.0 else base


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
    """Find τ where weights are bounded, by bisection on the dual's slope, which falls with τ."""
    beta, half_trace, curvature = prior.beta, prior.trace.target / 2, prior.trace.curvature

    def slope(tau: float) -> float:
        weights = np.clip((tau - levels) / (4 * beta), lower, upper)
        return half_trace - 2 * curvature * tau - float(weights.sum())

    low = high = float(np.median(levels))
    reach = 4 * beta * half_trace + float(np.ptp(levels)) + _EPS * abs(low)
    for _ in range(_DOUBLINGS):  # a slope that stays at zero, where all weights are pinned, ends it
        if slope(high) <= 0.0:
            break
        high, reach = high + reach, 2 * reach
    for _ in range(_DOUBLINGS):
        if slope(low) >= 0.0:
            break
        low, reach = low - reach, 2 * reach
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return (low + high) / 2

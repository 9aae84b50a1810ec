"""The judge's lower bound: the dual of the Laplacian QP at given multipliers, rounded downwards.

For **any** costs ``c`` below ``𝒯*M``, M in the ambiguity set, and **any** multipliers ``(ν, τ)``,

    Σ min { 2ηw² - p_ij w : l_ij ≤ w ≤ u_ij } - ‖ν‖²/4η + τT/2 - τ²/16β  ≤  optimum,
    p_ij = τ - c_ij - ν_i - ν_j

with ``T`` the trace and the β-term only where the trace is penalised. It is exact at the optimum.
Prices are rounded up and the sum down, so that the inequality holds in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wdro_cvx.laplacian import edge_index
from wdro_cvx.problem import GraphProblem
from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)
_SUM = 64 * _EPS  # of pairwise sums of any length, and the few roundings of each term
_BISECTIONS = 200
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
    levels = costs + nu[heads] + nu[tails]
    tau = _best_tau(problem, levels) if problem.bounds is None else _bounded_tau(problem, levels)
    eta, half_trace, curvature = problem.eta, problem.target_trace / 2, _curvature(problem)
    sizes = np.abs(costs) + np.abs(nu)[heads] + np.abs(nu)[tails] + abs(tau)
    prices = (tau - levels) + 4 * _EPS * sizes
    weights = np.maximum(prices, 0.0) / (4 * eta)
    if problem.bounds is not None:
        weights = np.clip(prices / (4 * eta), problem.bounds.lower, problem.bounds.upper)
    squares, earned = 2 * eta * np.square(weights), prices * weights
    terms = [float(nu @ nu) / (4 * eta), tau * half_trace, curvature * tau**2]
    value = float(np.sum(squares - earned)) - terms[0] + terms[1] - terms[2]
    rounding = float(np.sum(squares) + np.sum(np.abs(earned))) + sum(abs(term) for term in terms)
    return DualBound(value - _SUM * rounding, nu, tau, prices)


def _curvature(problem: GraphProblem) -> float:
    return 0.0 if problem.trace_penalty is None else 1.0 / (16.0 * problem.trace_penalty)


def _best_tau(problem: GraphProblem, levels: Array) -> float:
    """Return τ with ``Σ(τ - level)₊ = 4η(T/2 - 2κτ)``.

    With the edges in use known it is an average over them; those that it leaves above are not in
    use, and each round drops some, until none is above. Counted from the cheapest edge, small
    differences between the levels keep their digits.
    """
    eta, half_trace, curvature = problem.eta, problem.target_trace / 2, _curvature(problem)
    base = float(levels.min())
    used = levels - base
    target = 4 * eta * (half_trace - 2 * curvature * base)
    while used.size:
        tau = (target + float(used.sum())) / (used.size + 8 * eta * curvature)
        kept = used[used < tau]
        if kept.size == used.size:
            return base + tau
        used = kept
    return half_trace / (2 * curvature) if curvature > 0.0 else base


def _bounded_tau(problem: GraphProblem, levels: Array) -> float:
    """Find τ where weights are bounded, by bisection on the dual's slope, which falls with τ."""
    bounds, eta, half_trace = problem.bounds, problem.eta, problem.target_trace / 2
    curvature = _curvature(problem)
    assert bounds is not None
    lower, upper = bounds.lower, bounds.upper

    def slope(tau: float) -> float:
        weights = np.clip((tau - levels) / (4 * eta), lower, upper)
        return half_trace - 2 * curvature * tau - float(weights.sum())

    low = high = float(np.median(levels))
    reach = 4 * eta * half_trace + float(np.ptp(levels)) + _EPS * abs(low)
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

"""Where the ascent on a QP's dual begins: multipliers of the degrees, and the best τ for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvers.qp.qp import LaplacianQP
from wdro_cvx.graphs.exact_sums import shortfall
from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array

# Edges of a vertex that the guess looks at: with logarithms, and with squares only.
_NEAREST, _NEARER = 64, 32
_LARGE = 200  # vertices, from which on a guess is worth its time: it halves Newton's steps
_SETTLE = 8  # rounds in which the first τ is found
# Sweeps in which vertices answer each other, each halfway. With logarithms at d = 500, six
# to twelve take Newton from 13 steps to 5 at αβ = 0.1, from 20 to 10 at 0.01; more gain nothing.
_SWEEPS = 8
# With squares only, and half of the last move on top of every one: Newton takes 5 steps at d = 500
# and 1000, 8 after eight sweeps without that.
_LONG_SWEEPS, _MOMENTUM = 24, 0.5
# How many edges vertices alone would take at the easiest prior, and the ratio of two products αβ.
PLENTY, _RUNG = 2, 4.0
_SAMPLED = 200  # vertices that are asked
_MAX_STEPS = 200  # for τ alone
_EPS = float(np.finfo(float).eps)


def first_multipliers(qp: LaplacianQP, gains: Array) -> tuple[Array, float | None]:
    """Return ν of degrees that the vertices agree on, or of equal ones where there are few.

    And τ, where they had to agree on that too.
    """
    prior = qp.prior
    if prior.alpha == 0.0:
        equal = np.full(qp.d, 2.0 * prior.kappa * prior.trace.target / qp.d)
        if qp.d < _LARGE or not prior.trace.fixed:
            return equal, None
        return _agreed(prior, *_nearest(gains, _NEARER), equal)
    near, costs = _nearest(gains, min(_NEAREST, qp.d - 1))
    slopes = own_slopes(costs / 2, prior.alpha * prior.beta / 2)
    # Proximal steps bring squared degrees and negative costs, and multipliers of their own.
    for _ in range(_SWEEPS if prior.kappa == 0.0 else 0):
        answers = own_slopes(costs - slopes[near], prior.alpha * prior.beta)
        slopes = np.sqrt(slopes * answers)
    return prior.slope(prior.alpha / slopes), None


def _agreed(
    prior: DegreePrior, near: NDArray[np.intp], costs: Array, nu: Array
) -> tuple[Array, float | None]:
    """Return (ν, τ) at which vertices have the degrees that their nearest edges give them.

    With k edges in use, whose costs and other ends' multipliers sum to S, stationarity
    ``4βw = τ - c - ν_i - ν_j`` and ``ν = 2κu`` give ``ν_i = (kτ - S)/(k + 2β/κ)``; and the degrees
    sum to the trace. Which edges are in use is taken from the sweep before, and every vertex goes
    halfway from a point a little ahead. Without an edge in use there is no τ.
    """
    weight = 4 * prior.beta * prior.trace.target
    tau, last = np.inf, nu
    for _ in range(_LONG_SWEEPS):
        ahead = nu + _MOMENTUM * (nu - last)
        levels = costs + ahead[near]
        for _ in range(1 if np.isfinite(tau) else _SETTLE):
            used = levels < (tau - ahead)[:, np.newaxis]
            counts = np.count_nonzero(used, axis=1)
            sums = np.einsum("ij,ij->i", levels, used)
            if not counts.any():
                return nu, None
            tau = float((weight + sums.sum() + counts @ ahead) / counts.sum())
        wished = (counts * tau - sums) / (counts + 2 * prior.beta / prior.kappa)
        last, nu = nu, np.maximum((ahead + wished) / 2, 0.0)
    return nu, tau


def easier_priors(prior: DegreePrior, gains: Array) -> list[DegreePrior]:
    """Return the priors by which a small αβ is reached, the easiest first; often there are none.

    With two edges for a vertex or fewer, which of them pay is a puzzle that Newton's steps from a
    guess lose themselves in. The easiest has vertices that would take some more edges alone.
    """
    if prior.alpha == 0.0 or prior.kappa > 0.0:
        return []
    some = gains[:: -(-len(gains) // _SAMPLED)]
    _, costs = _nearest(some, min(PLENTY, len(gains) - 1))
    return rungs_to(prior, costs)


def rungs_to(prior: DegreePrior, costs: Array) -> list[DegreePrior]:
    """Return the easier priors, given the ``PLENTY`` cheapest edges of some vertices."""
    last = costs.max(axis=1)
    plenty = float(np.median(last * (costs.shape[1] * last - costs.sum(axis=1)))) / 8
    ratio = plenty / (prior.alpha * prior.beta)
    rungs = int(np.ceil(np.log(ratio) / np.log(_RUNG))) if ratio > 1.0 else 0
    return [
        DegreePrior(prior.beta * _RUNG**rung, 0.0, prior.alpha, prior.trace)
        for rung in range(rungs, 0, -1)
    ]


def _nearest(gains: Array, count: int) -> tuple[NDArray[np.intp], Array]:
    """Return the cheapest edges of every vertex, or nearly: their other ends and their costs."""
    # Values are sorted much faster than places, and single precision than double: whatever is as
    # good as the last of them is found again. Where many are alike, by their places.
    with np.errstate(over="ignore"):
        rough = gains.astype(np.float32)
    last = np.partition(rough, -count, axis=1)[:, -count]
    ends = np.flatnonzero(rough >= last[:, np.newaxis])
    if ends.size == count * len(gains):
        ends = ends.reshape(-1, count) % gains.shape[1]
    else:
        ends = np.argpartition(gains, -count, axis=1)[:, -count:]  # the diagonal is -∞
    return ends, -np.take_along_axis(gains, ends, axis=1)


def own_slopes(costs: Array, shape: float) -> Array:
    """Return ``y = α/u`` for every vertex as if its edges were its own.

    With the k cheapest edges in use, of costs that sum to C, stationarity ``4βw = y - c`` and
    ``u = α/y`` give ``ky² - Cy = 4αβ``; the right k is the largest at which the dearest edge still
    pays. What a vertex does alone has half of the costs, and half of β, its own share; what it
    answers to others has costs less their slopes.
    """
    costs = np.sort(costs, axis=1)
    counts = np.arange(1, costs.shape[1] + 1)
    sums = np.cumsum(costs, axis=1)
    slopes = (sums + np.sqrt(sums**2 + 16 * counts * shape)) / (2 * counts)
    last = np.maximum((costs < slopes).sum(axis=1) - 1, 0)
    # Negative costs may leave a sum at which the root is next to zero.
    return np.maximum(slopes[np.arange(len(costs)), last], 1e-8 * float(np.sqrt(shape)))


def best_tau(qp: LaplacianQP, gains: Array, nu: Array) -> float:
    """Maximise the dual of a QP without bounds over τ, for given ν."""
    levels = -gains + nu[:, np.newaxis]
    levels += nu[np.newaxis, :]
    return tau_of_levels(qp.prior, levels[edge_index(nu.size)])


def tau_of_levels(prior: DegreePrior, levels: Array, base: float = 0.0) -> float:
    """Solve ``Σ(τ - s)₊ = 2βT - 8βκτ`` over the levels s of the edges.

    Drops the edges that are inactive at the τ of those left, until none is (Michelot). A free trace
    has no τ. ``base`` is subtracted from the levels before they are summed. Dense QPs must not
    subtract one: with levels of very different sizes, their Newton iterations then stall.
    """
    rule, beta = prior.trace, prior.beta
    if rule.free:
        return 0.0
    active = levels - base
    goal = 2 * beta * (rule.target - 4 * rule.curvature * base)
    while active.size:
        tau = (goal + float(active.sum())) / (active.size + 8 * beta * rule.curvature)
        kept = active[active < tau]
        if kept.size == active.size:
            return base + tau
        active = kept
    # A penalised trace may leave no edge worth its price.
    return rule.target / (4 * rule.curvature) if rule.curvature > 0.0 else base + tau


def bounded_tau(prior: DegreePrior, levels: Array, lower: Array, upper: Array) -> float:
    """Maximise the dual of weights with bounds over τ; its slope falls piecewise linearly.

    Newton steps, kept in a bracket by bisection, end on the right piece.
    """
    rule, unit = prior.trace, 4 * prior.beta
    if rule.free:
        return 0.0
    reach = unit * rule.target + float(np.ptp(levels))
    low, high = float(levels.min()) - reach, float(levels.max()) + reach
    if rule.curvature > 0.0:  # a penalty alone, with all weights at their least, asks for this τ
        alone = (rule.target / 2 - float(lower.sum())) / (2 * rule.curvature)
        low, high = min(low, alone), max(high, alone)
    tau = (low + high) / 2
    for _ in range(_MAX_STEPS):
        weights = np.clip((tau - levels) / unit, lower, upper)
        slope = shortfall(weights, rule.target / 2) - 2 * rule.curvature * tau
        low, high = (tau, high) if slope > 0.0 else (low, tau)
        free = np.count_nonzero((weights > lower) & (weights < upper))
        bend = free / unit + 2 * rule.curvature
        step = tau + slope / bend if bend > 0.0 else np.inf
        if step == tau or high - low <= _EPS * max(abs(low), abs(high)):
            break
        tau = step if low < step < high else (low + high) / 2
    return tau

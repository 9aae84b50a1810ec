"""Starting points for the ascent on a QP's dual: multipliers of the degrees, and the best τ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvers.qp.qp import LaplacianQP
from wdro_cvx.graphs.exact_sums import shortfall
from wdro_cvx.graphs.laplacian import edge_index, upper_entries
from wdro_cvx.priors import DegreePrior
from wdro_cvx.stacks import ones
from wdro_cvx.validation import Array

# Edges per vertex that the guess considers: with logarithms, and with squares only.
_NEAREST, _NEARER = 64, 32
_LARGE = 200  # from this many vertices on, a guess saves more time than it takes
_SETTLE = 8  # iterations for the first τ
# Damped best-response sweeps over the vertices, with half steps, under logarithms. They save about
# half of Newton's steps; more sweeps gain nothing.
_SWEEPS = 8
# Sweeps with squares only, with a momentum of half the last move. They save more of Newton's steps
# than fewer sweeps without momentum.
_LONG_SWEEPS, _MOMENTUM = 24, 0.5
# Edges that a vertex alone would use under the easiest prior; ratio of successive products αβ.
PLENTY, _RUNG = 2, 4.0
_SAMPLED = 200  # number of sampled vertices
_MAX_STEPS = 200  # for τ alone
_BALANCED = 1e-9  # relative error of the trace at τ, for stacks
_EPS = float(np.finfo(float).eps)


def first_multipliers(qp: LaplacianQP, gains: Array) -> tuple[Array, float | None]:
    """Return ν for degrees found by best-response sweeps; for equal degrees if d is small.

    Also return τ if the sweeps determined it, else None.
    """
    prior = qp.prior
    if prior.alpha == 0.0:
        equal = np.full(qp.d, 2.0 * prior.kappa * prior.trace.target / qp.d)
        if qp.d < _LARGE or not prior.trace.fixed:
            return equal, None
        return _agreed(prior, *_nearest(gains, _NEARER), equal)
    near, costs = _nearest(gains, min(_NEAREST, qp.d - 1))
    slopes = own_slopes(costs / 2, prior.alpha * prior.beta / 2)
    # Proximal steps have squared degrees, negative costs and their own multipliers: no sweeps.
    for _ in range(_SWEEPS if prior.kappa == 0.0 else 0):
        answers = own_slopes(costs - slopes[near], prior.alpha * prior.beta)
        slopes = np.sqrt(slopes * answers)
    return prior.slope(prior.alpha / slopes), None


def _agreed(
    prior: DegreePrior, near: NDArray[np.intp], costs: Array, nu: Array
) -> tuple[Array, float | None]:
    """Return (ν, τ) consistent with the degrees that the cheapest edges give the vertices.

    Suppose vertex i uses k edges, and their costs and other ends' multipliers sum to S. Then
    stationarity ``4βw = τ - c - ν_i - ν_j`` and ``ν = 2κu`` give ``ν_i = (kτ - S)/(k + 2β/κ)``. The
    degrees sum to the trace. The edges in use are those of the previous sweep. Every vertex takes
    half a step from an extrapolated point. If no edge is in use, τ is None.
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
    """Return a sequence of priors leading to a small αβ, the easiest first; it is often empty.

    If vertices have two edges or fewer, choosing those that pay is a combinatorial problem, and
    Newton makes little progress from a guess. Under the easiest prior, a vertex alone would use
    some more edges.
    """
    if prior.alpha == 0.0 or prior.kappa > 0.0:
        return []
    some = gains[:: -(-len(gains) // _SAMPLED)]
    _, costs = _nearest(some, min(PLENTY, len(gains) - 1))
    return rungs_to(prior, costs)


def rungs_to(prior: DegreePrior, costs: Array) -> list[DegreePrior]:
    """Return the easier priors, given the costs of some vertices' ``PLENTY`` cheapest edges."""
    last = costs.max(axis=1)
    plenty = float(np.median(last * (costs.shape[1] * last - costs.sum(axis=1)))) / 8
    ratio = plenty / (prior.alpha * prior.beta)
    rungs = int(np.ceil(np.log(ratio) / np.log(_RUNG))) if ratio > 1.0 else 0
    return [
        DegreePrior(prior.beta * _RUNG**rung, 0.0, prior.alpha, prior.trace)
        for rung in range(rungs, 0, -1)
    ]


def _nearest(gains: Array, count: int) -> tuple[NDArray[np.intp], Array]:
    """Return the other ends and the costs of (nearly) the cheapest edges of every vertex."""
    # Partitioning values is much faster than partitioning indices, and single precision is faster
    # than double. Edges are then selected by the last value; if there are ties, by index.
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
    """Return ``y = α/u`` for every vertex, as if its edges belonged to it alone.

    Suppose the k cheapest edges are in use, and their costs sum to C. Then stationarity
    ``4βw = y - c`` and ``u = α/y`` give ``ky² - Cy = 4αβ``. The right k is the largest for which
    the most expensive edge still pays. For a vertex alone, the costs and β are halved: the other
    half belongs to the neighbour. For a best response, the neighbours' slopes are subtracted from
    the costs.
    """
    costs = np.sort(costs, axis=1)
    counts = np.arange(1, costs.shape[1] + 1)
    sums = np.cumsum(costs, axis=1)
    slopes = (sums + np.sqrt(sums**2 + 16 * counts * shape)) / (2 * counts)
    last = np.maximum((costs < slopes).sum(axis=1) - 1, 0)
    # Negative costs may give a sum for which the root is close to zero.
    return np.maximum(slopes[np.arange(len(costs)), last], 1e-8 * float(np.sqrt(shape)))


def best_tau(qp: LaplacianQP, gains: Array, nu: Array) -> float:
    """Return the τ that maximises the dual of a QP without bounds, for given ν."""
    levels = nu[:, np.newaxis] - gains
    levels += nu[np.newaxis, :]
    return tau_of_levels(qp.prior, upper_entries(levels))


def tau_of_levels(prior: DegreePrior, levels: Array, base: float = 0.0) -> float:
    """Solve ``Σ(τ - s)₊ = 2βT - 8βκτ`` over the levels s of the edges.

    Michelot's method: drop the edges that are inactive at the τ of the remaining ones, and repeat
    until none is inactive. If the trace is free, return 0. ``base`` is subtracted from the levels
    before they are summed. Dense QPs must not subtract one: with levels of very different sizes,
    their Newton iterations then stall.
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
    # Under a trace penalty it may happen that no edge pays.
    return rule.target / (4 * rule.curvature) if rule.curvature > 0.0 else base + tau


def stacked_tau(prior: DegreePrior, gains: Array, nu: Array, tau: Array | None = None) -> Array:
    """Return :func:`best_tau` for a stack of QPs with a fixed trace, from τ of similar ones.

    Newton's method on ``Σ(τ - s)₊``, which is convex, so every step but the first is downwards.
    """
    heads, tails = edge_index(nu.shape[-1])
    levels = nu.take(heads, axis=-1) + nu.take(tails, axis=-1) - upper_entries(gains)
    goal, count = 2 * prior.beta * prior.trace.target, levels.shape[-1]
    lowest, every = levels.min(axis=-1), (goal + levels.sum(axis=-1)) / count
    tau = every if tau is None else np.where(tau > lowest, tau, every)
    for _ in range(_MAX_STEPS):
        prices = np.maximum(tau[:, np.newaxis] - levels, 0.0)
        excess = prices @ ones(count) - goal
        if (np.abs(excess) <= _BALANCED * goal).all():
            break
        tau = tau - excess / ((prices > 0.0).astype(float) @ ones(count))
    return tau


def bounded_tau(prior: DegreePrior, levels: Array, lower: Array, upper: Array) -> float:
    """Return the τ that maximises the dual of a QP with bounds, for given levels.

    The derivative in τ is piecewise linear and decreasing. Newton steps, safeguarded by bisection,
    end on the right piece.
    """
    rule, unit = prior.trace, 4 * prior.beta
    if rule.free:
        return 0.0
    reach = unit * rule.target + float(np.ptp(levels))
    low, high = float(levels.min()) - reach, float(levels.max()) + reach
    if rule.curvature > 0.0:  # the optimal τ if all weights are at their lower bounds
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

"""Where the ascent on a QP's dual begins: multipliers of the degrees, and the best τ for them."""

from __future__ import annotations

import numpy as np

from solvers.laplacian_qp.qp import LaplacianQP
from wdro_cvx.laplacian import edge_index
from wdro_cvx.validation import Array


def first_multipliers(qp: LaplacianQP, gains: Array) -> Array:
    """Return ν of equal degrees, or under logarithms of degrees that the vertices choose alone."""
    prior = qp.prior
    if prior.alpha == 0.0:
        return np.full(qp.d, 2.0 * prior.kappa * prior.trace.target / qp.d)
    return prior.slope(prior.alpha / _lonely_slopes(qp, gains))


def _lonely_slopes(qp: LaplacianQP, gains: Array) -> Array:
    """Return ``α/u`` for every vertex as if its edges were its own.

    With the k cheapest edges in use, of costs that sum to C, stationarity ``4βw = y - c/2`` and
    ``u = α/y`` give a quadratic equation for y; the right k is the largest at which the dearest
    edge still pays.
    """
    alpha, beta = qp.prior.alpha, qp.prior.beta
    costs = np.sort(-gains, axis=1)[:, :-1]  # the diagonal is infinite
    counts = np.arange(1, qp.d)
    sums = np.cumsum(costs, axis=1)
    slopes = (sums + np.sqrt(sums**2 + 32 * counts * alpha * beta)) / (4 * counts)
    used = np.maximum((costs < 2 * slopes).sum(axis=1) - 1, 0)
    # Negative costs, which proximal steps have, may leave a sum at which the root is next to zero.
    typical = float(np.sqrt(alpha * beta))
    return np.maximum(slopes[np.arange(qp.d), used], 1e-8 * typical)


def best_tau(qp: LaplacianQP, gains: Array, nu: Array) -> float:
    """Maximise the dual over τ for given ν: ``Σ(τ - s)₊ = 2βT - 8βκτ`` over the edges.

    Drops the edges that are inactive at the τ of those left, until none is (Michelot). A free trace
    has no τ.
    """
    rule, beta = qp.prior.trace, qp.prior.beta
    if rule.free:
        return 0.0
    levels = -gains + nu[:, np.newaxis]
    levels += nu[np.newaxis, :]
    active = levels[edge_index(nu.size)]
    while True:
        tau = (2 * beta * rule.target + float(active.sum())) / (
            active.size + 8 * beta * rule.curvature
        )
        kept = active[active < tau]
        if kept.size == active.size:
            return tau
        if kept.size == 0:  # a penalised trace may leave no edge worth its price
            return rule.target / (4 * rule.curvature) if rule.curvature > 0 else tau
        active = kept

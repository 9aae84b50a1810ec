"""A bundle of worst cases, for risks that are not smooth at the optimum and sets without structure.

The best mixture of the worst cases found so far is a moment in the set, which gives a bound; the
worst cases of the graph that is best for all of them come next. Both are taken from the interior of
their problem (solvers/qp/minimax.py), no more accurately than the gap so far deserves:
this keeps the graphs from jumping between corners (Gondzio, Gonzalez-Brevis and Munari, EURO J.
Comput. Optim. 2013).
"""

from __future__ import annotations

import numpy as np

from solvers.bracket.incumbent import Incumbent
from wdro_cvx import GraphProblem
from wdro_cvx.graphs.laplacian import adjoint, laplacian_from_weights, weights_from_laplacian
from wdro_cvx.validation import Array

_ACCURACY = 0.3  # of a mixture, in proportion to the gap before it
_LEAST_ACCURACY = 1e-3  # where there was no progress
_PROGRESS = 0.99  # of the gap is left
_CHAIN = 8  # worst cases from one graph, each of the graph that the one before asks for
_USED = 0.02  # of an equal share: a worst case with less is idle
_PATIENCE = 4  # iterations for which an idle worst case is kept


def bundle_ascent(incumbent: Incumbent, max_iterations: int) -> None:
    """Improve the incumbent until it is solved or the limit is reached."""
    if incumbent.laplacian is None or incumbent.solved:
        return
    problem = incumbent.problem
    worst, _ = incumbent.evaluate(incumbent.laplacian)
    master = incumbent.master()
    if master.free.size == 0:
        return  # there is but one graph
    moments = worst.second_moment[np.newaxis]
    costs, idle = _costs(moments), np.zeros(1, dtype=int)
    share = _ACCURACY
    for _ in range(max_iterations):
        if incumbent.certificate is not None:
            # The best mixture so far stands for what was dropped of it: no bound is lost.
            mixed = incumbent.certificate.second_moment[np.newaxis]
            moments, costs = np.concatenate([moments, mixed]), np.append(costs, _costs(mixed), 0)
            idle = np.append(idle, _PATIENCE)
        before = incumbent.gap
        mixture = master.mix(costs, max(share * min(before, 1.0), 0.1 * incumbent.tol))
        moment = np.tensordot(mixture.shares, moments, axes=1)
        best = incumbent.bound_by(moment, (mixture.nu, mixture.tau)).laplacian
        central = problem.prior.repaired(laplacian_from_weights(mixture.weights))
        found = [incumbent.evaluate(graph)[0].second_moment for graph in (central, best)]
        incumbent.record()
        if incumbent.solved:
            return
        found += _chain(problem, central, found[0], costs, mixture.shares)
        used = (mixture.shares > _USED / idle.size) & (idle < _PATIENCE)
        if incumbent.gap < _PROGRESS * before:
            share, idle = _ACCURACY, np.where(used, 0, idle + 1)
        else:  # perhaps for want of accuracy, or of what was dropped
            share = max(share / 2, _LEAST_ACCURACY)
        kept, new = idle < _PATIENCE, np.stack(found)
        moments = np.concatenate([moments[kept], new])
        costs = np.concatenate([costs[kept], _costs(new)])
        idle = np.append(idle[kept], np.zeros(len(new), dtype=int))


def _chain(
    problem: GraphProblem, graph: Array, moment: Array, costs: Array, shares: Array
) -> list[Array]:
    """Return worst cases of graphs that withstand, one after the other, those before.

    Each graph is the projection of the last one onto those that its worst case charges no more than
    the bundle did: where many worst cases tie, one graph then reveals several of them.
    """
    weights, mean = weights_from_laplacian(graph), shares @ costs
    level = float(np.max(costs @ weights))
    found: list[Array] = []
    for _ in range(_CHAIN):
        cost = adjoint(moment)
        excess, turn = float(cost @ weights) - level, cost - mean
        size = float(turn @ turn)
        if excess <= 0.0 or size == 0.0:
            break
        weights = np.maximum(weights - excess / size * turn, 0.0)
        laplacian = laplacian_from_weights(weights)
        moment = problem.ambiguity.worst_case(problem.nominal, laplacian).second_moment
        found.append(moment)
    return found


def _costs(moments: Array) -> Array:
    return np.stack([adjoint(moment) for moment in moments])

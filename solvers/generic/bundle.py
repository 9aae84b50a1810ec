"""A bundle method on worst cases, for nonsmooth risks and sets without structure.

The best mixture of the worst cases found so far is a moment in the set and gives a bound. The best
graph for all of them gives the next worst cases. An interior point (solvers/qp/minimax.py) finds
both, with an accuracy in proportion to the current gap. The answers are therefore central, and the
graphs do not jump between corners of the feasible set (Gondzio, Gonzalez-Brevis and Munari, EURO J.
Comput. Optim. 2013).
"""

from __future__ import annotations

import numpy as np

from solvers.bracket.incumbent import Incumbent
from wdro_cvx import GraphProblem
from wdro_cvx.graphs.laplacian import adjoint, laplacian_from_weights, weights_from_laplacian
from wdro_cvx.validation import Array

_ACCURACY = 0.3  # accuracy of a mixture, relative to the gap before it
_LEAST_ACCURACY = 1e-3  # limit to which it is reduced if there is no progress
_PROGRESS = 0.99  # an iteration makes progress if it reduces the gap by this factor
_CHAIN = 8  # most worst cases per graph; each one corrects the graph for the next
_USED = 0.02  # relative to an equal share: a worst case with a smaller share is idle
_PATIENCE = 4  # iterations for which an idle worst case is kept


def bundle_ascent(incumbent: Incumbent, max_iterations: int) -> None:
    """Improve the incumbent until it is solved or the limit is reached."""
    if incumbent.laplacian is None or incumbent.solved:
        return
    problem = incumbent.problem
    worst, _ = incumbent.evaluate(incumbent.laplacian)
    master = incumbent.master()
    if master.free.size == 0:
        return  # only one graph is feasible
    moments = worst.second_moment[np.newaxis]
    costs, idle = _costs(moments), np.zeros(1, dtype=int)
    share = _ACCURACY
    for _ in range(max_iterations):
        if incumbent.certificate is not None:
            # The best mixture so far replaces its dropped worst cases, so no bound is lost.
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
        else:  # the accuracy may be too low, or a dropped worst case may be missing
            share = max(share / 2, _LEAST_ACCURACY)
        kept, new = idle < _PATIENCE, np.stack(found)
        moments = np.concatenate([moments[kept], new])
        costs = np.concatenate([costs[kept], _costs(new)])
        idle = np.append(idle[kept], np.zeros(len(new), dtype=int))


def _chain(
    problem: GraphProblem, graph: Array, moment: Array, costs: Array, shares: Array
) -> list[Array]:
    """Return worst cases of a chain of graphs, each corrected for the worst case before it.

    Each graph is the projection of the last one onto the graphs with a bounded cost under the last
    worst case. The bound is the largest cost in the bundle. If many worst cases tie, one graph then
    reveals several of them.
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

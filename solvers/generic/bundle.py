"""A bundle method on worst cases, for nonsmooth risks and sets without structure.

The best mixture of the worst cases found so far is a moment in the set and gives a bound. The best
graph for all of them gives the next worst cases. An interior-point method (solvers/qp/minimax.py)
finds both, with an accuracy in proportion to the current gap. The answers are therefore central,
and the graphs do not jump between corners of the feasible set (Gondzio, Gonzalez-Brevis and Munari,
EURO J. Comput. Optim. 2013).

Planes are a poor model of a risk that bends between its kinks. If the gap hardly falls, the graphs
are therefore held near the best one by ``ρ/2‖L - centre‖²``, as in the proximal bundle method
(Kiwiel, Math. Program. 1990). The risk is a maximum of ``⟨M, L⟩`` over the set, so every plane
remains valid when the centre moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from solvers.bracket.incumbent import Incumbent
from solvers.qp.minimax import Master
from wdro_cvx import GraphProblem, WorstCase
from wdro_cvx.graphs.laplacian import adjoint, laplacian_from_weights, weights_from_laplacian
from wdro_cvx.moments.composite import mixture
from wdro_cvx.moments.points import Moment
from wdro_cvx.validation import Array

_ACCURACY = 0.3  # accuracy of a mixture, relative to the gap before it
_LEAST_ACCURACY = 1e-3  # limit to which it is reduced if there is no progress
_PROGRESS = 0.99  # an iteration makes progress if it reduces the gap by this factor
_CHAIN = 8  # most worst cases per graph; each one corrects the graph for the next
_USED = 0.02  # relative to an equal share: a worst case with a smaller share is idle
_PATIENCE = 4  # iterations for which an idle worst case is kept
_NONE = 1e-9  # a smaller share, relative to the largest, is left out of a mixture
# The gap must fall to this share within so many iterations, or else steps become proximal.
_FALL, _WITHIN = 0.7, 8
# The same if another method follows. If few worst cases suffice, the gap falls faster than this
# until it is closed; if the risk depends on the top eigenvalue, it soon does not.
_BRIEF_FALL, _BRIEF_WITHIN = 0.5, 6
_NEAR_ACCURACY, _NEAR_PATIENCE = 0.03, 15  # with proximal steps
_FIRST = 10.0  # ρ, relative to the prior's curvature
_SERIOUS, _GOOD = 0.1, 0.5  # shares of the predicted decrease at which to move, to lengthen steps
_STALLED = 60  # iterations without progress; typical of a worst case that misses its risk
_NULL_STEPS = 6  # without a move, after which steps become shorter


@dataclass
class _Bundle:
    """The worst cases, with their costs and for how many iterations each has been idle."""

    cases: list[WorstCase]
    costs: Array = field(init=False)
    idle: NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        self.costs, self.idle = _costs(self.cases), np.zeros(len(self.cases), dtype=np.intp)

    def add(self, found: Sequence[WorstCase], idle: int = 0) -> None:
        """Add worst cases."""
        self.cases = [*self.cases, *found]
        self.costs = np.concatenate([self.costs, _costs(found)])
        self.idle = np.append(self.idle, np.full(len(found), idle))

    def drop(self, patience: int) -> None:
        """Drop the worst cases that have been idle for too long."""
        kept = np.flatnonzero(self.idle < patience)
        self.cases = [self.cases[k] for k in kept]
        self.costs, self.idle = self.costs[kept], self.idle[kept]

    def mixed(self, shares: Array) -> WorstCase:
        """Return a mixture; its pieces are mixed only on demand."""
        kept = np.flatnonzero(shares > _NONE * shares.max())
        some, chosen = shares[kept] / shares[kept].sum(), [self.cases[k] for k in kept]
        matrix = np.zeros_like(chosen[0].second_moment)
        for share, case in zip(some, chosen, strict=True):
            matrix += share * case.second_moment

        def pieces() -> Moment:
            return mixture([case.moment for case in chosen], some)

        return WorstCase(np.nan, matrix, np.nan, build_moment=pieces)


def bundle_ascent(incumbent: Incumbent, max_iterations: int) -> None:
    """Improve the incumbent until it is solved or the limit is reached."""
    bundle, end = _first_bundle(incumbent), incumbent.iterations + max_iterations
    if bundle is None:
        return
    _central_steps(incumbent, bundle, end, _FALL, _WITHIN)
    if not incumbent.solved:
        _proximal_steps(incumbent, bundle, end)


def brief_ascent(incumbent: Incumbent, max_iterations: int) -> None:
    """Improve the incumbent as long as the gap falls fast, as it does with few worst cases."""
    bundle, end = _first_bundle(incumbent), incumbent.iterations + max_iterations
    if bundle is not None:
        _central_steps(incumbent, bundle, end, _BRIEF_FALL, _BRIEF_WITHIN)


def _first_bundle(incumbent: Incumbent) -> _Bundle | None:
    """Return the worst case of the best graph; None if there is nothing to improve."""
    if incumbent.laplacian is None or incumbent.solved:
        return None
    if incumbent.master().free.size == 0:
        return None  # only one graph is feasible
    return _Bundle([incumbent.evaluate(incumbent.laplacian)[0]])


def _central_steps(
    incumbent: Incumbent, bundle: _Bundle, end: int, fall: float, within: int
) -> None:
    """Iterate without a centre, until the gap falls too slowly."""
    problem, master, share = incumbent.problem, incumbent.master(), _ACCURACY
    gaps = [incumbent.gap]
    while incumbent.iterations < end:
        if incumbent.certificate is not None:
            # The best mixture so far replaces its dropped worst cases, so no bound is lost.
            bundle.add([_known(incumbent.certificate.moment)], _PATIENCE)
        before = incumbent.gap
        answer = master.mix(bundle.costs, max(share * min(before, 1.0), 0.1 * incumbent.tol))
        bounded = incumbent.bound_by(bundle.mixed(answer.shares), (answer.nu, answer.tau))
        central = problem.prior.repaired(laplacian_from_weights(answer.weights))
        found = [incumbent.evaluate(graph)[0] for graph in (central, bounded.laplacian)]
        incumbent.record()
        gaps.append(incumbent.gap)
        if incumbent.solved:
            return
        if len(gaps) > within and gaps[-1] > fall * gaps[-1 - within]:
            bundle.add(found)
            return
        found += _chain(problem, central, found[0], bundle.costs, answer.shares)
        used = (answer.shares > _USED / bundle.idle.size) & (bundle.idle < _PATIENCE)
        if incumbent.gap < _PROGRESS * before:
            share, bundle.idle = _ACCURACY, np.where(used, 0, bundle.idle + 1)
        else:  # the accuracy may be too low, or a dropped worst case may be missing
            share = max(share / 2, _LEAST_ACCURACY)
        bundle.drop(_PATIENCE)
        bundle.add(found)


def _proximal_steps(incumbent: Incumbent, bundle: _Bundle, end: int) -> None:
    """Iterate near the best graph."""
    problem, centre = incumbent.problem, incumbent.laplacian
    assert centre is not None
    value, rho, nulls = incumbent.value, _FIRST * problem.prior.beta, 0
    mark, marked = incumbent.gap, incumbent.iterations
    while incumbent.iterations < end:
        if incumbent.gap <= _PROGRESS * mark:
            mark, marked = incumbent.gap, incumbent.iterations
        elif incumbent.iterations - marked >= _STALLED:
            return
        prior = problem.prior.proximal(rho)
        trace = float(np.trace(centre)) or problem.target_trace
        master = Master.of(problem.d, prior, incumbent.size, trace)
        accuracy = max(_NEAR_ACCURACY * min(incumbent.gap, 1.0), 0.01 * incumbent.tol)
        answer = master.mix(bundle.costs - rho * adjoint(centre), accuracy)
        graph = problem.prior.repaired(laplacian_from_weights(answer.weights))
        mixed = bundle.mixed(answer.shares)
        # The multipliers of the problem without the centre; with logarithms they may not exist.
        nu = answer.nu - rho * np.diagonal(graph)
        start = (nu, answer.tau) if problem.prior.has_degrees(nu) else None
        bounded = incumbent.bound_by(mixed, start)
        found = [incumbent.evaluate(bounded.laplacian)[0]]
        worst, reached = incumbent.evaluate(graph)
        incumbent.record()
        if incumbent.solved:
            return
        change = graph - centre
        model = float(np.max(bundle.costs @ weights_from_laplacian(graph)))
        predicted = value - model - problem.regularisation(graph)
        predicted -= rho / 2 * float(np.vdot(change, change))
        used = answer.shares > _USED / 20 / bundle.idle.size
        bundle.idle = np.where(used, 0, bundle.idle + 1)
        bundle.drop(_NEAR_PATIENCE)
        bundle.add([mixed], _NEAR_PATIENCE - 3)
        bundle.add([*found, worst])
        if reached < value - _SERIOUS * max(predicted, 0.0):
            if value - reached >= _GOOD * predicted:
                rho /= 2
            centre, value, nulls = graph, reached, 0
            continue
        nulls += 1
        if nulls % _NULL_STEPS == 0:
            rho *= 2


def _chain(
    problem: GraphProblem, graph: Array, worst: WorstCase, costs: Array, shares: Array
) -> list[WorstCase]:
    """Return worst cases of a chain of graphs, each corrected for the worst case before it.

    Each step reduces the cost under the last worst case, relative to the cost under the mixture, by
    the excess over the largest cost in the bundle. If many worst cases tie, one graph then reveals
    several of them.
    """
    weights, mean = weights_from_laplacian(graph), shares @ costs
    level = float(np.max(costs @ weights))
    found: list[WorstCase] = []
    for _ in range(_CHAIN):
        cost = adjoint(worst.second_moment)
        excess, turn = float(cost @ weights) - level, cost - mean
        size = float(turn @ turn)
        if excess <= 0.0 or size == 0.0:
            break
        weights = np.maximum(weights - excess / size * turn, 0.0)
        laplacian = laplacian_from_weights(weights)
        worst = problem.ambiguity.worst_case(problem.nominal, laplacian)
        found.append(worst)
    return found


def _known(moment: Moment) -> WorstCase:
    """Return a moment in the form of a worst case."""
    return WorstCase(np.nan, moment.second_moment, np.nan, build_moment=lambda: moment)


def _costs(cases: Sequence[WorstCase]) -> Array:
    return np.stack([adjoint(case.second_moment) for case in cases])

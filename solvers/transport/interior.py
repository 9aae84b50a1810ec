"""An interior-point method for transport sets: a primal-dual path in weights and couplings.

The method is invariant to the scales of data and metric, so it is exact for all of them. Its
systems (system.py) are as large as the number of edges, so it uses a working set (working_set.py).
The steps are Mehrotra's predictor and corrector (SIAM J. Optim. 1992). Moves and spread are
separate unknowns, since as functions of L and γ they blow up where the path bends. If they lag
behind L and γ after a step, that step is shortened and followed by a pure centring step.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import linalg

from solvers.bracket.incumbent import Incumbent
from solvers.control.deadline import tick
from solvers.transport.coupling import coupling
from solvers.transport.edges import FreeEdges
from solvers.transport.lmi import TransportLMI
from solvers.transport.system import Iterate, NewtonSystem
from solvers.transport.working_set import MAX_EDGES, WorkingSet
from wdro_cvx.ambiguity import Transport

_BOUNDARY = 0.95  # share of the way to the boundary
_BEHIND = 0.5  # share of the budget by which the coupling may differ from that of L and γ
_SHORTEN, _SHORTENINGS = 0.7, 10
_SHORT, _LEAST_CENTRING = 0.1, 0.3  # a predictor shorter than _SHORT needs this much centring
_CLOSE = 10.0  # times the tolerance: below it every iteration is certified
_CHECK_EVERY = 5
_MAX_STEPS = 150  # 10 to 50 are usual
_PART_STEPS = 40  # most steps with a part of the edges, before more are added
_OVERLOOKED = 0.1  # share of the tolerance that edges left out may cost the bound
_LEAST = 1e-6  # shortest useful step


def follow_path(incumbent: Incumbent, form: Transport, max_iterations: int) -> None:
    """Improve the incumbent until it is solved, the limit is reached or the steps vanish."""
    problem, near = incumbent.problem, incumbent.laplacian
    if near is None or not near.any() or incumbent.solved:
        return
    lmi = TransportLMI.of(problem, form, near)
    pool = FreeEdges.of(problem)
    if not pool.heads.size or (pool.total <= 0.0 and lmi.prior.trace.fixed):
        return
    path = _Path(lmi, WorkingSet.first(incumbent, pool))
    try:
        _follow(incumbent, form, path, max_iterations)
    except linalg.LinAlgError:  # rounding prevents further progress
        return


@dataclass
class _Path:
    """The current state of the interior-point method and its working set."""

    lmi: TransportLMI
    chosen: WorkingSet
    system: NewtonSystem = field(init=False)
    centring: bool = field(init=False)
    steps: int = field(init=False)

    def __post_init__(self) -> None:
        self.begin(self.chosen)

    def begin(self, chosen: WorkingSet) -> None:
        """Start a new path with the given edges."""
        self.chosen, self.centring, self.steps = chosen, False, 0
        self.system = NewtonSystem(self.lmi, chosen.edges, _start(self.lmi, chosen.edges))

    def advance(self, least: float) -> float:
        """Take one step and return its length; add edges that gain more than ``least``."""
        at, length, self.centring = _advance(self.system, self.centring)
        self.system = NewtonSystem(self.lmi, self.system.edges, at)
        self.steps += 1
        if self.chosen.whole:
            return length
        level = self.system.complementarity() / self.system.count
        self.chosen, self.system = self.chosen.joined(self.system, level, least)
        if self.chosen.strayed or self.steps > _PART_STEPS or length < _LEAST:
            self.begin(self.chosen.grown(self.system))
            return 1.0
        return length


def _follow(incumbent: Incumbent, form: Transport, path: _Path, limit: int) -> None:
    tol = incumbent.tol
    for iteration in range(1, limit + 1):
        tick()
        if path.chosen.size > MAX_EDGES or path.steps > _MAX_STEPS:
            return
        size = incumbent.size / form.radius**2
        if path.system.complementarity() <= _CLOSE * tol * size or iteration % _CHECK_EVERY == 0:
            _certify(incumbent, form, path.system)
        incumbent.record()
        if incumbent.solved:
            return
        if path.advance(_OVERLOOKED * tol * size / path.lmi.trace) < _LEAST:
            return


def _advance(system: NewtonSystem, centring: bool) -> tuple[Iterate, float, bool]:
    """Return the next point, the length of the step and whether the step was shortened."""
    step = _centring(system) if centring else _descent(system)
    length = min(1.0, _BOUNDARY * system.longest(step))
    allowed = max(_BEHIND, 0.95 * system.error)
    shortened = False
    for _ in range(_SHORTENINGS):
        if replace(system, at=system.at.moved(step, length)).error <= allowed:
            break
        length, shortened = _SHORTEN * length, True
    return system.at.moved(step, length), length, shortened


def _centring(system: NewtonSystem) -> Iterate:
    """Return the direction to the central path at the point's own mean product."""
    return system.direction(system.complementarity() / system.count)


def _descent(system: NewtonSystem) -> Iterate:
    """Return Mehrotra's corrector direction, with a centring chosen from the predictor."""
    gap = system.complementarity()
    first = system.direction(0.0)
    reach = min(1.0, system.longest(first))
    left = max(system.complementarity(system.at.moved(first, reach)), 0.0) / gap
    sigma = max(left**3, _LEAST_CENTRING if reach < _SHORT else 0.0)
    return system.direction(sigma * gap / system.count, first)


def _start(lmi: TransportLMI, edges: FreeEdges) -> Iterate:
    """Return a point near the path: equal weights, and half the budget spread evenly."""
    d, n = lmi.d, edges.heads.size
    total = lmi.trace / 2 if lmi.prior.trace.free else edges.total
    equal = max(total, 1e-3 * lmi.trace) / n
    excess = np.minimum(equal, np.where(np.isfinite(edges.room), edges.room / 2, np.inf))
    laplacian = edges.base + edges.combined(excess)
    scaled = lmi.scaled(laplacian)
    spread = np.eye(d) / (2 * d)
    top = float(linalg.eigvalsh(scaled, check_finite=False)[-1])
    gamma = 2 * top + float(np.linalg.norm(lmi.factor @ scaled))
    bend = 2 * lmi.prior.beta + lmi.reach / float(np.linalg.norm(laplacian))
    costs = edges.adjoint(lmi.linear + lmi.frame.moment(spread) + bend * laplacian)
    tau = float(costs.min()) if lmi.prior.trace.fixed else 0.0
    # The multipliers of the weights must be of the size of the costs.
    level = max(gamma / (2 * d), float(np.mean((costs - tau) * excess)))
    gamma = max(gamma, 2 * d * level)
    slack = gamma * np.eye(d) - scaled
    moves = linalg.solve(slack, scaled @ lmi.factor.T, assume_a="pos").T
    finite = np.isfinite(edges.room)
    upper = np.where(finite, level / np.where(finite, edges.room - excess, 1.0), 0.0)
    return Iterate(excess, gamma, tau, moves, spread, level / excess, upper)


def _certify(incumbent: Incumbent, form: Transport, system: NewtonSystem) -> None:
    """Update the incumbent's value and bound from the point."""
    at = system.at
    root = linalg.cholesky(at.spread, lower=False, check_finite=False)
    pieces = coupling(form, at.moves, root, system.laplacian)
    answer = incumbent.bound_by(pieces, None)
    incumbent.evaluate(incumbent.problem.prior.repaired(system.laplacian))
    incumbent.evaluate(answer.laplacian)

"""The rounds of the sparse solver on one problem: descend on candidates, price all pairs, admit.

Memory is that of a few copies of the data, whatever the number of pairs.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csgraph

from solvers.large.neighbours import near_pairs, pivot_cells
from solvers.large.pricing import Executor, crowding, paying_pairs, paying_within
from solvers.large.search import Data, Evidence, Search
from solvers.large.structure import Candidates, Vertices
from solvers.running.incumbent import Callback, Progress
from solvers.running.limits import Clock, OutOfTime
from wdro_cvx import Certificate, GraphProblem, Solution, Status
from wdro_cvx.large.edge_list import EdgeList
from wdro_cvx.moment import TransportedMoment
from wdro_cvx.solution import relative_gap
from wdro_cvx.validation import Array

_NEIGHBOURS = 16
_ROUGH = 1e-4  # the gap of the first round: its candidates are not the last ones
_FINE = 0.3  # of the tolerance, which leaves room for what the other pairs take off the bound
_NEAR = 0.1  # of η: pairs that nearly pay become candidates too
_FAR = 1.0  # of η: candidates that are so far from paying are dropped
_MOST = 10  # new candidates per vertex and round
_FEW = 0.01  # of the candidates: so few new ones are left to the pricing of all pairs
_MAX_ROUNDS = 12
_SEED = 0  # of the pivots around which neighbours are sought: answers are reproducible
# Costs of candidates are to d × d algebra as (candidates · r) to d³. Measured: even at 1/40, and
# where no worst case has to be found at 1/160.
_WORTHWHILE, _WORTHWHILE_AVERAGE = 40, 160


class NotWorthwhileError(Exception):
    """The dense path would be faster, or would prove more."""


def worthwhile(problem: GraphProblem, candidates: int | None = None) -> bool:
    """Say whether so many candidates, at the start if none are named, beat the dense path."""
    d, samples = problem.d, problem.nominal.samples
    rank = d if samples is None else min(d, len(samples))
    if candidates is None:
        candidates = _NEIGHBOURS * d // 2
    average = problem.ambiguity.radius == 0.0
    return (_WORTHWHILE_AVERAGE if average else _WORTHWHILE) * candidates * rank <= d**3


class Run:
    """One problem on its way."""

    def __init__(
        self,
        problem: GraphProblem,
        tol: float,
        clock: Clock,
        callback: Callback | None,
        executor: Executor | None,
        patient: bool,
    ) -> None:
        self.problem, self.tol, self.clock = problem, tol, clock
        self.callback, self.executor, self.patient = callback, executor, patient
        self.unit = problem.unit
        self.bound = -np.inf
        self.best: Evidence | None = None
        self.status = Status.ITERATION_LIMIT
        self.history: list[dict[str, float]] = []
        points = np.array(problem.nominal.factor.T, order="C")
        points /= self.unit
        self.rng = np.random.default_rng(_SEED)
        cells = pivot_cells(points, self.rng)
        edges = near_pairs(points, _NEIGHBOURS, cells)
        # Neighbours next to each other in memory: products with the Laplacian stay in the cache.
        self.order = csgraph.reverse_cuthill_mckee(
            edges.adjacency(np.ones(edges.size)), symmetric_mode=True
        )
        place = np.empty_like(self.order)
        place[self.order] = np.arange(problem.d, dtype=place.dtype)
        edges = Candidates.from_pairs(problem.d, place[edges.heads], place[edges.tails])
        self.cells = [place[cell] for cell in cells]
        scales = problem.ambiguity.row_scales or None
        data = Data(
            points[self.order],
            None if scales is None else np.asarray(scales)[self.order],
            problem.ambiguity.radius / self.unit,
            problem.eta / self.unit**2,
            problem.target_trace,
        )
        self.search = Search(data, edges, clock)

    @property
    def gap(self) -> float:
        """The relative gap over all pairs."""
        return relative_gap(self.search.value, self.bound)

    def finish(self) -> bool:
        """Run all rounds; say whether the gap was closed."""
        search, goal = self.search, _FINE * self.tol
        try:
            search.start(self._average())
            for number in range(_MAX_ROUNDS):
                search.descend(max(_ROUGH, goal))
                search.prune(_FAR * search.data.eta)
                self._consider()
                # Pairs of the cells are cheap to price; all pairs are worth it when these are done.
                while self.cells and self._price_cells() > _FEW * search.edges.size:
                    search.descend(max(_ROUGH, goal))
                steps = search.steps
                if number > 0:
                    search.descend(goal)
                admitted = self._price_all()
                self._record()
                if self.gap <= self.tol:
                    return True
                if number > 0 and not admitted and search.steps == steps + 1:
                    break  # nothing to add and nothing to improve
        except OutOfTime:
            self.status = Status.TIME_LIMIT
        except KeyboardInterrupt:
            if not np.isfinite(search.value):
                raise
            self.status = Status.INTERRUPTED
        return False

    def _average(self) -> Array:
        """Grow candidates by what pays for the sample average; return its weights."""
        search = self.search
        point = search.average(None)
        for _ in range(_MAX_ROUNDS):
            fresh = self._admit_paying(search.data.points, point.nu, point.tau)
            point = search.average((point.nu, point.tau))
            if fresh <= _FEW * search.edges.size:
                break
        return point.feasible

    def _price_cells(self) -> int:
        evidence = self.search.evidence
        assert evidence is not None
        points = self.search.data.moved(evidence.worst)
        return self._admit_paying(points, evidence.nu, evidence.tau)

    def _admit_paying(self, points: Array, nu: Array, tau: float) -> int:
        """Admit pairs within the cells that pay, the best if they are many; return how many."""
        self.search.check_clock()
        search = self.search
        most = _MOST * points.shape[0]
        least = crowding(points, nu, tau, _NEAR * search.data.eta, most, self.rng)
        if self.cells:
            heads, tails, _ = paying_within(points, nu, tau, -least, self.cells)
        else:
            heads, tails, _ = paying_pairs(points, nu, tau, -least, self.executor)
        return self._admit(search.edges, heads, tails)

    def _price_all(self) -> int:
        """Bound over all pairs; admit those that pay or nearly do. Return how many are new."""
        search, data, evidence = self.search, self.search.data, self.search.evidence
        assert evidence is not None
        self.search.check_clock()
        points, nu, tau = data.moved(evidence.worst), evidence.nu, evidence.tau
        margin, most = _NEAR * data.eta, _MOST * points.shape[0] + search.edges.size
        least = crowding(points, nu, tau, margin, most, self.rng)
        heads, tails, prices = paying_pairs(points, nu, tau, -least, self.executor)
        if least > 0.0:  # some that pay were left out, so that there is no bound yet
            return self._admit(search.edges, heads, tails)
        paid = np.maximum(prices, 0.0)
        taken = float(nu @ nu) / (4 * data.eta) + float(paid @ paid) / (8 * data.eta)
        bound = tau * data.trace / 2 - taken
        if bound > self.bound:
            self.bound, self.best = bound, evidence
        if self.gap <= self.tol:
            return 0
        used = search.weights > 0.0
        kept = Candidates(data.points.shape[0], search.edges.heads[used], search.edges.tails[used])
        return self._admit(kept, heads, tails)

    def _admit(self, kept: Candidates, heads: Vertices, tails: Vertices) -> int:
        """Go on with some of the candidates and with these pairs; return how many are new."""
        old = self.search.edges
        edges = kept.joined(heads, tails)
        fresh = int(np.count_nonzero(~np.isin(edges.keys, old.keys, assume_unique=True)))
        self.search.admit(edges)
        self._consider()
        return fresh

    def _consider(self) -> None:
        """Raise NotWorthwhileError where this is not the way, unless there is no other."""
        if self.patient:
            return
        sparse = worthwhile(self.problem, self.search.edges.size)
        if not sparse or (self.search.worst is not None and not self.search.worst.closed):
            raise NotWorthwhileError

    def _record(self) -> None:
        square, seconds = self.unit**2, self.clock.seconds
        value, bound = self.search.value * square, self.bound * square
        self.history.append(
            {"value": value, "bound": bound, "seconds": seconds, "edges": self.search.edges.size}
        )
        if self.callback is not None:
            self.callback(Progress(len(self.history), value, bound, self.gap, seconds))

    def solution(self, status: Status) -> Solution:
        """Return what was found, in the unit and the order of the problem as it was given."""
        search, evidence = self.search, self.best or self.search.evidence
        edges = self._graph()
        certificate = None
        if evidence is not None:
            moved = np.empty(search.data.points.shape[::-1])
            moved[:, self.order] = search.data.moved(evidence.worst).T
            moved *= self.unit
            nu = np.empty(edges.d)
            nu[self.order] = evidence.nu * self.unit**2
            certificate = Certificate(TransportedMoment(moved), nu, evidence.tau * self.unit**2)
        return Solution(
            laplacian=edges.laplacian(),
            value=search.value * self.unit**2,
            status=status,
            bound=self.bound * self.unit**2,
            iterations=search.steps,
            multiplier=np.nan if search.worst is None else search.worst.multiplier,
            certificate=certificate,
            history=tuple(self.history),
        )

    def _graph(self) -> EdgeList:
        """Return the best graph with its vertices in the order of the problem."""
        search = self.search
        used = search.weights > 0.0
        heads, tails = self.order[search.edges.heads[used]], self.order[search.edges.tails[used]]
        low, high = np.minimum(heads, tails), np.maximum(heads, tails)
        sequence = np.lexsort((high, low))
        weights = search.weights[used][sequence]
        return EdgeList(search.edges.d, low[sequence], high[sequence], weights)

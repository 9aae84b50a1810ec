"""The rounds of the sparse solver: descend on candidates, price all pairs, admit those that pay.

Memory use is a few copies of the data, regardless of the number of pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csgraph

from solvers.bracket.limits import OutOfTime
from solvers.bracket.run import Executor, Run
from solvers.large.charges import charges_of
from solvers.large.coupled import LowRankADMM
from solvers.large.neighbours import Cell, near_pairs, pivot_cells
from solvers.large.pricing import crowding, paying_pairs, paying_within
from solvers.large.reweighed import ReweighedSearch, WeightsData
from solvers.large.search import CandidateSearch, Data, Evidence
from solvers.large.start import carried_weights
from solvers.large.structure import Candidates, Vertices
from solvers.large.worth import NEIGHBOURS, NotWorthwhileError, most_work, worthwhile
from solvers.qp.peak import PeakPrior
from wdro_cvx import Certificate, GraphProblem, Solution, Status
from wdro_cvx.ambiguity import Atoms, Norm, Surcharge, Transport
from wdro_cvx.graphs.edge_list import EdgeList
from wdro_cvx.graphs.listed_bounds import ListedBounds
from wdro_cvx.priors import DegreePrior
from wdro_cvx.solution import relative_gap
from wdro_cvx.validation import Array

_ROUGH = 1e-4  # gap of the first round, whose candidates are not final
_FINE = 0.3  # share of the tolerance; the rest is for pairs that are not candidates
# The next two are prices, in units of β times the mean degree.
_NEAR = 0.1  # pairs this close to paying become candidates too
_FAR = 1.0  # candidates this far from paying are dropped
_MOST = 10  # new candidates per vertex and round
_FEW = 0.01  # share of new candidates below which pricing all pairs takes over
_MAX_ROUNDS = 12
_STALLED = 0.7  # a round that leaves more than this share of the gap has stalled
_LEAST_MIXED = 30  # vertices that Lanczos needs
_MIXED_FROM = 1000  # vertices from which low-rank ADMM is faster than dense (docs/scale.md)
_SEED = 0  # for the pivots of the neighbour search; keeps answers reproducible


class Rounds:
    """The rounds on one problem, to the relative gap ``tol``."""

    def __init__(
        self,
        problem: GraphProblem,
        tol: float,
        run: Run,
        executor: Executor | None,
        patient: bool,
        start: EdgeList | None = None,
    ) -> None:
        self.problem, self.tol, self.run = problem, tol, run
        self.executor, self.patient = executor, patient
        self.unit = run.unit
        self.bound = -np.inf
        self.best: Evidence | None = None
        self.status = Status.ITERATION_LIMIT
        points = _points(problem)
        points /= self.unit
        self.rng = np.random.default_rng(_SEED)
        bounds = problem.prior.bounds
        assert bounds is None or isinstance(bounds, ListedBounds)
        self.listed = bounds
        cells: list[Cell] = []
        if self.listed is not None:
            edges = Candidates(problem.d, self.listed.heads, self.listed.tails)
        else:
            cells = pivot_cells(points, self.rng)
            edges = near_pairs(points, NEIGHBOURS, cells)
            if start is not None:
                edges = edges.joined(start.heads, start.tails)
        # In this order neighbours are close in memory, so products with the Laplacian are fast.
        self.order = csgraph.reverse_cuthill_mckee(
            edges.adjacency(np.ones(edges.size)), symmetric_mode=True
        )
        place = np.empty_like(self.order)
        place[self.order] = np.arange(problem.d, dtype=place.dtype)
        ends = place[edges.heads], place[edges.tails]
        edges = Candidates.from_pairs(problem.d, *ends)
        self.cells = [place[cell] for cell in cells]
        box = None
        if self.listed is not None:
            sequence = np.lexsort((np.maximum(*ends), np.minimum(*ends)))
            box = self.listed.least[sequence], self.listed.most[sequence]
        data = _data(problem, points, self.order, self.unit)
        self.search = CandidateSearch(data, edges, run.clock, box)
        if isinstance(data, WeightsData):
            self.search = ReweighedSearch(data, edges, run.clock, box)
        if not patient:
            self.search.most_work = most_work(problem)
        rule = problem.prior.trace
        self.first = None if start is None else carried_weights(edges, box, rule, start, place)

    @property
    def gap(self) -> float:
        """The relative gap over all pairs."""
        return relative_gap(self.search.value, self.bound, floor=self.search.floor)

    @property
    def solved(self) -> bool:
        """Whether the gap is closed to ``tol``."""
        return self.gap <= self.tol

    def finish(self) -> bool:
        """Run all rounds; return whether the gap was closed."""
        search, goal = self.search, _FINE * self.tol
        try:
            if self.listed is not None:
                return self._finish_list()
            search.start(self._average() if self.first is None else self.first)
            for number in range(_MAX_ROUNDS):
                before = self.gap
                self._stage("descending")
                fine = number > 0 or self.first is not None
                search.descend(max(_ROUGH, goal))
                search.prune(_FAR)
                self._consider()
                if self._multiple:
                    break
                # Pairs within the cells are cheap to price; price all pairs only after them.
                while self.cells and self._price_cells() > _FEW * search.edges.size:
                    search.descend(max(_ROUGH, goal))
                steps = search.steps
                if fine:
                    self._stage("descending to the last digits")
                    search.descend(goal)
                admitted = self._price_all()
                self._record()
                if self.solved:
                    return True
                if number > 0 and not admitted and search.steps == steps + 1:
                    break  # nothing to add and nothing to improve
                if self.gap > _STALLED * before:
                    break  # the hard case: one worst case cannot prove even a good value
            return self._finish_coupled()
        except OutOfTime:
            self.status = Status.TIME_LIMIT
        except KeyboardInterrupt:
            if not np.isfinite(search.value):
                raise
            self.status = Status.INTERRUPTED
        return False

    @property
    def _mixes(self) -> bool:
        """Whether worst cases can be mixed, and the dense path, if available, is not faster."""
        data = self.search.data
        known = data.radius > 0.0 and data.scales is None and data.prior.trace.fixed
        return known and self.problem.d >= (_LEAST_MIXED if self.patient else _MIXED_FROM)

    @property
    def _multiple(self) -> bool:
        """Whether the descent ended at γ = λmax, far from its goal."""
        worst = self.search.worst
        return worst is not None and not worst.closed and self.search.gap > _ROUGH

    def _finish_coupled(self) -> bool:
        """Continue if λmax is multiple: mix worst cases and price all pairs."""
        search, goal = self.search, _FINE * self.tol
        if not self._mixes:
            return False
        self._stage("mixing worst cases")
        admm = LowRankADMM(search)
        for number in range(_MAX_ROUNDS):
            before = self.gap
            admm.improve(max(_ROUGH, goal) if number == 0 else goal)
            self._price_all()
            self._record()
            if self.solved:
                return True
            if number > 1 and self.gap > _STALLED * before:
                break
        return False

    def _finish_list(self) -> bool:
        """Solve over the listed pairs; there are no others to price."""
        search = self.search
        search.start(search.average(None).feasible if self.first is None else self.first)
        for goal in (max(_ROUGH, self.tol), self.tol):
            search.descend(goal)
            self._consider()
            assert search.evidence is not None
            self.bound, self.best = search.evidence.bound, search.evidence
            self._record()
        return self.solved

    def _stage(self, doing: str) -> None:
        number = len(self.run.history) + 1
        self.run.stage(f"round {number}, {self.search.edges.size:,} candidates: {doing}")

    def _pricing(self, share: float) -> None:
        self.search.check_clock()  # a pass over 10¹¹ pairs takes minutes
        self._stage(f"pricing all pairs, {share:.0%}")

    def _average(self) -> Array:
        """Admit pairs that pay for the sample average; return its weights."""
        search = self.search
        point = search.average(None)
        for _ in range(_MAX_ROUNDS):
            if self.run.late:  # there is no answer yet; this one is feasible
                break
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
        """Admit pairs that pay, the best if many; return how many are new.

        If there are cells, only pairs within them are priced.
        """
        self.search.check_clock()
        search = self.search
        most, charges = _MOST * points.shape[0], search.data.charges
        least = crowding(points, nu, tau, _NEAR * search.data.price(nu), most, self.rng, charges)
        if self.cells:
            heads, tails, _ = paying_within(points, nu, tau, -least, self.cells, charges)
        else:
            heads, tails, _ = self._paying(points, nu, tau, -least)
        return self._admit(search.edges, heads, tails)

    def _paying(
        self, points: Array, nu: Array, tau: float, margin: float
    ) -> tuple[Vertices, Vertices, Array]:
        charges = self.search.data.charges
        return paying_pairs(points, nu, tau, margin, self.executor, self._pricing, charges)

    def _price_all(self) -> int:
        """Bound over all pairs; admit pairs that (nearly) pay and return how many are new."""
        search, data, evidence = self.search, self.search.data, self.search.evidence
        assert evidence is not None
        self.search.check_clock()
        points, nu, tau = data.moved(evidence.worst), evidence.nu, evidence.tau
        margin, most = _NEAR * data.price(nu), _MOST * points.shape[0] + search.edges.size
        charges = data.charges
        least = crowding(points, nu, tau, margin, most, self.rng, charges)
        heads, tails, prices = self._paying(points, nu, tau, -least)
        if least > 0.0:  # some paying pairs were left out: no bound yet
            return self._admit(search.edges, heads, tails)
        prior, paid = data.prior, np.maximum(prices, 0.0)
        rule = prior.trace
        bound = tau * rule.target / 2 - rule.curvature * tau**2 - prior.conjugate(nu)
        bound -= float(paid @ paid) / (8 * prior.beta)
        if bound > self.bound:
            self.bound, self.best = bound, evidence
        if self.solved:
            return 0
        return self._admit(search.edges.among(search.weights > 0.0), heads, tails)

    def _admit(self, kept: Candidates, heads: Vertices, tails: Vertices) -> int:
        """Continue with the kept candidates and these pairs; return how many are new."""
        old = self.search.edges
        edges = kept.joined(heads, tails)
        fresh = int(np.count_nonzero(~np.isin(edges.keys, old.keys, assume_unique=True)))
        self.search.admit(edges)
        self._consider()
        return fresh

    def _consider(self) -> None:
        """Raise NotWorthwhileError if the dense path is better and available."""
        if self.patient:
            return
        sparse = worthwhile(self.problem, self.search.edges.size)
        worst = self.search.worst
        if not sparse or (worst is not None and not worst.closed and not self._mixes):
            raise NotWorthwhileError

    def _record(self) -> None:
        number, edges = len(self.run.history) + 1, self.search.edges.size
        self.run.report(number, self.search.value, self.bound, self.gap, edges=edges)

    def solution(self, status: Status) -> Solution:
        """Return the solution in the unit and vertex order of the original problem."""
        search, evidence = self.search, self.best or self.search.evidence
        edges = self._graph()
        certificate = None
        if evidence is not None:
            nu = np.empty(edges.d)
            nu[self.order] = evidence.nu * self.unit**2
            moment = search.data.moment(evidence.worst, self.order, self.unit)
            certificate = Certificate(moment, nu, evidence.tau * self.unit**2)
        return Solution(
            laplacian=edges.laplacian(),
            value=search.value * self.unit**2,
            status=status,
            bound=self.bound * self.unit**2,
            iterations=search.steps,
            multiplier=self._multiplier(edges),
            certificate=certificate,
            history=tuple(self.run.history),
        )

    def _multiplier(self, edges: EdgeList) -> float:
        """Return γ, the derivative of the risk in the radius or, in some sets, in a power of it."""
        form, radius = self.problem.structure, self.problem.ambiguity.radius
        if isinstance(form, Surcharge) and radius > 0.0:
            return float(form.of(edges.heads, edges.tails) @ edges.weights) / radius
        if isinstance(form, Norm):
            degrees = edges.degrees
            norm = float(degrees.max() if form.order == 1.0 else 2 * degrees.sum())
            return form.multiplier(norm, radius)
        worst = self.search.worst
        if worst is None:
            return np.nan
        return worst.multiplier * self.unit**self.problem.multiplier_degree

    def _graph(self) -> EdgeList:
        """Return the best graph in the vertex order of the original problem."""
        search = self.search
        used = search.weights > 0.0
        heads, tails = self.order[search.edges.heads[used]], self.order[search.edges.tails[used]]
        low, high = np.minimum(heads, tails), np.maximum(heads, tails)
        sequence = np.lexsort((high, low))
        weights = search.weights[used][sequence]
        return EdgeList(search.edges.d, low[sequence], high[sequence], weights)


def _points(problem: GraphProblem) -> Array:
    """Return a factor of the nominal second moment with one row per vertex."""
    form = problem.structure
    if isinstance(form, Atoms):  # one column per atom; those of the factor may be mixtures
        return np.ascontiguousarray(form.signals.T * np.sqrt(form.shares))
    return np.array(problem.nominal.factor.T, order="C")


def _data(problem: GraphProblem, points: Array, order: NDArray[np.integer], unit: float) -> Data:
    """Return a problem's data in its unit and in the order of the search."""
    form, prior = problem.structure, _raised(problem, unit**-2)
    if isinstance(form, Atoms):
        signals = np.ascontiguousarray(form.signals.T[order]) / unit
        return WeightsData(points[order], None, 0.0, prior, None, form, signals)
    charges = charges_of(problem, order, unit**2)
    if not isinstance(form, Transport):
        return Data(points[order], None, 0.0, prior, charges)
    scales = None if form.scales is None else form.scales[order]
    return Data(points[order], scales, form.radius / unit, prior, charges)


def _raised(problem: GraphProblem, factor: float) -> DegreePrior:
    """Return the prior for objectives multiplied by ``factor``, without its bounds.

    A moment ball with p = 1 adds a price of the largest degree.
    """
    scaled = problem.prior.scaled(factor)
    prior = DegreePrior(scaled.beta, scaled.kappa, scaled.alpha, scaled.trace)
    norm, radius = problem.structure, problem.ambiguity.radius
    if isinstance(norm, Norm) and norm.order == 1.0 and radius > 0.0:
        return PeakPrior.of(prior, radius * factor)
    return prior

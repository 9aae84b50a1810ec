"""The problem on candidate edges: spectral proximal gradient with the sparse QP as its step.

This is solvers/generic/proximal.py without d × d matrices. The candidates' weights represent a
Laplacian, the transported data rows a second moment, and the candidates' costs a gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from solvers.bracket.limits import Clock
from solvers.control.spectral import SpectralControl
from solvers.large.charges import Charges
from solvers.large.sparse_qp import SparsePoint, SparseQP, WeightLimits, solve_sparse_qp
from solvers.large.structure import Candidates, squared_distances
from solvers.large.worst_case import Worst, WorstTransport, worst_transport
from solvers.large.worth import NotWorthwhileError
from wdro_cvx.moments.points import Moment, TransportedMoment
from wdro_cvx.priors import DegreePrior
from wdro_cvx.solution import relative_gap
from wdro_cvx.validation import Array

_MAX_DOUBLINGS = 30
_TRIFLE = 1e-3  # share of the gap; a step that promises less is not worth shortening
_MAX_STEPS = 60
# The accuracy of inexact subproblems, as a share of the current gap.
_SHARE, _LEAST_SHARE = 0.03, 1e-4
_INSIDE = 1.0 - 1e-13  # share of the radius; the rest is for rounding
_FINEST, _COARSEST = 1e-12, 1e-4


@dataclass(frozen=True, eq=False)
class Data:
    """A problem in its own unit, with one row per vertex.

    Attributes
    ----------
    points : array (d, r)
        The columns of the nominal factor.
    scales : array (d,) or None
        The sensors' scales, for a Mahalanobis ball.
    radius : float
    prior : DegreePrior
        Without bounds; the candidates have their own.
    charges : Charges or None
        What the pairs pay beyond their squared distances.
    """

    points: Array
    scales: Array | None
    radius: float
    prior: DegreePrior
    charges: Charges | None

    def worst(
        self, laplacian: sparse.csr_array, accuracy: float, start: WorstTransport | None
    ) -> WorstTransport:
        """Return the worst transport, with its moves in the sensors' coordinates."""
        points = self.points
        if self.scales is not None:
            stretch = sparse.diags_array(self.scales, format="csr")
            laplacian = sparse.csr_array(stretch @ laplacian @ stretch)
            points = points / self.scales[:, np.newaxis]
        guess = None if start is None else (start.multiplier, start.moves)
        return worst_transport(laplacian, points, self.radius, accuracy, guess)

    def price(self, nu: Array) -> float:
        """Return the unit of prices, β times the mean degree."""
        rule = self.prior.trace
        if rule.free:
            return self.prior.beta * float(np.mean(self.prior.degrees(nu)))
        return self.prior.beta * rule.target / self.points.shape[0]

    def moved(self, worst: Worst) -> Array:
        """Return the transported rows and the spread columns, rescaled to the exact radius."""
        assert isinstance(worst, WorstTransport)
        count = self.points.shape[1]
        moved = worst.moves.astype(np.float64)
        if worst.spread is not None:
            moved = np.hstack([moved, worst.spread])
        length = float(np.linalg.norm(moved))
        if length > 0.0:
            moved *= self.radius * _INSIDE / length
        if self.scales is not None:
            moved *= self.scales[:, np.newaxis]
        moved[:, :count] += self.points
        return moved

    def moment(self, worst: Worst, order: NDArray[np.integer], unit: float) -> Moment:
        """Return the moment in the unit and the vertex order of the data."""
        columns = self.moved(worst)
        rows = np.empty(columns.shape[::-1])
        rows[:, order] = columns.T
        rows *= unit
        return TransportedMoment(*np.split(rows, [self.points.shape[1]]))


@dataclass(frozen=True, eq=False)
class Evidence:
    """A worst case with the multipliers of its QP, and the bound over the candidates."""

    worst: Worst
    nu: Array
    tau: float
    bound: float


@dataclass
class CandidateSearch:
    """The best weights and the best bound over the candidates that are known so far."""

    data: Data
    edges: Candidates
    clock: Clock
    box: WeightLimits | None = None  # for listed candidates, which never change
    weights: Array = field(init=False)
    value: float = np.inf
    evidence: Evidence | None = None
    worst: Worst | None = None  # at the weights
    steps: int = 0
    work: float = 0.0  # multiplications in the worst cases so far
    most_work: float = np.inf
    share: float = _SHARE
    control: SpectralControl = field(init=False)
    nominal_costs: Array = field(init=False)

    def __post_init__(self) -> None:
        self.control = SpectralControl(self.data.prior.beta)
        self.weights = np.zeros(self.edges.size)
        self.nominal_costs = self.costs(self.data.points)

    @property
    def gap(self) -> float:
        """The relative gap over the candidates."""
        bound = -np.inf if self.evidence is None else self.evidence.bound
        return relative_gap(self.value, bound, floor=self.floor)

    @property
    def floor(self) -> float:
        """The scale of relative gaps if the value is close to zero."""
        return self.data.prior.alpha * self.edges.d

    def admit(self, edges: Candidates) -> None:
        """Replace the candidates; the new ones must contain all pairs in use."""
        used = self.weights > 0.0
        self.weights = edges.carried(self.weights[used], self.edges.among(used))
        self.edges = edges
        self.nominal_costs = self.costs(self.data.points)
        if self.evidence is not None:
            self.evidence = replace(self.evidence, bound=-np.inf)

    def prune(self, share: float) -> None:
        """Drop candidates of zero weight that are ``share`` price units away from paying."""
        evidence, edges = self.evidence, self.edges
        assert evidence is not None
        margin = share * self.data.price(evidence.nu)
        costs = self.costs(self.data.moved(evidence.worst))
        prices = evidence.tau - costs - evidence.nu[edges.heads] - evidence.nu[edges.tails]
        kept = (prices > -margin) | (self.weights > 0.0)
        self.edges = edges.among(kept)
        self.weights, self.nominal_costs = self.weights[kept], self.nominal_costs[kept]

    def average(self, start: tuple[Array, float] | None) -> SparsePoint:
        """Solve the sample-average problem over the candidates, roughly."""
        self.check_clock()
        return self._quadratic(self.nominal_costs, 0.0, start, tol=_COARSEST)

    def start(self, weights: Array) -> None:
        """Start from these weights, or from equal ones if their objective is infinite."""
        self._evaluate(weights)
        if not np.isfinite(self.value):  # with log terms, a vertex had no edge
            self._evaluate(np.full_like(weights, self.edges.d / (2 * weights.size)))

    def descend(self, tol: float) -> None:
        """Run until the gap over the candidates is ``tol``, or no descent is left.

        Near the hard case, bounds are far looser than values. Values known only to a share of the
        gap are then too inaccurate for descent, so the accuracy is raised.
        """
        self._descend(tol)
        while self.gap > tol and self.share > _LEAST_SHARE and self._smooth:
            self.share /= 10
            self._descend(tol)

    @property
    def _smooth(self) -> bool:
        """Whether the worst case at the weights is unique."""
        return self.worst is not None and self.worst.closed

    def _descend(self, tol: float) -> None:
        data, control = self.data, self.control
        assert self.worst is not None
        weights, worst = self.weights, self.worst
        control.restart(self.value)
        costs = self.costs(data.moved(worst))
        for _ in range(_MAX_STEPS):
            point = self.bounded(worst, costs)
            self.steps += 1
            if self.gap <= tol:
                return
            moved = point.feasible
            for _ in range(_MAX_DOUBLINGS):
                if control.proximal:
                    start = (point.nu, point.tau)
                    near = self._quadratic(costs, control.rho, start, self._accuracy(), weights)
                    moved = near.feasible
                change = moved - weights
                length = 2 * float(change @ change) + float(np.sum(self.edges.degrees(change) ** 2))
                moved_worst, value = self._evaluate(moved, worst)
                # Differences below the accuracy of the values mean nothing.
                if control.accepts(value, length, self._accuracy() * abs(self.value)):
                    break
                trifle = _TRIFLE * tol * abs(self.value)
                if self.gap <= tol or (control.beta + control.rho) * length <= trifle:
                    return
                control.shorten()
            else:
                return
            if length == 0.0:
                return
            moved_costs = self.costs(data.moved(moved_worst))
            control.take(value, float(change @ (moved_costs - costs)), length)
            weights, worst, costs = moved, moved_worst, moved_costs

    def check_clock(self) -> None:
        """Raise OutOfTime if the limit has passed and there is an answer to return."""
        if np.isfinite(self.value):
            self.clock.check()

    def costs(self, points: Array) -> Array:
        """Return the candidates' costs: ``‖g_i - g_j‖²`` and their charges."""
        heads, tails = self.edges.heads, self.edges.tails
        found = squared_distances(points, heads, tails)
        if self.data.charges is not None:
            found += self.data.charges.of(heads, tails)
        return found

    def _accuracy(self) -> float:
        gap = self.gap
        return (
            _COARSEST
            if not np.isfinite(gap)
            else float(np.clip(self.share * gap, _FINEST, _COARSEST))
        )

    def _evaluate(self, weights: Array, near: Worst | None = None) -> tuple[Worst, float]:
        """Return the worst case and the objective; keep the weights if they are the best."""
        self.check_clock()
        laplacian = self.edges.laplacian(weights)
        assert near is None or isinstance(near, WorstTransport)
        worst = self.data.worst(laplacian, self._accuracy(), near)
        self.work += worst.products * laplacian.nnz
        if self.work > self.most_work:
            raise NotWorthwhileError
        return worst, self.offer(weights, laplacian, worst)

    def offer(self, weights: Array, laplacian: sparse.csr_array, worst: Worst) -> float:
        """Return the objective for a given worst case; keep the weights if they are the best."""
        value = float(self.nominal_costs @ weights) + worst.premium
        value += self.data.prior.value(weights, laplacian.diagonal())
        if value < self.value:
            self.weights, self.value, self.worst = weights, value, worst
        return value

    def bounded(self, worst: Worst, costs: Array) -> SparsePoint:
        """Solve the sample-average problem at a worst case; keep its bound if it is the best."""
        self.check_clock()
        start = None if self.evidence is None else (self.evidence.nu, self.evidence.tau)
        point = self._quadratic(costs, 0.0, start, self._accuracy())
        if self.evidence is None or point.value > self.evidence.bound:
            self.evidence = Evidence(worst, point.nu, point.tau, point.value)
        return point

    def _quadratic(
        self,
        costs: Array,
        rho: float,
        start: tuple[Array, float] | None,
        tol: float,
        centre: Array | None = None,
    ) -> SparsePoint:
        """Solve ``cᵀw + prior + ρ/2‖L - centre‖²``, up to a constant."""
        edges, prior = self.edges, self.data.prior
        if centre is not None and rho > 0.0:
            degrees = edges.degrees(centre)
            costs = costs - rho * (2 * centre + degrees[edges.heads] + degrees[edges.tails])
        if rho > 0.0:
            prior = prior.proximal(rho)
        return solve_sparse_qp(SparseQP(edges, costs, prior, self.box), start, tol)

"""The judge's back end for graphs with many vertices: edge lists instead of d × d arrays.

The value comes from premium.py, the bound from the dual over all pairs with positive prices
(dual.py), and the membership of the certificate's moment from its explicit transport. No arithmetic
is shared with a solver; docs/scale.md has the error analysis.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar, TypeAlias

import numpy as np
from scipy import sparse

from wdro_cvx.ambiguity.reweighting import WeightsBall
from wdro_cvx.ambiguity.singleton import Singleton
from wdro_cvx.ambiguity.smoothness import accumulation, pair_costs, reads_table
from wdro_cvx.ambiguity.structure import Atoms, Transport
from wdro_cvx.claims import DEARER_PAIRS, MOVED_ROWS, REWEIGHED, SIMPLE_NORM, claimed
from wdro_cvx.graphs.listed_bounds import ListedBounds
from wdro_cvx.judging.court import (
    EPS,
    SUM,
    USABLE,
    WORTHWHILE,
    Bound,
    Candidate,
    Court,
    out_of_range,
    pulled_inside,
    safe_cost,
)
from wdro_cvx.judging.dual_bound import safe_levels
from wdro_cvx.judging.edges import EdgeBrackets, edge_brackets
from wdro_cvx.judging.sparse.brackets import listed_brackets
from wdro_cvx.judging.sparse.dual import LargeBound, Setting, large_bound
from wdro_cvx.judging.sparse.premium import premium_bound
from wdro_cvx.judging.sparse.prices import shakes
from wdro_cvx.judging.sparse.repair import repaired
from wdro_cvx.judging.sparse.reweighed import columns_error, worst_weights
from wdro_cvx.judging.sparse.shift import Charges, shift_of
from wdro_cvx.judging.sparse.top import longest_row
from wdro_cvx.moments.points import Moment, ReweighedMoment, TransportedMoment
from wdro_cvx.problem import GraphProblem
from wdro_cvx.solution import Certificate
from wdro_cvx.validation import Array

#: Moments whose rows are known, so that costs need no d × d array.
FactorMoment: TypeAlias = TransportedMoment | ReweighedMoment

_GATHERED = 1 << 15  # numbers at a time, which stay in the cache


def judged_at_scale(problem: GraphProblem) -> bool:
    """Say whether this back end supports the problem's set and bounds; it supports no terms."""
    bounds = problem.prior.bounds
    known = claimed((MOVED_ROWS, Singleton, SIMPLE_NORM, DEARER_PAIRS, REWEIGHED), problem)
    return known and not problem.terms and (bounds is None or isinstance(bounds, ListedBounds))


def taken_at_scale(problem: GraphProblem, moment: Moment) -> bool:
    """Say whether this back end supports a moment: nominal rows, moved or spread, or weights."""
    nominal = problem.nominal
    if claimed((REWEIGHED,), problem):
        return problem.ambiguity.membership(nominal).read(moment) is not None
    if type(moment) is not TransportedMoment or moment.shift is not None:
        return False
    if not isinstance(problem.structure, Transport):  # no row moves
        return moment.spread is None and nominal.holds(moment.moved)
    return moment.moved.shape == nominal.factor.shape


class SparseCourt(Court[FactorMoment]):
    """The back end for edge lists.

    Pricing all pairs dominates the work, so it is done only once if that gives a bound.
    """

    thrifty: ClassVar[bool] = True

    def __init__(self, problem: GraphProblem, matrix: sparse.csr_array) -> None:
        problem.check_ratios()
        self.problem, self.unit = problem, problem.unit
        self.prior = problem.prior.scaled(self.unit**-2)
        self.residuals, self.graph, self.repair = repaired(matrix, self.prior)
        self.degrees = self.graph.degrees
        self._transport = problem.structure if isinstance(problem.structure, Transport) else None
        self._shift = shift_of(problem)
        self._own: FactorMoment = TransportedMoment(problem.nominal.factor)

    def offered(self, moment: Moment) -> Candidate[FactorMoment] | None:
        """Return a certificate's transport or weights; other kinds would need matrices."""
        if not taken_at_scale(self.problem, moment) or out_of_range(moment, self.unit):
            return None
        if not isinstance(self.problem.structure, (Transport, Atoms)):
            return Candidate(self._own, 1.0)
        found = pulled_inside(self.problem, moment)
        if not isinstance(found.moment, FactorMoment):  # a set whose points are matrices
            return None
        return Candidate(found.moment, found.share)

    def _upright(self, rows: Array) -> Array:
        """Return a copy with one row per vertex, in the problem's unit; a power of two is exact."""
        columns = np.array(rows.T, order="C")
        columns /= self.unit
        return columns

    def value(self, offered: Candidate[FactorMoment] | None) -> tuple[float, float]:
        """Return the objective, rounded upwards, with the judge's own premium."""
        graph, laplacian = self.graph, self.graph.laplacian()
        rounding = SUM + longest_row(laplacian) * EPS  # degrees are summed one by one
        cost = safe_cost(self.prior, graph.weights, self.degrees, rounding)
        risk = self._risk(laplacian, cost, rounding, offered)
        value = float(risk + cost + rounding * risk)
        return np.inf if np.isnan(value) else value, 0.0

    def _risk(
        self,
        laplacian: sparse.csr_array,
        cost: float,
        rounding: float,
        offered: Candidate[FactorMoment] | None,
    ) -> float:
        """Return the risk, rounded upwards; the prior costs ``cost``."""
        nominal, ambiguity = self.problem.nominal, self.problem.ambiguity
        if isinstance(ambiguity, WeightsBall):
            assert nominal.samples is not None
            worst = worst_weights(ambiguity, nominal.samples, self.graph)
            found = pulled_inside(self.problem, worst.moment).moment
            assert isinstance(found, ReweighedMoment)
            self._own = found
            return worst.risk / self.unit**2
        points = self._upright(nominal.factor)
        risk = self._shift.premium(self.graph, rounding)
        if self._transport is not None:
            risk = self._premium(self._transport, laplacian, points, offered)
        return risk + self._nominal_risk(points, abs(risk + cost))

    def _nominal_risk(self, points: Array, size: float) -> float:
        """Return ``⟨Θ, L⟩``, rounded upwards; from the table if rounding of the factor matters."""
        graph, nominal = self.graph, self.problem.nominal
        costs = np.empty(graph.weights.size)
        step = max(_GATHERED // points.shape[1], 1)
        for first in range(0, costs.size, step):
            part = slice(first, first + step)
            difference = points[graph.heads[part]] - points[graph.tails[part]]
            costs[part] = np.sum(difference**2, axis=1)
        # Summed pairwise: a product would lose digits with the number of edges.
        risk = float(np.sum(costs * graph.weights)) * (1.0 + (points.shape[1] + 64) * EPS)
        # The factor has a rounding error, which adds to the root of the risk, a norm.
        top = 2 * float(self.degrees.max())
        shaken = np.sqrt(top) * accumulation(nominal) * float(np.linalg.norm(points))
        lost = shaken * (2 * float(np.sqrt(risk)) + shaken)
        if lost > WORTHWHILE * (size + risk) and reads_table(nominal, costs.size):
            heads, tails = graph.heads.astype(np.intp), graph.tails.astype(np.intp)
            costs, error = pair_costs(nominal, heads, tails)
            costs /= self.unit**2
            return float(np.sum(costs * graph.weights)) * (1.0 + error + SUM)
        return risk + lost * (1.0 + SUM)

    def _premium(
        self,
        transport: Transport,
        laplacian: sparse.csr_array,
        points: Array,
        offered: Candidate[FactorMoment] | None,
    ) -> float:
        """Return the premium of the worst moves of the rows, rounded upwards.

        The search starts from a certificate's moves, if there are any.
        """
        stretch = None if transport.scales is None else transport.scales[:, np.newaxis]
        start, rows = None, points
        if offered is not None:
            assert isinstance(offered.moment, TransportedMoment)
            start = self._upright(offered.moment.moved)
            start -= points
        if stretch is not None:
            rows = points / stretch
            scale = sparse.diags_array(stretch[:, 0], format="csr")
            laplacian = sparse.csr_array(scale @ laplacian @ scale)
            if start is not None:
                start /= stretch
        radius = transport.radius / self.unit
        found = premium_bound(laplacian, rows, radius, start)
        length = float(np.linalg.norm(found.moves)) * (1.0 + SUM)
        if length > 0.0 and (offered is None or offered.share < USABLE):
            moves = found.moves * min(radius / length * (1.0 - 4 * EPS), 1.0)
            moves = moves if stretch is None else moves * stretch
            self._own = TransportedMoment(((points + moves) * self.unit).T)
        # The rounding error of the rows.
        top = 2 * float(laplacian.diagonal().max())
        unsure = accumulation(self.problem.nominal) * float(np.linalg.norm(rows))
        return found.value + 2 * radius * top * unsure * (1.0 + SUM)

    def own(self) -> Candidate[FactorMoment]:
        """Return the judge's own worst case, or the nominal rows."""
        return Candidate(self._own, 1.0)

    def bounds(
        self, moment: FactorMoment, multipliers: list[Array], value: float
    ) -> Iterator[Bound]:
        """Yield the bound over all pairs for each of the multipliers."""
        columns = self._upright(moment.rows)
        if isinstance(moment, ReweighedMoment):
            moved = columns_error(moment.samples, columns)
        else:
            moved = shakes(self.problem.nominal, self.unit, columns)
        for given in multipliers:
            charges, nu = self._shift.charges(self.graph, given)
            setting = Setting(self.prior, self.graph, columns, moved, charges)
            found = large_bound(setting, nu)
            tau = _tau(setting, found, nu)
            certificate = partial(self._certificate, moment, charges, nu, tau)
            bound = found.value if found.value < np.inf else -np.inf  # NaN and +inf prove nothing
            yield Bound(bound, partial(self._edges, found), certificate)

    def takes(self, nu: Array) -> bool:
        """Say whether the multipliers, less the part that a shift takes, fit the prior."""
        left = self._shift.charges(self.graph, nu / self.unit**2)[1]
        return self.prior.has_degrees(left)

    def _certificate(
        self, moment: FactorMoment, charges: Charges, nu: Array, tau: float
    ) -> Certificate:
        square = self.unit**2
        shift = charges.matrix()  # d × d, so it is built on demand
        if shift is not None:
            moment = TransportedMoment(self.problem.nominal.rows, shift=shift * square)
        return Certificate(moment, nu * square, tau * square)

    def _edges(self, found: LargeBound, excess: float) -> EdgeBrackets:
        pairs = found.heads, found.tails, found.prices
        return listed_brackets(self.prior, *pairs, excess, self.problem.d)


def _tau(setting: Setting, found: LargeBound, nu: Array) -> float:
    """Return the multiplier of the trace from the cost and price of one pair."""
    if found.heads.size == 0:
        return 0.0
    heads, tails = found.heads[:1], found.tails[:1]
    levels = safe_levels(setting.costs(heads, tails), nu, heads, tails)
    return float(found.prices[0] + levels[0])


class SparseCourtOfMatrix(SparseCourt):
    """The same back end for a dense array, with brackets for all pairs."""

    def __init__(self, problem: GraphProblem, matrix: Array) -> None:
        super().__init__(problem, sparse.csr_array(matrix))

    def _edges(self, found: LargeBound, excess: float) -> EdgeBrackets:
        d = self.problem.d
        # Pairs that are not listed have prices of at most zero.
        prices = np.zeros(d * (d - 1) // 2)
        heads, tails = found.heads.astype(np.int64), found.tails.astype(np.int64)
        prices[heads * d - heads * (heads + 1) // 2 + tails - heads - 1] = found.prices
        return edge_brackets(
            self.problem.normalised, self.graph.laplacian().toarray(), prices, excess
        )

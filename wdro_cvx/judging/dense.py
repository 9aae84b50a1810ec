"""The judge's back end for matrices: all sets, bounds and terms, with d × d arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from wdro_cvx.ambiguity.base import WorstCase
from wdro_cvx.ambiguity.smoothness import accumulation
from wdro_cvx.ambiguity.structure import Transport
from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.exact_sums import missing, nearby_weights
from wdro_cvx.graphs.laplacian import (
    adjoint,
    edge_index,
    graph_size,
    inner,
    laplacian_from_weights,
    weights_from_laplacian,
)
from wdro_cvx.judging.court import (
    ENOUGH,
    EPS,
    SETTLED,
    SUM,
    USABLE,
    WORTHWHILE,
    Bound,
    Candidate,
    Court,
    own_multipliers,
    pulled_inside,
    safe_cost,
    slopes_in_range,
)
from wdro_cvx.judging.dual_bound import dual_bound
from wdro_cvx.judging.edge_costs import minorant_costs, safe_costs
from wdro_cvx.judging.edges import edge_brackets
from wdro_cvx.judging.offered_value import risk_bound
from wdro_cvx.moments.points import Moment, TransportedMoment, nuclear_size
from wdro_cvx.priors import DegreePrior
from wdro_cvx.problem import GraphProblem
from wdro_cvx.solution import Certificate
from wdro_cvx.validation import Array

#: The number of vertices from which one product with the offered moves saves time.
OFFERED_FROM = 300

_SPARE = (2.0**-44, 2.0**-40, 2.0**-36, 2.0**-30)  # for rounding, when slopes are shortened
_USED = 1e-5  # relative to the largest weight: less is rounding of an absent edge
_TINY = float(np.finfo(float).tiny)


class DenseCourt(Court[Moment]):
    """The back end for matrices."""

    thrifty: ClassVar[bool] = False

    def __init__(
        self, problem: GraphProblem, matrix: Array, slopes: tuple[Array, ...] | None = None
    ) -> None:
        self.problem, self.unit = problem.normalised, problem.unit
        self._given: Moment | None = None
        self.offered_slopes = slopes if slopes_in_range(slopes, problem.unit) else None
        self.prior = self.problem.prior
        self.laplacian = self.prior.repaired(matrix)
        if self.problem.terms:
            self.laplacian = _summing_to_trace(self.prior, self.laplacian)
        self.degrees = self.laplacian.diagonal()
        self.weights = weights_from_laplacian(self.laplacian)
        self.repair = float(np.linalg.norm(matrix - self.laplacian))
        size = graph_size(float(np.linalg.norm(self.laplacian)), self.prior.trace.target)
        self.residuals = replace(self.prior.infeasibility(matrix), repair=self.repair / size)

    @property
    def enough(self) -> float:
        """The relative gap at which to stop; larger if the worst case has not been needed yet."""
        return ENOUGH if "_worst" in self.__dict__ else SETTLED

    @cached_property
    def _worst(self) -> WorstCase:
        return self.problem.ambiguity.worst_case(self.problem.nominal, self.laplacian)

    @cached_property
    def _worths(self) -> list[float]:
        return [term.value(self.laplacian) for term in self.problem.terms]

    def offered(self, moment: Moment) -> Candidate[Moment]:
        """Return a certificate's moment, pulled into the set; all kinds are supported."""
        found = pulled_inside(self.problem, moment.scaled(1.0 / self.unit))
        self._given = found.moment
        return found

    def value(self, offered: Candidate[Moment] | None) -> tuple[float, float]:
        """Return the objective, rounded upwards, and the inconsistency of the set's worst case."""
        risk = self._offered_risk(offered)
        if risk is not None:
            return self._total(risk, SUM * risk), 0.0
        worst, problem = self._worst, self.problem
        # Rounding amounts to a perturbation of L by E. A risk is the maximum of ⟨M, L⟩, so it
        # changes by at most ‖E‖₂ times the sum of M's singular values.
        top = 2 * float(self.degrees.max())
        rounding = accumulation(problem.nominal) * top * nuclear_size(worst.moment)
        attained = inner(worst.second_moment, self.laplacian)
        miss = max(abs(worst.risk - attained) - 2 * rounding - (worst.rounding or 0.0), 0.0)
        risk = max(worst.risk, attained)
        if worst.rounding is not None:  # the set bounds its own rounding error
            if worst.rounding < 0.0:
                name = type(problem.ambiguity).__name__
                raise ProblemError(f"rounding must be ≥ 0; {name} gives {worst.rounding:g}.")
            risk, rounding = worst.risk, worst.rounding
        value = self._total(risk, rounding + SUM * abs(worst.risk))
        return value, miss / max(abs(value), problem.floor, _TINY)

    def _offered_risk(self, offered: Candidate[Moment] | None) -> float | None:
        """Return an upper bound of the risk from a certificate's moves; None if it is not sharp."""
        problem, form = self.problem, self.problem.structure
        if offered is None or offered.share < USABLE or problem.d < OFFERED_FROM:
            return None
        moment = offered.moment
        if type(moment) is not TransportedMoment or not isinstance(form, Transport):
            return None
        if moment.spread is not None or not (form.moves_all and form.euclidean):
            return None
        return risk_bound(problem.nominal, self.laplacian, moment.moved, form.radius)

    def _total(self, risk: float, rounding: float) -> float:
        """Return the objective for a known risk, rounded upwards."""
        cost = safe_cost(self.prior, self.weights, self.degrees, SUM)
        value = risk + rounding + cost
        for worth in (*self._worths, *self._remainders()):
            value += worth + 4 * EPS * (abs(worth) + abs(value))
        return np.inf if np.isnan(value) else value  # a term without a value proves nothing

    def _remainders(self) -> list[float]:
        """Return by how much each term may be larger at an exactly feasible graph.

        If the sum of the weights is not exact, one weight has to take what is missing. The graph
        then lies between this one and one in which that weight is doubled or halved. Terms are
        convex, so each grows by at most its share of the growth in between.
        """
        rule, bounds = self.prior.trace, self.prior.bounds
        weights = weights_from_laplacian(self.laplacian)
        short = missing(weights, rule.target / 2) if rule.fixed and self.problem.terms else 0.0
        if short == 0.0:
            return []
        room = weights > 0.0
        if bounds is not None:
            room &= weights < bounds.upper if short > 0.0 else weights > bounds.lower
        edge = int(np.argmax(np.where(room, weights, 0.0)))
        if not room[edge]:
            return [np.inf]
        step = weights[edge] if short > 0.0 else weights[edge] / 2
        weights[edge] += np.copysign(step, short)
        far, share = laplacian_from_weights(weights), abs(short) / step
        pairs = zip(self.problem.terms, self._worths, strict=True)
        return [share * max(term.value(far) - worth, 0.0) * (1.0 + SUM) for term, worth in pairs]

    def own(self) -> Candidate[Moment]:
        """Return the worst case of the repaired graph, pulled into the set."""
        return pulled_inside(self.problem, self._worst.moment)

    def bounds(self, moment: Moment, multipliers: list[Array], value: float) -> Iterator[Bound]:
        """Yield the bounds of a moment, with sharper costs if the rounding slack matters."""
        problem = self.problem
        costs, slack = safe_costs(problem.nominal, moment)
        if moment.rows is not None:
            lost = float(slack @ self.weights)
            if lost > WORTHWHILE * max(abs(value) - problem.constant, _TINY):
                costs, _ = safe_costs(problem.nominal, moment, exactly=True)
        for slopes in self._slopes(costs, moment is self._given):
            levels, price = minorant_costs(costs, problem.terms, slopes)
            for nu in multipliers:
                found = dual_bound(problem, levels, nu)
                bound = found.value
                if slopes:
                    bound -= price + SUM * (abs(price) + abs(bound))
                yield Bound(
                    bound if bound < np.inf else -np.inf,  # NaN and +inf prove nothing
                    partial(edge_brackets, problem, self.laplacian, found.prices),
                    partial(Certificate(moment, nu, found.tau, slopes or None).scaled, self.unit),
                )

    def _slopes(self, costs: Array, given: bool) -> Iterator[tuple[Array, ...]]:
        """Yield slopes of the terms: the certificate's for its moment, else their gradients."""
        terms = self.problem.terms
        if not terms:
            yield ()
            return
        if given and self.offered_slopes is not None:
            scaled = tuple(slope / self.unit**2 for slope in self.offered_slopes)
            yield self._shrunk(costs, scaled)
            return
        graph, worths = self.laplacian, self._worths
        if not np.isfinite(worths).all():  # the graph is outside a term's domain
            graph = self.prior.start(self.problem.d)
            worths = [term.value(graph) for term in terms]
        if np.isfinite(worths).all():
            yield self._shrunk(costs, self._gradients(graph, costs))
        else:
            yield tuple(np.zeros_like(graph) for _ in terms)

    def _gradients(self, graph: Array, costs: Array) -> tuple[Array, ...]:
        """Return subgradients of the terms; at kinks, those that come nearest to optimality."""
        terms, weights = self.problem.terms, weights_from_laplacian(graph)
        found = [term.gradient(graph) for term in terms]
        heads, tails = edge_index(self.problem.d)
        nu = own_multipliers(self.prior, np.diagonal(graph))
        for place, term in enumerate(terms):
            if term.smooth:
                continue
            others = costs + 4 * self.prior.beta * weights + nu[heads] + nu[tails]
            others += sum(adjoint(y) for k, y in enumerate(found) if k != place)
            # An edge whose weight changes has a known slope, which determines τ.
            known = adjoint(term.slope_near(graph, np.zeros_like(others)))
            tau, used = 0.0, weights > _USED * weights.max()
            moved = used & (known != 0.0)
            if not self.prior.trace.free and moved.any():
                tau = float(np.median((others + known)[moved]))
            elif not self.prior.trace.free and used.any():
                tau = float(others[used].min() + others[used].max()) / 2
            found[place] = term.slope_near(graph, tau - others)
        return tuple(found)

    def _shrunk(self, costs: Array, slopes: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return slopes at which no unlimited edge has a positive price, if β = 0 demands it.

        A multiple of a slope gives a bound too, and a factor close to one loses little.
        """
        prior, share = self.prior, 1.0
        if prior.beta > 0.0 or not prior.trace.free:
            return slopes
        unlimited = slice(None) if prior.bounds is None else np.isinf(prior.bounds.upper)
        for spare in _SPARE:
            tried = tuple(share * slope for slope in slopes)
            levels = minorant_costs(costs, self.problem.terms, tried)[0][unlimited]
            short = levels < 0.0
            if not short.any():
                break
            own = costs[unlimited][short]
            limit = float(np.min(own / (own - levels[short]))) if own.min() > 0.0 else 0.0
            share *= max(limit, 0.0) * (1.0 - spare)
        return tried


def _summing_to_trace(prior: DegreePrior, laplacian: Array) -> Array:
    """Return a feasible graph with weights of an exact sum, if the trace is fixed.

    If the trace is wrong by a rounding, the value of a term may change by far more than its own
    rounding.
    """
    if not prior.trace.fixed or prior.bounds is not None:  # with bounds, the repair has done it
        return laplacian
    weights = weights_from_laplacian(laplacian)
    box = np.zeros_like(weights), np.full_like(weights, np.inf)
    return laplacian_from_weights(nearby_weights(weights, *box, prior.trace.target / 2))

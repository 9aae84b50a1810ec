"""The interface of the judge's back ends, and the rules that both share.

A back end works in the problem's unit, in which no number is very large or small. It repairs the
matrix on construction. Then it computes the value, moments of the set and their bounds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from wdro_cvx.ambiguity.membership import Membership
from wdro_cvx.ambiguity.singleton import Singleton
from wdro_cvx.graphs.laplacian import Residuals
from wdro_cvx.judging.edges import EdgeBrackets
from wdro_cvx.moments.composite import SumMoment
from wdro_cvx.moments.points import DenseMoment, Moment
from wdro_cvx.priors import DegreePrior
from wdro_cvx.problem import GraphProblem
from wdro_cvx.solution import Certificate
from wdro_cvx.stacks import column, is_zero, number
from wdro_cvx.validation import Array

EPS = float(np.finfo(float).eps)
SUM = 64 * EPS  # relative error of pairwise sums and of their terms
#: If the slack for rounding exceeds this, relative to the value, a slower and sharper computation
#: is worthwhile.
WORTHWHILE = 1e-10
#: A certificate is used if at least this share of it is left after pulling it into the set.
USABLE = 0.5
#: Relative gaps: at the first no slower proof is tried, at the second no other proof at all.
SETTLED, ENOUGH = 1e-6, 1e-11
_RANGE = 1e30  # limit of certificates in the problem's unit; squared for moments
_ISOLATED = 1e-12  # relative to the mean degree
#: Attempts to pull a second moment into its set.
PULLS = 8

M = TypeVar("M")


@dataclass(frozen=True, eq=False)
class Candidate(Generic[M]):
    """A moment of the set in the back end's form, and the share of the offer that is left."""

    moment: M
    share: float


@dataclass(frozen=True, eq=False)
class Bound:
    """A lower bound.

    Attributes
    ----------
    value : float
    edges : callable
        Returns the edge brackets that it proves with a given excess.
    certificate : callable
        Returns its moment and multipliers, in the unit of the data.
    """

    value: float
    edges: Callable[[float], EdgeBrackets]
    certificate: Callable[[], Certificate]


class Court(ABC, Generic[M]):
    """A back end of the judge.

    Attributes
    ----------
    prior : DegreePrior
        In the problem's unit.
    degrees : array (d,)
        The degrees of the repaired graph.
    residuals : Residuals
        The infeasibility of the given matrix.
    repair : float
        The distance to the repaired graph, in the Frobenius norm.
    """

    #: Whether to stop at the first finite bound, because bounds are expensive.
    thrifty: ClassVar[bool]

    prior: DegreePrior
    degrees: Array
    residuals: Residuals
    repair: float

    @property
    def enough(self) -> float:
        """The relative gap at which other moments and multipliers are not tried."""
        return ENOUGH

    def takes(self, nu: Array) -> bool:
        """Say whether multipliers, in the unit of the data, give a bound under the prior."""
        return self.prior.has_degrees(nu)

    @abstractmethod
    def offered(self, moment: Moment) -> Candidate[M] | None:
        """Return a certificate's moment, pulled into the set; None if its kind is not supported."""

    @abstractmethod
    def value(self, offered: Candidate[M] | None) -> tuple[float, float]:
        """Return the objective, rounded upwards, and the inconsistency of the set's worst case."""

    @abstractmethod
    def own(self) -> Candidate[M]:
        """Return the repaired graph's worst case, pulled into the set; call ``value`` first."""

    @abstractmethod
    def bounds(self, moment: M, multipliers: list[Array], value: float) -> Iterator[Bound]:
        """Yield the bound at a moment for each of the multipliers."""


def pulled_inside(problem: GraphProblem, moment: Moment) -> Candidate[Moment]:
    """Move a second moment towards the nominal one until it is in the set.

    Because of rounding, most moments are barely outside. The nominal moment itself, with share 0,
    is always inside.
    """
    ambiguity = problem.ambiguity
    membership = ambiguity.membership(problem.nominal)
    centre = membership.centre
    if isinstance(ambiguity, Singleton):  # it has one point only
        return Candidate(centre, 1.0)
    if out_of_range(moment, problem.unit):
        return Candidate(centre, 0.0)
    try:
        return _pulled(problem, membership, moment)
    except np.linalg.LinAlgError:  # the moment, or a part of it, cannot be explained or measured
        return Candidate(centre, 0.0)


def _pulled(
    problem: GraphProblem, membership: Membership[Any], moment: Moment
) -> Candidate[Moment]:
    """Return a point of the set on the way from the nominal moment to the given one."""
    centre, radius = membership.centre, problem.ambiguity.radius
    known = membership.read(moment)
    if known is None or type(known) is DenseMoment:
        matrix = moment.second_moment
        if np.array_equal(matrix, problem.nominal.second_moment):
            return Candidate(centre, 1.0)
        known = membership.explain(matrix)
    share, spare = 1.0, 1e-14
    for _ in range(PULLS):
        candidate = known.pulled(centre, share) if share < 1.0 else known
        distance = membership.distance(candidate)
        if distance <= radius:
            return Candidate(candidate, share)
        if not np.isfinite(distance) or type(known) is not type(centre):
            break
        # Squared transport distances are convex in M, so the squared ratio is enough up to
        # rounding. The relative rounding error of a divergence grows as it gets smaller.
        share *= (radius / distance) ** 2 * (1.0 - spare)
        spare *= 16.0
    return Candidate(centre, 0.0)


def out_of_range(moment: Moment, unit: float) -> bool:
    """Say whether a moment is too large to be in any set, or its squares would overflow."""
    if isinstance(moment, SumMoment) and any(out_of_range(part, unit) for part in moment.parts):
        return True
    limits = _RANGE * unit, (_RANGE * unit) ** 2
    return any(
        piece is not None and not float(np.abs(piece).max()) <= limit
        for piece, limit in zip(moment.pieces, limits, strict=True)
    )


def multipliers_in_range(nu: Array, unit: float) -> bool:
    """Say whether products of the multipliers stay in range."""
    return float(np.abs(nu).max()) <= (_RANGE * unit) ** 2


def slopes_in_range(slopes: tuple[Array, ...] | None, unit: float) -> bool:
    """Say whether products of the terms' slopes stay in range; true without slopes."""
    return all(float(np.abs(slope).max()) <= (_RANGE * unit) ** 2 for slope in slopes or ())


def own_multipliers(prior: DegreePrior, degrees: Array) -> Array:
    """Return φ' at the degrees, with a positive minimum degree for isolated vertices."""
    least = _ISOLATED * degrees.mean(axis=-1)
    if not is_zero(prior.alpha):  # an empty graph has mean degree 0
        least = np.where(least == 0.0, 1.0, least)
    return prior.slope(np.maximum(degrees, column(least)))


def safe_cost(prior: DegreePrior, weights: Array, degrees: Array, rounding: float) -> Any:
    """Return the prior's value at a graph, or at each graph of a stack, rounded upwards.

    ``rounding`` is the relative error of the degrees and of their sums.
    """
    cost = prior.value(weights, degrees)
    size, total, penalty = abs(cost), number(degrees.sum(axis=-1)), prior.trace.penalty
    if not np.any(np.isfinite(cost)):
        return cost
    if not is_zero(prior.alpha):  # logarithms of either sign may have cancelled
        # An isolated vertex has an infinite cost anyway.
        logs = column(prior.alpha) * np.log(np.where(degrees > 0.0, degrees, 1.0))
        size = abs(cost + logs.sum(axis=-1)) + np.abs(logs).sum(axis=-1)
        size = number(size + prior.alpha * degrees.shape[-1])
    # A trace close to its target cancels in the penalty. Stacks have no penalties.
    swing = max(penalty(total * (1.0 + rounding)), penalty(total * (1.0 - rounding)))
    return cost + rounding * size + max(swing - penalty(total), 0.0)

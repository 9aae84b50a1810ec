"""The judge for graphs of many vertices: the same two numbers, and nothing is d × d.

The value comes from wdro_cvx/large/premium.py, the bound from the dual over all pairs that pay
(wdro_cvx/large/dual.py), the membership of the certificate's moment from its explicit transport.
No arithmetic is shared with a solver; docs/scale.md has the error analysis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from wdro_cvx.ambiguity.smoothness import accumulation
from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.laplacian import Residuals
from wdro_cvx.graphs.listed_bounds import ListedBounds
from wdro_cvx.large.brackets import ListedBrackets, listed_brackets
from wdro_cvx.large.dual import Setting, large_bound
from wdro_cvx.large.edge_list import EdgeList
from wdro_cvx.large.premium import Premium, premium_bound
from wdro_cvx.large.repair import repaired
from wdro_cvx.large.top import longest_row
from wdro_cvx.moment import TransportedMoment
from wdro_cvx.priors import DegreePrior
from wdro_cvx.problem import GraphProblem
from wdro_cvx.solution import Certificate
from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)
_SUM = 64 * _EPS
_PULLS = 8
_RANGE = 1e30  # of what certificates may hold, in the unit of the problem; its squares too
_ISOLATED = 1e-12  # a degree below this share of the mean


@dataclass(frozen=True, eq=False)
class LargeFindings:
    """What was found, in the unit of the problem as it was given."""

    value: float
    bound: float
    residuals: Residuals
    distance: float
    edges: ListedBrackets
    notes: tuple[str, ...]


def judged_at_scale(problem: GraphProblem) -> bool:
    """Say whether this judge knows the set, as moved rows or as one norm, and its bounds."""
    bounds, ambiguity = problem.prior.bounds, problem.ambiguity
    known = ambiguity.row_scales is not None or ambiguity.single_point
    known = known or ambiguity.norm_order == 2.0
    return known and (bounds is None or isinstance(bounds, ListedBounds))


def judge_large(
    problem: GraphProblem, matrix: sparse.csr_array, certificate: Certificate | None
) -> LargeFindings:
    """Find value and bound for a sparse Laplacian.

    The certificate's moment and multipliers are used where they are sound, and the judge's own
    where there are none: pricing all pairs is the main work, and is done once.
    """
    if not judged_at_scale(problem):
        raise ProblemError(
            f"judge takes sparse Laplacians for transport balls and moment balls of p = 2, with "
            f"free edges or a list of the possible ones; the problem is {problem!r}. Pass a dense "
            "array."
        )
    problem.check_ratios()
    unit, notes = problem.unit, []
    prior = problem.prior.scaled(unit**-2)
    found, graph, repair = repaired(matrix, prior)
    moment = None
    if certificate is not None:
        moment = _inside(problem, certificate)
        if moment is None:
            notes.append("the certificate is no transport within the set; it was not used")
            certificate = None
    scales = problem.ambiguity.row_scales
    stretch = np.asarray(scales)[:, np.newaxis] if scales else 1.0
    points = _upright(problem.nominal.factor, unit)
    start = None
    if moment is not None:
        start = _upright(moment.moved, unit)
        start -= points
        start /= stretch
    value, premium = _value(problem, prior, graph, points, stretch, start)
    if moment is None:
        # Rounding may have carried the judge's own transport over the edge of the ball.
        columns = points + premium.moves * (stretch * (1.0 - 1e-12))
    else:
        columns = _upright(moment.rows, unit)
    del points, start, premium
    nu = _own_multipliers(prior, graph)
    if certificate is not None and certificate.degree_multipliers is not None:
        offered = np.asarray(certificate.degree_multipliers) / unit**2
        if prior.has_degrees(offered):
            nu = offered
        else:
            notes.append("the certificate's multipliers belong to another prior; not used")
    tilt = _tilt(problem, graph)
    bound = large_bound(Setting(problem.nominal, unit, prior, graph, columns, tilt), nu)
    if not np.isfinite(bound.value):
        notes.append("the multipliers leave too many pairs paying; there is no bound")
    excess = max(value - bound.value, 0.0)
    return LargeFindings(
        value * unit**2,
        bound.value * unit**2,
        found,
        float(np.sqrt(prior.reach(problem.d) * excess)) + repair,
        listed_brackets(prior, bound.heads, bound.tails, bound.prices, excess, problem.d),
        tuple(notes),
    )


def _own_multipliers(prior: DegreePrior, graph: EdgeList) -> Array:
    """Return the slopes at the degrees; an isolated vertex's would be infinite under logarithms."""
    degrees = graph.degrees
    least = _ISOLATED * float(degrees.mean())
    if prior.alpha > 0.0 and least == 0.0:
        least = 1.0
    return prior.slope(np.maximum(degrees, least))


def _upright(rows: Array, unit: float) -> Array:
    """Return a copy with one row per vertex; a power of two rounds nothing."""
    columns = np.array(rows.T, order="C")
    columns /= unit
    return columns


def _inside(problem: GraphProblem, certificate: Certificate) -> TransportedMoment | None:
    """Return a certificate's moment, pulled towards the nominal one where it is barely outside."""
    moment, nominal = certificate.moment, problem.nominal
    ambiguity = problem.ambiguity
    if type(moment) is not TransportedMoment or moment.shift is not None:
        return None
    nu = certificate.degree_multipliers
    numbers = [moment.rows] if nu is None else [moment.rows, np.sqrt(np.abs(nu))]
    if any(float(np.abs(array).max()) > _RANGE * problem.unit for array in numbers):
        return None
    centre, share = TransportedMoment(nominal.factor), 1.0
    if ambiguity.row_scales is None:  # no row moves
        return centre if moment.spread is None and nominal.holds(moment.moved) else None
    if moment.moved.shape != nominal.factor.shape:
        return None
    for _ in range(_PULLS):
        candidate = moment.pulled(centre, share) if share < 1.0 else moment
        distance = ambiguity.proved_distance(nominal, candidate)
        if distance <= ambiguity.radius:
            return candidate
        share *= (ambiguity.radius / distance) * (1.0 - 1e-14)
        if share < 0.5:
            break
    return None


def _value(
    problem: GraphProblem,
    prior: DegreePrior,
    graph: EdgeList,
    points: Array,
    stretch: Array | float,
    start: Array | None,
) -> tuple[float, Premium]:
    """Return the objective, rounded upwards, with the premium in it."""
    unit, laplacian = problem.unit, graph.laplacian()
    costs = np.empty(graph.weights.size)
    step = max((1 << 15) // points.shape[1], 1)
    for first in range(0, costs.size, step):
        part = slice(first, first + step)
        difference = points[graph.heads[part]] - points[graph.tails[part]]
        costs[part] = np.sum(difference**2, axis=1)
    # Summed pairwise: a product would lose digits with the number of edges.
    risk = float(np.sum(costs * graph.weights)) * (1.0 + (points.shape[1] + 64) * _EPS)
    # Degrees are summed one by one.
    rounding = _SUM + longest_row(laplacian) * _EPS
    whitened, rows = laplacian, points
    if isinstance(stretch, np.ndarray):
        rows = points / stretch
        scale = sparse.diags_array(stretch[:, 0], format="csr")
        whitened = sparse.csr_array(scale @ laplacian @ scale)
    moment = problem.ambiguity.norm_order is not None
    radius = 0.0 if moment else problem.ambiguity.radius / unit
    premium = premium_bound(whitened, rows, radius, start)
    risk += premium.value
    if moment:
        risk += problem.ambiguity.radius / unit**2 * float(np.sqrt(graph.square)) * (1.0 + rounding)
    # The data were rounded when they were levelled and factored; the root of the risk is a norm.
    degrees = graph.degrees
    top = 2 * float(degrees.max())
    shaken = np.sqrt(top) * accumulation(problem.nominal) * float(np.linalg.norm(points))
    risk = (np.sqrt(max(risk, 0.0)) + shaken) ** 2
    cost = prior.value(graph.weights, degrees)
    size = abs(cost)
    if prior.alpha > 0.0 and np.isfinite(cost):  # logarithms of either sign may have cancelled
        logs = prior.alpha * np.log(degrees)
        size = abs(cost + float(logs.sum())) + float(np.abs(logs).sum()) + prior.alpha * graph.d
    total, penalty = float(degrees.sum()), prior.trace.penalty
    swing = max(penalty(total * (1.0 + rounding)), penalty(total * (1.0 - rounding)))
    return risk + cost + rounding * (risk + size) + max(swing - penalty(total), 0.0), premium


def _tilt(problem: GraphProblem, graph: EdgeList) -> float:
    """Return the multiple of L that a moment ball's worst case adds to the nominal moment.

    ``Θ + εL/‖L‖`` needs no certificate; a little less than ε is inside whatever rounding does.
    """
    if problem.ambiguity.norm_order is None:
        return 0.0
    radius, size = problem.ambiguity.radius / problem.unit**2, float(np.sqrt(graph.square))
    return radius / size * (1.0 - 1e-12) if size > 0.0 else 0.0

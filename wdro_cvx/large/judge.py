"""The judge for graphs of many vertices: the same two numbers, and nothing is d × d.

The value comes from wdro_cvx/large/premium.py, the bound from the dual over all pairs that pay
(wdro_cvx/large/prices.py), the membership of the certificate's moment from its explicit transport.
No arithmetic is shared with a solver; docs/scale.md has the error analysis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from wdro_cvx.ambiguity.smoothness import accumulation
from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.laplacian import Residuals
from wdro_cvx.large.brackets import ListedBrackets, listed_brackets
from wdro_cvx.large.edge_list import EdgeList
from wdro_cvx.large.premium import Premium, premium_bound
from wdro_cvx.large.prices import Indices, TooManyError, least_costs, pairs_below
from wdro_cvx.moment import TransportedMoment
from wdro_cvx.priors import Frobenius
from wdro_cvx.problem import GraphProblem
from wdro_cvx.solution import Certificate
from wdro_cvx.validation import Array

_EPS = float(np.finfo(float).eps)
_SUM = 64 * _EPS
_PULLS = 8
_RANGE = 1e30  # of what certificates may hold, in the unit of the problem; its squares too
_MOST = 500, 10_000_000  # pairs that may pay, per vertex and in all, whichever is more


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
    """Say whether this judge knows the constraints, and the set as moved rows or as one norm."""
    prior = problem.prior
    plain = isinstance(prior, Frobenius) and prior.trace.fixed and prior.bounds is None
    ambiguity = problem.ambiguity
    moved = ambiguity.row_scales is not None or ambiguity.single_point
    return plain and (moved or ambiguity.norm_order == 2.0)


def judge_large(
    problem: GraphProblem, matrix: sparse.csr_array, certificate: Certificate | None
) -> LargeFindings:
    """Find value and bound for a sparse Laplacian.

    The certificate's moment and multipliers are used where they are sound, and the judge's own
    where there are none: pricing all pairs is the main work, and is done once.
    """
    if not judged_at_scale(problem):
        raise ProblemError(
            f"judge takes sparse Laplacians for transport balls and moment balls of p = 2, with a "
            f"fixed trace and free edges only; the problem is {problem!r}. Pass a dense array."
        )
    unit, notes = problem.unit, []
    found, graph, repair = _repaired(matrix, problem.target_trace)
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
    value, premium = _value(problem, graph, points, stretch, start)
    if moment is None:
        # Rounding may have carried the judge's own transport over the edge of the ball.
        columns = points + premium.moves * (stretch * (1.0 - 1e-12))
    else:
        columns = _upright(moment.rows, unit)
    del points, start, premium
    nu = 2.0 * problem.eta / unit**2 * graph.degrees
    if certificate is not None and certificate.degree_multipliers is not None:
        nu = np.asarray(certificate.degree_multipliers) / unit**2
    bound, heads, tails, prices = _dual(problem, graph, columns, nu, _tilt(problem, graph))
    if not np.isfinite(bound):
        notes.append("the multipliers leave too many pairs paying; there is no bound")
    excess = max(value - bound, 0.0)
    eta = problem.eta / unit**2
    return LargeFindings(
        value * unit**2,
        bound * unit**2,
        found,
        float(np.sqrt(excess / eta)) + repair,
        listed_brackets(graph, heads, tails, prices, eta, excess),
        tuple(notes),
    )


def _repaired(matrix: sparse.csr_array, trace: float) -> tuple[Residuals, EdgeList, float]:
    """Measure how far a matrix is from feasible; return the graph next to it, and how far it is."""
    if not np.isfinite(matrix.data).all():
        raise ProblemError("laplacian has values that are NaN or infinite.")
    diagonal = matrix.diagonal()
    off = matrix - sparse.diags_array(diagonal, format="csr")
    skew = matrix - matrix.T
    found = Residuals(
        symmetry=float(np.abs(skew.data).max(initial=0.0)) / trace,
        row_sums=float(np.abs(matrix.sum(axis=1)).max()) / trace,
        sign=float(off.data.max(initial=0.0)) / trace,
        trace=abs(float(diagonal.sum()) - trace) / trace,
    )
    graph = EdgeList.from_laplacian(sparse.csr_array((matrix + matrix.T) / 2))
    kept = graph.weights > 0.0
    heads, tails, weights = graph.heads[kept], graph.tails[kept], graph.weights[kept]
    if weights.size == 0:  # no scaling of nothing is feasible; a path is
        heads = np.arange(graph.d - 1, dtype=np.int32)
        tails, weights = heads + np.int32(1), np.ones(graph.d - 1)
    weights = weights / weights.max()
    weights *= trace / (2 * float(weights.sum()))
    feasible = EdgeList(graph.d, heads, tails, weights)
    repair = float(np.linalg.norm((matrix - feasible.laplacian()).data))
    found = replace(found, repair=repair / float(np.sqrt(feasible.square)))
    return found, feasible, repair


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
    risk = float(costs @ graph.weights) * (1.0 + (points.shape[1] + 64) * _EPS)
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
        risk += problem.ambiguity.radius / unit**2 * float(np.sqrt(graph.square)) * (1.0 + _SUM)
    # The data were rounded when they were levelled and factored; the root of the risk is a norm.
    top = 2 * float(graph.degrees.max())
    shaken = np.sqrt(top) * accumulation(problem.nominal) * float(np.linalg.norm(points))
    risk = (np.sqrt(max(risk, 0.0)) + shaken) ** 2
    return (risk + problem.eta / unit**2 * graph.square) * (1.0 + _SUM), premium


def _tilt(problem: GraphProblem, graph: EdgeList) -> float:
    """Return the multiple of L that a moment ball's worst case adds to the nominal moment.

    ``Θ + εL/‖L‖`` needs no certificate; a little less than ε is inside whatever rounding does.
    """
    if problem.ambiguity.norm_order is None:
        return 0.0
    radius = problem.ambiguity.radius / problem.unit**2
    return radius / float(np.sqrt(graph.square)) * (1.0 - 1e-12)


def _tilted(graph: EdgeList, tilt: float, heads: Indices, tails: Indices) -> Array:
    """Return ``tilt·𝒯*L`` on pairs, rounded downwards: ``deg_i + deg_j + 2w_ij``."""
    degrees = graph.degrees
    keys = graph.heads.astype(np.int64) * graph.d + graph.tails
    wanted = heads.astype(np.int64) * graph.d + tails
    places = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    weights = np.where(keys[places] == wanted, graph.weights[places], 0.0)
    return np.asarray(tilt * (1.0 - 1e-12) * (degrees[heads] + degrees[tails] + 2 * weights))


def _dual(
    problem: GraphProblem, graph: EdgeList, columns: Array, nu: Array, tilt: float
) -> tuple[float, Indices, Indices, Array]:
    """Return the dual at ν and its best τ, rounded downwards, with the pairs that may pay.

    The best τ over the edges of the graph is at least the best over all pairs, so that all pairs
    that pay at the latter are among those that pay at the former.
    """
    unit, trace = problem.unit, problem.target_trace
    eta = problem.eta / unit**2
    costs = least_costs(problem.nominal, unit, columns, graph.heads, graph.tails)
    costs += _tilted(graph, tilt, graph.heads, graph.tails)
    tau = _best_tau(costs + nu[graph.heads] + nu[graph.tails], eta, trace)
    none = np.empty(0, dtype=np.int32)
    try:
        charged = nu + tilt * (1.0 - 1e-12) * graph.degrees  # 2w, where there is any, comes later
        heads, tails = pairs_below(columns, charged, tau, max(_MOST[0] * problem.d, _MOST[1]))
    except TooManyError:
        return -np.inf, none, none, np.empty(0)
    costs = least_costs(problem.nominal, unit, columns, heads, tails)
    costs += _tilted(graph, tilt, heads, tails)
    levels = costs + nu[heads] + nu[tails]
    best = min(_best_tau(levels, eta, trace), tau) if levels.size else tau
    sizes = np.abs(costs) + np.abs(nu)[heads] + np.abs(nu)[tails] + abs(best)
    prices = (best - levels) + 4 * _EPS * sizes
    paid = float(np.sum(np.maximum(prices, 0.0) ** 2)) / (8 * eta)
    kept, earned = float(np.sum(nu**2)) / (4 * eta), best * trace / 2
    value = earned - kept - paid
    return value - _SUM * (abs(earned) + kept + 4 * paid), heads, tails, prices


def _best_tau(levels: Array, eta: float, trace: float) -> float:
    """Return τ with ``Σ(τ - level)₊ = 2ηT``: a mean over the pairs in use; the others drop out."""
    base = float(levels.min())
    used = levels - base
    while True:
        tau = (2 * eta * trace + float(used.sum())) / used.size
        kept = used[used < tau]
        if kept.size == used.size:
            return base + tau
        used = kept

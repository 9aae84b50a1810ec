"""Objectives in sixty digits, from the raw data: a truth that no rounding of ours has touched.

Every risk is written in its dual form, in which **any** multiplier gives an upper bound. The one
used comes from floating point; since the dual is flat there, the bound is exact to far more digits
than the multiplier has. Nothing here imports the judge's or a solver's arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext

import numpy as np

from wdro_cvx import AmbiguitySet, GraphProblem, MomentBall, MomentUncertainty, PairBall
from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.validation import Array

_CONTEXT = Context(prec=60, Emin=-999999, Emax=999999)
_NUDGE = Decimal("1e-13")

Vector = list[Decimal]
Matrix = list[Vector]


@dataclass(frozen=True, eq=False)
class ExactGraph:
    """A graph with exact weights: degrees, Laplacian and edges in decimals."""

    d: int
    weights: Vector
    laplacian: Matrix

    @classmethod
    def of(cls, problem: GraphProblem, laplacian: Array) -> ExactGraph:
        """Take the off-diagonal entries, scaled to the trace exactly where that is free to do."""
        heads, tails = edge_index(problem.d)
        weights = [max(-Decimal(float(entry)), Decimal(0)) for entry in laplacian[heads, tails]]
        if problem.prior.trace.fixed and problem.bounds is None:
            share = Decimal(problem.prior.trace.target) / 2 / sum(weights)
            weights = [weight * share for weight in weights]
        matrix = [[Decimal(0)] * problem.d for _ in range(problem.d)]
        for weight, i, j in zip(weights, heads, tails, strict=True):
            matrix[i][j] = matrix[j][i] = -weight
            matrix[i][i] += weight
            matrix[j][j] += weight
        return cls(problem.d, weights, matrix)

    def smoothness(self, signal: Vector) -> Decimal:
        """Return ``xᵀLx`` as a sum over edges."""
        heads, tails = edge_index(self.d)
        pairs = zip(self.weights, heads, tails, strict=True)
        return sum((w * (signal[i] - signal[j]) ** 2 for w, i, j in pairs), Decimal(0))

    def image(self, signal: Vector) -> Vector:
        """Return ``Lx``; from differences, so that a constant in x is exactly nothing."""
        found = [Decimal(0)] * self.d
        heads, tails = edge_index(self.d)
        for w, i, j in zip(self.weights, heads, tails, strict=True):
            flow = w * (signal[i] - signal[j])
            found[i] += flow
            found[j] -= flow
        return found

    @property
    def square(self) -> Decimal:
        """``‖L‖_F²``."""
        return sum((entry * entry for row in self.laplacian for entry in row), Decimal(0))


def exact_value(problem: GraphProblem, samples: Array, laplacian: Array) -> Decimal:
    """Return the objective of a graph for raw samples, to many more digits than a float has."""
    with localcontext(_CONTEXT):
        graph = ExactGraph.of(problem, laplacian)
        rows = [[Decimal(float(entry)) for entry in row] for row in samples]
        value = _prior(problem, graph)
        risk = _RISKS[type(problem.ambiguity).__name__]
        return value + risk(problem.ambiguity, rows, graph, _hint(problem, laplacian))


def _prior(problem: GraphProblem, graph: ExactGraph) -> Decimal:
    """Return ``2β‖w‖² + Σ κu² - α log u``, and the trace penalty where there is one."""
    prior, rule = problem.prior, problem.prior.trace
    degrees = [graph.laplacian[i][i] for i in range(graph.d)]
    value = 2 * Decimal(prior.beta) * sum((w * w for w in graph.weights), Decimal(0))
    value += Decimal(prior.kappa) * sum((u * u for u in degrees), Decimal(0))
    if prior.alpha > 0.0:
        value -= Decimal(prior.alpha) * sum((u.ln() for u in degrees), Decimal(0))
    if not rule.fixed and not rule.free:
        value += Decimal(rule.stiffness) * (sum(degrees) - Decimal(rule.target)) ** 2
    return value


def has_exact_risk(ambiguity: AmbiguitySet) -> bool:
    """Say whether the set has a risk here."""
    return type(ambiguity).__name__ in _RISKS


def _hint(problem: GraphProblem, laplacian: Array) -> Decimal:
    """Return the multiplier that the set itself finds in floating point."""
    normal = problem.normalised
    found = normal.ambiguity.worst_case(normal.nominal, laplacian).multiplier
    if not np.isfinite(found):
        return Decimal(0)
    return Decimal(found) * Decimal(problem.unit) ** int(normal.ambiguity.multiplier_degree)


def _mean(values: Vector) -> Decimal:
    return sum(values, Decimal(0)) / len(values)


def _average(ambiguity: AmbiguitySet, rows: Matrix, graph: ExactGraph, hint: Decimal) -> Decimal:
    return _mean([graph.smoothness(row) for row in rows])


def _transport(
    rows: Matrix, graph: ExactGraph, radius: Decimal, metric: Vector, hint: Decimal
) -> Decimal:
    """Return ``γε² + mean (Lx)ᵀ(γP - L)⁻¹(Lx)``, the premium, at a γ that is large enough."""
    if radius == 0 or not any(graph.weights):
        return Decimal(0)
    images = [graph.image(row) for row in rows]
    gamma, nudge = hint * (1 + Decimal("1e-30")), _NUDGE
    while True:
        shifted = [
            [(gamma * metric[i] if i == j else Decimal(0)) - entry for j, entry in enumerate(row)]
            for i, row in enumerate(graph.laplacian)
        ]
        factor = _factorised(shifted)
        if factor is not None:
            return gamma * radius**2 + _mean([_inverse_form(factor, image) for image in images])
        gamma, nudge = hint * (1 + nudge), nudge * 10


def _factorised(matrix: Matrix) -> tuple[Matrix, Vector] | None:
    """Return ``LDLᵀ`` of a symmetric matrix, or None if it is not positive definite."""
    d = len(matrix)
    lower = [[Decimal(0)] * d for _ in range(d)]
    pivots: Vector = []
    for j in range(d):
        pivot = matrix[j][j] - sum((lower[j][k] ** 2 * pivots[k] for k in range(j)), Decimal(0))
        if pivot <= 0:
            return None
        pivots.append(pivot)
        for i in range(j + 1, d):
            rest = sum((lower[i][k] * lower[j][k] * pivots[k] for k in range(j)), Decimal(0))
            lower[i][j] = (matrix[i][j] - rest) / pivot
    return lower, pivots


def _inverse_form(factor: tuple[Matrix, Vector], vector: Vector) -> Decimal:
    """Return ``vᵀA⁻¹v``."""
    lower, pivots = factor
    solved: Vector = []
    for i, entry in enumerate(vector):
        solved.append(entry - sum((lower[i][k] * solved[k] for k in range(i)), Decimal(0)))
    return sum((entry**2 / pivot for entry, pivot in zip(solved, pivots, strict=True)), Decimal(0))


def _euclidean(ambiguity: AmbiguitySet, rows: Matrix, graph: ExactGraph, hint: Decimal) -> Decimal:
    metric = [Decimal(1)] * graph.d
    premium = _transport(rows, graph, Decimal(ambiguity.radius), metric, hint)
    return _average(ambiguity, rows, graph, hint) + premium


def _mahalanobis(
    ambiguity: AmbiguitySet, rows: Matrix, graph: ExactGraph, hint: Decimal
) -> Decimal:
    metric = [1 / Decimal(scale) ** 2 for scale in ambiguity.scales]  # type: ignore[attr-defined]
    premium = _transport(rows, graph, Decimal(ambiguity.radius), metric, hint)
    return _average(ambiguity, rows, graph, hint) + premium


def _uncertain(ambiguity: AmbiguitySet, rows: Matrix, graph: ExactGraph, hint: Decimal) -> Decimal:
    assert isinstance(ambiguity, MomentUncertainty)
    radius = Decimal(ambiguity.radius)
    mean = [_mean(list(column)) for column in zip(*rows, strict=True)]
    reach = radius * Decimal(ambiguity.covariance_radius) * graph.square.sqrt()
    metric, far = [Decimal(1)] * graph.d, radius * Decimal(ambiguity.mean_radius)
    premium = _transport([mean], graph, far, metric, hint)
    return _average(ambiguity, rows, graph, hint) + reach + premium


def _moment(ambiguity: AmbiguitySet, rows: Matrix, graph: ExactGraph, hint: Decimal) -> Decimal:
    assert isinstance(ambiguity, MomentBall)
    entries = [abs(entry) for row in graph.laplacian for entry in row if entry]
    if not entries:
        norm = Decimal(0)
    elif ambiguity.p == 1.0:
        norm = max(entries)
    else:
        q = Decimal(1) if np.isinf(ambiguity.p) else _conjugate(Decimal(ambiguity.p))
        norm = sum((entry**q for entry in entries), Decimal(0)) ** (1 / q)
    return _average(ambiguity, rows, graph, hint) + Decimal(ambiguity.radius) * norm


def _pairs(ambiguity: AmbiguitySet, rows: Matrix, graph: ExactGraph, hint: Decimal) -> Decimal:
    assert isinstance(ambiguity, PairBall)
    scaled = zip(ambiguity.scales, graph.weights, strict=True)
    premium = sum((Decimal(scale) * weight for scale, weight in scaled), Decimal(0))
    return _average(ambiguity, rows, graph, hint) + Decimal(ambiguity.radius) * premium


def _conjugate(p: Decimal) -> Decimal:
    return p / (p - 1)


def _entropic(ambiguity: AmbiguitySet, rows: Matrix, graph: ExactGraph, hint: Decimal) -> Decimal:
    losses = [graph.smoothness(row) for row in rows]
    top = max(losses)
    if ambiguity.radius == 0.0:
        return _mean(losses)
    if hint <= 0 or min(losses) == top:
        return top
    tilted = _mean([((loss - top) / hint).exp() for loss in losses])
    return min(top, top + hint * (Decimal(ambiguity.radius) + tilted.ln()))


def _pearson(ambiguity: AmbiguitySet, rows: Matrix, graph: ExactGraph, hint: Decimal) -> Decimal:
    """``min θ + λε + mean λφ*((l - θ)/λ)``, ``φ*(s) = s + s²/4`` for ``s ≥ -2``, else -1."""
    losses = sorted((graph.smoothness(row) for row in rows), reverse=True)
    if ambiguity.radius == 0.0:
        return _mean(losses)
    if hint <= 0 or losses[0] == losses[-1]:
        return losses[0]
    total, theta = Decimal(0), losses[0]
    # The best θ makes the ratios 1 + (l - θ)/2λ, cut off at zero, average one.
    for kept in range(1, len(losses) + 1):
        total += losses[kept - 1]
        theta = (total - 2 * hint * (len(losses) - kept)) / kept
        if kept == len(losses) or losses[kept] <= theta - 2 * hint:
            break
    scores = [max((loss - theta) / hint, Decimal(-2)) for loss in losses]
    conjugate = _mean([score + score**2 / 4 for score in scores])
    return min(losses[0], theta + hint * (Decimal(ambiguity.radius) + conjugate))


_Risk = Callable[[AmbiguitySet, Matrix, ExactGraph, Decimal], Decimal]
_RISKS: dict[str, _Risk] = {
    "Singleton": _average,
    "GaussianBall": _euclidean,
    "WassersteinBall": _euclidean,
    "MahalanobisBall": _mahalanobis,
    "MomentUncertainty": _uncertain,
    "MomentBall": _moment,
    "PairBall": _pairs,
    "KLBall": _entropic,
    "ChiSquareBall": _pearson,
}

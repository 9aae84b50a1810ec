"""The Laplacian QP on candidate edges, solved by semismooth Newton on its dual.

    D(ν, τ) = -2β‖w‖² - Σ φ*(ν_i) + τT/2 - ςτ²,    w_ij = (τ - c_ij - ν_i - ν_j)₊ / 4β

over the candidates. φ is the cost of a degree, ς = 1/16·stiffness for a penalised trace, and τ = 0
for a free one; bounded weights are clipped. Minus the Hessian, times 4β, is
``[[S + D, -k], [-kᵀ, Σk/2 + 8βς]]``. S is the signless Laplacian and k the degrees of the pairs in
use; D holds the springs ``4β/φ''``, and a term ``weight·bbᵀ`` if the largest degree has a price
(solvers/qp/peak.py). Since ``S1 = 2k``, one solve with the right-hand side ``D1/2`` eliminates τ
without cancellation. Conjugate gradients solve both sparse systems in some dozen steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from solvers.control.deadline import tick
from solvers.large.start import easier_priors, first_multipliers
from solvers.large.structure import Candidates
from solvers.qp.start import bounded_tau, tau_of_levels
from wdro_cvx.graphs.exact_sums import project_interval, shortfall
from wdro_cvx.priors import DegreePrior
from wdro_cvx.solution import relative_gap
from wdro_cvx.validation import Array

_MAX_STEPS = 100
_MAX_CG = 500
_SUFFICIENT = 1e-4  # least share of the increase that the slope predicts (Armijo)
_EASIER = 1e-4  # gap to which easier problems are solved
_EPS = float(np.finfo(float).eps)

#: Least and largest weights of the candidates.
WeightLimits = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class SparseQP:
    """``min cᵀw + 2β‖w‖² + Σ φ(Aw)`` over the candidates' weights, with the prior's trace rule.

    The prior's own bounds are ignored; ``box`` holds the candidates' bounds.
    """

    edges: Candidates
    costs: Array
    prior: DegreePrior
    box: WeightLimits | None = None

    @property
    def floor(self) -> float:
        """The scale of a relative gap if the value is close to zero."""
        return self.prior.alpha * self.edges.d

    def weights(self, prices: Array) -> Array:
        """Return the best weights at given prices; overwrites the prices."""
        prices /= 4 * self.prior.beta
        if self.box is None:
            return np.maximum(prices, 0.0, out=prices)
        return np.asarray(np.clip(prices, *self.box, out=prices))

    def best_tau(self, nu: Array) -> float:
        """Return the τ that maximises the dual; a free trace has none."""
        levels = self.costs + nu[self.edges.heads] + nu[self.edges.tails]
        if self.box is None:
            return tau_of_levels(self.prior, levels, float(levels.min()))
        return bounded_tau(self.prior, levels, *self.box)


@dataclass(frozen=True, eq=False)
class SparsePoint:
    """A QP's dual at (ν, τ).

    There may be millions of candidates, so the weights are the only per-candidate array kept.
    """

    qp: SparseQP
    nu: Array
    tau: float

    @property
    def _prices(self) -> Array:
        edges = self.qp.edges
        prices = self.tau - self.qp.costs
        prices -= self.nu[edges.heads]
        prices -= self.nu[edges.tails]
        return np.asarray(prices)

    @cached_property
    def weights(self) -> Array:
        """The weights that belong to the multipliers."""
        return self.qp.weights(self._prices)

    @cached_property
    def degrees(self) -> Array:
        """The weighted degrees."""
        return self.qp.edges.degrees(self.weights)

    @cached_property
    def value(self) -> float:
        """The dual, a lower bound of the optimum over the candidates."""
        prior, weights = self.qp.prior, self.weights
        rule, square = prior.trace, 2 * prior.beta * float(weights @ weights)
        rest = -prior.conjugate(self.nu) - rule.curvature * self.tau**2
        if self.qp.box is None:  # the linear terms are -2 times the square
            return rest - square + self.tau * rule.target / 2
        # τ multiplies the shortfall of the weights, so a large τ causes no cancellation.
        short = shortfall(weights, rule.target / 2)
        paid = float(self.qp.costs @ weights) + float(self.nu @ self.degrees)
        return rest + square + paid + (self.tau * short if self.tau != 0.0 else 0.0)

    @property
    def feasible(self) -> Array:
        """The weights, scaled or projected to the trace; a free trace takes the best scale."""
        qp, weights, total = self.qp, self.weights, float(self.weights.sum())
        prior, rule = qp.prior, qp.prior.trace
        if qp.box is not None:
            # Project unclipped prices: beyond the bounds they still rank the pairs.
            point = self._prices / (4 * prior.beta)
            return project_interval(point, *qp.box, rule.target / 2) if rule.fixed else weights
        if total == 0.0 or not (rule.fixed or rule.free):
            return weights
        if rule.fixed:
            return weights * (rule.target / (2 * total))
        # The positive root of cost + 2qs = αd/s, in the form without cancellation.
        cost, logs = float(qp.costs @ weights) + prior.top(self.degrees), qp.floor
        bend = 2 * prior.beta * float(weights @ weights)
        bend += prior.kappa * float(self.degrees @ self.degrees)
        root = float(np.sqrt(cost**2 + 8 * logs * bend))
        scale = 2 * logs / (cost + root) if cost >= 0.0 else (root - cost) / (4 * bend)
        return weights * scale

    @cached_property
    def primal(self) -> float:
        """The objective at the feasible weights."""
        qp, weights = self.qp, self.feasible
        if qp.prior.trace.fixed and not weights.any():
            return np.inf
        degrees = qp.edges.degrees(weights)
        return float(qp.costs @ weights) + qp.prior.value(weights, degrees)

    @property
    def gap(self) -> float:
        """The relative gap over the candidates."""
        return relative_gap(self.primal, self.value, floor=self.qp.floor)

    @cached_property
    def active(self) -> Candidates:
        """The candidates whose weights follow their prices."""
        box, used = self.qp.box, self.weights > 0.0
        if box is not None:
            used = (self.weights > box[0]) & (self.weights < box[1])
        return self.qp.edges.among(used)

    def direction(self, accuracy: float) -> tuple[Array, float, float]:
        """Return the Newton step in ν and τ, and the slope of the dual along it."""
        rule, unit = self.qp.prior.trace, 4 * self.qp.prior.beta
        grad_nu = self.degrees - self.qp.prior.degrees(self.nu)
        grad_tau = 0.0
        if not rule.free:
            short = shortfall(self.weights, rule.target / 2)
            grad_tau = short - 2 * rule.curvature * self.tau
        sides = unit * grad_nu[:, np.newaxis]
        d_nu, d_tau = self.bordered(sides, np.array([unit * grad_tau]), accuracy)
        slope = float(grad_nu @ d_nu[:, 0]) + grad_tau * float(d_tau[0])
        return d_nu[:, 0], float(d_tau[0]), slope

    def bordered(self, sides: Array, pushes: Array, accuracy: float) -> tuple[Array, Array]:
        """Solve with minus the Hessian, times 4β.

        Parameters
        ----------
        sides : array (d, K)
            The right-hand sides for ν.
        pushes : array (K,)
            Those for τ; ignored if the trace is free.
        accuracy : float
            Of the conjugate gradients.
        """
        prior, unit = self.qp.prior, 4 * self.qp.prior.beta
        rule, active = prior.trace, self.active
        ones = np.ones(active.size)
        counts, springs = active.degrees(ones), unit * prior.spring(self.nu)
        bump = prior.common(self.nu)
        common = None if bump is None else (unit * bump[0], bump[1])
        system = _System(active.adjacency(ones), counts + springs, common)
        if rule.free:
            return system.solved(sides, accuracy), np.zeros(pushes.size)
        even_side = springs / 2
        if common is not None:
            even_side += common[0] * float(common[1].sum()) / 2 * common[1]
        found = system.solved(np.column_stack([sides, even_side]), accuracy)
        free, even = found[:, :-1], found[:, -1]
        pivot = float(counts @ even) + 2 * unit * rule.curvature
        push = pushes + counts @ free
        # Without curvature, go as far as the whole trace on one pair.
        reach = np.sign(push) * 2 * prior.beta * rule.target
        d_tau = push / pivot if pivot > 0.0 else reach
        return free + np.outer(0.5 - even, d_tau), d_tau


def solve_sparse_qp(
    qp: SparseQP, start: tuple[Array, float] | None = None, tol: float = 1e-10
) -> SparsePoint:
    """Maximise the dual to the relative gap ``tol``, or until rounding leaves no increase."""
    if start is not None and qp.prior.has_degrees(start[0]):
        return _climbed(SparsePoint(qp, *start), tol)
    nu = first_multipliers(qp.prior, qp.edges, qp.costs)
    for easier in easier_priors(qp.prior, qp.edges, qp.costs):
        wider = SparseQP(qp.edges, qp.costs, easier, qp.box)
        nu = _climbed(SparsePoint(wider, nu, 0.0), _EASIER).nu
    return _climbed(SparsePoint(qp, nu, qp.best_tau(nu)), tol)


def _climbed(point: SparsePoint, tol: float) -> SparsePoint:
    for _ in range(_MAX_STEPS):
        tick()
        gap = point.gap
        if gap <= tol:
            break
        moved = _step(point, accuracy=min(1e-2, max(gap, 1e-8)))
        if moved is None:
            break
        point = moved
    return point


def _step(point: SparsePoint, accuracy: float) -> SparsePoint | None:
    """Return the next point, or None if no step increases the dual."""
    d_nu, d_tau, slope = point.direction(accuracy)
    if slope <= 0.0:  # the systems were solved too roughly
        d_nu, d_tau, slope = point.direction(1e-12)
    length = min(1.0, point.qp.prior.step_limit(point.nu, d_nu))
    while length * slope > _EPS * max(abs(point.value), point.qp.floor):
        trial = SparsePoint(point.qp, point.nu + length * d_nu, point.tau + length * d_tau)
        if trial.value >= point.value + _SUFFICIENT * length * slope:
            return trial
        length /= 2
    return None


@dataclass(frozen=True, eq=False)
class _System:
    """The matrix ``adjacency + diag + weight·bbᵀ``, positive definite."""

    adjacency: sparse.csr_array
    diagonal: Array
    common: tuple[float, Array] | None

    def solved(self, sides: Array, accuracy: float) -> Array:
        """Solve for the columns of ``sides`` by conjugate gradients, scaled by the diagonal.

        Without a common term, the eigenvalues of the scaled matrix are between
        min(spring/diagonal) and 2.
        """
        diagonal = self.diagonal
        if self.common is not None:
            diagonal = diagonal + self.common[0] * self.common[1] ** 2
        scale = (1.0 / np.sqrt(diagonal))[:, np.newaxis]
        rest = sides * scale
        found = np.zeros_like(rest)
        along = rest.copy()
        square = np.einsum("ij,ij->j", rest, rest)
        goal = accuracy**2 * square
        for _ in range(_MAX_CG):
            if (square <= goal).all():
                break
            image = scale * self._product(scale * along)
            step = square / np.maximum(np.einsum("ij,ij->j", along, image), np.finfo(float).tiny)
            found += step * along
            rest -= step * image
            previous, square = square, np.einsum("ij,ij->j", rest, rest)
            along *= square / np.maximum(previous, np.finfo(float).tiny)
            along += rest
        return found * scale

    def _product(self, vectors: Array) -> Array:
        image = self.adjacency @ vectors + self.diagonal[:, np.newaxis] * vectors
        if self.common is not None:
            weight, shared = self.common
            image += np.outer(weight * shared, shared @ vectors)
        return np.asarray(image)

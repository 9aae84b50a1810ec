"""Divergence balls on candidate edges: Newton's method in the probabilities of the signals.

    D(p) = min Σ p_k x_kᵀLx_k + 2β‖w‖² + Σ φ(Aw)

is concave and differentiable. Its gradient consists of the losses of the optimal graph, and its
Hessian follows from the linearised QP. Every step solves a model over the ball, which is small
because there are few signals (solvers/qp/share_model.py), and then one QP at the new probabilities.
The value of this QP is also a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from solvers.large.search import CandidateSearch, Data
from solvers.large.sparse_qp import SparsePoint
from solvers.large.structure import Vertices
from solvers.large.worst_case import Worst
from solvers.qp.balls import pulled_inside, share_ball
from solvers.qp.share_model import best_shares
from wdro_cvx.ambiguity import Atoms
from wdro_cvx.ambiguity.reweighting import WeightsBall
from wdro_cvx.moments.points import ReweighedMoment
from wdro_cvx.validation import Array

_MAX_STEPS = 40  # usual: 4 to 10
_MAX_TRIALS = 20
_OVERSHOT = 0.5  # largest fall at the end of a step, relative to the rise at its start
_SUFFICIENT = 1e-4  # least share of the increase that the slope predicts (Armijo)
_FINE = 1e-13  # accuracy of QPs; Newton's method ends after finitely many steps
_EPS = float(np.finfo(float).eps)
_LINEAR = 1e-6  # accuracy of the linearised QP; a rough Hessian costs steps, not accuracy
_GATHERED = 1 << 20  # numbers at a time


@dataclass(frozen=True, eq=False)
class Weights(Worst):
    """Probabilities of the atoms; the premium is not separate from the risk."""

    probabilities: Array


@dataclass(frozen=True, eq=False)
class WeightsData(Data):
    """A problem whose signals are reweighed, in its own unit.

    Attributes
    ----------
    atoms : Atoms
    signals : array (d, K)
        The atoms, one row per vertex.
    """

    atoms: Atoms
    signals: Array

    def moved(self, worst: Worst) -> Array:
        """Return the signals times the roots of their probabilities."""
        assert isinstance(worst, Weights)
        return self.signals * np.sqrt(worst.probabilities)

    def moment(self, worst: Worst, order: NDArray[np.integer], unit: float) -> ReweighedMoment:
        """Return the moment of the probabilities."""
        assert isinstance(worst, Weights)
        return self.atoms.moment(worst.probabilities)

    def risk(self, losses: Array) -> tuple[float, Weights]:
        """Return the risk at the losses of the atoms, and the worst probabilities."""
        ball, which = self.atoms.measure, self.atoms.which
        assert isinstance(ball, WeightsBall)
        weights, multiplier, ceiling = ball.worst_weights(losses[which])
        probabilities = np.asarray(np.bincount(which, weights, losses.size), float)
        risk = max(float(probabilities @ losses), ceiling)
        return risk, Weights(0.0, multiplier, True, probabilities)


@dataclass
class ReweighedSearch(CandidateSearch):
    """The best weights and probabilities over the candidates that are known so far."""

    data: WeightsData

    def _evaluate(self, weights: Array, near: Worst | None = None) -> tuple[Worst, float]:
        """Return the worst probabilities and the objective; keep the weights if they are best."""
        self.check_clock()
        risk, worst = self.data.risk(self._losses(weights))
        value = risk + self.data.prior.value(weights, self.edges.degrees(weights))
        if value < self.value:
            self.weights, self.value, self.worst = weights, value, worst
        return worst, value

    def _descend(self, tol: float) -> None:
        known, shares = self.evidence, self.data.atoms.shares
        worst = Weights(0.0, np.nan, True, shares)
        if known is not None and isinstance(known.worst, Weights):
            worst = known.worst
        point = self._bounded_at(worst)
        for _ in range(_MAX_STEPS):
            self.steps += 1
            self._evaluate(point.feasible)
            if self.gap <= tol:
                return
            found = self._ascended(worst.probabilities, point)
            if found is None:
                return
            worst, point = found

    def _bounded_at(self, worst: Weights) -> SparsePoint:
        return self.bounded(worst, self.costs(self.data.moved(worst)))

    def _ascended(self, centre: Array, point: SparsePoint) -> tuple[Weights, SparsePoint] | None:
        """Return better probabilities and their QP; None if rounding hides any increase."""
        atoms, signals = self.data.atoms, self.data.signals
        slope = self._losses(point.weights)
        target = best_shares(share_ball(atoms), slope, curvature(point, signals), centre)
        step = pulled_inside(atoms, target) - centre
        rise, length = float(slope @ step), 1.0
        for _ in range(_MAX_TRIALS):
            if length * rise <= _EPS * abs(self.value):
                return None
            worst = Weights(0.0, np.nan, True, centre + length * step)
            trial = self._bounded_at(worst)
            left = float(self._losses(trial.weights) @ step)
            higher = trial.value >= point.value + _SUFFICIENT * length * rise
            if higher and left >= -_OVERSHOT * rise:
                return worst, trial
            # D is piecewise quadratic along the step: go where the secant of its slopes is zero.
            length *= float(np.clip(rise / (rise - left), 0.1, 0.8)) if left < 0.0 else 0.5
        return None

    def _losses(self, weights: Array) -> Array:
        return edge_losses(self.data.signals, self.edges.heads, self.edges.tails, weights)

    def _accuracy(self) -> float:
        """Return the accuracy of QPs: to rounding, because line searches compare their values."""
        return _FINE


def edge_losses(signals: Array, heads: Vertices, tails: Vertices, weights: Array) -> Array:
    """Return ``x_kᵀLx_k`` of every signal, given by columns."""
    used = np.flatnonzero(weights)
    found = np.zeros(signals.shape[1])
    for part, costs in _tiles(signals, heads[used], tails[used]):
        found += weights[used[part]] @ costs
    return found


def curvature(point: SparsePoint, signals: Array) -> Array:
    """Return the Hessian of D: how the losses change with the probabilities."""
    active = point.active
    sides, pushes = np.zeros(signals.shape), np.zeros(signals.shape[1])
    for part, costs in _tiles(signals, active.heads, active.tails):
        count = np.arange(len(costs))
        rows = np.concatenate([active.heads[part], active.tails[part]])
        ends = sparse.csr_array(
            (np.ones(rows.size), (rows, np.tile(count, 2))), shape=(active.d, len(costs))
        )
        sides -= ends @ costs
        pushes += costs.sum(axis=0)
    d_nu, d_tau = point.bordered(sides, pushes, _LINEAR)
    found = np.zeros((pushes.size, pushes.size))
    for part, costs in _tiles(signals, active.heads, active.tails):
        change = d_tau - costs - d_nu[active.heads[part]] - d_nu[active.tails[part]]
        found += costs.T @ change
    found /= 4 * point.qp.prior.beta
    return (found + found.T) / 2


def _tiles(signals: Array, heads: Vertices, tails: Vertices) -> Iterator[tuple[slice, Array]]:
    """Yield ranges of edges, and what every signal costs on them."""
    step = max(_GATHERED // signals.shape[1], 1)
    for first in range(0, heads.size, step):
        part = slice(first, first + step)
        yield part, np.square(signals[heads[part]] - signals[tails[part]])

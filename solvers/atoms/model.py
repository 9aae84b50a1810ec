"""A problem with finitely many atoms as a saddle problem, in units that make its value of order d.

Atom k costs ``Z_ke = (x_ki - x_kj)²`` on an edge e = (i, j). Edges with equal bounds are constants.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from solvers.control.deadline import tick
from solvers.qp.balls import share_ball
from solvers.qp.saddle import SaddlePoint
from solvers.qp.saddle_model import EdgeCosts, SaddleModel, incidence_of
from wdro_cvx import GraphProblem
from wdro_cvx.ambiguity import Atoms
from wdro_cvx.graphs.laplacian import edge_index, incidence, weights_from_laplacian
from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array

_STORED = 2**24  # most entries of Z that are stored; a larger Z is recomputed tile by tile
_TILE = 2**22
_FREE = 1e10
_STEPS, _CENTRAL = 12, 0.01  # for the starting point, which needs few digits


@dataclass(frozen=True, eq=False)
class Differences(EdgeCosts):
    """The matrix Z (K × edges), in tiles that span all rows or, if ``tall``, all columns."""

    signals: Array
    heads: NDArray[np.intp]
    tails: NDArray[np.intp]
    tall: bool

    @property
    def count(self) -> int:
        """The number of atoms."""
        return len(self.signals)

    @cached_property
    def _ranges(self) -> list[tuple[slice, slice]]:
        atoms, edges = self.signals.shape[0], self.heads.size
        cut, whole = (atoms, edges) if self.tall else (edges, atoms)
        size = max(_TILE // max(whole, 1), 1)
        parts = [slice(start, min(start + size, cut)) for start in range(0, cut, size)]
        rest = slice(0, whole)
        return [(part, rest) if self.tall else (rest, part) for part in parts]

    @cached_property
    def _stored(self) -> list[Array] | None:
        if self.signals.shape[0] * self.heads.size > _STORED:
            return None
        return [self._tile(*ranges) for ranges in self._ranges]

    def _tile(self, atoms: slice, edges: slice) -> Array:
        signals = self.signals[atoms]
        return np.asarray((signals[:, self.heads[edges]] - signals[:, self.tails[edges]]) ** 2)

    def tiles(self) -> Iterator[tuple[slice, slice, Array]]:
        """Yield ranges of atoms and edges with the corresponding tile of Z."""
        stored = self._stored
        for place, (atoms, edges) in enumerate(self._ranges):
            tick()
            yield atoms, edges, self._tile(atoms, edges) if stored is None else stored[place]


def build_model(problem: GraphProblem, atoms: Atoms, laplacian: Array, value: float) -> SaddleModel:
    """Return the saddle model, normalised by a Laplacian near the optimum and its value."""
    d = problem.d
    heads, tails = edge_index(d)
    bounds = problem.bounds
    lower = np.zeros(heads.size) if bounds is None else bounds.lower
    upper = np.full(heads.size, np.inf) if bounds is None else bounds.upper
    free = np.flatnonzero(upper > lower)
    total = float(weights_from_laplacian(laplacian).sum())
    scale = 2.0 * (total if total > 0.0 else problem.target_trace / 2) / d
    unit = max(abs(value), problem.floor) / d
    signals = atoms.signals - atoms.signals.mean(axis=1, keepdims=True)
    signals *= np.sqrt(scale / unit)
    if atoms.pieces:
        signals = np.tile(signals, (len(atoms.pieces), 1))
    factor = scale**2 / unit
    given, rule = problem.prior, problem.prior.trace
    # In these units the degrees of a graph and the objective per vertex are of order 1.
    prior = DegreePrior(given.beta * factor, given.kappa * factor, given.alpha / unit, rule)
    softness = _FREE if rule.free else 2 * rule.scaled(factor).curvature
    fixed, count = lower / scale, len(signals)
    losses, degrees = np.zeros(count), np.zeros(d)
    if fixed.any():
        losses = Differences(signals, heads, tails, tall=count > heads.size).losses(fixed)
        degrees = np.asarray(incidence(d) @ fixed)
    return SaddleModel(
        ball=share_ball(atoms),
        prior=prior,
        total=0.0 if rule.free else (rule.target / 2 - float(lower.sum())) / scale,
        softness=softness,
        spread=Differences(signals, heads[free], tails[free], tall=count > free.size),
        incidence=incidence_of(d, free),
        free=free,
        width=(upper - lower)[free] / scale,
        lower=lower,
        losses=losses,
        degrees=degrees,
        scale=scale,
        price=unit / scale,
    )


def starting_point(model: SaddleModel) -> SaddlePoint | None:
    """Return the nominal probabilities and central weights, or None if nothing is free.

    Equal weights would do for signals of equal size. With heavy tails, however, their risks and
    hence their residuals are so large that the steps vanish.
    """
    ball, width, q = model.ball, model.width, model.ball.shares
    d, slack = model.degrees.size, ball.radius - ball.divergence(q)
    goal = model.total if model.softness == 0.0 else max(model.total, d / 2)
    room_enough = model.softness > 0.0 or 0.0 < goal < float(width.sum())
    spare = (ball.most - q)[np.isfinite(ball.most)]
    inside = slack > 0.0 and q.min() > 0.0 and (spare > 0.0).all()
    if q.size == 1 or width.size == 0 or not inside or not room_enough:
        return None
    kappa = d / (width.size + q.size)
    x, tau = _central_weights(model.spread.costs(q), width, goal, kappa)
    room = (width - x)[np.isfinite(width)]
    return SaddlePoint.of(
        (x, kappa / x), (room, kappa / room), (q, kappa / q), (slack, kappa / slack),
        tau=tau, theta=float(q @ model.risks(x)), limits=(spare, kappa / spare),
    )  # fmt: skip


def _central_weights(costs: Array, width: Array, goal: float, kappa: float) -> tuple[Array, float]:
    """Return ``x = κ/(costs - τ)``, at most half the width, and the τ for which x sums to ``goal``.

    Half the widths may not reach the goal. A starting point only needs to be positive.
    """
    # Newton's method on 1/Σx as a function of ``middle``, which is linear for equal costs, and
    # concave without caps. So ``middle`` rises from a value at which the cheapest edge alone
    # reaches the goal.
    cheapest, caps = float(costs.min()), width / 2
    excess, middle = costs - cheapest, kappa / goal
    least = 1e-3 * middle
    for _ in range(_STEPS):
        x = np.minimum(kappa / (excess + middle), caps)
        total = float(x.sum())
        if abs(total - goal) <= _CENTRAL * goal:
            break
        middle += (total / goal - 1.0) * total * kappa / float(x @ x)
        middle = max(middle, least)
    return x, cheapest - middle

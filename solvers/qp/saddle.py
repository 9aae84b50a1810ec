"""A primal-dual interior-point method in edge weights and shares of cases.

Let w = lower + x. A saddle point of ``qᵀZw + 2β‖w‖² + Σ φ(deg)`` over the weights and the shares
with ``f(q) ≤ ε`` (saddle_model.py) satisfies, with κ = 0, the conditions

    Zᵀq + 4βw + Aᵀφ′(Aw) - τ - z + v = 0    xz = yv = κ    x + y = width    1ᵀw + softness·τ = total
    -Zw + λf′(q) - r + o + θ = 0            qr = po = κ    q + p = most     1ᵀq = 1
                                            λs = κ         f(q) + s = ε

Mehrotra's predictor and corrector (SIAM J. Optim. 1992) follow them to κ = 0. The slack s is a
separate variable: if it were kept equal to ε - f(q), the iterates would jam at the curved boundary
of the ball. Gradients fail at kinks of the risk, but here the shares are unknowns, so kinks do no
harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from solvers.qp.saddle_model import SaddleModel
from solvers.qp.saddle_system import SaddleCurvature, SaddleVector, Solve, newton_solver
from wdro_cvx.stacks import column, number
from wdro_cvx.validation import Array

_BOUNDARY = 0.99  # share of the way to the boundary
_NONE = np.empty(0)


@dataclass(frozen=True, slots=True, eq=False)
class SaddlePoint:
    """An iterate, a step from one, or a stack of these.

    ``ours`` holds the positive variables ``x, y, q, p, s`` one after the other, ``theirs`` their
    complementary multipliers ``z, v, r, o, λ``. ``sizes`` are the numbers of these: y and v cover
    only the edges with an upper bound, p and o only the shares with one.
    """

    sizes: tuple[int, ...]
    ours: Array
    theirs: Array
    tau: Any
    theta: Any

    @classmethod
    def of(
        cls,
        edges: tuple[Array, Array],
        caps: tuple[Array, Array],
        shares: tuple[Array, Array],
        ball: tuple[float, float],
        tau: float,
        theta: float,
        limits: tuple[Array, Array] = (_NONE, _NONE),
    ) -> SaddlePoint:
        """Return a point, given its pairs of variables and multipliers."""
        parts = edges, caps, shares, limits, tuple(np.array([number]) for number in ball)
        sizes = tuple(ours.size for ours, _ in parts)
        ours, theirs = (np.concatenate(side) for side in zip(*parts, strict=True))
        return cls(sizes, ours, theirs, tau, theta)

    def split(self, pairs: Array) -> list[Array]:
        """Return the parts of a vector in the order of the pairs."""
        ends = pairwise(accumulate(self.sizes, initial=0))
        return [pairs[..., start:end] for start, end in ends]

    @property
    def x(self) -> Array:
        """The excess weights."""
        return self.ours[..., : self.sizes[0]]

    @property
    def q(self) -> Array:
        """The shares."""
        start = self.sizes[0] + self.sizes[1]
        return self.ours[..., start : start + self.sizes[2]]

    @property
    def complementarity(self) -> Any:
        """The sum of the products; it is the duality gap if the residuals are zero."""
        return number(np.vecdot(self.ours, self.theirs))

    def moved(self, step: SaddlePoint, length: Any) -> SaddlePoint:
        """Return the point at a multiple of a step."""
        return SaddlePoint(
            self.sizes,
            self.ours + column(length) * step.ours,
            self.theirs + column(length) * step.theirs,
            self.tau + length * step.tau,
            self.theta + length * step.theta,
        )


def advance(model: SaddleModel, point: SaddlePoint) -> tuple[SaddlePoint, Any]:
    """Take one Mehrotra step; return the new point and the length of the step.

    If the system cannot be solved, the point has NaNs.
    """
    solve = newton_solver(model, _curvature(model, point))
    miss = residual(model, point)
    products = point.ours * point.theirs
    mean = number(products.mean(axis=-1))
    affine = _direction(model, point, solve, miss, -products)
    ahead = point.moved(affine, _reach(point, affine)).complementarity / products.shape[-1]
    centring = np.maximum(ahead / mean, 0.0) ** 3
    goal = column(centring * mean) - products - affine.ours * affine.theirs
    step = _direction(model, point, solve, miss, goal)
    length = np.minimum(1.0, _BOUNDARY * _reach(point, step))
    return point.moved(step, length), length


def residual(model: SaddleModel, point: SaddlePoint) -> SaddleVector:
    """Return the residuals of the equations."""
    ball = model.ball
    x, _, q, _, slack = point.split(point.ours)
    z, cap, r, over, multiplier = point.split(point.theirs)
    edges = model.pull(x, q) - column(point.tau) - z
    if cap.size:
        edges[np.isfinite(model.width)] += cap
    cases = multiplier * ball.slope(q) - model.risks(x) - r + column(point.theta)
    if over.size:
        cases[np.isfinite(ball.most)] += over
    return SaddleVector(
        edges=edges,
        cases=cases,
        budget=ball.divergence(q) + number(slack[..., 0]) - ball.radius,
        total=number(x.sum(axis=-1)) + model.softness * point.tau - model.total,
        mass=number(q.sum(axis=-1)) - 1.0,
    )


def _curvature(model: SaddleModel, point: SaddlePoint) -> SaddleCurvature:
    prior, ball = model.prior, model.ball
    ratios = point.theirs / point.ours
    for_x, for_room, for_q, for_spare, for_slack = point.split(ratios)
    edges = 4.0 * column(prior.beta) + for_x
    if for_room.size:
        edges[np.isfinite(model.width)] += for_room
    *_, multiplier = point.split(point.theirs)
    cases = multiplier * ball.bend(point.q) + for_q
    if for_spare.size:
        cases[np.isfinite(ball.most)] += for_spare
    return SaddleCurvature(
        edges=edges,
        vertices=prior.bend(model.vertices(point.x)),
        cases=cases,
        slope=ball.slope(point.q),
        slack=number(1.0 / for_slack[..., 0]),
        softness=model.softness,
    )


def _direction(
    model: SaddleModel, point: SaddlePoint, solve: Solve, miss: SaddleVector, goal: Array
) -> SaddlePoint:
    """Return the Newton step that takes the residuals to 0 and changes the products by ``goal``."""
    for_x, for_room, for_q, for_spare, _ = point.split(goal / point.ours)
    multiplier, for_slack = (number(side[..., -1]) for side in (point.theirs, goal))
    edges, cases = for_x - miss.edges, for_q - miss.cases
    if for_room.size:
        edges[np.isfinite(model.width)] -= for_room
    if for_spare.size:
        cases[np.isfinite(model.ball.most)] -= for_spare
    found = solve(
        SaddleVector(
            edges=edges,
            cases=cases,
            budget=-miss.budget - for_slack / multiplier,
            total=miss.total,
            mass=-miss.mass,
        )
    )
    room = -found.edges[np.isfinite(model.width)] if for_room.size else found.edges[..., :0]
    spare = -found.cases[np.isfinite(model.ball.most)] if for_spare.size else found.edges[..., :0]
    slack = (for_slack - number(point.ours[..., -1]) * found.budget) / multiplier
    parts = [found.edges, room, found.cases, spare, np.asarray(slack)[..., np.newaxis]]
    ours = np.concatenate(parts, axis=-1)
    theirs = (goal - point.theirs * ours) / point.ours
    theirs[..., -1] = found.budget
    return SaddlePoint(point.sizes, ours, theirs, found.total, found.mass)


def _reach(point: SaddlePoint, step: SaddlePoint) -> Any:
    """Return the longest multiple of a step, up to 1/0.99, that keeps all variables positive."""
    limit: Any = 1.0 / _BOUNDARY
    for values, moves in ((point.ours, step.ours), (point.theirs, step.theirs)):
        # A ratio of -1 or less limits the step to its inverse.
        steepest = (moves / values).min(axis=-1)
        limit = np.minimum(limit, -1.0 / np.minimum(steepest, -_BOUNDARY))
    return number(limit)

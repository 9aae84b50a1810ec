"""A primal-dual interior point in edge weights and shares of cases.

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

from dataclasses import dataclass, field, fields

import numpy as np

from solvers.qp.saddle_model import SaddleModel
from solvers.qp.saddle_system import SaddleCurvature, SaddleVector, Solve, newton_solver
from wdro_cvx.validation import Array

_BOUNDARY = 0.99  # share of the way to the boundary


@dataclass(frozen=True, eq=False)
class SaddlePoint:
    """An iterate, or a step from one: ``x, z, y, v, q, r, s, λ, τ, θ, p, o`` in this order.

    ``room`` and ``cap`` (y and v) cover only the edges with an upper bound, ``spare`` and ``over``
    (p and o) only the shares with one.
    """

    x: Array
    z: Array
    room: Array
    cap: Array
    q: Array
    r: Array
    slack: float
    multiplier: float
    tau: float
    theta: float
    spare: Array = field(default_factory=lambda: np.empty(0))
    over: Array = field(default_factory=lambda: np.empty(0))

    @property
    def pairs(self) -> tuple[Array, Array]:
        """The positive variables, and their complementary multipliers."""
        return (
            np.concatenate([self.x, self.room, self.q, self.spare, [self.slack]]),
            np.concatenate([self.z, self.cap, self.r, self.over, [self.multiplier]]),
        )

    @property
    def complementarity(self) -> float:
        """The sum of the products; it is the duality gap if the residuals are zero."""
        ours, theirs = self.pairs
        return float(ours @ theirs)

    def moved(self, step: SaddlePoint, length: float) -> SaddlePoint:
        """Return the point at a multiple of a step."""
        names = [item.name for item in fields(self)]
        return SaddlePoint(*(getattr(self, name) + length * getattr(step, name) for name in names))


def advance(model: SaddleModel, point: SaddlePoint) -> tuple[SaddlePoint, float]:
    """Take one Mehrotra step; return the new point and the length of the step."""
    solve = newton_solver(model, _curvature(model, point))
    miss = residual(model, point)
    ours, theirs = point.pairs
    products = ours * theirs
    mean = float(products.mean())
    affine = _direction(model, point, solve, miss, -products)
    ahead = point.moved(affine, _reach(point, affine)).complementarity / products.size
    centring = max(ahead / mean, 0.0) ** 3
    step_ours, step_theirs = affine.pairs
    goal = centring * mean - products - step_ours * step_theirs
    step = _direction(model, point, solve, miss, goal)
    length = min(1.0, _BOUNDARY * _reach(point, step))
    return point.moved(step, length), length


def residual(model: SaddleModel, point: SaddlePoint) -> SaddleVector:
    """Return the residuals of the equations."""
    ball, x, q = model.ball, point.x, point.q
    edges = model.pull(x, q) - point.tau - point.z
    edges[np.isfinite(model.width)] += point.cap
    cases = point.multiplier * ball.slope(q) - model.risks(x) - point.r + point.theta
    cases[np.isfinite(ball.most)] += point.over
    return SaddleVector(
        edges=edges,
        cases=cases,
        budget=ball.divergence(q) + point.slack - ball.radius,
        total=float(x.sum()) + model.softness * point.tau - model.total,
        mass=float(q.sum()) - 1.0,
    )


def _curvature(model: SaddleModel, point: SaddlePoint) -> SaddleCurvature:
    prior, q = model.prior, point.q
    edges = 4.0 * prior.beta + point.z / point.x
    edges[np.isfinite(model.width)] += point.cap / point.room
    cases = point.multiplier * model.ball.bend(q) + point.r / q
    cases[np.isfinite(model.ball.most)] += point.over / point.spare
    return SaddleCurvature(
        edges=edges,
        vertices=prior.bend(model.degrees + model.incidence @ point.x),
        cases=cases,
        slope=model.ball.slope(q),
        slack=point.slack / point.multiplier,
        softness=model.softness,
    )


def _direction(
    model: SaddleModel, point: SaddlePoint, solve: Solve, miss: SaddleVector, goal: Array
) -> SaddlePoint:
    """Return the Newton step that takes the residuals to 0 and changes the products by ``goal``."""
    capped, limited = np.isfinite(model.width), np.isfinite(model.ball.most)
    ends = np.cumsum([point.x.size, point.room.size, point.q.size, point.spare.size])
    for_x, for_room, for_q, for_spare, for_slack = np.split(goal, ends)
    edges = for_x / point.x - miss.edges
    edges[capped] -= for_room / point.room
    cases = for_q / point.q - miss.cases
    cases[limited] -= for_spare / point.spare
    found = solve(
        SaddleVector(
            edges=edges,
            cases=cases,
            budget=-miss.budget - float(for_slack[0]) / point.multiplier,
            total=miss.total,
            mass=-miss.mass,
        )
    )
    room, spare = -found.edges[capped], -found.cases[limited]
    return SaddlePoint(
        x=found.edges,
        z=(for_x - point.z * found.edges) / point.x,
        room=room,
        cap=(for_room - point.cap * room) / point.room,
        q=found.cases,
        r=(for_q - point.r * found.cases) / point.q,
        slack=(float(for_slack[0]) - point.slack * found.budget) / point.multiplier,
        multiplier=found.budget,
        tau=found.total,
        theta=found.mass,
        spare=spare,
        over=(for_spare - point.over * spare) / point.spare,
    )


def _reach(point: SaddlePoint, step: SaddlePoint) -> float:
    """Return the longest multiple of a step, up to 1/0.99, that keeps all variables positive."""
    values, moves = np.concatenate(point.pairs), np.concatenate(step.pairs)
    falls = moves < 0.0
    limit = float(np.min(values[falls] / -moves[falls])) if falls.any() else np.inf
    return min(limit, 1.0 / _BOUNDARY)

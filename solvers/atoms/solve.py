"""The main loop for atoms: interior point steps, and certificates near the optimum."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from solvers.atoms.balls import PieceBall, SmoothBall
from solvers.atoms.model import build_model, starting_point
from solvers.bracket.incumbent import Incumbent
from solvers.qp.saddle import SaddlePoint, advance
from solvers.qp.saddle_model import SaddleModel
from wdro_cvx.ambiguity import Atoms
from wdro_cvx.graphs.laplacian import laplacian_from_weights
from wdro_cvx.validation import Array

_NEAR = 10.0  # times the tolerance: below it a certificate is worth its QP
_MAX_STEPS = 100  # 10 to 20 are usual
_SHORTEST = 1e-6  # shortest step; below it rounding dominates
_ROUNDING = 1e-15  # least relative complementarity; below it rounding dominates
_PULLS = 100  # towards the nominal shares; only a radius at rounding level needs more than 60


def solve_atoms(incumbent: Incumbent, max_iterations: int) -> None:
    """Improve the incumbent until it is solved or no further progress is possible.

    Do nothing for a set without atoms, or if the weights or the probabilities are fixed.
    """
    problem, laplacian = incumbent.problem, incumbent.laplacian
    if laplacian is None or incumbent.solved:
        return
    if not isinstance(problem.structure, Atoms):
        return
    model = build_model(problem, problem.structure, laplacian, incumbent.value)
    point = starting_point(model)
    if point is None:
        return
    for steps_left in reversed(range(min(max_iterations, _MAX_STEPS))):
        incumbent.check_clock()
        following = _next(model, point)
        point = following or point
        left = point.complementarity / problem.d
        ended = following is None or left <= _ROUNDING or steps_left == 0
        if ended or left <= _NEAR * incumbent.tol:
            _offer(incumbent, problem.structure, model, point)
        incumbent.record()
        if ended or incumbent.solved:
            return


def _next(model: SaddleModel, point: SaddlePoint) -> SaddlePoint | None:
    """Return the next point, or None if rounding prevents a step."""
    # The last steps may overflow; their results are then discarded.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        try:
            moved, length = advance(model, point)
        except linalg.LinAlgError:
            return None
    usable = length >= _SHORTEST and bool(np.isfinite(moved.complementarity))
    return moved if usable else None


def _offer(incumbent: Incumbent, atoms: Atoms, model: SaddleModel, point: SaddlePoint) -> None:
    """Update the incumbent from the weights, the probabilities and the best graph for these."""
    problem = incumbent.problem
    graph = laplacian_from_weights(model.weights(point.x))
    incumbent.evaluate(problem.prior.repaired(graph))
    assert isinstance(model.ball, (PieceBall, SmoothBall))
    probabilities = pulled_inside(atoms, model.ball.probabilities(point.q))
    start = model.multipliers(point.x, point.tau)
    answer = incumbent.bound_by(atoms.moment(probabilities), start)
    incumbent.evaluate(answer.laplacian)


def pulled_inside(atoms: Atoms, probabilities: Array) -> Array:
    """Mix probabilities with the nominal ones until their divergence is within the radius."""
    given = probabilities / probabilities.sum()
    share, spare, mixed = 1.0, 1e-15, given
    for _ in range(_PULLS):
        spent = atoms.divergence(mixed)
        if spent <= atoms.radius:
            return mixed
        # The divergence is convex and 0 at the nominal probabilities, so this suffices up to
        # rounding. The margin for rounding grows with every attempt.
        share *= atoms.radius / spent * (1.0 - spare)
        spare = min(2.0 * spare, 0.5)
        mixed = atoms.shares + share * (given - atoms.shares)
        mixed /= mixed.sum()
    return atoms.shares

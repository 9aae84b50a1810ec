"""The main loop for atoms: interior-point steps, and certificates near the optimum."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from solvers.atoms.model import build_model, starting_point
from solvers.bracket.incumbent import Incumbent
from solvers.bracket.requests import Method
from solvers.qp.balls import PieceBall, SmoothBall, pulled_inside
from solvers.qp.saddle import SaddlePoint, advance
from solvers.qp.saddle_model import SaddleModel
from solvers.qp.saddle_stack import advance_all, stack_key
from wdro_cvx.ambiguity import Atoms
from wdro_cvx.graphs.laplacian import laplacian_from_weights

_NEAR = 1.0  # times the tolerance: above it a certificate hardly ever closes the gap
_MAX_STEPS = 100  # 10 to 20 are usual
_SHORTEST = 1e-6  # shortest step; below it rounding dominates
_ROUNDING = 1e-15  # least relative complementarity; below it rounding dominates


@dataclass(slots=True)
class Advance:
    """Ask for an interior-point step; the answer is None if rounding prevents it."""

    model: SaddleModel
    point: SaddlePoint
    kind: Hashable  # what the models of a stack have in common

    def answer(self) -> SaddlePoint | None:
        """Return the next point."""
        # The last steps may overflow; their results are then discarded.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            moved, length = advance(self.model, self.point)
        return moved if _usable(moved, length) else None

    @staticmethod
    def answers(requests: Sequence[Advance]) -> list[SaddlePoint | None]:
        """Return the next points."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = advance_all([one.model for one in requests], [one.point for one in requests])
        return [moved if _usable(moved, length) else None for moved, length in found]


def _usable(moved: SaddlePoint, length: float) -> bool:
    return length >= _SHORTEST and bool(np.isfinite(moved.complementarity))


def solve_atoms(incumbent: Incumbent, max_iterations: int) -> Method[None]:
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
    kind = Advance, stack_key(model)
    for steps_left in reversed(range(min(max_iterations, _MAX_STEPS))):
        incumbent.check_clock()
        following = yield Advance(model, point, kind)
        point = following or point
        left = point.complementarity / problem.d
        ended = following is None or left <= _ROUNDING or steps_left == 0
        if ended or left <= _NEAR * incumbent.tol:
            yield from _offer(incumbent, problem.structure, model, point)
        incumbent.record()
        if ended or incumbent.solved:
            return


def _offer(
    incumbent: Incumbent, atoms: Atoms, model: SaddleModel, point: SaddlePoint
) -> Method[None]:
    """Update the incumbent from the weights, the probabilities and the best graph for these."""
    problem = incumbent.problem
    graph = laplacian_from_weights(model.weights(point.x))
    yield from incumbent.evaluation(problem.prior.repaired(graph))
    assert isinstance(model.ball, (PieceBall, SmoothBall))
    probabilities = pulled_inside(atoms, model.ball.probabilities(point.q))
    start = model.multipliers(point.x, point.tau)
    answer = yield from incumbent.bounding(atoms.moment(probabilities), start)
    yield from incumbent.evaluation(answer.laplacian)

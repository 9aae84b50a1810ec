"""Hand a problem over to a conic backend, and keep what the judge confirms of its answer.

An ambiguity set that offers nothing but its worst case may have a formulation. If the risk has a
kink at the optimum, an interior-point method on that program uses the whole set at once. A bundle
method collects one worst case after another, which takes far longer.
"""

from __future__ import annotations

import numpy as np

from solvers.bracket.incumbent import Incumbent
from wdro_cvx import SolverError, judge
from wdro_cvx.programs import Program

# The backend's accuracy, relative to the tolerance. A larger one leaves a few problems unsolved,
# and a smaller one takes more iterations.
_ACCURACY, _SECOND_ACCURACY = 0.2, 0.02
_CLOSE = 10.0  # times the tolerance: a gap that the second accuracy is likely to close


def solve_program(incumbent: Incumbent, program: Program) -> None:
    """Improve the incumbent by the answers of a program, in the time that is left."""
    if not incumbent.solved:
        _improve(incumbent, program, _ACCURACY)
    if incumbent.tol < incumbent.gap <= _CLOSE * incumbent.tol:
        _improve(incumbent, program, _SECOND_ACCURACY)


def _improve(incumbent: Incumbent, program: Program, accuracy: float) -> None:
    incumbent.check_clock()
    clock, options = incumbent.run.clock, {}
    if np.isfinite(clock.limit):
        options["time_limit"] = max(clock.limit - clock.seconds, 1e-3)
    try:
        answer = program.solve("CLARABEL", accuracy * incumbent.tol, **options)
    except SolverError:  # the caller has another method
        return
    incumbent.evaluate(incumbent.problem.prior.repaired(answer.laplacian))
    if answer.certificate is not None:
        # The backend's moment is in the set up to its accuracy only; the judge pulls it inside.
        assert incumbent.laplacian is not None
        verdict = judge(incumbent.problem, incumbent.laplacian, answer.certificate)
        if verdict.bound > incumbent.bound:
            incumbent.bound, incumbent.certificate = verdict.bound, verdict.certificate
    incumbent.record()

"""The moment ball with p = 2 at scale, as a sample average under another prior.

Since ``ε‖L‖_F = min_t ε‖L‖²/2t + εt/2``, the optimal graph solves the sample-average problem with
``ε/2t·‖L‖²`` added to the prior and ``t = ‖L‖_F``. The secant method solves this equation in t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse

from wdro_cvx import Certificate, GraphProblem, Singleton, Solution, Status
from wdro_cvx.ambiguity import Norm
from wdro_cvx.moments.points import TransportedMoment

_CLOSE = 1e-5  # relative error of t; the error of the value is its square
_MAX_STEPS = 12

#: Solves a sample-average problem and returns a sparse Laplacian.
Average = Callable[[GraphProblem], Solution]


def solve_moment_ball(problem: GraphProblem, average: Average) -> Solution:
    """Return the graph of a moment ball with p = 2, not yet judged."""
    radius, prior = problem.ambiguity.radius, problem.prior
    size = np.inf  # the sample average itself
    known: list[tuple[float, float]] = []
    for _ in range(_MAX_STEPS):
        raised = prior.proximal(radius / size)
        answer = average(GraphProblem(problem.nominal, Singleton(), prior=raised))
        found = float(np.linalg.norm(sparse.csr_array(answer.laplacian).data))
        miss = found - size
        # A weak trace penalty may leave no edge; a stronger proximal term then leaves none either.
        done = radius == 0.0 or found == 0.0 or abs(miss) <= _CLOSE * found
        if answer.status is not Status.SOLVED or done:
            break
        known.append((size, miss))
        size = _next_size(known, found)
    certificate = answer.certificate
    assert certificate is not None
    nu = certificate.degree_multipliers
    assert nu is not None
    # Both multipliers are slopes at the same degrees, each under its own problem's prior.
    multipliers = prior.slope(raised.degrees(nu))
    offered = Certificate(TransportedMoment(problem.nominal.factor), multipliers)
    assert isinstance(problem.structure, Norm)
    multiplier = problem.structure.multiplier(found, radius)
    return replace(answer, certificate=offered, multiplier=multiplier, bound=-np.inf)


def _next_size(known: list[tuple[float, float]], found: float) -> float:
    """Return the root of the secant, or ``found`` while there is no secant yet."""
    if len(known) < 2 or not np.isfinite(known[-2][0]):
        return found
    (before, miss_before), (size, miss) = known[-2:]
    root = size - miss * (size - before) / (miss - miss_before) if miss != miss_before else found
    return float(np.clip(root, found / 2, 2 * found))

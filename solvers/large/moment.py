"""Moment balls at scale, as sample averages under other priors.

For p = 1 and ∞ the prior or the costs change (rounds.py). The following is for p = 2.
Since ``ε‖L‖_F = min_t ε‖L‖²/2t + εt/2``, the optimal graph solves the sample-average problem with
``ε/2t·‖L‖²`` added to the prior and ``t = ‖L‖_F``. The secant method solves this equation in t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse

from solvers.qp.peak import PeakPrior
from wdro_cvx import Certificate, GraphProblem, Singleton, Solution, Status
from wdro_cvx.ambiguity import Norm
from wdro_cvx.moments.points import TransportedMoment

_CLOSE = 1e-5  # relative error of t; the error of the value is its square
_MAX_STEPS = 12
_INSIDE = 1.0 - 1e-15  # keeps the shift inside the ball despite rounding

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


def in_matrices(problem: GraphProblem, answer: Solution) -> Solution:
    """Return an answer with a dense Laplacian, and with the shift of p = 1 as a matrix.

    At scale the judge reads the shift off the multipliers.
    """
    found, norm = sparse.csr_array(answer.laplacian).toarray(), problem.structure
    answer, certificate = replace(answer, laplacian=found), answer.certificate
    if certificate is None or not isinstance(norm, Norm) or norm.order != 1.0:
        return answer
    nu, moment = certificate.degree_multipliers, certificate.moment
    assert nu is not None
    shift = PeakPrior.of(problem.prior, problem.ambiguity.radius).shift(nu)
    assert isinstance(moment, TransportedMoment)
    raised = TransportedMoment(moment.moved, shift=np.diag(shift * _INSIDE))
    return replace(answer, certificate=Certificate(raised, nu - shift))


def _next_size(known: list[tuple[float, float]], found: float) -> float:
    """Return the root of the secant, or ``found`` while there is no secant yet."""
    if len(known) < 2 or not np.isfinite(known[-2][0]):
        return found
    (before, miss_before), (size, miss) = known[-2:]
    root = size - miss * (size - before) / (miss - miss_before) if miss != miss_before else found
    return float(np.clip(root, found / 2, 2 * found))

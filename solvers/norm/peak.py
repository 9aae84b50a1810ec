"""The moment ball with p = 1 under any prior: its risk adds ε times the largest degree.

    min ⟨Θ, L⟩ + 2β‖w‖² + Σ φ(u_i) + ε max u,    u = Aw

The last two terms are one function of the degrees (solvers/qp/peak.py). With this prior, Newton's
method on the dual of the Laplacian QP solves the problem. The multipliers contain the worst shift
of the diagonal of Θ, so every iterate has its certificate although vertices of equal degree tie.
"""

from __future__ import annotations

import numpy as np

from solvers.bracket.incumbent import Incumbent
from solvers.qp import LaplacianQP, climb
from solvers.qp.peak import PeakPrior
from wdro_cvx.ambiguity import Norm
from wdro_cvx.graphs.laplacian import adjoint, edge_index, laplacian_from_weights
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.validation import Array

_MAX_STEPS = 80  # usual: 3 to 30
_MOST_WORST_CASES = 5_000_000  # entries in a table of worst cases by edges
_ACCURACY = 0.1  # of Newton's method, relative to the tolerance


def solve_largest_degree(incumbent: Incumbent, max_steps: int) -> None:
    """Improve the incumbent by Newton's method; do nothing unless the set is a ball with p = 1.

    The risk nearly always has a kink, so this comes before any smooth steps.
    """
    problem, norm = incumbent.problem, incumbent.problem.structure
    theta, radius = problem.nominal.second_moment, problem.ambiguity.radius
    if not isinstance(norm, Norm) or norm.order != 1.0 or radius == 0.0:
        return
    prior = PeakPrior.of(problem.prior, radius)
    steps = min(max_steps, _MAX_STEPS)
    found = climb(LaplacianQP(theta, prior), None, _ACCURACY * incumbent.tol, steps)
    nu = found.last.nu
    shift = prior.shift(nu)
    _bracket(incumbent, found.best.laplacian(), shift, (nu - shift, found.last.level))
    incumbent.record(max(found.steps, 1))
    # Upper bounds on many weights may leave Newton's method without progress.
    if not incumbent.solved and problem.d * adjoint(theta).size <= _MOST_WORST_CASES:
        _from_inside(incumbent)


def _from_inside(incumbent: Incumbent) -> None:
    """Mix the worst cases of all vertices by an interior-point method (solvers/qp/minimax.py)."""
    problem, master = incumbent.problem, incumbent.master()
    costs = adjoint(problem.nominal.second_moment)
    table = np.tile(costs, (problem.d, 1))
    for ends in edge_index(problem.d):
        table[ends, np.arange(costs.size)] += problem.ambiguity.radius
    mixture = master.mix(table, _ACCURACY / 10 * incumbent.tol)
    graph = laplacian_from_weights(mixture.weights)
    _bracket(incumbent, graph, mixture.shares, (mixture.nu, mixture.tau))
    incumbent.record()


def _bracket(
    incumbent: Incumbent, laplacian: Array, shares: Array, multipliers: tuple[Array, float]
) -> None:
    """Evaluate a graph, and keep the bound of a moment with its diagonal raised by these shares."""
    problem = incumbent.problem
    incumbent.evaluate(problem.prior.repaired(laplacian))
    total = float(shares.sum())  # zero if the radius is below the rounding of the multipliers
    raised = problem.ambiguity.radius * (1.0 - 1e-15) / total * shares if total > 0.0 else shares
    moment = TransportedMoment(problem.nominal.rows, shift=np.diag(raised))
    incumbent.evaluate(incumbent.bound_by(moment, multipliers).laplacian)

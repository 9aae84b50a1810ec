"""The moment ball with p = 1 under any prior: its risk adds ε times the largest degree.

    min ⟨Θ, L⟩ + 2β‖w‖² + Σ φ(u_i) + ε max u,    u = Aw

The last two terms are one function of the degrees. To maximise ``νᵀu`` less this function, lower
the largest multipliers to a common level s at a total cost of ε. Its conjugate is therefore
``Σ φ*(min(ν_i, s))`` with ``Σ (ν_i - s)₊ = ε``. With this prior, Newton's method on the dual of the
Laplacian QP (solvers/qp) solves the problem. The amounts ``(ν - s)₊`` are the worst shift of the
diagonal of Θ, so every iterate has its certificate although vertices of equal degree tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from solvers.bracket.incumbent import Incumbent
from solvers.qp import LaplacianQP, climb
from wdro_cvx.ambiguity import Norm
from wdro_cvx.graphs.laplacian import adjoint, edge_index, laplacian_from_weights
from wdro_cvx.moments.points import TransportedMoment
from wdro_cvx.priors import DegreePrior
from wdro_cvx.validation import Array

_MAX_STEPS = 80  # usual: 3 to 30
_MOST_WORST_CASES = 5_000_000  # entries in a table of worst cases by edges
_ACCURACY = 0.1  # of Newton's method, relative to the tolerance
_HELD = 1e-6  # least spring of a tied vertex, relative to that of all tied ones together


@dataclass(frozen=True, eq=False)
class PeakPrior(DegreePrior):
    """A prior plus ``peak`` times the largest degree."""

    peak: float = 0.0

    @classmethod
    def of(cls, prior: DegreePrior, peak: float) -> PeakPrior:
        """Return a prior with the price of the largest degree added."""
        return cls(prior.beta, prior.kappa, prior.alpha, prior.trace, prior.bounds, peak)

    @cached_property
    def _plain(self) -> DegreePrior:
        """The prior without the peak, whose methods do not lower multipliers again."""
        return DegreePrior(self.beta, self.kappa, self.alpha, self.trace, self.bounds)

    def level(self, nu: Array) -> float:
        """Return s with ``Σ (ν_i - s)₊ = peak``."""
        ordered = np.sort(nu)[::-1]
        levels = (np.cumsum(ordered) - self.peak) / np.arange(1, nu.size + 1)
        return float(levels[np.count_nonzero(ordered > levels) - 1])

    def shift(self, nu: Array) -> Array:
        """Return ``(ν - s)₊``, by how much the worst case raises the diagonal of the moment."""
        return np.maximum(nu - self.level(nu), 0.0)

    def value(self, weights: Array, degrees: Array) -> float:
        """Return the cost of a graph."""
        return super().value(weights, degrees) + self.top(degrees)

    def top(self, degrees: Array) -> float:
        """Return ``peak`` times the largest degree."""
        return self.peak * float(degrees.max())

    def has_degrees(self, nu: Array) -> bool:
        """Say whether ν is in the domain of the conjugate."""
        return self._plain.has_degrees(np.minimum(nu, self.level(nu)))

    def degrees(self, nu: Array) -> Array:
        """Return the degrees that attain the conjugate."""
        return self._plain.degrees(np.minimum(nu, self.level(nu)))

    def conjugate(self, nu: Array) -> float:
        """Return the conjugate; infinite outside its domain."""
        lowered = np.minimum(nu, self.level(nu))
        return self._plain.conjugate(lowered) if self._plain.has_degrees(lowered) else np.inf

    def spring(self, nu: Array) -> Array:
        """Return the diagonal part of the derivative of :meth:`degrees`."""
        level = self.level(nu)
        springs = self._plain.spring(np.minimum(nu, level))
        return np.where(nu > level, _HELD * springs, springs)

    def common(self, nu: Array) -> tuple[float, Array]:
        """Return the rest of the derivative, ``weight·bbᵀ``: tied vertices move together."""
        level = self.level(nu)
        tied = (nu > level).astype(float)
        spring = float(self._plain.spring(np.array([level]))[0])
        return spring / float(tied.sum()), tied

    def step_limit(self, nu: Array, step: Array) -> float:
        """Return no limit: the search along a step finds the domain by the conjugate."""
        return np.inf


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
    """Mix the worst cases of all vertices by an interior point (solvers/qp/minimax.py)."""
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
    """Evaluate a graph, and bound by the moment whose diagonal is raised in these proportions."""
    problem = incumbent.problem
    incumbent.evaluate(problem.prior.repaired(laplacian))
    raised = problem.ambiguity.radius * (1.0 - 1e-15) / float(shares.sum()) * shares
    moment = TransportedMoment(problem.nominal.rows, shift=np.diag(raised))
    incumbent.evaluate(incumbent.bound_by(moment, multipliers).laplacian)

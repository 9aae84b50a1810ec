"""Makes the rivals known by name to the process that measures them, and to no other.

Their settings are the best of those tried on the bench's instances: for the primal-dual method
balances of 0.03 to 10 and steps of 0.99 to 4 times the longest that is known to converge.
"""

from __future__ import annotations

from dataclasses import dataclass

from experiments.bench.rivals.fdpg import FDPG
from experiments.bench.rivals.primal_dual import PrimalDual
from solvers import register
from wdro_cvx import GraphProblem, Solution


@register
@dataclass(frozen=True)
class GSPBox(PrimalDual):
    """The primal-dual method with the balance that serves the bench's instances best."""

    def solve(self, problem: GraphProblem) -> Solution:
        """Solve the problem."""
        prior = problem.prior
        balance = float((0.1 * prior.alpha / prior.beta) ** 0.5)
        return PrimalDual(self.tol, balance).solve(problem)


@register
@dataclass(frozen=True)
class PlainFDPG(FDPG):
    """FDPG as published."""


@register
@dataclass(frozen=True)
class RestartedFDPG(FDPG):
    """FDPG with restart."""

    restart: bool = True


@register
@dataclass(frozen=True)
class LocalFDPG(FDPG):
    """FDPG with restart and steps for the edges in use."""

    restart: bool = True
    local: bool = True

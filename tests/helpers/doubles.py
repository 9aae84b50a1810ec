"""Methods that misbehave, registered like any other: for the tests of the runner."""

import time
from dataclasses import dataclass

import numpy as np

from solvers import register
from wdro_cvx import Solution, Status
from wdro_cvx.laplacian import complete_graph


@dataclass(frozen=True)
class _Double:
    tol: float = 1e-6

    def check_claim(self, problem):
        pass


@register
class Sleeper(_Double):
    """Never ends."""

    def solve(self, problem):
        time.sleep(3600)


@register
class Hoarder(_Double):
    """Allocates without end."""

    def solve(self, problem):
        kept = []
        while True:
            kept.append(np.ones(1_000_000))


@register
class Liar(_Double):
    """Says that a wrong Laplacian is the solution."""

    def solve(self, problem):
        return Solution(complete_graph(problem.d, problem.d), 1.0, Status.SOLVED)


@register
class Crasher(_Double):
    """Dies without a word."""

    def solve(self, problem):
        import os

        os._exit(3)

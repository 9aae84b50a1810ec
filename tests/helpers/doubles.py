"""Misbehaving solvers for the tests of the runner, registered like any other."""

import multiprocessing
import os
import sys
import time
from dataclasses import dataclass, replace

import numpy as np

from solvers import CertifiedSolver, Solver, register
from wdro_cvx import AmbiguitySet, Solution, Status
from wdro_cvx.graphs.laplacian import complete_graph


@dataclass(frozen=True)
class _Double(Solver):
    claims = (AmbiguitySet,)

    tol: float = 1e-6


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


def _hoard():
    kept = np.ones(45_000_000)  # 343 MiB
    time.sleep(3600)
    return kept


@register
class Family(_Double):
    """Allocates in two children; each stays below the limit, but their sum does not."""

    def solve(self, problem):
        context = multiprocessing.get_context("fork")
        children = [context.Process(target=_hoard) for _ in range(2)]
        for child in children:
            child.start()
        children[0].join()


@register
class Deserter(_Double):
    """Starts a process that leaves the process group; both never end."""

    def solve(self, problem):
        if os.fork() == 0:
            os.setsid()
            time.sleep(3600)
        time.sleep(3600)


@register
class Liar(_Double):
    """Reports a wrong Laplacian as solved."""

    def solve(self, problem):
        return Solution(complete_graph(problem.d, problem.d), 1.0, Status.SOLVED)


@register
class Nothing(_Double):
    """Returns the right Laplacian with a value of NaN."""

    def solve(self, problem):
        return replace(CertifiedSolver(self.tol).solve(problem), value=float("nan"))


@register
class Modest(_Double):
    """Returns the right Laplacian without a certificate."""

    def solve(self, problem):
        return replace(CertifiedSolver(self.tol).solve(problem), certificate=None)


@register
class Crasher(_Double):
    """Ends its process without an error message."""

    def solve(self, problem):
        os._exit(3)


@register
class Leaver(_Double):
    """Exits the program with a message."""

    def solve(self, problem):
        sys.exit("I have had enough")


@register
class Impostor(_Double):
    """Returns something that is not a solution, and prints too much."""

    def solve(self, problem):
        print("x" * 10_000_000)
        return "a solution"

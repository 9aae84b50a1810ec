"""The convex programs that a solver may call.

Solvers and formulations do not import each other. The package ``formulations`` therefore lists its
registered programs here when it is imported, and a solver finds those that claim its problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from wdro_cvx.errors import ProblemError
from wdro_cvx.problem import GraphProblem
from wdro_cvx.solution import Solution


class Program(Protocol):
    """A convex program for one problem, such as a ``Formulation``."""

    def solve(self, solver: str = ..., tol: float = ..., **options: Any) -> Solution:
        """Solve the program with a conic backend."""


#: Functions that return registered programs by name.
SOURCES: list[Callable[[], Mapping[str, Callable[[GraphProblem], Program]]]] = []


def programs_for(problem: GraphProblem) -> Iterator[Program]:
    """Yield the registered programs that claim a problem, in the order of their registration.

    Examples
    --------
    >>> import formulations
    >>> from wdro_cvx import GraphProblem, KLBall, Nominal
    >>> from wdro_cvx.programs import programs_for
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> program = next(programs_for(GraphProblem(nominal, KLBall(0.1), eta=0.1)))
    >>> type(program).__name__
    'KLDual'
    """
    for source in SOURCES:
        for make in source().values():
            try:
                yield make(problem)
            except ProblemError:  # it does not claim this problem
                continue

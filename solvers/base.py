"""What the hand-written solvers share: a name in the registry, a problem in, a Solution out."""

from __future__ import annotations

from typing import Protocol, TypeVar, runtime_checkable

from wdro_cvx import GraphProblem, ProblemError, Solution


@runtime_checkable
class Solver(Protocol):
    """An algorithm with its settings; calling :meth:`solve` does not change it."""

    def check_claim(self, problem: GraphProblem) -> None:
        """Raise ProblemError unless this algorithm applies to this problem."""

    def solve(self, problem: GraphProblem) -> Solution:
        """Solve the problem."""


S = TypeVar("S", bound=type)
_REGISTRY: dict[str, type] = {}


def register(cls: S) -> S:
    """Class decorator: make a solver known by its name to the runner."""
    missing = [name for name in ("check_claim", "solve") if not callable(getattr(cls, name, None))]
    if missing:
        raise ProblemError(f"{cls.__name__} cannot be registered: write {' and '.join(missing)}.")
    _REGISTRY[cls.__name__] = cls
    return cls


def registered() -> dict[str, type]:
    """Return all registered solvers by name."""
    return dict(_REGISTRY)

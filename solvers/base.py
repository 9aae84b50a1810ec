"""What the hand-written solvers share: what they claim, a problem in, a Solution out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

from solvers.bracket.incumbent import Callback
from wdro_cvx import GraphProblem, Solution
from wdro_cvx.claims import Claim, check_claims, check_stated
from wdro_cvx.registry import Registry


@dataclass(frozen=True)
class Request:
    """What :func:`solvers.solve` was asked for; its docstring explains each."""

    tol: float = 1e-6
    start: Solution | None = None
    progress: bool = False
    callback: Callback | None = None
    time_limit: float = float("inf")
    executor: Any = None

    def settings(self, solver: type[Solver]) -> dict[str, Any]:
        """Return what of it are settings of a solver, which is a dataclass."""
        names = {setting.name for setting in fields(solver)}  # type: ignore[arg-type]
        return {name: value for name, value in vars(self).items() if name in names}


class Solver(ABC):
    """An algorithm with its settings; calling :meth:`solve` does not change it.

    A subclass names the ambiguity sets that it ``claims``, by class or by what they offer, and
    writes :meth:`solve`. It is a frozen dataclass whose first field is ``tol``.
    """

    #: The sets whose problems it solves; ``(AmbiguitySet,)`` for all of them.
    claims: ClassVar[tuple[Claim, ...]]
    #: Its place among those that ``solve`` tries, the smallest first; None if only by name.
    rank: ClassVar[int | None] = None

    @classmethod
    def check_claim(cls, problem: GraphProblem) -> None:
        """Raise ProblemError unless this algorithm applies to this problem."""
        check_claims(cls.__name__, cls.claims, problem, "Use CertifiedSolver.")

    @abstractmethod
    def solve(self, problem: GraphProblem) -> Solution:
        """Solve the problem."""

    @classmethod
    def answer(cls, problem: GraphProblem, request: Request) -> Solution | None:
        """Answer :func:`solvers.solve`; None where another solver would do better."""
        return cls(**request.settings(cls)).solve(problem)


S = TypeVar("S", bound=type[Solver])
_REGISTRY: Registry[Solver] = Registry(Solver)


def register(cls: S) -> S:
    """Class decorator: make a solver known by its name to the runner."""
    check_stated(cls)
    _REGISTRY.add(cls)
    return cls


def registered() -> dict[str, type[Solver]]:
    """Return all registered solvers by name."""
    return _REGISTRY.all()

"""The base class of the hand-written solvers, and their registry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, TypeVar

from solvers.bracket.run import Request
from solvers.bracket.threads import right_threads
from wdro_cvx import GraphProblem, Solution, Term
from wdro_cvx.claims import Claim, check_claims, check_stated, check_terms
from wdro_cvx.registry import Registry


class Solver(ABC):
    """The base class of solvers: an algorithm with its settings, which :meth:`solve` never changes.

    A subclass names the ambiguity sets that it ``claims``, by class or by structure, and defines
    :meth:`solve`. It is a frozen dataclass whose first field is ``tol``. Its ``solve`` runs on one
    BLAS thread if the graph is too small to gain from more (``solvers.bracket.threads``). It
    refuses problems with terms unless ``takes_terms`` names their classes.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from solvers import Solver
    >>> from wdro_cvx import Singleton, Solution, Status
    >>> from wdro_cvx.graphs.laplacian import complete_graph
    >>> @dataclass(frozen=True)
    ... class CompleteGraph(Solver):
    ...     claims = (Singleton,)
    ...     tol: float = 1e-6
    ...
    ...     def solve(self, problem):
    ...         laplacian = complete_graph(problem.d, problem.target_trace)
    ...         return Solution(laplacian, problem.value(laplacian), Status.INACCURATE)
    """

    #: The sets whose problems it solves; ``(AmbiguitySet,)`` for all of them.
    claims: ClassVar[tuple[Claim, ...]]
    #: The terms that it takes; ``(Term,)`` for all of them.
    takes_terms: ClassVar[tuple[type[Term], ...]] = ()
    #: ``solve`` tries solvers in the order of their ranks. None: the solver is used only by name.
    rank: ClassVar[int | None] = None
    #: The fewest vertices for which ``solve`` tries it.
    least: ClassVar[int] = 2

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "solve" in vars(cls):
            cls.solve = _guarded(cls.solve)  # type: ignore[method-assign]
        if "check_claim" in vars(cls):
            cls.check_claim = classmethod(_with_terms(vars(cls)["check_claim"]))  # type: ignore

    @classmethod
    def check_claim(cls, problem: GraphProblem) -> None:
        """Raise ProblemError unless this algorithm applies to this problem."""
        check_claims(cls.__name__, cls.claims, problem, "Use CertifiedSolver.")
        check_terms(cls.__name__, cls.takes_terms, problem)

    @abstractmethod
    def solve(self, problem: GraphProblem) -> Solution:
        """Solve the problem."""

    @classmethod
    def try_solve(cls, problem: GraphProblem, request: Request) -> Solution | None:
        """Solve the problem for :func:`solvers.solve`; None if another solver would do better.

        A solver that can start from another solution overrides this, to pass ``request.start``.
        """
        return cls(**request.settings(cls)).solve(problem)


def _with_terms(check: Any) -> Callable[[Any, GraphProblem], None]:
    """Return a ``check_claim`` that checks the terms first, because ``check`` may not do it."""

    @wraps(check.__func__)
    def guarded(cls: Any, problem: GraphProblem) -> None:
        check_terms(cls.__name__, cls.takes_terms, problem)
        check.__func__(cls, problem)

    return guarded


def _guarded(solve: Callable[..., Solution]) -> Callable[..., Solution]:
    @wraps(solve)
    def guarded(self: Solver, problem: GraphProblem, *others: Any, **named: Any) -> Solution:
        check_terms(type(self).__name__, self.takes_terms, problem)
        with right_threads(problem.d), problem.explained():
            return solve(self, problem, *others, **named)

    return guarded


S = TypeVar("S", bound=type[Solver])
_REGISTRY: Registry[Solver] = Registry(Solver)


def register(cls: S) -> S:
    """Register a solver class under its name, as a decorator.

    Parameters
    ----------
    cls : type
        A subclass of :class:`Solver` that states what it ``claims``.

    Returns
    -------
    type
        The class.

    Raises
    ------
    SolverError
        If the name is taken.

    Examples
    --------
    >>> from solvers import CertifiedSolver, register, registered
    >>> register(CertifiedSolver) is registered()["CertifiedSolver"]  # already there
    True
    """
    check_stated(cls)
    _REGISTRY.add(cls)
    return cls


def registered() -> dict[str, type[Solver]]:
    """Return all registered solvers by name.

    Returns
    -------
    dict

    Examples
    --------
    >>> from solvers import registered
    >>> "CertifiedSolver" in registered()
    True
    """
    return _REGISTRY.all()

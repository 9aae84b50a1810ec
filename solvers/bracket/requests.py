"""The requests of a method while it runs, and their answers, for one problem or for many at once.

A method is a generator that yields requests and receives the answers, so that its control flow is
written once. :func:`alone` runs one generator. :func:`together` runs many, and answers requests of
one kind together, because arrays of many problems take far less time than many small arrays.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from solvers.qp import LaplacianQP, QPSolution, dual_point, solve_laplacian_qp
from wdro_cvx import GraphProblem, WorstCase
from wdro_cvx.ambiguity.base import stacked_worst_cases
from wdro_cvx.graphs.laplacian import weights_from_laplacian
from wdro_cvx.priors import stack_priors
from wdro_cvx.stacks import diagonals
from wdro_cvx.validation import Array


class Question(Protocol):
    """What a method asks for."""

    @property
    def kind(self) -> Hashable:
        """Requests of one kind can be answered together."""

    def answer(self) -> Any:
        """Answer this request."""

    @staticmethod
    def answers(requests: Sequence[Any]) -> list[Any]:
        """Answer requests of one kind, in their order."""


class Oracle(Protocol):
    """The worst cases of one problem, computed in another way than by its set."""

    def __call__(self, laplacian: Array, /) -> WorstCase:
        """Return the worst case of a Laplacian."""

    @staticmethod
    def together(oracles: Sequence[Any], laplacians: Array, /) -> list[WorstCase]:
        """Return the worst cases of several problems, each of its own Laplacian."""


@dataclass(slots=True)
class Value:
    """Ask for the worst case and the objective of a Laplacian."""

    problem: GraphProblem
    laplacian: Array
    oracle: Oracle | None = None  # a faster worst case than the set's own, if there is one

    @property
    def kind(self) -> Hashable:
        """The class of the set, the kind of prior and the number of vertices."""
        problem, prior, oracle = self.problem, self.problem.prior, self.oracle
        signs = prior.alpha == 0.0, prior.kappa == 0.0, prior.trace.stiffness
        rows = None if oracle is None else (type(oracle), problem.nominal.factor.shape)
        return Value, type(problem.ambiguity), signs, problem.d, rows

    def answer(self) -> tuple[WorstCase, float]:
        """Return the worst case and the objective."""
        problem = self.problem
        if self.oracle is not None:
            worst = self.oracle(self.laplacian)
        else:
            worst = problem.ambiguity.worst_case(problem.nominal, self.laplacian)
        return worst, worst.risk + problem.regularisation(self.laplacian)

    @staticmethod
    def answers(requests: Sequence[Value]) -> list[tuple[WorstCase, float]]:
        """Return the worst cases and objectives."""
        problems = [request.problem for request in requests]
        laplacians = np.stack([request.laplacian for request in requests])
        oracle = requests[0].oracle
        if oracle is not None:
            worst = oracle.together([request.oracle for request in requests], laplacians)
        else:
            sets, nominals = [one.ambiguity for one in problems], [one.nominal for one in problems]
            worst = stacked_worst_cases(sets, nominals, laplacians)
        prior = stack_priors([problem.prior for problem in problems])
        own = prior.value(weights_from_laplacian(laplacians), diagonals(laplacians)).tolist()
        return [
            (case, case.risk + cost + sum(term.value(laplacian) for term in problem.terms))
            for problem, laplacian, case, cost in zip(problems, laplacians, worst, own, strict=True)
        ]


@dataclass(slots=True)
class Optimum:
    """Ask for the solution of a QP to a relative gap, from multipliers of a similar one."""

    qp: LaplacianQP
    start: tuple[Array, float] | None
    tol: float

    @property
    def kind(self) -> Hashable:
        """The accuracy; the QPs may differ in size."""
        return Optimum, self.tol

    def answer(self) -> QPSolution:
        """Return the solution."""
        return solve_laplacian_qp(self.qp, self.start, self.tol)

    @staticmethod
    def answers(requests: Sequence[Optimum]) -> list[QPSolution]:
        """Return the solutions."""
        from solvers.qp.stack import solve_laplacian_qps  # only needed for many problems

        qps, starts = [one.qp for one in requests], [one.start for one in requests]
        return solve_laplacian_qps(qps, starts, requests[0].tol)


@dataclass(slots=True)
class Dual:
    """Ask for the dual of a QP at some multipliers ``(ν, τ)``."""

    qp: LaplacianQP
    multipliers: tuple[Array, float]

    @property
    def kind(self) -> Hashable:
        """All are of one kind."""
        return Dual

    def answer(self) -> tuple[float, Array, float]:
        """Return the value, ν and τ; they change if the dual is not defined at ν."""
        point = dual_point(self.qp, self.multipliers)
        return point.value, point.nu, point.level

    @staticmethod
    def answers(requests: Sequence[Dual]) -> list[tuple[float, Array, float]]:
        """Return the values, ν and τ."""
        from solvers.qp.stack import evaluate_laplacian_qps

        return evaluate_laplacian_qps(
            [one.qp for one in requests], [one.multipliers for one in requests]
        )


T = TypeVar("T")
#: A method with a result of type T.
Method = Generator[Any, Any, T]


def alone(method: Method[T]) -> T:
    """Run one method and return its result."""
    answer = None
    try:
        while True:
            answer = method.send(answer).answer()
    except StopIteration as stop:
        result: T = stop.value
        return result


def together(methods: Iterable[Method[T]]) -> Iterator[tuple[int, T | Exception]]:
    """Run methods side by side; yield the place and the result of each as it ends.

    A method that raises an exception yields it as its result, and the others go on.
    """
    waiting: dict[Hashable, list[tuple[int, Method[T], Any]]] = {}
    resumed: Iterable[tuple[int, Method[T], Any]]
    resumed = ((place, method, None) for place, method in enumerate(methods))
    while True:
        for place, method, answer in resumed:
            try:
                request = method.send(answer)
            except StopIteration as stop:
                yield place, stop.value
            except Exception as error:
                yield place, error
            else:
                waiting.setdefault(request.kind, []).append((place, method, request))
        if not waiting:
            return
        # The kind with most requests first: the others meanwhile gather more.
        kind = max(waiting, key=lambda kind: len(waiting[kind]))
        places, running, requests = zip(*waiting.pop(kind), strict=True)
        resumed = zip(places, running, _answers(requests), strict=True)


def _answers(requests: Sequence[Any]) -> list[Any]:
    first = requests[0]
    return [first.answer()] if len(requests) == 1 else type(first).answers(requests)

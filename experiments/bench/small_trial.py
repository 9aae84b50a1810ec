"""Run one measurement of ``wdro bench --small``: one model at one small number of vertices.

Problems are solved one by one, together, and one by one by another method. All times include the
judge, except those of PIQP and Clarabel. Every round builds its problems anew, because a problem
caches what was computed for it. A time is the least of several rounds, which varies less than their
median.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from experiments.measuring.instances import Instance
from experiments.measuring.methods.quadratic import solve_quadratic
from experiments.measuring.store import Row
from formulations import KLDual
from solvers import ProjectedGradient, solve, solve_many
from wdro_cvx import GraphProblem, Nominal, Solution, judge

RADIUS, ETA, TOLERANCE = 0.5, 0.3, 1e-6
SIZES = (10, 20, 40)
COUNT = 100  # problems that are solved together
_ROUNDS, _FEW = 15, 10

#: A function that solves problems and returns the answers.
Method = Callable[[Sequence[GraphProblem]], list[Solution]]


def _ours(problems: Sequence[GraphProblem]) -> list[Solution]:
    return [solve(problem, TOLERANCE) for problem in problems]


def _together(problems: Sequence[GraphProblem]) -> list[Solution]:
    return solve_many(problems, TOLERANCE)


def _gradient(problems: Sequence[GraphProblem]) -> list[Solution]:
    return [ProjectedGradient(TOLERANCE).solve(problem) for problem in problems]


def _piqp(problems: Sequence[GraphProblem]) -> list[Solution]:
    return [solve_quadratic("PIQP", problem, TOLERANCE) for problem in problems]


def _clarabel(problems: Sequence[GraphProblem]) -> list[Solution]:
    return [KLDual(problem).solve("CLARABEL", tol=TOLERANCE) for problem in problems]


@dataclass(frozen=True)
class _Model:
    """How the problems of a model are drawn, and a method to compare with.

    Attributes
    ----------
    name : str
        The model of an :class:`Instance`.
    signals : callable
        The number of signals for d vertices.
    shape : float, optional
        The shape of the log-degree prior; without it the prior is the paper's.
    other : str
        The name of another method, empty if there is none.
    method : callable, optional
        The other method.
    backend_only : bool
        Whether to count only the time that its backend reports.
    """

    name: str
    signals: Callable[[int], int]
    shape: float | None = None
    other: str = ""
    method: Method | None = None
    backend_only: bool = False


MODELS = {
    "sample average": _Model(
        "average", lambda d: 2 * d, other="PIQP, called directly", method=_piqp
    ),
    "Gaussian ball": _Model(
        "gaussian", lambda d: 2 * d, other="ProjectedGradient", method=_gradient
    ),
    "moment ball": _Model("moment", lambda d: 2 * d, other="ProjectedGradient", method=_gradient),
    "KL ball": _Model(
        "KLBall", lambda d: 30, other="Clarabel, without modelling", method=_clarabel,
        backend_only=True,
    ),
    "Wasserstein ball, log-degree": _Model("wasserstein", lambda d: 2 * d, shape=0.1),
}  # fmt: skip


@dataclass(frozen=True)
class SmallCell:
    """What to measure: a key of :data:`MODELS`, and the number of vertices."""

    model: str
    d: int
    count: int = COUNT


def cells() -> list[SmallCell]:
    """Return all measurements."""
    return [SmallCell(model, d) for d in SIZES for model in MODELS]


def problems_of(cell: SmallCell) -> list[GraphProblem]:
    """Return the problems of a cell, which are the same on every machine."""
    model = MODELS[cell.model]
    numbers = (model.name, cell.d, model.signals(cell.d), RADIUS, ETA)
    return [Instance(*numbers, seed, shape=model.shape).problem() for seed in range(cell.count)]


def measure(cell: SmallCell) -> Row:
    """Measure a cell in this process: CPU seconds per problem, and whether all were solved."""
    model, problems = MODELS[cell.model], problems_of(cell)
    few = problems[:_FEW]
    contests: dict[str, tuple[list[GraphProblem], Method]] = {
        "total_s": (few, _ours), "together_s": (problems, _together)
    }  # fmt: skip
    if model.method is not None:
        contests["other_s"] = (few, model.method)
    least = dict.fromkeys(contests, float("inf"))
    solved: dict[str, bool] = {}
    with threadpool_limits(1):
        for _ in range(_ROUNDS):  # in turns, so that a slow moment is not one method's
            for name, (chosen, method) in contests.items():
                backend_only = model.backend_only and name == "other_s"
                spent, answers = _timed([_new(one) for one in chosen], method, backend_only)
                least[name] = min(least[name], spent / len(chosen))
                solved[name] = _all_solved(chosen, answers)
    row: Row = {"other": model.other, **least}
    row["is_solved"] = solved["total_s"] and solved["together_s"]
    row["other_is_solved"] = solved.get("other_s", False)
    return row


def _timed(
    problems: Sequence[GraphProblem], method: Method, backend_only: bool
) -> tuple[float, list[Solution]]:
    """Return the CPU seconds of a method, or those that its backend reports, and its answers."""
    began = time.process_time()
    answers = method(problems)
    spent = time.process_time() - began
    return (sum(answer.solve_s for answer in answers) if backend_only else spent), answers


def _all_solved(problems: Sequence[GraphProblem], answers: Sequence[Solution]) -> bool:
    """Return whether the judge calls all answers solved."""
    pairs = zip(problems, answers, strict=True)
    return all(judge(problem, answer).solved(TOLERANCE) for problem, answer in pairs)


def _new(problem: GraphProblem) -> GraphProblem:
    """Return a copy of the problem without cached results."""
    nominal = Nominal(problem.nominal.mean, samples=problem.nominal.samples)
    return GraphProblem(nominal, problem.ambiguity, prior=problem.prior)

"""A clock with a time limit, and the check of an answer by the judge before it is returned."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from wdro_cvx import GraphProblem, Solution, Status, Verdict, judge
from wdro_cvx.validation import real_number

#: Solvers aim at this share of the tolerance, since the judge subtracts a slack for rounding.
MARGIN = 0.95


class OutOfTime(Exception):  # noqa: N818 - it ends a run as planned, and never leaves a solver
    """The time limit has passed."""


def time_limit(seconds: float) -> float:
    """Return a time limit; raise an error unless it is a positive number or infinite."""
    return real_number("time_limit", seconds, 0.0, strict=True, infinite=True)


@dataclass(frozen=True)
class Clock:
    """A clock that starts when it is created, with a limit in seconds."""

    limit: float = float("inf")
    started: float = field(default_factory=time.perf_counter)
    started_cpu: float = field(default_factory=time.process_time)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", time_limit(self.limit))

    @property
    def seconds(self) -> float:
        """The wall seconds since the start; the limit is on these."""
        return time.perf_counter() - self.started

    @property
    def cpu_s(self) -> float:
        """The CPU seconds of this process since the start."""
        return time.process_time() - self.started_cpu

    def check(self, ahead: float = 0.0) -> None:
        """Raise OutOfTime if less than ``ahead`` seconds are left."""
        if self.seconds + ahead > self.limit:
            raise OutOfTime


def judged(
    problem: GraphProblem, answer: Solution, tol: float, clock: Clock | None = None
) -> Solution:
    """Return an answer with the judge's figures and a status that the judge confirms.

    With a clock it also gets the CPU seconds so far.

    The judge recomputes both numbers without the solvers' code, so a mistake in a solver cannot
    pass for a proof. It looks for no better bound once the gap is at most ``tol``.
    """
    verdict = judge(problem, answer, enough=tol)
    return _confirmed(answer, verdict, tol, answer.solve_s if clock is None else clock.cpu_s)


def all_judged(
    problems: Sequence[GraphProblem], answers: Sequence[Solution], tol: float, clock: Clock
) -> list[Solution]:
    """Return what :func:`judged` returns for each of several answers of one run."""
    from wdro_cvx.judge_many import judge_many  # only needed for many problems

    verdicts = judge_many(problems, answers, enough=tol)
    share = clock.cpu_s / max(len(answers), 1)
    return [
        _confirmed(answer, verdict, tol, share)
        for answer, verdict in zip(answers, verdicts, strict=True)
    ]


def _confirmed(answer: Solution, verdict: Verdict, tol: float, cpu_s: float) -> Solution:
    status = answer.status
    if verdict.gap < 0.0:  # value and bound contradict each other, so one of them is wrong
        status = Status.FAILED
    elif status in (Status.SOLVED, Status.INACCURATE, Status.ITERATION_LIMIT):
        if verdict.solved(tol):
            status = Status.SOLVED
        elif status is Status.SOLVED:
            status = Status.INACCURATE
    return replace(
        answer,
        status=status,
        value=verdict.value,
        bound=verdict.bound,
        constant=verdict.constant,
        floor=verdict.floor,
        distance=verdict.distance,
        solve_s=cpu_s,
    )

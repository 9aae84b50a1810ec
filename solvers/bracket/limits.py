"""When a solver has to stop: a clock, and what it says of an answer before it is handed out."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from wdro_cvx import GraphProblem, Solution, Status, judge
from wdro_cvx.validation import real_number

#: Solvers aim at this share of the tolerance: the judge takes off its slack for rounding.
MARGIN = 0.95


class OutOfTime(Exception):  # noqa: N818 - it ends a run as planned, and never leaves a solver
    """The time limit has passed."""


@dataclass(frozen=True)
class Clock:
    """The time since it was made, and a limit in seconds."""

    limit: float = float("inf")
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        limit = real_number("time_limit", self.limit, 0.0, strict=True, infinite=True)
        object.__setattr__(self, "limit", limit)

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.perf_counter() - self.started

    def check(self) -> None:
        """Raise OutOfTime if the limit has passed."""
        if self.seconds > self.limit:
            raise OutOfTime


def judged(problem: GraphProblem, answer: Solution, tol: float) -> Solution:
    """Return an answer with the judge's figures, and no claim that the judge would refuse.

    The judge shares no arithmetic with the solvers, so that a mistake in theirs cannot pass for a
    proof.
    """
    verdict = judge(problem, answer)
    status = answer.status
    if verdict.gap < 0.0:  # value and bound contradict each other: one of them is wrong
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
    )

"""Define how a run can end, its limits, and its answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from wdro_cvx import WdroError


class Outcome(StrEnum):
    """How a run ended."""

    OK = "ok"
    TIME_OUT = "time-out"
    OUT_OF_MEMORY = "out of memory"
    CRASH = "crash"
    FAILED = "failed"
    SKIPPED = "skipped"

    @property
    def hit_limit(self) -> bool:
        """Whether the run exceeded its time or memory; larger problems would too."""
        return self in (Outcome.TIME_OUT, Outcome.OUT_OF_MEMORY)


@dataclass(frozen=True)
class Limits:
    """Limits on CPU seconds and MiB of memory for one run, including its judging.

    The limit on wall time is four times the limit on CPU time. A busy machine then causes no
    time-out, and a run that waits without computing still ends.
    """

    limit_s: float
    limit_mb: float

    def __post_init__(self) -> None:
        for name, value in (("time limit", self.limit_s), ("memory limit", self.limit_mb)):
            if not (math.isfinite(value) and value > 0.0):
                raise WdroError(f"the {name} must be a number above 0; it is {value:g}.")


@dataclass(frozen=True)
class Answer:
    """The value of a task that succeeded, or the reason why it failed."""

    outcome: Outcome
    value: Any = None
    message: str = ""

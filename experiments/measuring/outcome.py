"""How a run can end, its limits, and its answer."""

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
        """Whether it ran out of time or memory, as larger problems would too."""
        return self in (Outcome.TIME_OUT, Outcome.OUT_OF_MEMORY)


@dataclass(frozen=True)
class Limits:
    """CPU seconds and MiB of memory for one run, its judging included.

    The wall time is limited to four times as long: a busy machine causes no time-out, and a run
    that waits instead of computing still ends.
    """

    limit_s: float
    limit_mb: float

    def __post_init__(self) -> None:
        for name, value in (("time limit", self.limit_s), ("memory limit", self.limit_mb)):
            if not (math.isfinite(value) and value > 0.0):
                raise WdroError(f"the {name} must be a number above 0; it is {value:g}.")


@dataclass(frozen=True)
class Answer:
    """The value of a task if it ended well, otherwise the reason."""

    outcome: Outcome
    value: Any = None
    message: str = ""

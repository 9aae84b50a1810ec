"""How a run can end, the limits that it is given, and what it hands back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from wdro_cvx import WdroError


class Outcome(StrEnum):
    """How a run ended; a limit that was hit is a result, not an accident."""

    OK = "ok"
    TIME_OUT = "time-out"
    OUT_OF_MEMORY = "out of memory"
    CRASH = "crash"
    FAILED = "failed"
    SKIPPED = "skipped"

    @property
    def hit_limit(self) -> bool:
        """Whether larger problems of the same kind need not be tried."""
        return self in (Outcome.TIME_OUT, Outcome.OUT_OF_MEMORY)


@dataclass(frozen=True)
class Limits:
    """CPU seconds and MiB of memory for one run, its judging included.

    On the clock a run may take four times as long, so that a busy machine makes no time-outs, and
    one that waits instead of computing ends too.
    """

    limit_s: float
    limit_mb: float

    def __post_init__(self) -> None:
        for name, value in (("time limit", self.limit_s), ("memory limit", self.limit_mb)):
            if not (math.isfinite(value) and value > 0.0):
                raise WdroError(f"the {name} must be a number above 0; it is {value:g}.")


@dataclass(frozen=True)
class Answer:
    """What came of a task: its value if it ended well, otherwise the reason."""

    outcome: Outcome
    value: Any = None
    message: str = ""

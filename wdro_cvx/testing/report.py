"""What a check of somebody's set, formulation or solver says: one line per property."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wdro_cvx.errors import ProblemError, WdroError


@dataclass(frozen=True)
class CheckResult:
    """One property: its name, whether it was found to hold, and what was seen."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class CheckReport:
    """What a check found; print it."""

    subject: str
    results: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        """Whether every property holds."""
        return all(result.passed for result in self.results)

    @property
    def failures(self) -> tuple[str, ...]:
        """The names of those that do not."""
        return tuple(result.name for result in self.results if not result.passed)

    def __str__(self) -> str:
        """Return one line per property."""
        lines = [
            f"  {'ok    ' if result.passed else 'FAILED'} {result.name}: {result.detail}"
            for result in self.results
        ]
        return "\n".join([f"{self.subject}: {'passed' if self.passed else 'FAILED'}", *lines])

    def raise_if_failed(self) -> None:
        """Raise ProblemError with the report if something failed."""
        if not self.passed:
            raise ProblemError(str(self))


def run_check(name: str, check: Callable[..., tuple[bool, str]], *arguments: Any) -> CheckResult:
    """Run one check, which returns whether a property holds and what was seen; errors fail it."""
    try:
        passed, detail = check(*arguments)
    except (WdroError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        passed, detail = False, f"raised {type(error).__name__}: {error}"
    return CheckResult(name, passed, detail)

"""Reports of checks of a set, a formulation or a solver, with one line per property."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wdro_cvx.errors import ProblemError, describe

_LONGEST = 200  # characters of a subject


@dataclass(frozen=True)
class CheckResult:
    """The result of checking one property.

    Attributes
    ----------
    name : str
    passed : bool
    detail : str
        What was observed.

    Examples
    --------
    >>> from wdro_cvx import KLBall, check_ambiguity
    >>> result = check_ambiguity(KLBall(0.1)).results[0]
    >>> result.name, result.passed
    ('attains the risk', True)
    """

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class CheckReport:
    """The results of all checks of one subject; print it to read them.

    Attributes
    ----------
    subject : str
        What was checked.
    results : tuple of CheckResult

    Examples
    --------
    >>> from wdro_cvx.testing import CheckReport, CheckResult
    >>> checks = CheckResult("inside", True, "missed by 0"), CheckResult("convex", False, "by 0.1")
    >>> print(CheckReport("MyBall(0.5)", checks))
    MyBall(0.5): FAILED
      ok     inside: missed by 0
      FAILED convex: by 0.1
    """

    subject: str
    results: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        """Whether every property holds."""
        return all(result.passed for result in self.results)

    @property
    def failures(self) -> tuple[str, ...]:
        """The names of the properties that do not hold."""
        return tuple(result.name for result in self.results if not result.passed)

    def __str__(self) -> str:
        """Return one line per property."""
        lines = [
            f"  {'ok    ' if result.passed else 'FAILED'} {result.name}: {result.detail}"
            for result in self.results
        ]
        return "\n".join([f"{self.subject}: {'passed' if self.passed else 'FAILED'}", *lines])

    def raise_if_failed(self) -> None:
        """Raise ProblemError with the report as its message if a check failed."""
        if not self.passed:
            raise ProblemError(str(self))


def run_check(name: str, check: Callable[..., tuple[bool, str]], *arguments: Any) -> CheckResult:
    """Run one check, which returns whether a property holds and a detail; an error fails it."""
    try:
        passed, detail = check(*arguments)
    except Exception as error:  # a user's code may raise anything
        passed, detail = False, f"raised {describe(error)}"
    return CheckResult(name, passed, detail)


def subject_of(checked: object) -> str:
    """Return the repr of what is checked in one line, with long arrays cut."""
    with np.printoptions(threshold=6, edgeitems=1, precision=4, legacy="1.25"):
        told = " ".join(repr(checked).split())
    return told if len(told) <= _LONGEST else f"{told[: _LONGEST - 2]} …"

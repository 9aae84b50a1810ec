"""What a solver is asked for: a tolerance, limits, and whom to tell of the progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Protocol

from solvers.bracket.limits import Clock
from wdro_cvx import Solution
from wdro_cvx.validation import tolerance


@dataclass(frozen=True)
class Progress:
    """The state of a run, as a callback receives it."""

    iteration: int
    value: float
    bound: float
    gap: float
    seconds: float


Callback = Callable[[Progress], None]


class Executor(Protocol):
    """A ``concurrent.futures`` executor or a Dask client."""

    def submit(self, function: Any, /, *args: Any) -> Any:
        """Start a call and return its future."""


@dataclass(frozen=True)
class Settings:
    """The settings that all certified solvers share.

    Raises
    ------
    ProblemError
        If ``tol`` is not a provable relative gap or ``time_limit`` is not positive.
    """

    tol: float = 1e-6
    callback: Callback | None = None
    progress: bool = False
    time_limit: float = float("inf")

    def __post_init__(self) -> None:
        tolerance(self.tol)
        Clock(self.time_limit)


@dataclass(frozen=True)
class Request(Settings):
    """The arguments of :func:`solvers.solve`, which documents them."""

    start: Solution | None = None
    executor: Executor | None = None

    def settings(self, solver: type[Any]) -> dict[str, Any]:
        """Return the part of the request that a solver, a dataclass, has as settings."""
        names = {setting.name for setting in fields(solver)}
        return {name: value for name, value in vars(self).items() if name in names}

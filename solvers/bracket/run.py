"""The settings of a solver, and the state of one run: its clock, display and history."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from solvers.bracket.limits import Clock, time_limit
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
    """The settings common to all certified solvers; they are validated."""

    tol: float = 1e-6
    callback: Callback | None = None
    progress: bool = False
    time_limit: float = float("inf")

    def __post_init__(self) -> None:
        tolerance(self.tol)
        time_limit(self.time_limit)


@dataclass(frozen=True)
class Request(Settings):
    """The arguments of :func:`solvers.solve`, which documents them.

    Examples
    --------
    >>> from solvers import CertifiedSolver, Request
    >>> CertifiedSolver(**Request(tol=1e-8).settings(CertifiedSolver)).tol
    1e-08
    """

    start: Solution | None = None
    executor: Executor | None = None

    def settings(self, solver: type[Any]) -> dict[str, Any]:
        """Return the part of the request that matches the fields of a solver dataclass."""
        names = {setting.name for setting in fields(solver)}
        return {name: value for name, value in vars(self).items() if name in names}


@dataclass
class Run:
    """The clock of a run, and the single place that reports its progress.

    ``unit`` is the unit of the solver's data, measured in the unit of the problem as given.
    """

    settings: Settings = field(default_factory=Settings)
    clock: Clock = field(default_factory=Clock)
    unit: float = 1.0
    history: list[dict[str, float]] = field(default_factory=list)
    bar: Any = None  # a tqdm bar that counts the digits of the gap
    shown: str = ""

    def tell(self, iteration: int, value: float, bound: float, gap: float) -> None:
        """Show the progress and pass it to the callback, in the unit of the problem as given."""
        if self.bar is None and self.settings.callback is None:
            return
        value, bound = value * self.unit**2, bound * self.unit**2
        if self.bar is not None:
            closed = -math.log10(max(gap, self.settings.tol)) if gap < 1.0 else 0.0
            self.bar.n = round(min(closed, self.bar.total), 1)
            self.shown = f"{iteration} iterations, value {value:.8g}, gap {gap:.0e}"
            self.bar.set_postfix_str(self.shown)
        if self.settings.callback is not None:
            self.settings.callback(Progress(iteration, value, bound, gap, self.clock.seconds))

    def report(self, iteration: int, value: float, bound: float, gap: float, **more: float) -> None:
        """Add a row to the history, in the unit of the problem as given, and show the progress."""
        square = self.unit**2
        seconds = self.clock.seconds
        row = {"value": value * square, "bound": bound * square, "seconds": seconds, **more}
        self.history.append(row)
        self.tell(iteration, value, bound, gap)

    def stage(self, doing: str) -> None:
        """Show the current activity."""
        if self.bar is not None:
            self.bar.set_postfix_str(f"{self.shown}; {doing}" if self.shown else doing)

    @property
    def late(self) -> bool:
        """Whether the time limit has passed."""
        return self.clock.seconds > self.clock.limit


@contextmanager
def running(settings: Settings, unit: float = 1.0) -> Iterator[Run]:
    """Yield a run that started now, with a progress bar if the settings ask for one."""
    run = Run(settings, Clock(settings.time_limit), unit)
    if not settings.progress:
        yield run
        return
    from tqdm import tqdm  # imported only when a bar is shown

    digits = round(max(-math.log10(settings.tol), 1.0), 1)
    with tqdm(total=digits, bar_format="{l_bar}{bar}| {postfix}", desc="gap") as run.bar:
        yield run

"""One run of a solver: its clock, its display and its history."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from solvers.bracket.limits import Clock
from solvers.bracket.request import Callback, Progress, Settings


class Bar:
    """A progress bar that counts the digits of the gap; full at ``tol``."""

    def __init__(self, bar: Any, tol: float, callback: Callback | None) -> None:
        self.bar, self.tol, self.callback = bar, tol, callback
        self.where = ""

    def __call__(self, progress: Progress) -> None:
        """Show how far the gap has closed."""
        closed = -math.log10(max(progress.gap, self.tol)) if progress.gap < 1.0 else 0.0
        self.bar.n = round(min(closed, self.bar.total), 1)
        where = f"{progress.iteration} iterations, value {progress.value:.8g}"
        self.where = f"{where}, gap {progress.gap:.0e}"
        self.bar.set_postfix_str(self.where)
        if self.callback is not None:
            self.callback(progress)

    def stage(self, doing: str) -> None:
        """Show the current activity."""
        self.bar.set_postfix_str(f"{self.where}; {doing}" if self.where else doing)


@dataclass
class Run:
    """The clock of a run and the one place that reports its progress.

    ``unit`` is the unit of the solver's data, measured in the unit of the problem as given.
    """

    callback: Callback | None = None
    clock: Clock = field(default_factory=Clock)
    unit: float = 1.0
    history: list[dict[str, float]] = field(default_factory=list)

    def tell(self, iteration: int, value: float, bound: float, gap: float) -> None:
        """Pass the progress to the callback, in the unit of the problem as given."""
        if self.callback is not None:
            square = self.unit**2
            row = Progress(iteration, value * square, bound * square, gap, self.clock.seconds)
            self.callback(row)

    def report(self, iteration: int, value: float, bound: float, gap: float, **more: float) -> None:
        """Add a row to the history, in the unit of the problem as given, and tell the callback."""
        square = self.unit**2
        row = {"value": value * square, "bound": bound * square, "seconds": self.clock.seconds}
        self.history.append(row | more)
        self.tell(iteration, value, bound, gap)

    @property
    def late(self) -> bool:
        """Whether the time limit has passed."""
        return self.clock.seconds > self.clock.limit

    def stage(self, doing: str) -> None:
        """Show the current activity, if there is a bar."""
        if isinstance(self.callback, Bar):
            self.callback.stage(doing)


@contextmanager
def running(settings: Settings, unit: float = 1.0) -> Iterator[Run]:
    """Yield a run that started now, with a progress bar if the settings ask for one."""
    clock = Clock(settings.time_limit)
    if not settings.progress:
        yield Run(settings.callback, clock, unit)
        return
    from tqdm import tqdm  # imported only when a bar is shown

    digits = max(-math.log10(settings.tol), 1.0)
    with tqdm(total=round(digits, 1), bar_format="{l_bar}{bar}| {postfix}", desc="gap") as bar:
        yield Run(Bar(bar, settings.tol, settings.callback), clock, unit)

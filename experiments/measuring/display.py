"""What goes on: a live table or bar on a terminal, plain lines in a log; always on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from experiments.measuring.outcome import Outcome
from experiments.measuring.store import Row
from experiments.measuring.text import seconds

if TYPE_CHECKING:
    from experiments.measuring.campaign import Planned

_LINE_S = 10.0  # between two lines of a log
_GROWTH = 3.0  # the power of d by which times yet unknown are guessed
_MARKS = {
    Outcome.TIME_OUT: "time-out",
    Outcome.OUT_OF_MEMORY: "memory",
    Outcome.CRASH: "crash",
    Outcome.FAILED: "failed",
    Outcome.SKIPPED: "–",
}


def mark(row: Row) -> str:
    """Return a result in a word: the time if solved, otherwise what stopped it."""
    outcome = Outcome(row["outcome"])
    if outcome is not Outcome.OK:
        return _MARKS[outcome]
    return seconds(row["total_s"]) if row["is_solved"] else "not solved"


class CampaignDisplay:
    """Method × d filling in, panel by panel."""

    def __init__(self, description: str, planned: Sequence[Planned]) -> None:
        self._description, self._planned = description, planned
        self._marks: dict[tuple[str, str, int], str] = {}
        self._spent: dict[tuple[object, ...], tuple[int, float]] = {}
        self._count = self._reused = 0
        self._started = self._begun = time.perf_counter()
        self._current: Planned | None = None
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        else:
            _line(f"{self._description}: {len(self._planned)} measurements")
        return self

    def __exit__(self, *_: object) -> None:
        if self._live.is_started:
            self._live.stop()
            if self._current is not None:
                self._console.print(self._table(self._current.panel))
        took = time.perf_counter() - self._started
        kept = f", {self._reused} of them from an earlier run" if self._reused else ""
        _line(
            f"{self._description}: {self._count} of {len(self._planned)} done{kept}, {took:.0f} s"
        )

    def begin(self, item: Planned) -> None:
        """Show that a measurement is under way."""
        self._begun = time.perf_counter()
        self._show(item, "…")

    def reused(self, item: Planned, row: Row) -> None:
        """Show a result that an earlier run made."""
        self._reused += 1
        self._finish(item, mark(row))

    def done(self, item: Planned, row: Row) -> None:
        """Show a result."""
        elapsed = time.perf_counter() - self._begun
        self._spent[item.series] = (item.cell.instance.d, elapsed)
        self._finish(item, mark(row))
        if not self._console.is_terminal and row["outcome"] != Outcome.SKIPPED:
            cell = item.cell
            place = f"{self._count}/{len(self._planned)}"
            what = f"d = {cell.instance.d:<4} {cell.method:28} {mark(row):12}"
            why = row.get("message") or ""
            _line(f"{place:>9}  {item.panel:27} {what} {why}".rstrip())

    def _finish(self, item: Planned, text: str) -> None:
        self._count += 1
        self._show(item, text)

    def _show(self, item: Planned, text: str) -> None:
        if (
            self._current is not None
            and self._current.panel != item.panel
            and self._live.is_started
        ):
            self._console.print(self._table(self._current.panel))
        self._current = item
        self._marks[item.panel, item.cell.method, item.cell.instance.d] = text
        if self._live.is_started:
            self._live.update(self._render(item), refresh=True)

    def _render(self, item: Planned) -> RenderableType:
        left = self._left()
        line = (
            f"{self._description}: {self._count} of {len(self._planned)}, about "
            f"{left / 60:.0f} min {left % 60:.0f} s left; d = {item.cell.instance.d}, "
            f"{item.cell.method}"
        )
        return Group(self._table(item.panel), Text(line))

    def _table(self, panel: str) -> Table:
        members = [item for item in self._planned if item.panel == panel]
        sizes = sorted({item.cell.instance.d for item in members})
        table = Table(title=panel, title_justify="left")
        table.add_column("method")
        for d in sizes:
            table.add_column(f"d = {d}", justify="right")
        for method in dict.fromkeys(item.cell.method for item in members):
            table.add_row(method, *(self._marks.get((panel, method, d), "") for d in sizes))
        return table

    def _left(self) -> float:
        """Guess the seconds that remain, from what the same methods took at smaller sizes."""
        total = 0.0
        for item in self._planned[self._count :]:
            known = self._spent.get(item.series)
            if known is None:
                total += 0.5
            elif known[1] > 0.0:
                guess = known[1] * (item.cell.instance.d / known[0]) ** _GROWTH
                total += min(guess, item.limits.limit_s)
        return total


class TrialDisplay:
    """How many trials are done: a bar on a terminal, a line every ten seconds in a log."""

    def __init__(self, description: str, total: int, reused: int) -> None:
        self._description, self._total, self._done = description, total, reused
        self._said = time.perf_counter()
        self._terminal = Console(stderr=True).is_terminal
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TimeRemainingColumn(), console=Console(stderr=True), transient=True,
        )  # fmt: skip
        self._reused = reused

    def __enter__(self) -> Self:
        if self._terminal:
            self._task = self._bar.add_task(
                self._description, total=self._total, completed=self._done
            )
            self._bar.start()
        elif self._reused:
            _line(f"{self._description}: {self._reused} of {self._total} from an earlier run")
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
        _line(f"{self._description}: {self._done} of {self._total} done")

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        now = time.perf_counter()
        if self._terminal:
            self._bar.advance(self._task)
        elif now - self._said > _LINE_S:
            self._said = now
            _line(f"{self._description}: {self._done} of {self._total}")


def note(text: str) -> None:
    """Say something about the run as a whole."""
    _line(f"  {text}")


def _line(text: str) -> None:
    try:
        print(text, file=sys.stderr, flush=True)
    except BrokenPipeError:  # nobody reads on: that ends a run
        raise
    except OSError:  # a log on a full disk does not
        pass

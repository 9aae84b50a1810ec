"""Show progress on stderr: a live line on a terminal, plain lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from experiments.measuring.outcome import Outcome
from experiments.measuring.text import seconds

if TYPE_CHECKING:
    from experiments.measuring.campaign import Planned
    from experiments.measuring.store import Row

_LINE_S = 10.0  # between two lines of a log
_BAR = 30  # characters
_GROWTH = 3.0  # times grow like this power of d


class Display:
    """A context manager that shows the number of finished tasks.

    Parameters
    ----------
    description : str
    total : int
    reused : int
        The number of tasks with results from an earlier run.
    """

    def __init__(self, description: str, total: int, reused: int = 0) -> None:
        self._description, self._total = description, total
        self._count = self._reused = reused
        self._started = self._said = time.perf_counter()
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
            self._refresh()
        else:
            kept = f", {self._reused} of them from an earlier run" if self._reused else ""
            _line(f"{self._description}: {self._total} tasks{kept}")
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()
        took = time.perf_counter() - self._started
        kept = f", {self._reused} of them from an earlier run" if self._reused else ""
        _line(f"{self._description}: {self._count} of {self._total} done{kept}, {took:.0f} s")

    def step(self) -> None:
        """Count a finished task."""
        self._count += 1
        now = time.perf_counter()
        if self._live.is_started:
            self._refresh()
        elif now - self._said > _LINE_S:
            self._said = now
            _line(f"{self._description}: {self._count} of {self._total}")

    def _refresh(self, above: Sequence[RenderableType] = (), doing: str = "") -> None:
        line = Table.grid(padding=(0, 1))
        bar = ProgressBar(self._total, self._count, _BAR)
        left = self._left()
        line.add_row(
            self._description, bar, f"{self._count}/{self._total}",
            f"about {left // 60:.0f} min {left % 60:.0f} s left", doing,
        )  # fmt: skip
        self._live.update(Group(*above, line), refresh=True)

    def _left(self) -> float:
        """Estimate the remaining seconds."""
        done = self._count - self._reused
        elapsed = time.perf_counter() - self._started
        return elapsed / done * (self._total - self._count) if done else 0.0


class CampaignDisplay(Display):
    """A display with a table of methods by d for the panel in progress."""

    def __init__(self, description: str, planned: Sequence[Planned]) -> None:
        super().__init__(description, len(planned))
        self._planned = planned
        self._marks: dict[tuple[str, str, int], str] = {}
        self._spent: dict[tuple[object, ...], tuple[int, float]] = {}
        self._begun = self._started
        self._current: Planned | None = None

    def __exit__(self, *_: object) -> None:
        self._print_panel()
        super().__exit__()

    def begin(self, item: Planned) -> None:
        """Show that a measurement is in progress."""
        self._begun = time.perf_counter()
        self._show(item, "…")

    def reused(self, item: Planned, row: Row) -> None:
        """Show a result of an earlier run."""
        self._reused += 1
        self._count += 1
        self._show(item, mark(row))

    def done(self, item: Planned, row: Row) -> None:
        """Show a new result."""
        cell, text = item.cell, mark(row)
        self._spent[item.series] = (cell.instance.d, time.perf_counter() - self._begun)
        self._count += 1
        self._show(item, text)
        if not self._live.is_started and row["outcome"] != Outcome.SKIPPED:
            place = f"{self._count}/{self._total}"
            what = f"d = {cell.instance.d:<4} {cell.method:28} {text:12}"
            why = row.get("message") or ""
            _line(f"{place:>9}  {item.panel:27} {what} {why}".rstrip())

    def _show(self, item: Planned, text: str) -> None:
        if self._current is not None and self._current.panel != item.panel:
            self._print_panel()
        self._current = item
        self._marks[item.panel, item.cell.method, item.cell.instance.d] = text
        if self._live.is_started:
            doing = f"d = {item.cell.instance.d}, {item.cell.method}"
            self._refresh([self._table(item.panel)], doing)

    def _print_panel(self) -> None:
        if self._live.is_started and self._current is not None:
            self._console.print(self._table(self._current.panel))

    def _table(self, panel: str) -> Table:
        members = [item for item in self._planned if item.panel == panel]
        sizes = sorted({item.cell.instance.d for item in members})
        table = Table("method", title=panel, title_justify="left")
        for d in sizes:
            table.add_column(f"d = {d}", justify="right")
        for method in dict.fromkeys(item.cell.method for item in members):
            table.add_row(method, *(self._marks.get((panel, method, d), "") for d in sizes))
        return table

    def _left(self) -> float:
        """Estimate the remaining seconds from the same methods at smaller sizes."""
        total = 0.0
        for item in self._planned[self._count :]:
            d, spent = self._spent.get(item.series, (item.cell.instance.d, 0.5))
            guess = spent * (item.cell.instance.d / d) ** _GROWTH
            total += min(guess, item.limits.limit_s)
        return total


def mark(row: Row) -> str:
    """Return the time of a solved row, or how an unsolved one ended."""
    if row["outcome"] != Outcome.OK:
        return str(row["outcome"])
    return seconds(row["total_s"]) if row["is_solved"] else "not solved"


def note(text: str) -> None:
    """Print a line about the run as a whole."""
    _line(f"  {text}")


def _line(text: str) -> None:
    try:
        print(text, file=sys.stderr, flush=True)
    except BrokenPipeError:  # the reader is gone: stop the run
        raise
    except OSError:  # for example a full disk under the log: continue
        pass

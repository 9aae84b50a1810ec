"""A progress display for the certified solvers: how far the gap has closed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from solvers.bracket.incumbent import Callback, Progress


class Bar:
    """A bar of the gap's digits, which tells too what is done between two gaps.

    Parameters
    ----------
    bar : tqdm
    tol : float
        The gap at which the bar is full.
    callback : callable, optional
        Told the progress as well.
    """

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
        """Show what is done now."""
        self.bar.set_postfix_str(f"{self.where}; {doing}" if self.where else doing)


@contextmanager
def progress_display(
    shown: bool, tol: float, callback: Callback | None
) -> Iterator[Callback | None]:
    """Yield the callback to use: the given one, with a bar of the gap's digits if ``shown``."""
    if not shown:
        yield callback
        return
    from tqdm import tqdm  # only who looks pays for it

    digits = max(-math.log10(tol), 1.0)
    with tqdm(total=round(digits, 1), bar_format="{l_bar}{bar}| {postfix}", desc="gap") as bar:
        yield Bar(bar, tol, callback)

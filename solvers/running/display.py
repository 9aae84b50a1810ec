"""A progress display for the certified solvers: how far the gap has closed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from solvers.running.incumbent import Callback, Progress


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

        def show(progress: Progress) -> None:
            closed = -math.log10(max(progress.gap, tol)) if progress.gap < 1.0 else 0.0
            bar.n = round(min(closed, digits), 1)
            where = f"{progress.iteration} iterations, value {progress.value:.8g}"
            bar.set_postfix_str(f"{where}, gap {progress.gap:.0e}")
            if callback is not None:
                callback(progress)

        yield show

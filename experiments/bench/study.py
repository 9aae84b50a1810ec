"""Run the contests of ``wdro bench`` and report times, ratios and memory at every size."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import pandas as pd

from experiments.bench import contests
from experiments.bench.contests import Contest
from experiments.drawing.scaling import draw_panels, growth
from experiments.measuring.digest import Source
from experiments.measuring.outcome import Limits, Outcome
from experiments.measuring.text import busy_warning, markdown_table, seconds
from experiments.study import Report, Run, Study

_SOURCE = Source(("experiments.measuring.measurement", "experiments.bench.rivals.register"))
#: Registers the rivals, and only in the processes that measure them.
RIVALS = str(find_spec("experiments.bench.rivals.register").origin)  # type: ignore[union-attr]
_HEADER = ["d", "method", "CPU", "range", "wall", "ratio", "memory", "judged gap", ""]


def _answering(chosen: Sequence[Contest]) -> Callable[[Run, argparse.Namespace], Report]:
    """Return the ``answer`` function of a study that runs the given contests."""

    def answer(run: Run, options: argparse.Namespace) -> Report:
        limits = Limits(options.time_limit, options.memory_limit)
        plan = [item for contest in chosen for item in contest.plan(limits)]
        rows = run.measure(plan, "bench", (RIVALS,))
        panels = {str(title): part for title, part in rows.groupby("panel", sort=False)}
        solved = int(rows["is_solved"].sum())
        return Report(
            "Bench",
            describe(rows, {contest.title: contest.ours for contest in chosen}),
            tables={"runs": rows},
            figures={"bench": draw_panels(panels)},
            summary=f"{len(rows)} runs: {solved} solved",
            failure="" if solved else "nothing was solved within the limits; raise them.",
        )

    return answer


def describe(rows: pd.DataFrame, ours: dict[str, str]) -> list[str]:
    """Return the paragraphs and tables of the report; ``ours`` maps titles to our methods."""
    parts = [
        "Every time is a median of runs in one process with one thread, as CPU and as wall time. "
        "Every method runs at the loosest of its tolerances whose answer the judge accepts. "
        "`ratio` is relative to our solver at the same d. Memory is the peak of the whole process, "
        "libraries included.",
        *busy_warning(rows),
        "![time against d](bench.png)",
    ]
    for title, method in ours.items():
        part = rows[rows["panel"] == title].sort_values(["d", "total_s"])
        base = part[part["method"] == method].set_index("d")["total_s"]
        lines = [_line(row, float(base.get(row["d"], float("nan")))) for _, row in part.iterrows()]
        found = {str(name): growth(group) for name, group in part.groupby("method", sort=False)}
        parts += [f"## {title}", markdown_table(_HEADER, lines), growth_sentence(found)]
    return parts


def growth_sentence(found: dict[str, str]) -> str:
    """Return a sentence with the fitted exponents, empty if there are none."""
    known = ", ".join(f"{name} {k}" for name, k in found.items() if k != "–")
    return f"Growth, with a 95 % confidence interval: {known}." if known else ""


def _line(row: pd.Series, base: float) -> list[object]:
    if row["outcome"] != Outcome.OK:
        return [row["d"], row["method"], row["outcome"], *[""] * 5, row["message"]]
    return [
        row["d"], row["method"], seconds(row["total_s"]),
        f"{seconds(row['fastest_s'])} to {seconds(row['slowest_s'])}", seconds(row["wall_s"]),
        "" if base != base else f"{row['total_s'] / base:.3g}×", f"{row['peak_mb']:.0f} MiB",
        f"{row['gap']:.0e}", "" if row["is_solved"] else "not solved",
    ]  # fmt: skip


BENCH = Study("bench", _SOURCE, _answering(contests.CONTESTS))
LOG_DEGREE = Study("bench-log-degree", _SOURCE, _answering(contests.LOG_DEGREE))

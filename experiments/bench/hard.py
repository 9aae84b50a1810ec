"""``wdro bench --hard``: large graphs with other sets, and with balls that are hard to solve."""

from __future__ import annotations

import argparse
import math

import pandas as pd

from experiments.bench import hard_trial as trial
from experiments.bench.scale_trial import ETA, TOLERANCE
from experiments.measuring.digest import Source
from experiments.measuring.outcome import Limits, Outcome
from experiments.measuring.store import Row
from experiments.measuring.text import markdown_table, seconds
from experiments.study import Report, Run, Study

#: Defaults for a row without an answer.
_EMPTY: Row = {
    "said": "", "is_solved": False,
    **dict.fromkeys(("total_s", "wall_s", "value", "gap", "beyond_mb"), math.nan),
}  # fmt: skip


def _answer(run: Run, options: argparse.Namespace) -> Report:
    limits = Limits(options.time_limit, options.memory_limit)
    tasks = {cell: cell for cell in trial.cells()}
    table = run.isolated(tasks, trial.measure, limits, _EMPTY)
    solved = int(table["is_solved"].sum())
    return Report(
        "Hard graphs of many vertices",
        describe(table),
        tables={"runs": table},
        summary=f"{len(table)} runs: {solved} solved",
        failure="" if solved else "nothing was solved within the limits; raise them.",
    )


def describe(table: pd.DataFrame) -> list[str]:
    """Return the paragraphs and the table of the report."""
    header = ["set", "prior", "dimensions", "d", "N", "CPU", "beyond the data", "judged gap", ""]
    return [
        "Each line is one process with one thread. The true graph joins neighbours among random "
        f"points in a cube. `SparseSolver` learns a graph (η = {ETA:g}, or a log-degree "
        f"prior) to a judged gap of {TOLERANCE:g}; its time includes the judge's pass over "
        "all pairs. Memory is the peak of the process while it solves, less its memory before.",
        markdown_table(header, [_line(row) for _, row in table.iterrows()]),
    ]


def _line(row: pd.Series) -> list[object]:
    start = [row["ambiguity"], row["prior"], row["dimensions"], row["d"], row["n"]]
    if row["outcome"] != Outcome.OK:
        return [*start, row["outcome"], "", "", row["message"]]
    return [
        *start, seconds(row["total_s"]), f"{row['beyond_mb']:.0f} MiB", f"{row['gap']:.0e}",
        "" if row["is_solved"] else row["said"],
    ]  # fmt: skip


HARD = Study("bench-hard", Source(("experiments.bench.hard_trial",)), _answer)

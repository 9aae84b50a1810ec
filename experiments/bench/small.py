"""``wdro bench --small``: small problems, one by one, together, and by another method."""

from __future__ import annotations

import argparse
import math

import pandas as pd

from experiments.bench import small_trial as trial
from experiments.measuring.digest import Source
from experiments.measuring.outcome import Limits, Outcome
from experiments.measuring.store import Row
from experiments.measuring.text import markdown_table, seconds
from experiments.study import Report, Run, Study

#: Defaults for a row without an answer, or without another method.
_EMPTY: Row = {
    "is_solved": False, "other": "", "other_is_solved": False,
    **dict.fromkeys(("total_s", "together_s", "other_s"), math.nan),
}  # fmt: skip


def _answer(run: Run, options: argparse.Namespace) -> Report:
    limits = Limits(options.time_limit, options.memory_limit)
    tasks = {cell: cell for cell in trial.cells()}
    table = run.isolated(tasks, trial.measure, limits, _EMPTY)
    solved = int(table["is_solved"].sum())
    return Report(
        "Small problems",
        describe(table),
        tables={"runs": table},
        summary=f"{len(table)} measurements: our answers are solved in {solved}",
        failure="" if solved == len(table) else "not all of our answers are solved.",
    )


def describe(table: pd.DataFrame) -> list[str]:
    """Return the paragraphs and the table of the report."""
    header = ["model", "d", "one by one", "together", "a second", "ratio", "other method",
              "its time", "its time / one by one", ""]  # fmt: skip
    return [
        "CPU time of one problem, in one process with one thread: solved one by one by `solve`, "
        f"together with {trial.COUNT - 1} others by `solve_many`, and one by one by another "
        "method. *A second* is how many problems are solved together in a second. Every answer is "
        f"judged at {trial.TOLERANCE:g}. Our times and those of ProjectedGradient include the "
        "judge's proof of the gap; those of PIQP and Clarabel do not. Clarabel's is the time that "
        "it reports itself, without building and compiling the program.",
        markdown_table(header, [_line(row) for _, row in table.iterrows()]),
    ]


def _line(row: pd.Series) -> list[object]:
    start = [row["model"], row["d"]]
    if row["outcome"] != Outcome.OK:
        return [*start, row["outcome"], *[""] * 6, row["message"]]
    alone, together, other = row["total_s"], row["together_s"], row["other_s"]
    notes = [] if row["is_solved"] else ["ours: not all solved"]
    found = [*start, seconds(alone), seconds(together), f"{1 / together:.0f}",
             f"{alone / together:.1f}×"]  # fmt: skip
    if other != other:
        return [*found, "", "", "", *(notes or [""])]
    notes += [] if row["other_is_solved"] else ["other method: not all solved"]
    return [*found, row["other"], seconds(other), f"{other / alone:.2f}", "; ".join(notes)]


SMALL = Study("bench-small", Source(("experiments.bench.small_trial",)), _answer)

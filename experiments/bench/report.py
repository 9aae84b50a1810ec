"""The report of ``wdro bench``: times, ratios and memory at every size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from experiments.bench.contests import Contest
from experiments.drawing.scaling import growth, solved_times
from experiments.measuring.outcome import Outcome
from experiments.measuring.provenance import provenance_line
from experiments.measuring.text import busy_warning, markdown_table, seconds


def describe(
    rows: pd.DataFrame,
    panels: Mapping[str, pd.DataFrame],
    contests: Sequence[Contest],
    command: str,
) -> str:
    """Return the report in Markdown."""
    parts = [
        "# Bench",
        f"Made by `{command}`. Every time is a median of runs in one process with "
        "one thread, CPU and beside it wall; every method runs at the loosest of its tolerances "
        "whose answer the judge accepts. `ratio` is against our solver at the same d. Memory is "
        "the peak of the whole process, libraries included.",
        *busy_warning(rows),
        "![time against d](bench.png)",
    ]
    for contest in contests:
        part = panels[contest.title]
        ours = part[part["method"] == contest.ours].set_index("d")["total_s"]
        lines = []
        for _, row in part.sort_values(["d", "total_s"]).iterrows():
            if row["outcome"] != Outcome.OK:
                lines.append([row["d"], row["method"], row["outcome"], *[""] * 5, row["message"]])
                continue
            spread = f"{seconds(row['fastest_s'])} to {seconds(row['slowest_s'])}"
            lines.append([
                row["d"], row["method"], seconds(row["total_s"]), spread, seconds(row["wall_s"]),
                _ratio(row["total_s"], ours.get(row["d"], float("nan"))),
                f"{row['peak_mb']:.0f} MiB", f"{row['gap']:.0e}",
                "" if row["is_solved"] else "not solved",
            ])  # fmt: skip
        header = ["d", "method", "CPU", "range", "wall", "ratio", "memory", "judged gap", ""]
        parts += [f"## {contest.title}", markdown_table(header, lines), _exponents(part)]
    parts.append(f"Made with {provenance_line()}.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _ratio(value: float, base: float) -> str:
    return "" if base != base else f"{value / base:.3g}×"


def _exponents(rows: pd.DataFrame) -> str:
    found = {
        str(method): growth(solved_times(group))
        for method, group in rows.groupby("method", sort=False)
    }
    known = ", ".join(f"{method} {k}" for method, k in found.items() if k != "–")
    return f"Growth, where d spans a decade and a power law fits: {known}." if known else ""

"""``wdro bench --scale``: measure time and memory on large graphs, and compare them with goals."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.bench import scale_trial as trial
from experiments.bench.scale_trial import AT, DENSE, EIGEN, LOG_SPARSE, NEIGHBOURS, SPARSE
from experiments.bench.study import growth_sentence
from experiments.drawing.scaling import growth
from experiments.drawing.style import BLUE, GREY, PAGE, PURPLE, SKY
from experiments.measuring.digest import Source
from experiments.measuring.outcome import Limits, Outcome
from experiments.measuring.store import Row
from experiments.measuring.text import markdown_table, seconds
from experiments.study import Report, Run, Study

#: Defaults for a row without an answer.
_EMPTY: Row = {
    "said": "", "is_solved": False,
    **dict.fromkeys(
        ("total_s", "wall_s", "value", "gap", "neighbours", "data_mb", "beyond_mb", "peak_mb"),
        math.nan,
    ),
}  # fmt: skip
_STYLES = {
    DENSE: (BLUE, "o", "--"),
    SPARSE: (BLUE, "D", "-"),
    trial.LOG_DENSE: (PURPLE, "o", "--"),
    LOG_SPARSE: (PURPLE, "D", "-"),
    NEIGHBOURS: (SKY, "^", ":"),
}
_FEW = 50  # signals of the largest graphs
_FASTER = 15.0  # times the dense path
UNITS = {10_000: 60.0, 100_000: 250.0}  # eigendecompositions, by d
_MEMORY = {10_000: 1.0, 100_000: 2.0}  # GiB beyond the data, by d
_FROM, _TO, _EXPONENT = 5000, 50_000, 2.0
MET, MISSED, UNKNOWN = "yes", "no", "not measured"


def _answer(run: Run, options: argparse.Namespace) -> Report:
    limits = Limits(options.time_limit, options.memory_limit)
    cells = trial.cells(options.largest, run.scheduler is not None)
    tasks = {cell: (cell, run.scheduler) for cell in cells}
    table = run.isolated(tasks, trial.measure, limits, _EMPTY)
    return Report(
        "Scale",
        describe(table),
        tables={"runs": table},
        figures={"scale": draw(table)},
        summary=f"{len(table)} runs: {int(table['is_solved'].sum())} solved",
    )


def describe(table: pd.DataFrame) -> list[str]:
    """Return the paragraphs and tables of the report."""
    shown = _in_plane(table)
    found = {path: growth(shown[shown["path"] == path]) for path in _STYLES}
    header = ["path", "dimensions", "N", "d", "CPU", "wall", "beyond the data", "data",
              "neighbours", "judged gap", ""]  # fmt: skip
    return [
        "Each line is one process with one thread. The true graph joins neighbours among random "
        "points in a cube. The dense and the sparse path learn a Wasserstein-robust graph "
        f"(η = {trial.ETA:g}, ε = {trial.SHARE:g}√d) to a judged gap of {trial.TOLERANCE:g}; their "
        "times include the judge's pass over all pairs. The log-degree lines are sample averages, "
        f"with αβ such that a vertex by itself would take {trial.WANTED} neighbours. They are "
        "learned over all pairs, and, as is common, over near pairs only. The gap of near pairs is "
        "judged with the bound of the sparse path. Memory is the peak of the process while it "
        "solves, less its memory before.",
        "A Dask cluster computed the sparse path's blocks of prices. Its time is part of the wall "
        "time, not of the CPU time." if table["cluster"].any() else "",
        "![time and memory against d](scale.png)",
        f"The figure shows neighbours in the plane and N = {trial.N} signals, unless the legend "
        "states another number.",
        growth_sentence(found),
        markdown_table(["work", "goal", "measured", "met"], goals(table)),
        markdown_table(header, [_line(row) for _, row in table.iterrows()]),
    ]  # fmt: skip


def _line(row: pd.Series) -> list[object]:
    start = [row["path"], row["dimensions"], row["n"], row["d"]]
    if row["outcome"] != Outcome.OK:
        return [*start, row["outcome"], *[""] * 5, row["message"]]
    times = [seconds(row["total_s"]), seconds(row["wall_s"])]
    if row["path"] == EIGEN:
        return [*start, *times, *[""] * 5]
    return [
        *start, *times, f"{row['beyond_mb']:.0f} MiB", f"{row['data_mb']:.0f} MiB",
        f"{row['neighbours']:.1f}", f"{row['gap']:.0e}",
        "" if row["is_solved"] or row["path"] == NEIGHBOURS else row["said"],
    ]  # fmt: skip


def draw(table: pd.DataFrame) -> Figure:
    """Draw time and memory against d, for neighbours in the plane and N = 200 unless stated."""
    figure, axes = plt.subplots(1, 2, figsize=(PAGE, 3.2), layout="constrained")
    shown, few = _in_plane(table), _in_plane(table, _FEW)
    few = few[few["path"] == SPARSE].sort_values("d")
    for panel, column, label in (
        (axes[0], "total_s", "CPU time (s), judge included for ours"),
        (axes[1], "beyond_mb", "peak memory beyond the data (MiB)"),
    ):
        for path, (colour, marker, line) in _STYLES.items():
            rows = shown[shown["path"] == path].sort_values("d")
            panel.plot(
                rows["d"], np.maximum(rows[column], 1e-3), color=colour, marker=marker,
                linestyle=line, label=path,
            )  # fmt: skip
        if len(few):
            panel.plot(
                few["d"], few[column], color=BLUE, marker="D", markerfacecolor="white",
                label=f"sparse path, N = {_FEW}",
            )  # fmt: skip
        panel.set(xlabel="number of vertices d", ylabel=label)
        if len(shown):  # a logarithmic axis needs data
            panel.set(xscale="log", yscale="log")
        panel.grid(True, which="major", linewidth=0.4, alpha=0.5, color=GREY)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def _in_plane(table: pd.DataFrame, signals: int = trial.N) -> pd.DataFrame:
    """Return the finished runs on neighbours in the plane with some number of signals."""
    usual = (table["dimensions"] == trial.PLANE) & (table["n"] == signals)
    return table[usual & (table["outcome"] == Outcome.OK)]


class Goal(NamedTuple):
    """A row of the table of goals; ``met`` is empty if the row is only a comparison."""

    work: str
    goal: str
    measured: str
    met: str


def goals(table: pd.DataFrame) -> list[Goal]:
    """Return the goals of the sparse path, and whether the measurements meet them.

    Ratios compare CPU times. A goal is met only if all measurements behind it were solved.
    """
    shown = _in_plane(table)

    def row(path: str, d: int) -> pd.Series | None:
        chosen = shown[(shown["path"] == path) & (shown["d"] == d)]
        return None if chosen.empty else chosen.iloc[0]

    def goal(
        work: str, asked: str, text: str, rows: list[pd.Series | None],
        number: Callable[..., float], least: float = -math.inf, most: float = math.inf,
    ) -> Goal:  # fmt: skip
        there = [one for one in rows if one is not None]
        if len(there) < len(rows):
            return Goal(work, asked, "–", UNKNOWN)
        found = number(*there)
        met = least <= found <= most and all(one["is_solved"] for one in there)
        return Goal(work, asked, text.format(found), MET if met else MISSED)

    def ratio(one: pd.Series, other: pd.Series) -> float:
        return float(one["total_s"] / other["total_s"])

    unit = row(EIGEN, AT)
    found = [
        goal(
            f"d = {AT}, against the dense path", f"≥ {_FASTER:g}×", "{:.1f}×",
            [row(DENSE, AT), row(SPARSE, AT)], ratio, least=_FASTER,
        )
    ]  # fmt: skip
    for d, most in UNITS.items():
        asked = f"≤ {most:g} eigendecompositions of size {AT}, gap ≤ {trial.TOLERANCE:g}"
        rows = [row(SPARSE, d), unit]
        found.append(goal(f"d = {d:,}", asked, "{:.1f}", rows, ratio, most=most))
    for d, most in _MEMORY.items():
        found.append(goal(
            f"d = {d:,}, memory", f"≤ {most:g} GiB beyond the data", "{:.2f} GiB",
            [row(SPARSE, d)], lambda sparse: sparse["beyond_mb"] / 1024.0, most=most,
        ))  # fmt: skip
    found.append(goal(
        f"growth, d = {_FROM:,} to {_TO:,}", f"≤ d^{_EXPONENT:g}", "d^{:.2f}",
        [row(SPARSE, _TO), row(SPARSE, _FROM)],
        lambda last, first: math.log(ratio(last, first)) / math.log(_TO / _FROM),
        most=_EXPONENT,
    ))  # fmt: skip
    found.append(_agreement(table))
    for d in sorted(set(table["d"])):
        near, ours = row(NEIGHBOURS, d), row(LOG_SPARSE, d)
        if near is not None and ours is not None:
            told = f"ours takes {ratio(ours, near):.1f} times as long, to {ours['gap']:.0e}"
            work = f"log-degree, d = {d:,}: near pairs only"
            found.append(Goal(work, "(a comparison)", f"gap {near['gap']:.0e}; {told}", ""))
    return found


def _agreement(table: pd.DataFrame) -> Goal:
    """Compare the values of the dense and sparse paths on problems that both solved."""
    done = table[table["is_solved"].astype(bool)]
    keys = ["d", "n", "dimensions"]
    values = (done[done["path"] == path].set_index(keys)["value"] for path in (DENSE, SPARSE))
    both = pd.concat(list(values), axis=1, join="inner").to_numpy(float)
    work, asked = f"values, d ≤ {AT}", f"the dense path's to {trial.TOLERANCE:g}"
    if not len(both):
        return Goal(work, asked, "–", UNKNOWN)
    worst = float(np.max(np.abs(both[:, 0] - both[:, 1]) / np.abs(both).max(axis=1)))
    measured = f"at most {worst:.0e} apart, {len(both)} pairs"
    return Goal(work, asked, measured, MET if worst <= trial.TOLERANCE else MISSED)


SCALE = Study("bench-scale", Source(("experiments.bench.scale_trial",)), _answer)

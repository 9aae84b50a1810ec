"""Show how run time grows with d: fitted growth and log-log figures with limits."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, StrMethodFormatter

from experiments.drawing.style import (
    GREY,
    PAGE,
    label_line,
    method_style,
    note_point,
    place_notes,
    plain_ticks,
    spread_labels,
)
from experiments.measuring.growth import fit_growth
from experiments.measuring.outcome import Outcome
from experiments.measuring.words import method_words

_APART = 1.13  # factor of d between marks at the same size and limit
_MARKS = {Outcome.TIME_OUT: "x", Outcome.OUT_OF_MEMORY: "+"}
_COLUMNS = 3
_LETTERS = 32  # in one line of a panel's title
_LEGEND_LINE = 0.18  # inches
_LEGEND_LETTERS = 26  # of the longest name, if the legend has three columns
_FEW_DECADES = 50.0
_ROOM = 1.35  # least factor between ticks of sizes
_BAND, _BANDS = 0.15, 0.5  # opacity of a band, and of all bands of a panel together
_LABELS = 0.55  # width of the labels at the ends of curves, relative to that of the curves


def growth(rows: pd.DataFrame) -> str:
    """Return the fitted growth of the solved rows as text, or a dash if there is none."""
    done = rows[rows["is_solved"].astype(bool)]
    found = fit_growth(done["d"].to_numpy(float), done["total_s"].to_numpy(float))
    return "–" if found is None else str(found)


def solved_times(rows: pd.DataFrame) -> pd.Series:
    """Return the median time of the solved rows by d."""
    times: pd.Series = rows[rows["is_solved"].astype(bool)].groupby("d")["total_s"].median()
    return times


def draw_curves(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw the median time and range of every method against d, and mark limits that were hit."""
    opacity = min(_BAND, _BANDS / rows["method"].nunique())
    for method, group in rows.groupby("method", sort=False):
        style = method_style(str(method))
        name = method_words(str(method))
        done = group[group["is_solved"]]
        if done.empty:
            continue
        times = solved_times(done)
        sizes = times.index.to_numpy(float)
        by_size = done.groupby("d")
        low = by_size["fastest_s"].min().to_numpy(float)
        high = by_size["slowest_s"].max().to_numpy(float)
        axes.fill_between(sizes, low, high, color=style.colour, alpha=opacity, linewidth=0)
        axes.plot(
            sizes, times.to_numpy(float), label=name, color=style.colour, marker=style.marker,
            linestyle=style.line,
        )  # fmt: skip
    _draw_limits(axes, rows)


def _draw_limits(axes: Axes, rows: pd.DataFrame) -> None:
    """Mark the runs that hit a limit, side by side if several did at one size."""
    stopped = rows[rows["outcome"].isin(list(_MARKS))]
    for _, group in stopped.groupby(["d", "limit_s"]):
        d, limit = float(group["d"].iloc[0]), float(group["limit_s"].iloc[0])
        places = d * _APART ** (np.arange(len(group)) - (len(group) - 1) / 2)
        for place, (_, row) in zip(places, group.iterrows(), strict=True):
            style = method_style(row["method"])
            axes.plot(
                [place], [limit], marker=style.marker, markersize=8, markerfacecolor="none",
                color=style.colour, linestyle="none", markeredgewidth=0.8,
            )  # fmt: skip
            axes.plot(
                [place], [limit], marker=_MARKS[Outcome(row["outcome"])], markersize=4,
                color=style.colour, linestyle="none", markeredgewidth=1.2,
            )  # fmt: skip
        if (group["outcome"] == Outcome.OUT_OF_MEMORY).any():
            note_point(axes, d, limit, "out of memory", "#555555")
    for limit in stopped["limit_s"].unique():
        axes.axhline(limit, color=GREY, linewidth=0.6, linestyle=(0, (1, 3)), zorder=0)
        axes.annotate(
            f"limit: {limit:g} s", (0.02, limit), color="#555555", va="top",
            xycoords=("axes fraction", "data"), xytext=(0, -2), textcoords="offset points",
        )  # fmt: skip


def frame(axes: Axes, rows: pd.DataFrame, title: str) -> None:
    """Set up logarithmic axes for d and time."""
    axes.set(xscale="log", yscale="log", title=_lines(title))
    sizes = sorted(float(d) for d in rows["d"].unique())
    shown = sizes[:1]
    room = max(_ROOM, (sizes[-1] / sizes[0]) ** 0.17)
    for d in sizes[1:]:
        if d >= room * shown[-1]:
            shown.append(d)
    plain_ticks(axes, shown)
    low, high = axes.get_ylim()
    if high < 1.01 * low:  # only one value, for example a limit that all methods hit
        low, high = axes.set_ylim(low / 2, 2 * high)
    if high < _FEW_DECADES * low:  # powers of ten would give one label or none
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.grid(True, which="major", linewidth=0.4, alpha=0.5)


def _label_ends(axes: Axes, rows: pd.DataFrame) -> None:
    """Name the curves that reach the largest size by their backend, or by two words."""
    sizes = rows["d"].astype(float)
    for method, group in rows.groupby("method", sort=False):
        times = solved_times(group)
        if not times.empty and float(times.index[-1]) == sizes.max():
            words = method_words(str(method)).partition(" on ")[0].partition(",")[0].split()
            place = sizes.max(), float(times.iloc[-1])
            label_line(axes, *place, " ".join(words[:2]), method_style(str(method)).colour)
    axes.set_xlim(right=sizes.max() * (sizes.max() / sizes.min()) ** _LABELS)


def _lines(title: str) -> str:
    """Return a title wrapped to several lines, without a break inside "N = 10"."""
    for sign in "=≤":
        title = title.replace(f" {sign} ", f"\u00a0{sign}\u00a0")
    return "\n".join(wrap(title, _LETTERS))


def limit_marks(rows: pd.DataFrame) -> list[Line2D]:
    """Return the legend entries for the limits that were hit."""
    names = {Outcome.TIME_OUT: "stopped at the limit", Outcome.OUT_OF_MEMORY: "out of memory"}
    hit = [outcome for outcome in _MARKS if (rows["outcome"] == outcome).any()]
    return [
        Line2D([], [], linestyle="none", marker=_MARKS[outcome], color="k", label=names[outcome])
        for outcome in hit
    ]


def draw_panels(panels: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw one panel per title, with one legend because a method looks the same in all."""
    columns = 2 if len(panels) == 4 else min(len(panels), _COLUMNS)
    lines = -(-len(panels) // columns)
    entries = len({method for rows in panels.values() for method in rows["method"]})
    height = 2.1 * lines + 0.5 + _LEGEND_LINE * entries / (_COLUMNS - 1)
    # Panels are compared: they share the time, and the sizes if they are the same.
    alike = len({frozenset(rows["d"]) for rows in panels.values()}) == 1
    figure, axes = plt.subplots(
        lines, columns, figsize=(PAGE, height), layout="constrained", squeeze=False, sharex=alike,
        sharey=True,
    )  # fmt: skip
    known: dict[str, Artist] = {}
    for panel, (title, rows) in zip(axes.flat, panels.items(), strict=False):
        draw_curves(panel, rows)
        frame(panel, rows, title)
        if columns < _COLUMNS:  # otherwise panels are too narrow
            _label_ends(panel, rows)
        handles, labels = panel.get_legend_handles_labels()
        known = dict(zip(labels, handles, strict=True)) | known
    for panel in axes.flat[len(panels) :]:
        panel.set_axis_off()
    for panel in axes.flat[max(len(panels) - columns, 0) : len(panels)]:
        panel.set_xlabel("number of vertices d")
    figure.supylabel("CPU time to a certified answer (s)", fontsize=8)
    every = pd.concat(list(panels.values()))
    words = map(method_words, map(str, every["method"].unique()))
    names = [name for name in words if name in known]
    handles = [*(known[name] for name in names), *limit_marks(every)]
    longest = max((len(str(handle.get_label())) for handle in handles), default=0)
    figure.legend(
        handles=handles, loc="outside lower center", handlelength=3,
        ncols=_COLUMNS if longest <= _LEGEND_LETTERS else _COLUMNS - 1,
    )  # fmt: skip
    figure.draw_without_rendering()  # the layout is known only now
    for panel in axes.flat:
        spread_labels(panel)
        place_notes(panel)
    return figure

"""Draw the paper's Figure 7: run time of interior point and projected gradient against d.

Left, every method stops by its own rule, as in the paper. Right, every method stops at one judged
gap, with our methods beside the paper's. Colour is the scenario, line and marker are the method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.compare.grid import (
    BETAS,
    ERRORS,
    FIGURE_BETA,
    SCENARIO_TARGET,
    SCENARIOS,
    Scenario,
)
from experiments.compare.statements import ACCURATE, curve
from experiments.drawing.style import (
    BLUE,
    PAGE,
    VERMILION,
    label_line,
    note_point,
    place_notes,
    spread_labels,
)
from experiments.measuring.outcome import Outcome

COLOURS = {"general": BLUE, "Gaussian": VERMILION}


@dataclass(frozen=True)
class Look:
    """How the curve of a method is drawn."""

    line: Any
    marker: str
    width: float = 1.4
    alpha: float = 1.0


INTERIOR, PRINTED, ROUGH = Look("--", "s"), Look("-", "o"), Look("-", "o", 0.8, 0.7)
IMPROVED, OURS = Look("-.", "^"), Look(":", "D")
THIN, SOLVING = Look("-", "", 0.8, 0.8), Look((0, (1, 1)), "", 0.8)


def draw_figure7(rows: pd.DataFrame) -> Figure:
    """Draw both panels; curves without runs are left out."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(PAGE, 4.1), sharex=True, sharey=True, layout="constrained"
    )
    for scenario in SCENARIOS:
        _draw_own_rule(left, rows, scenario)
        _draw_judged(right, rows, scenario)
    left.set_title(f"Figure 7, (a) until its own rule stops it, β = {FIGURE_BETA:g}", loc="left")
    right.set_title(f"(b) to a judged gap of at most {_power(SCENARIO_TARGET)}", loc="left")
    sizes = sorted(float(d) for d in rows["d"].unique())
    for axes in (left, right):
        axes.set(yscale="log", xlabel="number of vertices d", xlim=(0, 1.35 * sizes[-1]))
        axes.set_xticks(sizes, [f"{d:g}" for d in sizes])
        axes.grid(True, which="major", linewidth=0.4, alpha=0.5)
    left.set_ylabel("CPU time (s), one thread")
    figure.legend(handles=_legend(), loc="outside lower center", ncols=3, handlelength=3.2)
    figure.canvas.draw()  # the layout is known only now
    for axes in (left, right):
        spread_labels(axes)
        place_notes(axes)
    return figure


def _draw_own_rule(axes: Axes, rows: pd.DataFrame, scenario: Scenario) -> None:
    panel, colour = scenario.title(FIGURE_BETA), COLOURS[scenario.name]
    here = rows[rows["panel"] == panel]
    _draw_method(axes, here, scenario.interior, INTERIOR, colour)
    looks = (ROUGH, PRINTED)
    for error, method, look in zip(ERRORS, scenario.by_own_rule, looks, strict=True):
        _draw_method(axes, here, method, look, colour, f"error {_power(error)}", hollow=True)


def _draw_judged(axes: Axes, rows: pd.DataFrame, scenario: Scenario) -> None:
    colour = COLOURS[scenario.name]
    here = rows[rows["panel"] == scenario.title(FIGURE_BETA)]
    _draw_method(axes, here, scenario.interior, INTERIOR, colour)
    solving = curve(here, scenario.title(FIGURE_BETA), scenario.interior)
    _draw(axes, solving.assign(total_s=solving["solve_s"]), SOLVING, colour, "solving only")
    for beta in BETAS:
        look = PRINTED if beta == FIGURE_BETA else THIN
        part = rows[rows["panel"] == scenario.title(beta)]
        _draw_method(axes, part, scenario.printed, look, colour, f"β = {beta:g}")
    _draw_method(axes, here, scenario.improved, IMPROVED, colour)
    _draw_method(axes, here, "solve", OURS, colour)


def _draw_method(
    axes: Axes, here: pd.DataFrame, method: str, look: Look, colour: str, label: str = "",
    hollow: bool = False,
) -> None:  # fmt: skip
    """Draw the curve of a method in one panel, and mark the size at which it hit a limit."""
    if here.empty:
        return
    done = curve(here, str(here["panel"].iloc[0]), method)
    found = here[here["method"] == method]
    stopped = found[found["outcome"].isin([Outcome.TIME_OUT, Outcome.OUT_OF_MEMORY])]
    _draw(axes, done, look, colour, label if stopped.empty else "", hollow)
    if stopped.empty:
        return
    row = stopped.sort_values("d").iloc[0]
    out = row["outcome"] == Outcome.OUT_OF_MEMORY
    text = f"out of {row['limit_mb'] / 1024:.0f} GiB" if out else f"> {row['limit_s']:g} s"
    # A run that was out of memory has no time; mark it at the longest time of the method.
    height = float(done["total_s"].max()) if out and not done.empty else float(row["limit_s"])
    axes.plot([row["d"]], [height], marker="x", color=colour, markersize=5, linestyle="none")
    told = f"{label}: {text}" if label else text
    # Beside a mark inside the panel, a label of full size would cover the marks at larger sizes.
    write = label_line if row["d"] == here["d"].max() else note_point
    write(axes, float(row["d"]), height, told, colour)


def _draw(
    axes: Axes, found: pd.DataFrame, look: Look, colour: str, label: str = "", hollow: bool = False
) -> None:
    """Draw medians over data sets with their range; hollow markers show inaccurate answers."""
    if found.empty:
        return
    groups = found.groupby("d")
    times = groups["total_s"]
    sizes, middle = times.median().index.to_numpy(float), times.median().to_numpy(float)
    spread = np.abs(np.vstack([middle - times.min(), times.max() - middle]))
    axes.errorbar(
        sizes, middle, spread, color=colour, linestyle=look.line, linewidth=look.width,
        alpha=look.alpha, elinewidth=0.7, capsize=1.5,
    )  # fmt: skip
    gaps = groups["gap"].median().to_numpy(float)
    if look.marker:
        for d, s, gap in zip(sizes, middle, gaps, strict=True):
            rough = hollow and gap > ACCURATE
            axes.plot(
                [d], [s], marker=look.marker, color=colour, alpha=look.alpha, linestyle="none",
                markersize=4.5, markerfacecolor="white" if rough else colour,
            )  # fmt: skip
            if rough:
                text = f"{100 * gap:.2g} %" if np.isfinite(gap) else "gap unknown"
                note_point(axes, d, s, text, colour)
    if label:
        label_line(axes, sizes[-1], middle[-1], label, colour)


def _power(number: float) -> str:
    exponent = round(np.log10(number))
    return f"$10^{{{exponent}}}$"


def _legend() -> list[Line2D]:
    def line(style: Any, marker: str, label: str, face: str = "black") -> Line2D:
        return Line2D(
            [], [], color="black", linestyle=style, marker=marker, label=label, markerfacecolor=face
        )

    return [
        Line2D([], [], color=VERMILION, linewidth=3, label="Gaussian scenario"),
        Line2D([], [], color=BLUE, linewidth=3, label="general scenario, p = 2"),
        line("--", "s", "interior point (Clarabel)"),
        line("-", "o", "Algorithms 3, 4 as printed, ∇ corrected"),
        line("-.", "^", "Algorithms 3, 4 improved"),
        line(":", "D", "solve"),
        line("none", "o", f"stopped at a gap above {ACCURATE:.1%}", "white"),
    ]

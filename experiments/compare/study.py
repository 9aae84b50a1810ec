"""Measure a grid of problems and methods, cross-check the answers, and draw the times."""

from __future__ import annotations

import argparse

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from experiments.compare.crosscheck import cross_check, outliers
from experiments.compare.grid import FIGURE_7, METHODS, PRESETS, Grid, methods_for
from experiments.compare.report import describe, summarise
from experiments.drawing.scaling import draw_curves, draw_panels, limit_marks
from experiments.drawing.style import PAGE
from experiments.measuring.campaign import Planned
from experiments.measuring.digest import Source
from experiments.measuring.extensions import load_extension
from experiments.measuring.methods import find_method
from experiments.measuring.outcome import Limits
from experiments.measuring.text import busy_warning
from experiments.page.comparison import comparison_page
from experiments.study import Report, Run, Study
from wdro_cvx import registered_ambiguities

#: The module that times and judges a method in its own process.
MEASURED = ("experiments.measuring.measurement",)


def comparison(options: argparse.Namespace) -> Study:
    """Load the extensions, check the names, and return the requested study."""
    before = set(registered_ambiguities())
    for path in options.extensions:
        load_extension(path)
    brought = tuple(sorted(set(registered_ambiguities()) - before))
    sets = options.sets or brought
    for name in options.methods or ():
        find_method(name)
    dimensions, limits = PRESETS[options.preset]
    grid = Grid(
        options.dimensions or dimensions,
        Limits(options.time_limit or limits.limit_s, options.memory_limit or limits.limit_mb),
        options.methods or (methods_for(sets) if sets else METHODS),
        options.samples,
        tuple(range(options.seeds)),
        options.target,
        options.repeats,
        sets,
        options.figure7_limit,
    )
    plan = grid.plan()  # made here, to refuse impossible comparisons early
    source = Source(MEASURED, tuple(options.extensions))
    return Study("compare", source, lambda run, _: _answer(run, grid, plan, source.extensions))


def _answer(run: Run, grid: Grid, plan: list[Planned], extensions: tuple[str, ...]) -> Report:
    rows = cross_check(run.measure(plan, "compare", extensions), plan, run.store)
    panels = {str(title): part for title, part in rows.groupby("panel", sort=False)}
    wrong, shown = outliers(rows, grid.target), figure7_rows(rows)
    figures = {"runtime": draw_panels(panels)}
    if not shown.empty:
        figures["figure7"] = draw_figure7(shown)
    notes = [sentence.replace("*", "") for sentence in busy_warning(rows)]
    page = comparison_page(rows, "wdro compare", grid.target, notes)
    disagreeing = ", ".join(dict.fromkeys(wrong["method"].astype(str)))
    return Report(
        "Every formulation and solver, against each other",
        describe(rows, panels, wrong, grid, not shown.empty),
        tables={"runs": rows},
        figures=figures,
        files={"report.html": page},
        summary=summarise(rows, wrong),
        failure=f"some methods disagree: {disagreeing}; see the report." if disagreeing else "",
    )


def figure7_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the measurements for the curves of the paper's Figure 7, in its order."""
    parts = [
        rows[(rows["panel"] == panel) & (rows["method"] == method)] for panel, method, _ in FIGURE_7
    ]
    return pd.concat(parts)


def draw_figure7(shown: pd.DataFrame) -> Figure:
    """Draw Figure 7 with a linear axis for d, as in the paper, and a logarithmic one for time."""
    figure, axes = plt.subplots(figsize=(PAGE, 3.4), layout="constrained")
    draw_curves(axes, shown, {method: label for _, method, label in FIGURE_7})
    axes.set(yscale="log", xlabel="number of vertices d", ylabel="CPU time (s)", xlim=(0, None))
    axes.grid(True, which="major", linewidth=0.4, alpha=0.5)
    handles = [*axes.get_legend_handles_labels()[0], *limit_marks(shown)]
    if handles:
        figure.legend(handles=handles, loc="outside right center", handlelength=3)
    return figure

"""Measure a grid of problems and methods, cross-check the answers, and draw the times."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from experiments.compare.brought import broken_promises, load_files
from experiments.compare.crosscheck import cross_check, outliers
from experiments.compare.figure7 import draw_figure7
from experiments.compare.grid import BETAS, CONTESTS, PRESETS, SCENARIOS, Grid, Preset
from experiments.compare.report import describe, has_scenarios, summarise
from experiments.drawing.scaling import draw_panels
from experiments.measuring.campaign import Planned
from experiments.measuring.digest import Source
from experiments.measuring.display import note
from experiments.measuring.methods import find_method
from experiments.measuring.outcome import Limits
from experiments.study import Report, Run, Study

#: The module that times and judges a method in its own process.
MEASURED = ("experiments.measuring.measurement",)


def comparison(options: argparse.Namespace) -> Study:
    """Load the extensions, check the names, and return the requested study."""
    sets, terms = load_files(options.extensions)
    for name in options.methods or ():
        find_method(name)
    grid = Grid(
        _preset(options),
        options.methods,
        options.samples,
        options.target,
        options.repeats,
        options.sets or sets,
        options.figure7_limit,
        options.terms or terms,
    )
    plan = grid.plan()  # made here, to refuse impossible comparisons early
    warnings = broken_promises(
        [name for name in grid.sets if name in sets],
        [name for name in grid.terms if name in terms],
        min(grid.preset.dimensions),
    )
    for warning in warnings:
        note(warning)
    source = Source(MEASURED, tuple(options.extensions))
    return Study(
        "compare", source, lambda run, _: _answer(run, grid, plan, source.extensions, warnings)
    )


def _preset(options: argparse.Namespace) -> Preset:
    """Return the named preset with the sizes, limits and data sets that the arguments change."""
    preset = PRESETS[options.preset]
    sizes = options.dimensions or preset.dimensions
    limits = preset.limits
    return replace(
        preset,
        dimensions=sizes,
        limits=Limits(
            options.time_limit or limits.limit_s, options.memory_limit or limits.limit_mb
        ),
        seeds=options.seeds or preset.seeds,
        varied_d=None if preset.varied_d is None else _nearest(sizes, preset.varied_d),
    )


def _nearest(sizes: Sequence[int], wanted: int) -> int:
    """Return the largest size that is at most the wanted one, or the smallest of all."""
    return max((d for d in sizes if d <= wanted), default=min(sizes))


def _answer(
    run: Run, grid: Grid, plan: list[Planned], extensions: tuple[str, ...], warnings: list[str]
) -> Report:
    rows = cross_check(run.measure(plan, "compare", extensions), plan, run.store)
    panels = {str(title): part for title, part in rows.groupby("panel", sort=False)}
    wrong = outliers(rows)
    scenarios = rows[rows["panel"].isin([s.title(beta) for s in SCENARIOS for beta in BETAS])]
    contests = {title: part for title, part in panels.items() if title in CONTESTS or grid.named}
    figures = {"runtime": draw_panels(contests)} if contests else {}
    if has_scenarios(rows):
        figures["figure7"] = draw_figure7(scenarios)
    disagreeing = ", ".join(dict.fromkeys(wrong["method"].astype(str)))
    return Report(
        "Every formulation and solver, against each other",
        [*warnings, *describe(rows, panels, wrong, grid)],
        tables={"runs": rows},
        figures=figures,
        summary=summarise(rows, wrong),
        failure=f"some methods disagree: {disagreeing}; see the report." if disagreeing else "",
    )

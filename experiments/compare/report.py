"""Write the report of ``wdro compare``: Figure 7, statements, growth, conditions and agreement."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from experiments.compare.grid import (
    BETAS,
    CONTESTS,
    ERRORS,
    FIGURE_BETA,
    MIDDLE_BETA,
    SCENARIO_TARGET,
    SCENARIOS,
    SYMBOLS,
    VARIATIONS,
    Grid,
    Scenario,
    variation_title,
)
from experiments.compare.statements import (
    check_statements,
    compare_times,
    curve,
    growth_of,
    our_statements,
    statement_table,
    timed,
)
from experiments.measuring.outcome import Outcome
from experiments.measuring.text import busy_warning, markdown_table, seconds
from experiments.measuring.words import method_words


def describe(
    rows: pd.DataFrame, panels: Mapping[str, pd.DataFrame], wrong: pd.DataFrame, grid: Grid
) -> list[str]:
    """Return the paragraphs and tables of the report."""
    missing = grid.missing().items()
    parts = [
        "One process per run, one thread. All times are CPU seconds: the median over data sets of "
        "the median of repeated runs, which begin when times are steady. A time has three parts: "
        "building the model, compiling it for the solver, and solving. Hand-written solvers have "
        "only the last one. A method whose name ends with `@` and a number stops by its own rule "
        "at that tolerance. The others run at the loosest of their tolerances whose answer the "
        "judge accepts. Every answer is judged with the best certificate that any method found.",
        *busy_warning(rows),
        *(f"Not compared: {method_words(name)}, because {why}." for name, why in missing),
    ]
    if _has_scenarios(panels):
        parts += _scenario_parts(rows, panels, grid)
    parts += ["## All methods", "![run time of every method](runtime.png)"]
    if any(title in panels for title in CONTESTS):
        parts += [
            f"The trace is fixed, and the judged gap is at most {grid.target:g}. Colour is the "
            "family of a method, line its backend.",
            statement_table(our_statements(rows)),
        ]
    parts += ["## Do they agree?", _rates(rows)]
    best = rows.loc[rows["is_solved"], "excess"].max()
    if best == best:
        parts.append(f"Largest distance of a solved value from the best proved bound: {best:.1e}.")
    parts += [_outlier_text(wrong), "## Times", _READING]
    for title, panel in panels.items():
        parts += [f"### {title}", _times(panel)]
    return parts + _reasons(rows)


_READING = (
    "In brackets: the share of the time spent on building and compiling, and the judged gap where "
    "a method stopped by its own rule. Growth is fitted to the sizes whose time is at least three "
    "times that of the smallest, with a 95 % confidence interval; a dash means that fewer than "
    "three sizes are left."
)


def summarise(rows: pd.DataFrame, wrong: pd.DataFrame) -> str:
    """Return a one-line summary of the runs."""
    own = rows["method"].str.contains("@", regex=False)
    done = rows["outcome"] == Outcome.OK
    counts = {"solved": int(rows["is_solved"].sum())}
    if stopped := int((done & own & ~rows["is_solved"]).sum()):
        counts["stopped by their own rule before the gap was reached"] = stopped
    if unsolved := int((done & ~own & ~rows["is_solved"]).sum()):
        counts["not solved"] = unsolved
    others = rows.loc[~done, "outcome"].value_counts()
    counts |= {str(outcome): int(count) for outcome, count in others.items()}
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    word = "disagreement" if len(wrong) == 1 else "disagreements"
    return f"{len(rows)} runs: {told}; {len(wrong) or 'no'} {word}"


def _has_scenarios(panels: Mapping[str, pd.DataFrame]) -> bool:
    return any(scenario.title(beta) in panels for scenario in SCENARIOS for beta in BETAS)


def _scenario_parts(
    rows: pd.DataFrame, panels: Mapping[str, pd.DataFrame], grid: Grid
) -> list[str]:
    parts = [
        "## The paper's Figure 7",
        "![run time of interior point and projected gradient](figure7.png)",
        "Bars show the range over data sets. Left, the paper's rule stops Algorithms 3 and 4 when "
        "a step is shorter than *error*; percentages are judged gaps. Right, all stop at a judged "
        f"gap of {SCENARIO_TARGET:g}; interior point has Clarabel's default tolerance, and the "
        "thin line is its time without building and compiling. The paper names neither β nor the "
        f"error. Radius 0.5, η = 0.3, {grid.samples_per_vertex} signals per vertex.",
        "## Which statements of the paper hold?",
        "`holds` means on every data set and at every size of every condition; `depends` means "
        "that conditions or sizes differ. A ratio above 1 favours the statement. Conditions with "
        "an error are the paper's own stopping rule.",
        statement_table(check_statements(rows)),
        "## Growth",
        _growth_table(rows),
    ]
    if any(title.startswith(f"{SCENARIOS[0].name}, {SYMBOLS['radius']}") for title in panels):
        parts += [
            "## Where projected gradient beats interior point",
            f"One setting differs from ε = 0.5, η = 0.3, N/d = {grid.samples_per_vertex}, β = "
            f"{MIDDLE_BETA:g}; d = {grid.preset.varied_d}. An entry is interior point's time "
            "divided by that of the paper's algorithm, with the judged gap at which the algorithm "
            "stopped; then the same for interior point's solving time alone.",
            _condition_table(rows, grid),
        ]
    return parts


def _growth_table(rows: pd.DataFrame) -> str:
    lines = []
    for scenario in SCENARIOS:
        for beta in BETAS:
            for method in scenario.methods:
                found = curve(rows, scenario.title(beta), method)
                if not found.empty and (beta == FIGURE_BETA or method.startswith("Printed")):
                    lines.append([scenario.title(beta), method_words(method),
                                  growth_of(found) or "–"])  # fmt: skip
            interior = curve(rows, scenario.title(beta), scenario.interior)
            if beta == FIGURE_BETA and not interior.empty:
                told = growth_of(interior, "solve_s") or "–"
                lines.append([scenario.title(beta), "interior point, solving only", told])
    return markdown_table(["problem", "method", "CPU time grows like"], lines)


def _condition_table(rows: pd.DataFrame, grid: Grid) -> str:
    header = ["scenario", "setting", *(f"error {error:g}" for error in ERRORS),
              f"judged gap {SCENARIO_TARGET:g}"]  # fmt: skip
    lines = []
    for scenario in SCENARIOS:
        settings = {f"β = {beta:g}": scenario.title(beta) for beta in BETAS}
        for setting, values in VARIATIONS.items():
            for value in values:
                name = f"{SYMBOLS[setting]} = {value:g}"
                settings[name] = variation_title(scenario, setting, value)
        for name, panel in settings.items():
            here = rows[(rows["panel"] == panel) & (rows["d"] == grid.preset.varied_d)]
            methods = [*scenario.by_own_rule, scenario.printed]
            told = [_ratio(here, panel, scenario, method) for method in methods]
            lines.append([scenario.name, name, *told])
    return markdown_table(header, lines)


def _ratio(here: pd.DataFrame, panel: str, scenario: Scenario, method: str) -> str:
    """Return by which factor a method is faster than interior point, and where it stopped."""
    slow, fast = timed(here, panel, scenario.interior), timed(here, panel, method)
    whole = compare_times(slow, fast)
    if whole.empty:
        return "–"
    alone = compare_times(slow, fast, "solve_s")
    first = whole.iloc[0]
    gap = f", gap {first['gap']:.0e}" if "@" in method and first["gap"] == first["gap"] else ""
    solving = f" ({alone['ratio'].iloc[0]:.2g}×)" if not alone.empty else ""
    return f"{first['sign']}{first['ratio']:.2g}×{solving}{gap}"


def _rates(rows: pd.DataFrame) -> str:
    lines = []
    for method, group in rows.groupby("method", sort=False):
        done = group["outcome"] == Outcome.OK
        others = group.loc[~done, "outcome"].value_counts()
        rest = ", ".join(f"{count} {outcome}" for outcome, count in others.items())
        said, solved = (int(group.loc[done, name].sum()) for name in ("said_solved", "is_solved"))
        lines.append([method, method_words(str(method)), len(group), said, solved, rest])
    header = ["method", "in words", "runs", "said solved", "is solved", "otherwise"]
    return markdown_table(header, lines)


def _outlier_text(wrong: pd.DataFrame) -> str:
    if wrong.empty:
        return "No method that said solved disagrees with the others."
    figures = ["excess", "misstated", "distance"]
    lines = [
        [row["method"], row["panel"], row["d"], "yes" if row["is_solved"] else "no",
         *(f"{row[name]:.1e}" for name in figures)]
        for _, row in wrong.iterrows()
    ]  # fmt: skip
    header = ["method", "problem", "d", "is solved", "excess", "value misstated", "ΔL"]
    return "**Outliers:**\n\n" + markdown_table(header, lines)


def _times(panel: pd.DataFrame) -> str:
    sizes = sorted(panel["d"].unique())
    lines = []
    for method, group in panel.groupby("method", sort=False):
        found = group[group["outcome"] == Outcome.OK]
        if "@" not in str(method):
            found = found[found["is_solved"].astype(bool)]
        cells = [_time(group[group["d"] == d], found[found["d"] == d]) for d in sizes]
        lines.append([method_words(str(method)), *cells, growth_of(found) or "–"])
    return markdown_table(["method", *(f"d = {d}" for d in sizes), "growth"], lines)


def _time(here: pd.DataFrame, found: pd.DataFrame) -> str:
    """Return the CPU time at one size and what it consists of, or what stopped the method."""
    if found.empty:
        outcome = "" if here.empty else str(here["outcome"].iloc[0])
        return "not solved" if outcome == Outcome.OK else outcome
    total = float(found["total_s"].median())
    notes = []
    modelling = float((found["build_s"] + found["compile_s"]).median())
    if modelling > 0.0:
        notes.append(f"modelling {modelling / total:.0%}")
    if "@" in str(found["method"].iloc[0]):
        notes.append(f"gap {found['gap'].median():.0e}")
    if len(found) == 1:
        notes.append("one data set")
    return seconds(total) + (f" ({', '.join(notes)})" if notes else "")


def _reasons(rows: pd.DataFrame) -> list[str]:
    """Return a section that lists crashes and failures with their reasons."""
    broken = rows[rows["outcome"].isin([Outcome.CRASH, Outcome.FAILED])]
    if broken.empty:
        return []
    columns = ["method", "panel", "d", "outcome", "message"]
    header = ["method", "problem", "d", "outcome", "reason"]
    lines = broken[columns].drop_duplicates().to_numpy().tolist()
    return ["## What went wrong", markdown_table(header, lines)]

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
from experiments.measuring.text import QUIET, busy_warning, markdown_table, seconds
from experiments.measuring.words import method_words


def describe(
    rows: pd.DataFrame, panels: Mapping[str, pd.DataFrame], wrong: pd.DataFrame, grid: Grid
) -> list[str]:
    """Return the paragraphs and tables of the report."""
    missing = grid.missing().items()
    parts = [
        "Each run has its own process and one thread. Times are CPU seconds: first the median over "
        "repeats, then the median over data sets. Runs longer than half a second are timed once. "
        "The parts of a time are building the model, compiling it, and solving. Hand-written "
        "solvers only solve; QP solvers that are called directly also build. A method whose name "
        "ends with `@` and a number stops by its own rule at that tolerance. Every other method "
        "runs at its loosest tolerance that reaches the judged gap; the search for it is not "
        "timed. Every answer is judged with the best certificate that any method found.",
        *busy_warning(rows),
        *(f"Not compared: {method_words(name)}, because {why}." for name, why in missing),
    ]
    if has_scenarios(rows):
        parts += _scenario_parts(rows, panels, grid)
    if any(title in panels for title in CONTESTS):
        parts += [
            "## All methods",
            "![run time of every method](runtime.png)",
            f"The trace is fixed, and the judged gap is at most {grid.target:g}. Colour shows the "
            "family of a method, line style its backend. The premium form is our statement of the "
            "Gaussian scenario: the sample average plus one LMI (`RobustPremium`).",
            statement_table(our_statements(rows)),
        ]
    elif grid.named:
        parts += ["## All methods", "![run time of every method](runtime.png)"]
    parts += ["## Do they agree?", _rates(rows), *_largest_gaps(rows)]
    parts += [_outlier_text(wrong), "## Times", _READING]
    for title, panel in panels.items():
        parts += [f"### {title}", _times(panel)]
    return parts + _reasons(rows)


_READING = (
    "In brackets: the share of the time spent on building and compiling, and the judged gap where "
    "a method stopped by its own rule. Growth is fitted to median times, from the first size that "
    "takes three times as long as the smallest one, with a 95 % confidence interval. A dash means "
    "fewer than three such sizes, or sizes within a factor of two."
)


def _largest_gaps(rows: pd.DataFrame) -> list[str]:
    """Return a sentence with the largest gap of a solved answer for each target."""
    solved = rows[rows["is_solved"]]
    if solved.empty:
        return []
    worst = solved.groupby("target")["excess"].max()
    told = "; ".join(f"{gap:.1e} (at most {target:g} asked)" for target, gap in worst.items())
    return [f"Largest judged gap of a solved answer: {told}."]


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


def has_scenarios(rows: pd.DataFrame) -> bool:
    """Return whether some scenario has both interior point and the paper's algorithm."""
    methods = set(rows["method"])
    plain = {str(method).partition("@")[0] for method in methods}
    return any(scenario.interior in methods and scenario.printed in plain for scenario in SCENARIOS)


def _scenario_parts(
    rows: pd.DataFrame, panels: Mapping[str, pd.DataFrame], grid: Grid
) -> list[str]:
    long_s = grid.long_s or grid.preset.scenario_s
    parts = [
        "## The paper's Figure 7",
        "![run time of interior point and projected gradient](figure7.png)",
        "Bars show the range over data sets. Left: Algorithm 4 stops when a step, and Algorithm 3 "
        "when a round, changes the graph by less than *error*; percentages are judged gaps above "
        f"0.1 %. Right: every answer has a judged gap of at most {SCENARIO_TARGET:g}. Interior "
        "point has Clarabel's default tolerance in both; the thin line is its time without "
        "building and compiling. The gradients of the paper's algorithms are corrected (errata E3 "
        "and E4); line search, start and bracket are our choices, because the paper leaves them "
        "open, and they change times several-fold. The paper states neither β, error, radius, η "
        f"nor N for this figure; here radius 0.5, η = 0.3, {grid.samples_per_vertex} signals per "
        f"vertex. A run has {grid.preset.scenario_s:g} s, interior point at β = {FIGURE_BETA:g} "
        f"{long_s:g} s. Interior point solves the SDP up to d = {grid.preset.sdp_up_to}.",
        "## Which statements of the paper hold?",
        "`holds`: in every comparison that could be made. `fails`: never holds, and fails at least "
        "once. `depends`: holds in some cases and fails in others. `undecided`: neither. A method "
        "is faster only if the other one takes more than 1.25 times as long on every data set, "
        "with and without modelling, and if it stops at a gap below 0.1 %. A ratio above 1 favours "
        "the statement. A statement for large d is judged from d = 40 on. In conditions with an "
        "error, the paper's own rule stops the algorithm.",
        statement_table(check_statements(rows)),
        "## Growth",
        _growth_table(rows),
    ]
    if any(title.startswith(f"{SCENARIOS[0].name}, {SYMBOLS['radius']}") for title in panels):
        parts += [
            "## Where projected gradient beats interior point",
            f"One setting differs from ε = 0.5, η = 0.3, N/d = {grid.samples_per_vertex}, β = "
            f"{MIDDLE_BETA:g}; d = {grid.preset.varied_d}. Each entry is interior point's time "
            "divided by the algorithm's, first in total, then for solving alone, followed by the "
            "judged gap at which the algorithm stopped.",
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
    found = compare_times(timed(here, panel, scenario.interior), timed(here, panel, method))
    if found.empty or not 0.0 < found["ratio"].iloc[0] < float("inf"):
        return "–"
    first = found.iloc[0]
    gap = f"; gap {first['gap']:.0e}" if "@" in method and first["gap"] == first["gap"] else ""
    return f"{first['sign']}{first['ratio']:.2g}×; solving {first['solving']:.2g}×{gap}"


def _rates(rows: pd.DataFrame) -> str:
    lines = []
    for method, group in rows.groupby("method", sort=False):
        done = group["outcome"] == Outcome.OK
        others = group.loc[~done, "outcome"].value_counts()
        rest = ", ".join(f"{count} {outcome}" for outcome, count in others.items())
        said, solved = (int(group.loc[done, name].sum()) for name in ("said_solved", "is_solved"))
        if "@" in str(method) and (above := int(done.sum()) - solved):
            rest = ", ".join(filter(None, [f"{above} stopped above the gap", rest]))
        peak = "–" if group["peak_mb"].isna().all() else f"{group['peak_mb'].max():.0f}"
        lines.append([method, method_words(str(method)), len(group), said, solved, peak, rest])
    header = ["method", "in words", "runs", "said solved", "is solved", "peak MiB", "otherwise"]
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


_NOTICEABLE_S = 1.0  # the load during a shorter run is imprecise


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
    if late := int((here["outcome"] == Outcome.TIME_OUT).sum()):
        notes.append(f"{late} of {late + len(found)} timed out")
    elif len(found) == 1:
        notes.append("one data set")
    if ((found["others"] > QUIET) & (found["wall_s"] > _NOTICEABLE_S)).any():
        notes.append("other programs were busy")
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

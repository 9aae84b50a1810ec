"""Write the report of ``wdro compare``: agreement, run times, and statements about run times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from experiments.compare.grid import AVERAGE, GAUSSIAN, GAUSSIAN_PENALISED, GENERAL_PENALISED, Grid
from experiments.drawing.scaling import growth, solved_times
from experiments.measuring.outcome import Outcome
from experiments.measuring.text import busy_warning, markdown_table, seconds


@dataclass(frozen=True)
class RuntimeStatement:
    """A statement that one method is slower than another; each is a panel and a method."""

    text: str
    slower: tuple[str, str]
    faster: tuple[str, str]


STATEMENTS = (
    RuntimeStatement(
        "the paper: projected gradient (improved Algorithm 3, `BlockDescent`) beats interior point "
        "(Clarabel) on the SDP, Gaussian scenario",
        (GAUSSIAN_PENALISED, "GaussianSDP:CLARABEL"), (GAUSSIAN_PENALISED, "BlockDescent"),
    ),
    RuntimeStatement(
        "the paper: projected gradient (improved Algorithm 4, `ProjectedGradient`) beats interior "
        "point (Clarabel), general scenario",
        (GENERAL_PENALISED, "GeneralRegularized:CLARABEL"),
        (GENERAL_PENALISED, "ProjectedGradient"),
    ),
    RuntimeStatement(
        "the paper: the Gaussian scenario (improved Algorithm 3) costs more than the general one "
        "(improved Algorithm 4)",
        (GAUSSIAN_PENALISED, "BlockDescent"), (GENERAL_PENALISED, "ProjectedGradient"),
    ),
    RuntimeStatement(
        "Gaussian: improved Algorithm 3 beats SCS on the premium form",
        (GAUSSIAN, "RobustPremium:SCS"), (GAUSSIAN, "BlockDescent"),
    ),
    RuntimeStatement(
        "Gaussian: SCS on the premium form beats interior point (Clarabel) on the SDP",
        (GAUSSIAN, "GaussianSDP:CLARABEL"), (GAUSSIAN, "RobustPremium:SCS"),
    ),
    RuntimeStatement(
        "sample average: `ProjectedGradient` beats a good QP solver (PIQP)",
        (AVERAGE, "PIQP"), (AVERAGE, "ProjectedGradient"),
    ),
    RuntimeStatement(
        "Gaussian: `CertifiedSolver` beats the improved Algorithm 3",
        (GAUSSIAN, "BlockDescent"), (GAUSSIAN, "CertifiedSolver"),
    ),
)  # fmt: skip


def describe(
    rows: pd.DataFrame,
    panels: Mapping[str, pd.DataFrame],
    wrong: pd.DataFrame,
    grid: Grid,
    with_figure7: bool,
) -> list[str]:
    """Return the paragraphs and tables of the report."""
    best = rows.loc[rows["is_solved"], "excess"].max()
    parts = [
        "One process per run, one thread; CPU times, the median of repeated runs; each method at "
        "the loosest of its tolerances whose answer the judge accepts at a relative gap of "
        f"{grid.target:g}. Every answer is judged with the best certificate that any method found.",
        *busy_warning(rows),
        *(f"Not compared: {name}, because {why}." for name, why in grid.missing().items()),
    ]
    if with_figure7:
        parts += [
            "## The paper's Figure 7",
            "![run time of interior point and projected gradient](figure7.png)",
        ]
    parts += [
        "## All methods",
        "![run time of every method against the number of vertices](runtime.png)",
        "Colour is the family of a method, line its backend (solid: hand-written, dashed: "
        "Clarabel, dotted: SCS). An exponent is given where d spans a decade and a power law fits.",
        "## Do they agree?",
        _rates(rows),
    ]
    if best == best:
        parts.append(f"Largest distance of a solved value from the best proved bound: {best:.1e}.")
    parts.append(_outlier_text(wrong))
    lines = [line for item in STATEMENTS if (line := check_statement(item, panels)) is not None]
    if lines:
        header = ["statement", "finding", "ratio of CPU times", "growth"]
        parts += ["## Which statements on run time hold?", markdown_table(header, lines)]
    parts.append("## Times")
    for title, panel in panels.items():
        parts += [f"### {title}", _times(panel)]
    return parts + _reasons(rows)


def summarise(rows: pd.DataFrame, wrong: pd.DataFrame) -> str:
    """Return a one-line summary of the runs."""
    counts = {"solved": int(rows["is_solved"].sum())}
    if unsolved := int((rows["outcome"] == Outcome.OK).sum()) - counts["solved"]:
        counts["not solved"] = unsolved
    others = rows.loc[rows["outcome"] != Outcome.OK, "outcome"].value_counts()
    counts |= {str(outcome): int(count) for outcome, count in others.items()}
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    word = "disagreement" if len(wrong) == 1 else "disagreements"
    return f"{len(rows)} runs: {told}; {len(wrong) or 'no'} {word}"


def check_statement(
    statement: RuntimeStatement, panels: Mapping[str, pd.DataFrame]
) -> list[object] | None:
    """Return a table row about a statement, or None if the methods solved no common size."""
    slow, fast = (_rows(panels, place) for place in (statement.slower, statement.faster))
    slow_s, fast_s = solved_times(slow), solved_times(fast)
    common = slow_s.index.intersection(fast_s.index)
    if common.empty:
        return None
    sizes: dict[str, list[str]] = {}
    for d in common:
        sizes.setdefault(_faster(slow[slow["d"] == d], fast[fast["d"] == d]), []).append(str(d))
    told = [f"{word} at d = {', '.join(found)}" for word, found in sorted(sizes.items())]
    finding = next(iter(sizes)) if len(sizes) == 1 else "; ".join(told)
    ratios = slow_s[common] / fast_s[common]
    shown = f"{ratios.iloc[0]:.2g}× at d = {common[0]}"
    if len(common) > 1:
        shown += f", {ratios.iloc[-1]:.2g}× at {common[-1]}"
    return [statement.text, finding, shown, f"{growth(slow_s)} against {growth(fast_s)}"]


def _rows(panels: Mapping[str, pd.DataFrame], place: tuple[str, str]) -> pd.DataFrame:
    panel, method = place
    rows = panels.get(panel, pd.DataFrame(columns=["method", "is_solved", "d", "total_s"]))
    return rows[(rows["method"] == method) & rows["is_solved"].astype(bool)]


def _faster(slow: pd.DataFrame, fast: pd.DataFrame) -> str:
    """Return whether the ranges of repeated runs confirm the statement at one size."""
    if slow["fastest_s"].min() > fast["slowest_s"].max():
        return "holds"
    return "fails" if slow["slowest_s"].max() < fast["fastest_s"].min() else "undecided"


def _rates(rows: pd.DataFrame) -> str:
    lines = []
    for method, group in rows.groupby("method", sort=False):
        done = group["outcome"] == Outcome.OK
        others = group.loc[~done, "outcome"].value_counts()
        rest = ", ".join(f"{count} {outcome}" for outcome, count in others.items())
        said, solved = (int(group.loc[done, name].sum()) for name in ("said_solved", "is_solved"))
        lines.append([method, len(group), said, solved, rest])
    return markdown_table(["method", "runs", "said solved", "is solved", "otherwise"], lines)


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
    lines = [
        [method, *(_time(group[group["d"] == d]) for d in sizes), growth(solved_times(group))]
        for method, group in panel.groupby("method", sort=False)
    ]
    return markdown_table(["method, CPU (wall)", *(f"d = {d}" for d in sizes), "growth"], lines)


def _time(here: pd.DataFrame) -> str:
    """Return the CPU and wall time at one size, or what stopped the method."""
    good = here[here["is_solved"]]
    if not good.empty:
        return f"{seconds(good['total_s'].median())} ({seconds(good['wall_s'].median())})"
    outcome = "" if here.empty else str(here["outcome"].iloc[0])
    return "not solved" if outcome == Outcome.OK else outcome


def _reasons(rows: pd.DataFrame) -> list[str]:
    """Return a section that lists crashes and failures with their reasons."""
    broken = rows[rows["outcome"].isin([Outcome.CRASH, Outcome.FAILED])]
    if broken.empty:
        return []
    columns = ["method", "panel", "d", "outcome", "message"]
    header = ["method", "problem", "d", "outcome", "reason"]
    return ["## What went wrong", markdown_table(header, broken[columns].to_numpy().tolist())]

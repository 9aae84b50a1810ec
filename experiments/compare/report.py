"""The report of ``wdro compare``: who agreed, who was fast, which of the paper's claims hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from experiments.compare import grid as compared
from experiments.compare.grid import Grid
from experiments.drawing.scaling import growth, solved_times
from experiments.measuring.outcome import Outcome
from experiments.measuring.provenance import provenance_line
from experiments.measuring.text import busy_warning, markdown_table, seconds


@dataclass(frozen=True)
class RuntimeClaim:
    """A sentence on run times: who should be slower than whom, each on its panel."""

    text: str
    slower: tuple[str, str]
    faster: tuple[str, str]


_CLAIMS = (
    RuntimeClaim(
        "the paper: projected gradient (Algorithm 3, `BlockDescent`) beats interior point "
        "(Clarabel) on the SDP, Gaussian scenario",
        (compared.GAUSSIAN_PENALISED, "GaussianSDP:CLARABEL"),
        (compared.GAUSSIAN_PENALISED, "BlockDescent"),
    ),
    RuntimeClaim(
        "the paper: projected gradient (Algorithm 4, `ProjectedGradient`) beats interior point "
        "(Clarabel), general scenario",
        (compared.GENERAL_PENALISED, "GeneralRegularized:CLARABEL"),
        (compared.GENERAL_PENALISED, "ProjectedGradient"),
    ),
    RuntimeClaim(
        "the paper: the Gaussian scenario (Algorithm 3) costs more than the general one "
        "(Algorithm 4)",
        (compared.GAUSSIAN_PENALISED, "BlockDescent"),
        (compared.GENERAL_PENALISED, "ProjectedGradient"),
    ),
    RuntimeClaim(
        "Gaussian: Algorithm 3 beats SCS on the premium form",
        (compared.GAUSSIAN, "RobustPremium:SCS"),
        (compared.GAUSSIAN, "BlockDescent"),
    ),
    RuntimeClaim(
        "Gaussian: SCS on the premium form beats interior point (Clarabel) on the SDP",
        (compared.GAUSSIAN, "GaussianSDP:CLARABEL"),
        (compared.GAUSSIAN, "RobustPremium:SCS"),
    ),
    RuntimeClaim(
        "sample average: `ProjectedGradient` beats a good QP solver (PIQP)",
        (compared.AVERAGE, "PIQP"),
        (compared.AVERAGE, "ProjectedGradient"),
    ),
    RuntimeClaim(
        "Gaussian: `CertifiedSolver` beats the paper's Algorithm 3",
        (compared.GAUSSIAN, "BlockDescent"),
        (compared.GAUSSIAN, "CertifiedSolver"),
    ),
)


def describe(
    rows: pd.DataFrame,
    panels: Mapping[str, pd.DataFrame],
    wrong: pd.DataFrame,
    grid: Grid,
    with_figure7: bool,
) -> str:
    """Return the report in Markdown."""
    best = rows.loc[rows["is_solved"], "excess"].max()
    parts = [
        "# Every formulation and solver, against each other",
        "Made by `wdro compare` (`make compare`). One process per run, one thread; CPU times, the "
        "median of repeated runs; each method at the loosest of its tolerances whose answer the "
        f"judge accepts at a relative gap of {grid.target:g}. Every answer is judged with the best "
        "certificate that any method found.",
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
        ""
        if best != best
        else f"Largest distance of a solved value from the best proved bound: {best:.1e}.",
        _outlier_text(wrong),
        *_claims(panels),
        "## Times",
    ]
    for title, panel in panels.items():
        parts += [f"### {title}", _times(panel)]
    parts += _reasons(rows)
    parts.append(f"Made with {provenance_line()}.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _rates(rows: pd.DataFrame) -> str:
    lines = []
    for method, group in rows.groupby("method", sort=False):
        done = group[group["outcome"] == Outcome.OK]
        other = group[group["outcome"] != Outcome.OK]["outcome"].value_counts()
        rest = ", ".join(f"{count} {outcome}" for outcome, count in other.items())
        lines.append([
            method, len(group), int(done["said_solved"].sum()), int(done["is_solved"].sum()), rest,
        ])  # fmt: skip
    return markdown_table(["method", "runs", "said solved", "is solved", "otherwise"], lines)


def _outlier_text(wrong: pd.DataFrame) -> str:
    if wrong.empty:
        return "No method that said solved disagrees with the others."
    lines = [
        [
            row["method"], row["panel"], row["d"], "yes" if row["is_solved"] else "no",
            f"{row['excess']:.1e}", f"{row['misstated']:.1e}", f"{row['distance']:.1e}",
        ]
        for _, row in wrong.iterrows()
    ]  # fmt: skip
    header = ["method", "problem", "d", "is solved", "excess", "value misstated", "ΔL"]
    return "**Outliers:**\n\n" + markdown_table(header, lines)


def _claims(panels: Mapping[str, pd.DataFrame]) -> list[str]:
    lines = [line for claim in _CLAIMS if (line := _claim(claim, panels)) is not None]
    if not lines:
        return []
    header = ["claim", "finding", "ratio of CPU times", "growth"]
    return ["## What of the claims on run time holds?", markdown_table(header, lines)]


def _claim(claim: RuntimeClaim, panels: Mapping[str, pd.DataFrame]) -> list[object] | None:
    """Return the line of a claim, None where the two were not both solved at any size."""
    slow, fast = (_rows(panels, place) for place in (claim.slower, claim.faster))
    slow_s, fast_s = solved_times(slow), solved_times(fast)
    common = slow_s.index.intersection(fast_s.index)
    if common.empty:
        return None
    findings = {int(d): _faster(slow[slow["d"] == d], fast[fast["d"] == d]) for d in common}
    words = set(findings.values())
    if len(words) == 1:
        finding = words.pop()
    else:
        by_word = {w: [d for d, word in findings.items() if word == w] for w in words}
        finding = "; ".join(
            f"{word} at d = {', '.join(map(str, sizes))}" for word, sizes in sorted(by_word.items())
        )
    ratios = slow_s[common] / fast_s[common]
    shown = f"{ratios.iloc[0]:.2g}× at d = {common[0]}"
    if len(common) > 1:
        shown += f", {ratios.iloc[-1]:.2g}× at {common[-1]}"
    return [claim.text, finding, shown, f"{growth(slow_s)} against {growth(fast_s)}"]


def _rows(panels: Mapping[str, pd.DataFrame], place: tuple[str, str]) -> pd.DataFrame:
    panel, method = place
    rows = panels.get(panel, pd.DataFrame(columns=["method", "is_solved", "d", "total_s"]))
    return rows[(rows["method"] == method) & rows["is_solved"].astype(bool)]


def _faster(slow: pd.DataFrame, fast: pd.DataFrame) -> str:
    """Return what the ranges of the repeated runs say at one size."""
    if slow["fastest_s"].min() > fast["slowest_s"].max():
        return "holds"
    return "fails" if slow["slowest_s"].max() < fast["fastest_s"].min() else "undecided"


def _times(panel: pd.DataFrame) -> str:
    sizes = sorted(panel["d"].unique())
    lines = []
    for method, group in panel.groupby("method", sort=False):
        cells = []
        for d in sizes:
            here = group[group["d"] == d]
            good = here[here["is_solved"]]
            if not good.empty:
                cpu, wall = (float(good[name].median()) for name in ("total_s", "wall_s"))
                cells.append(f"{seconds(cpu)} ({seconds(wall)})")
            else:
                outcome = here["outcome"].iloc[0] if not here.empty else ""
                cells.append("not solved" if outcome == Outcome.OK else str(outcome))
        lines.append([method, *cells, growth(solved_times(group))])
    header = ["method, CPU (wall)", *(f"d = {d}" for d in sizes), "growth"]
    return markdown_table(header, lines)


def _reasons(rows: pd.DataFrame) -> list[str]:
    """Return what crashed or failed, with its last words."""
    broken = rows[rows["outcome"].isin([Outcome.CRASH, Outcome.FAILED])]
    if broken.empty:
        return []
    header = ["method", "problem", "d", "outcome", "reason"]
    lines = [[row[name] for name in ("method", "panel", "d", "outcome", "message")]
             for _, row in broken.iterrows()]  # fmt: skip
    return ["## What went wrong", markdown_table(header, lines)]

"""The report of ``wdro compare``: who agreed, who was fast, which of the paper's claims hold."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from experiments.crosscheck import outliers
from experiments.growth import fit_exponent
from experiments.provenance import provenance_line
from experiments.report import markdown_table, seconds
from experiments.store import write_atomically

#: Claim, panel, the method that should be slower, the one that should be faster.
_CLAIMS = (
    ("Gaussian: projected gradient beats interior point on the SDP (the paper's claim)",
     "Gaussian, trace penalised", "GaussianSDP:CLARABEL", "BlockDescent"),
    ("general: projected gradient beats interior point (the paper's claim)",
     "general, trace penalised", "GeneralRegularized:CLARABEL", "ProjectedGradient"),
    ("the Gaussian scenario costs more than the general one (the paper's claim)",
     None, "BlockDescent", "ProjectedGradient"),
    ("Gaussian: projected gradient beats SCS on the premium form",
     "Gaussian scenario", "RobustPremium:SCS", "BlockDescent"),
    ("Gaussian: SCS on the premium form beats interior point on the SDP",
     "Gaussian scenario", "GaussianSDP:CLARABEL", "RobustPremium:SCS"),
    ("sample average: projected gradient beats a good QP solver",
     "sample average", "PIQP", "ProjectedGradient"),
    ("Gaussian: our certified solver beats the paper's algorithm",
     "Gaussian scenario", "BlockDescent", "CertifiedSolver"),
)  # fmt: skip


def write_report(
    output: Path, rows: pd.DataFrame, panels: dict[str, pd.DataFrame], target: float
) -> bool:
    """Write ``report.md`` and return whether every method that said solved agreed."""
    wrong = outliers(rows, target)
    done = rows[rows["outcome"] == "ok"]
    parts = [
        "# Every formulation and solver, against each other",
        "Made by `make compare` (or `wdro compare` with other options). One process per run, one "
        "BLAS thread; each method at the loosest of its tolerances whose answer the judge accepts "
        f"at a relative gap of {target:g}.",
        "![run time against the number of vertices](runtime.png)",
        "## Do they agree?",
        _rates(rows),
        f"Largest distance of a solved value from the best proved bound: "
        f"{done.loc[done['is_solved'], 'excess'].max():.1e}.",
        _outlier_text(wrong),
        "## What of the claims on run time holds?",
        _claims(panels),
        "## Times",
    ]
    for title, panel in panels.items():
        parts += [f"### {title}", _times(panel)]
    parts.append(f"Made with {provenance_line()}.")
    write_atomically(output / "report.md", "\n\n".join(parts) + "\n")
    return wrong.empty


def _rates(rows: pd.DataFrame) -> str:
    lines = []
    for method, group in rows.groupby("method", sort=False):
        done = group[group["outcome"] == "ok"]
        other = group[group["outcome"] != "ok"]["outcome"].value_counts()
        rest = ", ".join(f"{count} {outcome}" for outcome, count in other.items())
        lines.append([method, len(group), done["said_solved"].sum(), done["is_solved"].sum(), rest])
    return markdown_table(["method", "runs", "said solved", "is solved", "otherwise"], lines)


def _outlier_text(wrong: pd.DataFrame) -> str:
    if wrong.empty:
        return "No method that said solved disagrees with the others."
    lines = [
        [
            row["method"], row["model"], row["d"], "yes" if row["is_solved"] else "no",
            f"{row['excess']:.1e}", f"{row['misstated']:.1e}", f"{row['distance']:.1e}",
        ]
        for _, row in wrong.iterrows()
    ]  # fmt: skip
    header = ["method", "model", "d", "is solved", "excess", "value misstated", "ΔL"]
    return "**Outliers:**\n\n" + markdown_table(header, lines)


def _solved(panel: pd.DataFrame, method: str) -> pd.Series:
    kept = panel[(panel["method"] == method) & panel["is_solved"]]
    times: pd.Series = kept.groupby("d")["total_s"].median()
    return times


def _claims(panels: dict[str, pd.DataFrame]) -> str:
    lines = []
    for claim, title, slower, faster in _CLAIMS:
        if title is None:
            first = panels.get("Gaussian, trace penalised")
            second = panels.get("general, trace penalised")
        else:
            first = second = panels.get(title)
        if first is None or second is None:
            continue
        slow, fast = _solved(first, slower), _solved(second, faster)
        common = slow.index.intersection(fast.index)
        if common.empty:
            continue
        ratios = slow[common] / fast[common]
        holds = "holds" if (ratios > 1).all() else "fails" if (ratios < 1).all() else "depends on d"
        shown = f"{ratios.iloc[0]:.2g}× at d = {common[0]}, {ratios.iloc[-1]:.2g}× at {common[-1]}"
        growth = f"{_growth(slow)} against {_growth(fast)}"
        lines.append([claim, holds, shown, growth])
    return markdown_table(["claim", "finding", "ratio of times", "growth"], lines)


def _growth(times: pd.Series) -> str:
    if len(times) < 2:
        return "–"
    return f"d^{fit_exponent(times.index.to_numpy(float), times.to_numpy(float)):.1f}"


def _times(panel: pd.DataFrame) -> str:
    sizes = sorted(panel["d"].unique())
    lines = []
    for method, group in panel.groupby("method", sort=False):
        cells = []
        for d in sizes:
            here = group[group["d"] == d]
            good = here[here["is_solved"]]
            if not good.empty:
                cells.append(seconds(float(good["total_s"].median())))
            else:
                outcome = here["outcome"].iloc[0] if not here.empty else ""
                cells.append("not solved" if outcome == "ok" else outcome)
        times = _solved(group, str(method))
        lines.append([method, *cells, _growth(times)])
    return markdown_table(["method", *(f"d = {d}" for d in sizes), "growth"], lines)

"""The corners again, as a contest: our solver and the conic form of the same set.

Both at equal judged accuracy, each problem in a panel of its own, so that a time-out in one says
nothing of the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.measuring.campaign import Planned, run_campaign
from experiments.measuring.digest import Source
from experiments.measuring.files import write_atomically, write_table
from experiments.measuring.instances import Instance
from experiments.measuring.measurement import Cell
from experiments.measuring.outcome import Limits
from experiments.measuring.provenance import provenance_line, write_provenance
from experiments.measuring.store import Store
from experiments.measuring.text import busy_warning, markdown_table, seconds
from experiments.stress.grid import PRIORS, TOLERANCE, Corner, build
from wdro_cvx import GraphProblem

SOURCE = Source(("experiments.measuring.measurement", "experiments.stress.grid"))
OURS = "solve"
DIMENSIONS = (30, 60)
PROBLEMS = 6
LIMITS = Limits(20.0, 8192.0)
BACKENDS = ("CLARABEL", "SCS")

#: The fastest conic form that we know of every set.
FORMS = {
    "ChiSquareBall": "ChiSquarePremium",
    "GaussianBall": "RobustPremium",
    "KLBall": "KLDual",
    "MahalanobisBall": "MahalanobisPremium",
    "MomentBall": "GeneralRegularized",
    "MomentUncertainty": "MomentPremium",
    "PairBall": "PairRegularized",
    "Singleton": "SampleAverage",
    "WassersteinBall": "RobustPremium",
}


@dataclass(frozen=True)
class CornerInstance(Instance):
    """A problem of the grid by ``model``, ``d`` and ``seed``, which is its number there."""

    def problem(self) -> GraphProblem:
        """Draw the problem."""
        return build(Corner(self.model, PRIORS[0], self.d, self.seed))[0]


def plan(dimensions: Sequence[int], problems: int) -> list[Planned]:
    """Return the measurements, ours first."""
    return [
        Planned(
            f"{name} {number}",
            Cell(CornerInstance(name, d, 0, 0.0, 0.0, number), method, TOLERANCE),
            LIMITS,
        )
        for name, form in FORMS.items()
        for number in range(problems)
        for d in dimensions
        for method in (OURS, *(f"{form}:{backend}" for backend in BACKENDS))
    ]


def run_conic(output: Path, fresh: bool, dimensions: Sequence[int], problems: int) -> pd.DataFrame:
    """Run the contest and write table and report below ``output``."""
    rows = run_campaign(plan(dimensions, problems), Store(output, SOURCE.digest(), fresh), "conic")
    write_table(output / "runs.csv", rows)
    write_provenance(output, {"dimensions": list(dimensions), "problems": problems}, SOURCE)
    write_atomically(output / "report.md", describe(rows))
    return rows


def ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """Return for every problem our time, and the better backend's as a multiple of it.

    A backend that found nothing counts with the limit, which it reached or would have: the ratio is
    then a lower bound, and ``open`` says so.
    """
    limit = LIMITS.limit_s
    found = []
    for (name, number, d), group in rows.groupby(["model", "seed", "d"], sort=True):
        ours = group[group["method"] == OURS].iloc[0]
        other = group[(group["method"] != OURS) & group["is_solved"]]
        best = float(other["total_s"].min()) if len(other) else limit
        found.append({
            "set": name, "number": number, "d": d, "solved": bool(ours["is_solved"]),
            "ours_s": ours["total_s"], "open": not len(other), "ratio": best / ours["total_s"],
        })  # fmt: skip
    return pd.DataFrame(found)


def describe(rows: pd.DataFrame) -> str:
    """Return the report in Markdown."""
    table = ratios(rows)
    lines = [
        [*key, *_figures(group)] for key, group in table.groupby(["set", "d"], sort=True)
    ]  # fmt: skip
    lines += [["all", d, *_figures(group)] for d, group in table.groupby("d", sort=True)]
    header = [
        "set", "d", "problems", "solved by us", "by no backend", "our median", "median ratio",
        "least ratio",
    ]  # fmt: skip
    parts = [
        "# Against conic forms, at the corners",
        "Made by `wdro robustness --conic`: problems of the robustness grid (Frobenius prior), "
        "solved by `solve` and by the conic form of the same set through Clarabel and SCS, each at "
        f"the loosest tolerance that the judge accepts at {TOLERANCE:g}. A ratio is the better "
        "backend's CPU time, modelling included, over ours; where no backend has an answer within "
        f"{LIMITS.limit_s:g} s it counts with these, so that the ratio is a lower bound.",
        *busy_warning(rows),
        markdown_table(header, lines),
        f"Made with {provenance_line()}.",
    ]
    return "\n\n".join(parts) + "\n"


def _figures(group: pd.DataFrame) -> list[object]:
    ratio = group["ratio"].to_numpy(float)
    return [
        len(group), int(group["solved"].sum()), int(group["open"].sum()),
        seconds(float(group["ours_s"].median())), f"{np.nanmedian(ratio):.3g}×",
        f"{np.nanmin(ratio):.2g}×",
    ]  # fmt: skip

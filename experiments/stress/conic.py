"""``wdro stress --conic``: time extreme problems with our solver and with conic forms.

Each problem is its own panel, so that a time-out on one problem does not skip the next.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.measuring.campaign import Planned
from experiments.measuring.digest import Source
from experiments.measuring.instances import Instance
from experiments.measuring.measurement import Cell
from experiments.measuring.outcome import Limits
from experiments.measuring.text import busy_warning, markdown_table, seconds
from experiments.stress.grid import PRIORS, TOLERANCE, Corner, build
from experiments.study import Report, Run, Study
from wdro_cvx import GraphProblem

OURS = "solve"
DIMENSIONS = (30, 60)
PROBLEMS = 6
LIMITS = Limits(20.0, 8192.0)
BACKENDS = ("CLARABEL", "SCS")

#: The fastest known conic form of every set.
FORMS = {
    "CVaRBall": "CVaRProgram", "ChiSquareBall": "ChiSquarePremium",
    "GaussianBall": "RobustPremium", "HellingerBall": "HellingerDual", "KLBall": "KLDual",
    "MahalanobisBall": "MahalanobisPremium", "MetricBall": "MetricPremium",
    "MomentBall": "GeneralRegularized",
    "MomentUncertainty": "MomentPremium", "PairBall": "PairRegularized",
    "Singleton": "SampleAverage", "TotalVariationBall": "TotalVariationProgram",
    "WassersteinBall": "RobustPremium",
}  # fmt: skip


@dataclass(frozen=True)
class CornerInstance(Instance):
    """A problem of the grid, given by ``model``, ``d`` and its number ``seed``."""

    def problem(self) -> GraphProblem:
        """Draw the problem."""
        return build(Corner(self.model, PRIORS[0], self.d, self.seed))[0]


def plan(dimensions: Sequence[int], problems: int) -> list[Planned]:
    """Return the measurements, ours first."""
    return [
        Planned(f"{name} {instance.seed}", Cell(instance, method, TOLERANCE), LIMITS)
        for name, form in FORMS.items()
        for number in range(problems)
        for instance in (CornerInstance(name, d, 0, 0.0, 0.0, number) for d in dimensions)
        for method in (OURS, *(f"{form}:{backend}" for backend in BACKENDS))
    ]


def _answer(run: Run, options: argparse.Namespace) -> Report:
    planned = plan(options.dimensions or DIMENSIONS, options.cells or PROBLEMS)
    rows = run.measure(planned, "conic")
    found = ratios(rows)
    return Report(
        "Extreme problems, against conic forms",
        [
            "Problems of the stress grid (Frobenius prior), solved by `solve` and by the conic "
            "form of the same set through Clarabel and SCS, each at the loosest tolerance that the "
            f"judge accepts at {TOLERANCE:g}. A ratio is the CPU time of the better backend, "
            "modelling included, over ours. Where no backend has an answer within "
            f"{LIMITS.limit_s:g} s, it counts with that limit, and the ratio is a lower bound.",
            *busy_warning(rows),
            _table(found),
        ],
        tables={"runs": rows},
        summary=f"{len(found)} problems: conic forms take at least {found['ratio'].median():.3g} "
        f"times our time in the median, and {found['ratio'].min():.2g} times at their best",
    )


def ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """Return our time for every problem, and the ratio of the better backend's time to it.

    If neither backend has an answer, the time limit replaces their time. The ratio is then a lower
    bound, and ``open`` is true.
    """
    found = []
    for (name, number, d), group in rows.groupby(["model", "seed", "d"], sort=True):
        ours = group[group["method"] == OURS].iloc[0]
        other = group[(group["method"] != OURS) & group["is_solved"]]
        best = float(other["total_s"].min()) if len(other) else LIMITS.limit_s
        found.append({
            "set": name, "number": number, "d": d, "solved": bool(ours["is_solved"]),
            "ours_s": ours["total_s"], "open": not len(other), "ratio": best / ours["total_s"],
        })  # fmt: skip
    return pd.DataFrame(found)


def _table(found: pd.DataFrame) -> str:
    groups = list(found.groupby(["set", "d"], sort=True))
    groups += [(("all", d), group) for d, group in found.groupby("d", sort=True)]
    header = ["set", "d", "problems", "solved by us", "by no backend", "our median",
              "median ratio", "least ratio"]  # fmt: skip
    return markdown_table(header, [[*key, *_figures(group)] for key, group in groups])


def _figures(group: pd.DataFrame) -> list[object]:
    ratio = group["ratio"].to_numpy(float)
    return [
        len(group), int(group["solved"].sum()), int(group["open"].sum()),
        seconds(float(group["ours_s"].median())), f"{np.nanmedian(ratio):.3g}×",
        f"{np.nanmin(ratio):.2g}×",
    ]  # fmt: skip


_SOURCE = Source(("experiments.measuring.measurement", "experiments.stress.grid"))
STUDY = Study("stress-conic", _SOURCE, _answer)

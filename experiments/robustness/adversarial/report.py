"""The report of the attacks: what was tried, and what came of it."""

from __future__ import annotations

import pandas as pd

from experiments.robustness.adversarial.attack import ALLOWED, TOL
from experiments.robustness.adversarial.cases import CONSTRAINTS, DATA
from experiments.robustness.adversarial.forgery import EXCESSES
from experiments.running.provenance import provenance_line
from experiments.running.text import markdown_table


def describe_attacks(rows: pd.DataFrame) -> str:
    """Return the report in Markdown."""
    header = [
        "set", "attacks", "bounds above the optimum", "highest", "solved", "wrongly",
        "value below its graph's", "forgeries refused",
    ]  # fmt: skip
    lines = [[name, *_figures(group)] for name, group in rows.groupby("set", sort=True)]
    lines.append(["all", *_figures(rows)])
    by_data = [
        [name, len(group), int(group["fooled"].sum()), int(group["wrong_claim"].sum()),
         f"{(group['status'] == 'solved').mean():.1%}"]
        for name, group in rows.groupby("data", sort=True)
    ]  # fmt: skip
    excesses = f"{EXCESSES[0]:g} to {EXCESSES[-1]:g}"
    parts = [
        "# Attacks",
        f"Made by `wdro robustness --adversarial {len(rows)}`. Each is a hostile problem (data: "
        f"{', '.join(DATA)}; constraints: {', '.join(CONSTRAINTS)}; eta, radius, penalties and "
        f"scales over many orders of magnitude), solved to {TOL:g}. For its answer and for another "
        f"graph the judge is offered forged certificates: moments outside the set by {excesses} of "
        "the radius, as pieces and as matrices, asymmetric, indefinite, huge, of other rows, "
        "weights and samples. The truth is the least objective, in sixty-digit arithmetic from the "
        "raw data, of the graphs that our solver and every conic form found: no bound may be above "
        f"it by more than {ALLOWED:g} of the value. `highest` is the largest such excess, negative "
        "where all bounds are below.",
        markdown_table(header, lines),
        "## By kind of data",
        markdown_table(["data", "attacks", "fooled", "wrong claims", "solved"], by_data),
    ]
    return "\n\n".join([*parts, f"Made with {provenance_line()}."]) + "\n"


def _figures(group: pd.DataFrame) -> list[object]:
    solved = group["status"] == "solved"
    return [
        len(group), int(group["fooled"].sum()), f"{group['bound_excess'].max():.0e}",
        f"{solved.mean():.1%}", int(group["wrong_claim"].sum()),
        int((group["value_deficit"] > 1e-12).sum()), int(group["refused"].sum()),
    ]  # fmt: skip

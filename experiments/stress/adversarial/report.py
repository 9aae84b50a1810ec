"""The report of the attacks: what was tried, and what came of it."""

from __future__ import annotations

import pandas as pd

from experiments.measuring.provenance import provenance_line
from experiments.measuring.text import markdown_table
from experiments.stress.adversarial.attack import FINEST, TOL
from experiments.stress.adversarial.cases import CONSTRAINTS, DATA
from experiments.stress.adversarial.forgery import EXCESSES


def describe_attacks(rows: pd.DataFrame) -> str:
    """Return the report in Markdown."""
    header = [
        "", "problems", "verdicts", "bounds above the optimum", "nearest", "values below",
        "wrong edges", "wrongly solved", "solved", "forgeries refused",
    ]  # fmt: skip
    excesses = f"{EXCESSES[0]:g} to {EXCESSES[-1]:g}"
    parts = [
        "# Attacks on the judge",
        f"Made by `wdro robustness --adversarial {len(rows)}`. Each row of `runs.csv` is a hostile "
        f"problem (tables: {', '.join(DATA)}; constraints: {', '.join(CONSTRAINTS)}; eta, radius, "
        f"penalties and scales over many orders of magnitude), solved to {TOL:g}. For its answer "
        "and for another graph the judge, with both of its back ends, is offered forged "
        f"certificates: moments outside the set by {excesses} of the radius; for the answer also "
        "matrices, asymmetric, indefinite, huge, and other rows, means, weights and samples.",
        "The truth is what `wdro_cvx/verify.py` proves in exact arithmetic, from the table before "
        f"it was levelled, for a graph that was solved as far as it goes (to {FINEST:g} if it "
        "can): two fractions around the optimum, and the edges of the optimal graph. A bound "
        "counts as wrong if it is above the upper fraction by however little, a value if it is "
        "below the lower fraction or below the objective of its own graph, an edge if it is called "
        "present and proved absent or the other way round, and a solved problem if its graph is "
        f"further than {TOL:g} from the optimum. `nearest` is the largest difference between a "
        "bound and the upper fraction, relative to the value; it is negative where all bounds are "
        "below.",
        _table("set", header, rows),
        "## By table",
        _table("data", header, rows),
        "## By constraint",
        _table("constraints", header, rows),
        f"The exact brackets of the optimum have a median relative width of "
        f"{rows['truth_gap'].median():.0e}; nine of ten are below "
        f"{rows['truth_gap'].quantile(0.9):.0e}.",
    ]
    return "\n\n".join([*parts, f"Made with {provenance_line()}."]) + "\n"


def _table(column: str, header: list[str], rows: pd.DataFrame) -> str:
    lines = [[name, *_figures(group)] for name, group in rows.groupby(column, sort=True)]
    lines.append(["all", *_figures(rows)])
    return markdown_table(header, lines)


def _figures(group: pd.DataFrame) -> list[object]:
    solved = group["status"] == "solved"
    return [
        len(group), int(group["judged"].sum()), int(group["fooled"].sum()),
        f"{group['bound_excess'].max():.0e}", int(group["understated"].sum()),
        int(group["wrong_edges"].sum()), int(group["wrong_claim"].sum()), f"{solved.mean():.1%}",
        int(group["refused"].sum()),
    ]  # fmt: skip

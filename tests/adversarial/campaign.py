"""Run many attacks on the judge and report them by set, table and constraint.

``make attacks`` runs this program (``CASES=1000``). It writes to ``runs/stress-attacks``, resumes a
run that was stopped, and exits with 1 if an answer or a bound is wrong. With ``--composed`` the
problems have terms, and sums, multiples, intersections and coordinates of sets. These results go to
``runs/composed-attacks``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from attacks import EXCESSES, FINEST, TOL, attack
from composed import attack_composed, draw_composed
from hostile import CONSTRAINTS, DATA, draw_cases

from experiments.measuring.digest import Source
from experiments.measuring.options import add_output, whole
from experiments.measuring.text import markdown_table
from experiments.study import Report, Run, Study, command_line

#: Descriptions of faults, by the column that counts them.
_FAULTS = {
    "fooled": "bounds above the optimum",
    "understated": "values below the optimum",
    "wrong_edges": "wrong edges",
    "wrongly_solved": "wrongly solved",
}


def _answer(run: Run, options: argparse.Namespace) -> Report:
    rows = pd.DataFrame(run.trials(draw_cases(options.cases), attack, "attacks"))
    faults = {name: int(rows[column].sum()) for column, name in _FAULTS.items()}
    told = ", ".join(f"{count} {name}" for name, count in faults.items())
    return Report(
        "Attacks on the judge",
        describe(rows),
        tables={"runs": rows},
        summary=f"{len(rows)} problems, {int(rows['judged'].sum())} verdicts: {told}",
        failure="an answer or a bound is wrong; see the table." if any(faults.values()) else "",
    )


def _answer_composed(run: Run, options: argparse.Namespace) -> Report:
    cases = draw_composed(options.cases)
    rows = pd.DataFrame(run.trials(cases, attack_composed, "attacks on composed sets"))
    fooled, low = int(rows["fooled"].sum()), int(rows["understated"].sum())
    untold = int((~rows["excess"].gt(-float("inf"))).sum())
    return Report(
        "Attacks on the judge: composed sets and terms",
        [
            "Each row of `runs.csv` is a problem with a composed set, solved as far as possible. "
            "The truth is an upper bound of the exact objective of its graph. `nearest` is the "
            "largest difference between a bound and the truth, relative to the value; it is "
            "negative if all bounds are below.",
            markdown_table(
                ["", "problems", "verdicts", "bounds above the optimum", "values too low",
                 "nearest"],
                [[name, *_composed_figures(group)]
                 for name, group in [*rows.groupby("family"), ("all", rows)]],
            ),
        ],
        tables={"runs": rows},
        summary=f"{len(rows)} problems, {int(rows['judged'].sum())} verdicts: {fooled} bounds "
        f"above the optimum, {low} values too low; {untold} without a truth",
        failure="a bound or a value is wrong; see the table." if fooled or low else "",
    )  # fmt: skip


def _composed_figures(group: pd.DataFrame) -> list[object]:
    return [
        len(group), int(group["judged"].sum()), int(group["fooled"].sum()),
        int(group["understated"].sum()), f"{group['excess'].max():.0e}",
    ]  # fmt: skip


def describe(rows: pd.DataFrame) -> list[str]:
    """Return the paragraphs and tables of the report."""
    widths = rows["truth_gap"]
    return [
        f"Each row of `runs.csv` is a hostile problem, solved to {TOL:g}. Tables: "
        f"{', '.join(DATA)}. Constraints: {', '.join(CONSTRAINTS)}. Eta, radius, penalties and "
        "scales range over many orders of magnitude. For its answer and for another graph, both "
        "back ends of the judge are offered forged certificates: moments outside the set by "
        f"{EXCESSES[0]:g} to {EXCESSES[-1]:g} of the radius. For the answer there are also "
        "asymmetric, indefinite and huge matrices, and other rows, means, weights and samples.",
        "The truth is what `wdro_cvx/verify.py` proves in exact arithmetic, from the table before "
        f"it was levelled, for a graph that was solved as far as possible (at best to {FINEST:g}): "
        "two fractions around the optimum, and the edges of the optimal graph. A bound is wrong if "
        "it is above the upper fraction, by however little. A value is wrong if it is below the "
        "lower fraction or below the objective of its own graph. An edge is wrong if it is called "
        "present and proved absent, or the reverse. A problem is wrongly solved if its graph is "
        f"further than {TOL:g} from the optimum. `nearest` is the largest difference between a "
        "bound and the upper fraction, relative to the value; it is negative if all bounds are "
        "below.",
        _table("set", rows),
        "## By table",
        _table("data", rows),
        "## By constraint",
        _table("constraints", rows),
        f"The exact brackets of the optimum have a median relative width of {widths.median():.0e}; "
        f"nine of ten are below {widths.quantile(0.9):.0e}.",
    ]


def _table(column: str, rows: pd.DataFrame) -> str:
    groups = [*rows.groupby(column, sort=True), ("all", rows)]
    header = ["", "problems", "verdicts", *_FAULTS.values(), "nearest", "solved",
              "forgeries refused"]  # fmt: skip
    return markdown_table(header, [[name, *_figures(group)] for name, group in groups])


def _figures(group: pd.DataFrame) -> list[object]:
    return [
        len(group), int(group["judged"].sum()), *(int(group[column].sum()) for column in _FAULTS),
        f"{group['bound_excess'].max():.0e}", f"{(group['status'] == 'solved').mean():.1%}",
        int(group["refused"].sum()),
    ]  # fmt: skip


#: Test modules are named one by one; modules that they import from the packages are found.
ATTACKS = Study(
    "stress-attacks", Source(("tests.helpers.attacks", "tests.helpers.hostile")), _answer
)
COMPOSED = Study(
    "composed-attacks",
    Source(("tests.helpers.attacks", "tests.helpers.composed", "tests.helpers.hostile")),
    _answer_composed,
)


def main(arguments: list[str] | None = None) -> int:
    """Run the attacks and return the exit code."""
    parser = argparse.ArgumentParser("python tests/adversarial/campaign.py", description=__doc__)
    parser.add_argument(
        "--cases", type=whole(1, 1_000_000), default=1000, metavar="N",
        help="number of problems (default: 1000)",
    )  # fmt: skip
    parser.add_argument(
        "--composed", action="store_true", help="attack composed sets and terms instead"
    )
    add_output(parser, ATTACKS.name)
    options = parser.parse_args(arguments)
    study = COMPOSED if options.composed else ATTACKS
    return study.carry_out(options, command_line(parser, options))


if __name__ == "__main__":
    sys.exit(main())

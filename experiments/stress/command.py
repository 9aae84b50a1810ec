"""``wdro robustness``: its arguments."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from experiments.measuring.options import add_output, sizes, whole, workspace

if TYPE_CHECKING:
    from experiments.measuring.options import Commands

NAME, ATTACKS, CONIC = "robustness", "robustness-attacks", "robustness-conic"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        NAME,
        help="solve extreme problems, or attack the judge, and count",
        description="Solve random problems at the corners of the domain for every ambiguity set "
        "and prior, and judge each answer; or, with --adversarial, solve hostile problems, offer "
        "the judge forged certificates and compare with exact arithmetic. Exits with 1 if "
        "any answer was called solved that is not, or any bound passed the optimum. With --conic, "
        "time some of the problems against the conic forms of their sets.",
    )
    parser.set_defaults(command=run)
    parser.add_argument(
        "--dimensions", type=sizes, metavar="D,D,…", help="numbers of vertices (2,3,10,30,60)"
    )
    parser.add_argument(
        "--cells", type=whole(1, 10_000), metavar="N",
        help="problems for every set, prior and number of vertices (25)",
    )  # fmt: skip
    other = parser.add_mutually_exclusive_group()
    other.add_argument(
        "--adversarial", type=whole(1, 1_000_000), metavar="N",
        help=f"run N attacks instead (below {ATTACKS})",
    )  # fmt: skip
    other.add_argument(
        "--conic", action="store_true",
        help="time the problems against the conic forms of their sets instead, at 30 and 60 "
        f"vertices, 6 for each set (below {CONIC})",
    )  # fmt: skip
    add_output(parser, NAME)


def run(options: argparse.Namespace) -> int:
    """Carry out the command."""
    from experiments.stress.grid import CELLS, DIMENSIONS
    from experiments.stress.run import run_attacks, run_robustness

    if options.conic:
        return _run_conic(options)
    with workspace(options, ATTACKS if options.adversarial else NAME) as output:
        if options.adversarial:
            rows = run_attacks(output, options.fresh, options.adversarial)
            faults = {
                "bounds above the optimum": int(rows["fooled"].sum()),
                "values below it": int(rows["understated"].sum()),
                "wrong edges": int(rows["wrong_edges"].sum()),
                "wrongly called solved": int(rows["wrong_claim"].sum()),
            }
            wrong = sum(faults.values())
            print(f"{len(rows)} problems, {int(rows['judged'].sum())} verdicts:")
            print("\n".join(f"  {count} {fault}" for fault, count in faults.items()))
            print(f"wrote {output}/report.md, runs.csv")
        else:
            dimensions, cells = options.dimensions or DIMENSIONS, options.cells or CELLS
            rows = run_robustness(output, options.fresh, dimensions, cells)
            wrong = int(rows["wrong_claim"].sum())
            print(f"{len(rows)} problems: {int(rows['solved'].sum())} solved, {wrong} wrong claims")
            print(f"wrote {output}/report.md, runs.csv, robustness.png")
    if wrong:
        print("wdro: an answer or a bound is wrong; see the table.", file=sys.stderr)
    return 1 if wrong else 0


def _run_conic(options: argparse.Namespace) -> int:
    from experiments.stress.conic import DIMENSIONS, PROBLEMS, ratios, run_conic

    with workspace(options, CONIC) as output:
        dimensions, problems = options.dimensions or DIMENSIONS, options.cells or PROBLEMS
        found = ratios(run_conic(output, options.fresh, dimensions, problems))
        middle, least = found["ratio"].median(), found["ratio"].min()
        print(f"{len(found)} problems: conic forms take {middle:.3g} times our time, or more")
        print(f"(the median; {least:.2g} times where they are at their best)")
        print(f"wrote {output}/report.md, runs.csv")
    return 0

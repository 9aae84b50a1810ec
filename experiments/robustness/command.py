"""``wdro robustness``: its arguments."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from experiments.running.options import add_output, sizes, workspace

if TYPE_CHECKING:
    from experiments.running.options import Commands

NAME = "robustness"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        NAME,
        help="solve a grid of extreme problems and judge every answer",
        description="Solve over a grid of dimensions, sample sizes, radii, etas and units of the "
        "data, for every ambiguity set, and judge each answer. Exits with 1 if any was called "
        "solved that is not.",
    )
    parser.set_defaults(command=run)
    parser.add_argument(
        "--dimensions", type=sizes, metavar="D,D,…", help="numbers of vertices (2,3,20,100)"
    )
    add_output(parser, NAME)


def run(options: argparse.Namespace) -> int:
    """Carry out the command."""
    from experiments.robustness.grid import DIMENSIONS
    from experiments.robustness.run import run_robustness

    with workspace(options, NAME) as output:
        rows = run_robustness(output, options.fresh, options.dimensions or DIMENSIONS)
        wrong = int(rows["wrong_claim"].sum())
        print(f"{len(rows)} problems: {int(rows['solved'].sum())} solved, {wrong} wrong claims")
        print(f"wrote {output}/report.md, runs.csv")
    if wrong:
        print("wdro: an answer was called solved that is not; see runs.csv.", file=sys.stderr)
    return 1 if wrong else 0

"""``wdro validate``: its arguments."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from experiments.measuring.options import add_output, workspace

if TYPE_CHECKING:
    from experiments.measuring.options import Commands

NAME = "validate"
PARTS = ("methods", "rules", "coverage")


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        NAME,
        help="learn graphs that are known, by us and by others",
        description="Learn graphs that are known (US states, a climate model's grid, power grids, "
        "the paper's graphs) with RobustGraph and with what others would use; compare rules for "
        "the radius; count how often the bootstrap's set contains the truth. Needs the extra "
        "'validate'.",
    )
    parser.set_defaults(command=run)
    parser.add_argument(
        "--part", action="append", choices=PARTS, help="only this part; may be repeated"
    )
    add_output(parser, NAME)


def run(options: argparse.Namespace) -> int:
    """Carry out the command."""
    from experiments.studies.validate.run import run_validate

    with workspace(options, NAME) as output:
        print(run_validate(output, options.part or PARTS, options.fresh))
        print(f"wrote {output}/report.md and tables")
    return 0

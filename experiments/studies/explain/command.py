"""``wdro explain``: its arguments."""

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

NAME = "explain"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        NAME,
        help="search the settings that the paper leaves open, and check its sentences",
        description="Fit eta, scale, candidates, threshold and choice to the paper's Tables 2 and "
        "3; then put every sentence about its figures to fresh graphs: at the fitted setting, "
        "with all models tuned on other graphs, and without any truth. Exits with 1 if an answer "
        "was not certified.",
    )
    parser.set_defaults(command=run)
    parser.add_argument(
        "--search", type=whole(2, 10_000, FEW), default=4, metavar="K",
        help="graphs of each kind to fit on, at both scales (default: 4)",
    )  # fmt: skip
    parser.add_argument(
        "--graphs", type=whole(2, 10_000, FEW), default=8, metavar="K",
        help="fresh graphs of each kind for the verdicts (default: 8)",
    )  # fmt: skip
    add_seed(parser, "graphs")
    add_cluster(parser)
    add_output(parser, NAME)


def run(options: argparse.Namespace) -> int:
    """Carry out the command."""
    from experiments.studies.explain.run import run_explain

    with workspace(options, NAME) as output:
        result = run_explain(
            output, options.search, options.graphs, options.seed, options.fresh, options.dask
        )
        print(f"fitted: {result.setting}")
        print(f"wrote {output}/report.md, settings.csv, verdicts.csv, explain.png")
    return all_certified(result.unsolved)

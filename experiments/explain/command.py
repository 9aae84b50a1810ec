"""``wdro explain``: its arguments."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from experiments.running.options import add_output, whole, workspace

if TYPE_CHECKING:
    from experiments.running.options import Commands

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
    few = "no verdict rests on one instance"
    parser.add_argument(
        "--search", type=whole(2, 10_000, few), default=4, metavar="K",
        help="graphs of each kind to fit on, at both scales (default: 4)",
    )  # fmt: skip
    parser.add_argument(
        "--graphs", type=whole(2, 10_000, few), default=8, metavar="K",
        help="fresh graphs of each kind for the verdicts (default: 8)",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=whole(0, 2**32), default=0, metavar="S", help="of the graphs (default: 0)"
    )
    parser.add_argument(
        "--dask", metavar="ADDRESS",
        help="run on a Dask cluster: tcp://host:port of its scheduler, or local",
    )  # fmt: skip
    add_output(parser, NAME)


def run(options: argparse.Namespace) -> int:
    """Carry out the command."""
    from experiments.explain.run import run_explain

    with workspace(options, NAME) as output:
        result = run_explain(
            output, options.search, options.graphs, options.seed, options.fresh, options.dask
        )
        print(f"fitted: {result.setting}")
        print(f"wrote {output}/report.md, settings.csv, verdicts.csv, explain.png")
    if result.unsolved:
        print(f"wdro: {result.unsolved} answers were not certified.", file=sys.stderr)
    return 1 if result.unsolved else 0

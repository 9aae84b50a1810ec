"""``wdro figures``: its arguments."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from experiments.measuring.options import (
    FEW,
    add_cluster,
    add_output,
    add_seed,
    whole,
    workspace,
)

if TYPE_CHECKING:
    from experiments.measuring.options import Commands

NAME = "figures"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        NAME,
        help="run the paper's experiments on synthetic data again",
        description="Run the paper's experiments, draw its figures, print its tables beside ours, "
        "and say of each claim whether it comes out. A killed run goes on where it was.",
    )
    parser.set_defaults(command=run)
    parser.add_argument(
        "names", nargs="*", metavar="NAME",
        help="experiments to run: communities, gamma, sample-size, radius, reliability, noise, "
        "norm, nmi, prior (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--preset", choices=("quick", "paper"), default="quick",
        help="quick: 5 trials of each setting; paper: 20, as in the paper (default: quick)",
    )  # fmt: skip
    parser.add_argument(
        "--trials", type=whole(2, 100_000, FEW), metavar="K",
        help="trials of each setting, instead of a preset",
    )  # fmt: skip
    add_seed(parser, "trials")
    add_cluster(parser)
    add_output(parser, NAME)


def run(options: argparse.Namespace) -> int:
    """Carry out the command."""
    from experiments.figures.run import PRESETS, chosen_experiments, run_figures

    trials = options.trials or PRESETS[options.preset].trials
    chosen = chosen_experiments(options.names)
    with workspace(options, NAME) as output:
        run_figures(output, chosen, trials, options.seed, options.fresh, options.dask)
        print(f"wrote {output}/report.md and one table and figure for each experiment")
    return 0

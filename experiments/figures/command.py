"""``wdro figures``: the paper's experiments on synthetic data."""

from __future__ import annotations

import argparse

from experiments.measuring.options import FEW, add_cluster, add_seed, whole
from experiments.study import Command, Study


def _arguments(parser: argparse.ArgumentParser) -> None:
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


def _study(options: argparse.Namespace) -> Study:
    from experiments.figures.study import STUDY, chosen_experiments

    chosen_experiments(options.names)  # refuses an unknown name before a folder is made
    return STUDY


COMMAND = Command(
    "figures",
    "run the paper's experiments on synthetic data again",
    "Run the paper's experiments, draw its figures, print its tables beside ours, and say whether "
    "each of its statements is reproduced. The same command continues a run that was stopped.",
    _arguments,
    _study,
)

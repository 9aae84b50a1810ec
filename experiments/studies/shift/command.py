"""``wdro study shift``: does robustness pay under a shifted distribution."""

from __future__ import annotations

import argparse

from experiments.measuring.options import FEW, add_cluster, add_seed, whole
from experiments.study import Command, Study


def _arguments(parser: argparse.ArgumentParser) -> None:
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


def _study(options: argparse.Namespace) -> Study:
    from experiments.studies.shift.study import STUDY

    return STUDY


COMMAND = Command(
    "shift",
    "does robustness pay? tune all models alike, then shift the distribution",
    "Tune eta and radius of every model on the same budget, then compare them on fresh graphs "
    "under drift, a broken sensor, an adversary and corrupted training signals, by risk and by "
    "the graph. Exits with 1 if an answer was not certified.",
    _arguments,
    _study,
)

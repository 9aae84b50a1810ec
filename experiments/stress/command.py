"""Define the arguments of ``wdro stress``."""

from __future__ import annotations

import argparse

from experiments.measuring.options import sizes, whole
from experiments.study import Command, Study


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dimensions", type=sizes, metavar="D,D,…",
        help="numbers of vertices (default: 2,3,10,30,60; with --conic: 30,60)",
    )  # fmt: skip
    parser.add_argument(
        "--cells", type=whole(1, 10_000), metavar="N",
        help="problems for every set, prior and number of vertices (default: 25; with --conic: 6)",
    )  # fmt: skip
    parser.add_argument(
        "--conic", action="store_true",
        help="time the problems against the conic forms of their sets instead (writes to "
        "stress-conic)",
    )  # fmt: skip


def _study(options: argparse.Namespace) -> Study:
    if options.conic:
        from experiments.stress.conic import CONIC

        return CONIC
    from experiments.stress.study import STRESS

    return STRESS


COMMAND = Command(
    "stress",
    "solve extreme problems and judge every answer",
    "Solve random extreme problems for every ambiguity set and prior, and judge each answer. With "
    "--conic, time some of the problems against the conic forms of their sets. Exits with 1 if an "
    "answer is called solved that is not.",
    _arguments,
    _study,
)

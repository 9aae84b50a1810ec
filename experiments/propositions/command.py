"""``wdro propositions``: every statement of the paper, tried on random instances."""

from __future__ import annotations

import argparse

from experiments.measuring.options import FEW, add_seed, sizes, whole
from experiments.study import Command, Study


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="STATEMENT",
        help="statements to try, by name or its beginning, as 'Proposition 2' (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--dimensions", type=sizes, default=(), metavar="D,D,…",
        help="vertices of the instances, in turn (default: each statement's own, mostly 2 to 6)",
    )  # fmt: skip
    parser.add_argument(
        "--instances", type=whole(2, 100_000, FEW), default=40,
        metavar="N", help="random instances for each statement, at least 2 (default: 40)",
    )  # fmt: skip
    add_seed(parser, "instances")


def _study(options: argparse.Namespace) -> Study:
    from experiments.propositions.study import STUDY, chosen_propositions

    chosen_propositions(options.names)  # refuses an unknown name before a folder is made
    return STUDY


COMMAND = Command(
    "propositions",
    "try every statement of the paper",
    "Try every lemma, theorem, proposition, algorithm and erratum on random instances by "
    "independent routes. Write a ledger with verdicts and counterexamples, and figures. Exits "
    "with 1 if a verdict differs from the documented one.",
    _arguments,
    _study,
)

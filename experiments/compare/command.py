"""Define the arguments of ``wdro compare``."""

from __future__ import annotations

import argparse

from experiments.measuring.options import add_limits, names, number, sizes, whole
from experiments.study import Command, Study


def _arguments(parser: argparse.ArgumentParser) -> None:
    some = whole(1, 1000)
    parser.add_argument(
        "--preset", choices=("quick", "paper"), default="quick",
        help="quick: d up to 30, three data sets, 3 minutes in all; paper: d up to 120, five data "
        "sets, all opponents, an hour in all (default: quick)",
    )  # fmt: skip
    parser.add_argument(
        "--dimensions", type=sizes, metavar="D,D,…", help="numbers of vertices, e.g. 10,20,40"
    )
    parser.add_argument(
        "--methods", type=names, metavar="NAME,…",
        help="solvers by name, formulations as NAME:BACKEND; NAME@TOL stops by its own rule at a "
        "tolerance (default: all of the paper's and ours)",
    )  # fmt: skip
    parser.add_argument(
        "--sets", type=names, metavar="NAME,…",
        help="compare on these ambiguity sets instead of the paper's problems",
    )  # fmt: skip
    parser.add_argument(
        "--terms", type=names, metavar="NAME,…",
        help="compare with these terms, e.g. LogDet, beside the sets (default: beside Singleton "
        "and WassersteinBall)",
    )  # fmt: skip
    for flag, default, what in (
        ("--samples", 2, "signals per vertex"),
        ("--seeds", None, "data sets per size"),
        ("--repeats", 3, "timed runs of each method"),
    ):
        parser.add_argument(
            flag, type=some, default=default, metavar="K",
            help=f"{what} (default: {default or 'as in the preset'})",
        )  # fmt: skip
    parser.add_argument(
        "--target", type=_target, default=1e-6, help="judged relative gap to reach (default: 1e-6)"
    )
    parser.add_argument(
        "--with", dest="extensions", action="append", default=[], metavar="FILE.py",
        help="a Python file that registers sets, terms, formulations or solvers, or assigns sets "
        "and terms to names, e.g. both = KLBall(0.2) + WassersteinBall(0.5); its sets and terms "
        "replace the paper's problems; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--figure7-limit", type=number(0.0, above=True), metavar="S",
        help="a longer time limit for interior point in Figure 7",
    )  # fmt: skip
    add_limits(parser, None, None)


def _target(text: str) -> float:
    value = number(0.0, above=True)(text)
    if value >= 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a relative gap between 0 and 1")
    return value


def _study(options: argparse.Namespace) -> Study:
    from experiments.compare.study import comparison

    return comparison(options)


COMMAND = Command(
    "compare",
    "cross-check and time every formulation and solver against d",
    "Solve the same problems by every method, compare the answers, and time each method against "
    "the number of vertices d. The same command continues a run that was stopped. Exits with 1 if "
    "methods that say solved disagree.",
    _arguments,
    _study,
)

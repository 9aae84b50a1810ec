"""Define the arguments that several commands share."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.measuring.files import RUNS
from experiments.measuring.text import parse_number

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

#: Problems are dense; one matrix of this size takes 3 GiB.
LARGEST_D = 20_000
#: The reason for refusing fewer than two instances.
FEW = "no verdict rests on one instance"


def number(least: float = -math.inf, above: bool = False) -> Callable[[str], float]:
    """Return an argument type: a finite number, at least ``least`` or strictly ``above`` it."""

    def parse(text: str) -> float:
        value = parse_number(text)
        good = value is not None and math.isfinite(value)
        if not good or value < least or (above and value == least):  # type: ignore[operator]
            relation = "above" if above else "of at least"
            limit = "" if least == -math.inf else f" {relation} {least:g}"
            raise argparse.ArgumentTypeError(f"{text!r} is not a finite number{limit}")
        return float(value)  # type: ignore[arg-type]

    return parse


def whole(least: int, most: int, why: str = "") -> Callable[[str], int]:
    """Return an argument type: a whole number in a range."""

    def parse(text: str) -> int:
        digits = text.strip()
        if not re.fullmatch(r"\d{1,20}", digits, re.ASCII) or not least <= int(digits) <= most:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a whole number from {least} to {most}{why and ': ' + why}"
            )
        return int(digits)

    return parse


def sizes(text: str) -> tuple[int, ...]:
    """Parse numbers of vertices, separated by commas."""
    one = whole(2, LARGEST_D, "a graph has at least 2 vertices, and problems are dense")
    return tuple(dict.fromkeys(one(part) for part in text.split(",")))


def names(text: str) -> tuple[str, ...]:
    """Parse names separated by commas; duplicates are dropped."""
    found = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} names nothing; leave the option out for all")
    return found


def folder(text: str) -> Path:
    """Parse the name of a folder; refuse an empty name."""
    if not text.strip():
        raise argparse.ArgumentTypeError(f"{text!r} names no folder; . is the working directory")
    return Path(text)


def add_output(parser: argparse.ArgumentParser, command: str, resumes: bool = True) -> None:
    """Add --output, --reference and, if the command ``resumes``, --fresh."""
    parser.add_argument(
        "--output", type=folder, metavar="DIR", help=f"where to write (default: {RUNS / command})"
    )
    parser.add_argument(
        "--reference", action="store_true",
        help=f"when done, replace the committed results/{command}",
    )  # fmt: skip
    if resumes:
        parser.add_argument(
            "--fresh", action="store_true", help="discard earlier results instead of resuming"
        )


def add_seed(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --seed."""
    parser.add_argument(
        "--seed",
        type=whole(0, 2**32),
        default=0,
        metavar="S",
        help=f"seed of the {what} (default: 0)",
    )


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add --dask."""
    parser.add_argument(
        "--dask", metavar="ADDRESS",
        help="run on a Dask cluster: tcp://host:port of its scheduler, or local",
    )  # fmt: skip


def add_limits(parser: argparse.ArgumentParser, time_s: float | None, mib: float | None) -> None:
    """Add --time-limit and --memory-limit."""
    above = number(0.0, above=True)
    parser.add_argument(
        "--time-limit", type=above, default=time_s, metavar="S",
        help="CPU seconds for one run, judging included; four times as many of wall time",
    )  # fmt: skip
    parser.add_argument(
        "--memory-limit", type=above, default=mib, metavar="MIB",
        help="MiB for one run and all processes it starts",
    )  # fmt: skip

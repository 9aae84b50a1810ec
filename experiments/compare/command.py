"""``wdro compare``: its arguments and what it says at the end."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from experiments.measuring.options import (
    add_limits,
    add_output,
    names,
    number,
    sizes,
    whole,
    workspace,
)

if TYPE_CHECKING:
    from experiments.compare.run import Comparison
    from experiments.measuring.options import Commands

NAME = "compare"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        NAME,
        help="cross-check and time every formulation and solver against d",
        description="Solve the same problems by every route, compare the answers, time each "
        "against the number of vertices d, and write runs, figures and report. A killed run goes "
        "on where it was. Exits with 1 if methods that say solved disagree.",
    )
    parser.set_defaults(command=run)
    parser.add_argument(
        "--preset", choices=("quick", "paper"), default="quick",
        help="quick: d up to 100, 5 seconds for each run, 3 minutes in all; paper: d up to 120, a "
        "minute for each (default: quick)",
    )  # fmt: skip
    parser.add_argument(
        "--dimensions", type=sizes, metavar="D,D,…", help="numbers of vertices, e.g. 10,20,40"
    )
    parser.add_argument(
        "--methods", type=names, metavar="NAME,…",
        help="solvers by name, formulations as NAME:BACKEND (default: all of the paper's and ours)",
    )  # fmt: skip
    parser.add_argument(
        "--sets", type=names, metavar="NAME,…",
        help="compare on these ambiguity sets instead of the paper's problems",
    )  # fmt: skip
    parser.add_argument(
        "--samples", type=whole(1, 1000), default=2, metavar="K",
        help="signals per vertex (default: 2)",
    )  # fmt: skip
    parser.add_argument(
        "--seeds", type=whole(1, 1000), default=1, metavar="K",
        help="instances per size (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--repeats", type=whole(1, 1000), default=3, metavar="K",
        help="timed runs each (default: 3)",
    )  # fmt: skip
    parser.add_argument(
        "--target", type=_target, default=1e-6, help="judged relative gap to reach (default: 1e-6)"
    )
    parser.add_argument(
        "--with", dest="extensions", action="append", default=[], metavar="FILE.py",
        help="a Python file that registers sets, formulations or solvers; if it brings a set, that "
        "set is compared; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--figure7-limit", type=number(0.0, above=True), metavar="S",
        help="a time limit of their own for the methods of the paper's Figure 7",
    )  # fmt: skip
    add_limits(parser, None, None)
    add_output(parser, NAME)


def run(options: argparse.Namespace) -> int:
    """Carry out the command."""
    from experiments.compare.grid import METHODS, PRESETS, Grid, methods_for
    from experiments.compare.run import run_compare
    from experiments.measuring.extensions import load_extension
    from experiments.measuring.methods import find_method
    from experiments.measuring.outcome import Limits
    from wdro_cvx import registered_ambiguities

    before = set(registered_ambiguities())
    for path in options.extensions:
        load_extension(path)
    # A file that brings its own set is compared on that set.
    brought = tuple(sorted(set(registered_ambiguities()) - before))
    sets = options.sets or brought
    for name in options.methods or ():  # one that is asked for must be there
        find_method(name)
    preset = PRESETS[options.preset]
    limits = Limits(
        options.time_limit or preset.limits.limit_s, options.memory_limit or preset.limits.limit_mb
    )
    grid = Grid(
        options.dimensions or preset.dimensions,
        limits,
        options.methods or (methods_for(sets) if sets else METHODS),
        options.samples,
        tuple(range(options.seeds)),
        options.target,
        options.repeats,
        sets,
        options.figure7_limit,
    )
    with workspace(options, NAME) as output:
        found = run_compare(output, grid, options.fresh, options.extensions)
        print(_verdict(found))
        print(f"wrote {output}/report.md and report.html, their figures, and runs.csv")
    if not found.outliers.empty:
        names_ = ", ".join(dict.fromkeys(found.outliers["method"].astype(str)))
        print(f"wdro: some methods disagree: {names_}; the report has them.", file=sys.stderr)
    return 0 if found.outliers.empty else 1


def _verdict(found: Comparison) -> str:
    rows = found.rows
    counts = rows.loc[rows["outcome"] != "ok", "outcome"].value_counts()
    solved = int(rows["is_solved"].sum())
    rest = "".join(f", {count} {outcome}" for outcome, count in counts.items())
    unsolved = int((rows["outcome"] == "ok").sum()) - solved
    missed = f", {unsolved} not solved" if unsolved else ""
    number_of = len(found.outliers)
    word = "disagreement" if number_of == 1 else "disagreements"
    return f"{len(rows)} runs: {solved} solved{missed}{rest}; {number_of or 'no'} {word}"


def _target(text: str) -> float:
    value = number(0.0, above=True)(text)
    if value >= 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a relative gap between 0 and 1")
    return value

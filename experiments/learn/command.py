"""``wdro learn``: its arguments."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.running.folder import RUNS
from experiments.running.options import number, parse_number
from wdro_cvx import ProblemError

if TYPE_CHECKING:
    from experiments.running.options import Commands

NAME = "learn"
DEFAULT_RADIUS = (
    "bootstrap"  # of RobustGraph; a test holds them together, importing it takes a second
)


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        NAME,
        help="learn a graph from your own table",
        description="Learn a graph from a CSV table: one observation per row, one vertex per "
        "column, names in the header; columns with dates are left out. Writes edge list, "
        "Laplacian, GraphML, picture and summary. Signals are divided by one number, their root "
        "mean square (less the mean over the vertices), so that radius and eta have no unit.",
    )
    parser.set_defaults(command=run)
    parser.add_argument("table", type=Path, metavar="TABLE.csv", help="the signals")
    parser.add_argument(
        "--coordinates", type=Path, metavar="FILE.csv",
        help="a table with name, lat, lon (degrees) for every vertex: draws a map",
    )  # fmt: skip
    parser.add_argument(
        "--ambiguity", default="wasserstein", metavar="SET",
        help="around which the worst case is taken: wasserstein, gaussian (the same graph), moment "
        "(the paper's Theorem 3), mahalanobis, kl, chi-square, moment-uncertainty, singleton "
        "(trust the data), or an installed one (default: wasserstein)",
    )  # fmt: skip
    parser.add_argument(
        "--parameter", action="append", default=[], metavar="NAME=VALUE",
        help="a parameter of the set, as p=1 or scales=1,2,0.5; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--radius", type=_number_or_word, default=DEFAULT_RADIUS, metavar="R",
        help="how far the truth may be from the data: a number; bootstrap: as far as 95 %% of "
        "resampled tables; prediction: where neighbours predict held-out signals best; "
        "reliability: the least whose worst case covers 95 %% of held-out signals; cv: the least "
        f"risk on them, which tends to choose little (default: {DEFAULT_RADIUS})",
    )  # fmt: skip
    parser.add_argument(
        "--eta", type=_number_or_word, default=0.3, metavar="E",
        help="larger values give more, and more even, edges; auto: where neighbours predict "
        "held-out signals best (default: 0.3)",
    )  # fmt: skip
    parser.add_argument(
        "--block", type=int, default=1, metavar="ROWS",
        help="resampling draws runs of so many rows: for time series, longer than what a value "
        "remembers (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--stability", type=int, default=0, metavar="REFITS",
        help="add to every edge the share of so many refits to resampled signals that have it",
    )  # fmt: skip
    parser.add_argument(
        "--signals", choices=("raw", "centred", "standardised"), default="raw",
        help="raw: edges join vertices of similar level (raw temperatures are dominated by each "
        "place's mean); centred: take off each vertex's mean, so that edges join vertices that "
        "vary together; standardised: also divide by its deviation (default: raw)",
    )  # fmt: skip
    parser.add_argument(
        "--threshold", type=number(), default=1e-4, metavar="W",
        help="leave out edges with less weight (default: 1e-4; all weights together are d/2)",
    )  # fmt: skip
    parser.add_argument(
        "--missing", choices=("error", "drop", "interpolate"), default="error",
        help="missing values: stop, drop their rows, or interpolate down the column",
    )  # fmt: skip
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="COLUMN",
        help="a column that is no vertex; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help=f"where to write (default: {RUNS}/learn/TABLE)"
    )
    parser.add_argument("--force", action="store_true", help="replace earlier results")


def run(options: argparse.Namespace) -> int:
    """Carry out the command."""
    from experiments.learn.graph import LearnOptions
    from experiments.learn.output import FILES
    from experiments.learn.run import run_learn

    output = options.output or RUNS / NAME / options.table.stem
    how = LearnOptions(
        options.ambiguity, tuple(map(_parameter, options.parameter)), options.radius, options.eta,
        options.signals, options.threshold, options.block, options.stability,
    )  # fmt: skip
    graph, summary = run_learn(
        options.table, how, output, options.coordinates, options.ignore, options.missing,
        options.force,
    )  # fmt: skip
    print(summary)
    print(f"wrote {output}/: {', '.join(FILES)}")
    if not graph.solved:
        print(
            f"wdro: the graph is within {graph.gap:.0e} of the optimum, not within 1e-6.",
            file=sys.stderr,
        )
    return 0 if graph.solved else 1


def _number_or_word(text: str) -> float | str:
    value = parse_number(text)
    return text if value is None else value


def _parameter(text: str) -> tuple[str, object]:
    """Return the name and the value, a number or several, of a set's parameter."""
    name, equals, value = text.partition("=")
    numbers = [parse_number(part) for part in value.split(",")]
    if not (name and equals) or any(number is None for number in numbers):
        raise ProblemError(
            f"--parameter must be NAME=NUMBER or NAME=NUMBER,NUMBER,…; it is {text!r}."
        )
    return name, numbers[0] if len(numbers) == 1 else tuple(numbers)

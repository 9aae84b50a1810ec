"""``wdro learn``: its arguments."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.running.folder import RUNS
from experiments.running.options import number, parse_number

if TYPE_CHECKING:
    from experiments.running.options import Commands

NAME = "learn"


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
        "--model", choices=("gaussian", "general", "saa"), default="gaussian",
        help="gaussian: worst case over a Wasserstein ball of signals; general: the paper's "
        "Theorem 3 with p = 2; saa: trust the data (default: gaussian)",
    )  # fmt: skip
    parser.add_argument(
        "--radius", type=_radius, default="cv", metavar="R",
        help="how far the truth may be from the data: a number; cv: the radius with the least risk "
        "on held-out signals; reliability: the least whose worst case covers 95 %% of them "
        "(default: cv)",
    )  # fmt: skip
    parser.add_argument(
        "--eta", type=number(), default=0.3, metavar="E",
        help="larger values give more, and more even, edges (default: 0.3)",
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
        options.model, options.radius, options.eta, options.signals, options.threshold
    )
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


def _radius(text: str) -> float | str:
    value = parse_number(text)
    return text if value is None else value

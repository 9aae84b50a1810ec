"""``wdro bench``: its arguments."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from experiments.measuring.options import add_limits, add_output, whole, workspace
from wdro_cvx import ProblemError, WdroError

if TYPE_CHECKING:
    from experiments.measuring.options import Commands
    from experiments.measuring.outcome import Limits

NAME = "bench"
LOG_DEGREE = "bench-log-degree"
SCALE = "bench-scale"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        NAME,
        help="time the certified solver against the strongest opponents",
        description="Time the certified solver against PIQP, SCS, Clarabel and projected gradient "
        "at equal judged accuracy; write table, figure and report.",
    )
    parser.set_defaults(command=run)
    other = parser.add_mutually_exclusive_group()
    other.add_argument(
        "--log-degree", action="store_true",
        help="the log-degree prior instead, against the field's own methods for it (below "
        f"{LOG_DEGREE})",
    )  # fmt: skip
    other.add_argument(
        "--scale", action="store_true",
        help="instead, time and memory of graphs of many vertices: dense path, sparse path, and "
        f"near pairs only, as the field does it (below {SCALE})",
    )  # fmt: skip
    parser.add_argument(
        "--largest", type=whole(500, 1_000_000), default=50_000, metavar="D",
        help="the most vertices of --scale (default: 50000)",
    )  # fmt: skip
    parser.add_argument(
        "--dask", metavar="ADDRESS",
        help="let --scale price its blocks on a Dask cluster: tcp://host:port of its scheduler, or "
        "local",
    )  # fmt: skip
    add_limits(parser, 400.0, 16384.0)
    add_output(parser, NAME)


def run(options: argparse.Namespace) -> int:
    """Carry out the command."""
    from experiments.bench import contests
    from experiments.bench.run import run_bench
    from experiments.measuring.outcome import Limits

    limits = Limits(options.time_limit, options.memory_limit)
    if options.dask is not None and not options.scale:
        raise ProblemError("--dask is for --scale: other benches measure one process.")
    if options.scale:
        return _run_scale(options, limits)
    name, chosen, command = NAME, contests.CONTESTS, "wdro bench"
    if options.log_degree:
        name, chosen, command = LOG_DEGREE, contests.LOG_DEGREE, "wdro bench --log-degree"
    with workspace(options, name) as output:
        rows = run_bench(output, options.fresh, limits, chosen, command)
        solved = int(rows["is_solved"].sum())
        print(f"{len(rows)} runs: {solved} solved")
        print(f"wrote {output}/report.md, runs.csv, bench.png, bench.pdf")
    if not solved:
        raise WdroError(f"nothing was solved within the limits; raise them, or see {output}.")
    return 0


def _run_scale(options: argparse.Namespace, limits: Limits) -> int:
    from experiments.bench.scale.run import run_scale

    with workspace(options, SCALE) as output:
        table = run_scale(output, options.fresh, limits, options.largest, options.dask)
        print(f"{len(table)} runs: {int(table['is_solved'].sum())} solved")
        print(f"wrote {output}/report.md, runs.csv, scale.png, scale.pdf")
    return 0

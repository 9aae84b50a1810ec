"""``wdro bench``: its arguments."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from experiments.running.options import add_limits, add_output, workspace
from wdro_cvx import WdroError

if TYPE_CHECKING:
    from experiments.running.options import Commands

NAME = "bench"
LOG_DEGREE = "bench-log-degree"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        NAME,
        help="time the certified solver against the strongest opponents",
        description="Time the certified solver against PIQP, SCS, Clarabel and projected gradient "
        "at equal judged accuracy; write table, figure and report.",
    )
    parser.add_argument(
        "--log-degree", action="store_true",
        help="the log-degree prior instead, against the field's own methods for it (below "
        f"{LOG_DEGREE})",
    )  # fmt: skip
    parser.set_defaults(command=run)
    add_limits(parser, 400.0, 16384.0)
    add_output(parser, NAME)


def run(options: argparse.Namespace) -> int:
    """Carry out the command."""
    from experiments.bench import contests
    from experiments.bench.run import run_bench
    from experiments.running.outcome import Limits

    limits = Limits(options.time_limit, options.memory_limit)
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

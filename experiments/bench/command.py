"""``wdro bench``: its arguments."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from experiments.running.options import add_limits, add_output, workspace
from wdro_cvx import WdroError

if TYPE_CHECKING:
    from experiments.running.options import Commands

NAME = "bench"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        NAME,
        help="time the certified solver against the strongest opponents",
        description="Time the certified solver against PIQP, SCS, Clarabel and projected gradient "
        "at equal judged accuracy; write table, figure and report.",
    )
    parser.set_defaults(command=run)
    add_limits(parser, 400.0, 16384.0)
    add_output(parser, NAME)


def run(options: argparse.Namespace) -> int:
    """Carry out the command."""
    from experiments.bench.run import run_bench
    from experiments.running.outcome import Limits

    limits = Limits(options.time_limit, options.memory_limit)
    with workspace(options, NAME) as output:
        rows = run_bench(output, options.fresh, limits)
        solved = int(rows["is_solved"].sum())
        print(f"{len(rows)} runs: {solved} solved")
        print(f"wrote {output}/report.md, runs.csv, bench.png, bench.pdf")
    if not solved:
        raise WdroError(f"nothing was solved within the limits; raise them, or see {output}.")
    return 0

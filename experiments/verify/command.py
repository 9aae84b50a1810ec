"""``wdro verify``: its arguments."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from experiments.measuring.options import Commands

NAME = "verify"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        NAME,
        help="check a proof that a graph is optimal, in exact arithmetic",
        description="Check proof files, such as `wdro learn` writes, in exact arithmetic. Prints "
        "two numbers between which the optimum lies, and which edges the optimal graph has. Exits "
        "with 1 if a file proves nothing, and says why. The verifier is one file that needs "
        "nothing but Python: `python -I -S wdro_cvx/verify.py proof.json` does the same.",
    )
    parser.set_defaults(command=run)
    parser.add_argument("files", nargs="+", metavar="FILE", help="a proof file, as proof.json")


def run(options: argparse.Namespace) -> int:
    """Carry out the command."""
    from wdro_cvx.verify import main

    return main(options.files)

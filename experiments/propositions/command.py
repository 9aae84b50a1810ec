"""``wdro propositions``: its arguments and what it says at the end."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from experiments.measuring.options import FEW, add_output, add_seed, sizes, whole, workspace

if TYPE_CHECKING:
    from experiments.measuring.options import Commands

NAME = "propositions"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        NAME,
        help="put every claim of the paper to the test",
        description="Try every lemma, theorem, proposition, algorithm and erratum on random "
        "instances by independent routes; write a ledger with verdicts and counterexamples, and "
        "figures. Exits with 1 if a verdict differs from the documented one.",
    )
    parser.set_defaults(command=run)
    parser.add_argument(
        "names", nargs="*", metavar="CLAIM",
        help="claims to try, by name or its beginning, as 'Proposition 2' (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--dimensions", type=sizes, default=(), metavar="D,D,…",
        help="vertices of the instances, in turn (default: each claim's own, mostly 2 to 6)",
    )  # fmt: skip
    parser.add_argument(
        "--instances", type=whole(2, 100_000, FEW), default=40,
        metavar="N", help="random instances for each claim, at least 2 (default: 40)",
    )  # fmt: skip
    add_seed(parser, "instances")
    add_output(parser, NAME)


def run(options: argparse.Namespace) -> int:
    """Carry out the command."""
    from experiments.propositions.run import Request, chosen_claims, run_propositions

    chosen_claims(options.names)  # a name that is none is refused before a folder is made
    request = Request(tuple(options.names), options.instances, options.seed, options.dimensions)
    with workspace(options, NAME) as output:
        findings = run_propositions(output, request, options.fresh)
        for finding in findings:
            print(f"  {finding.claim.name:24} {finding.verdict.value}")
        more = "counterexamples" if request.names else "counterexamples and figures"
        print(f"wrote {output}/ledger.md, ledger.csv, {more}")
    surprises = [found for found in findings if found.verdict is not found.claim.known]
    for found in surprises:
        print(
            f"wdro: {found.claim.name} {found.verdict.value}; "
            f"docs/propositions.md has it that it {found.claim.known.value}.",
            file=sys.stderr,
        )
    return 1 if surprises else 0

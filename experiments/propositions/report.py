"""The ledger in Markdown: what the paper says, what we find, and the counterexample."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.measuring.provenance import provenance_line
from experiments.measuring.text import markdown_table
from experiments.propositions.claims import smallest_counterexample
from experiments.propositions.finding import Finding, deviation_text, summary


def describe(findings: Sequence[Finding], command: str) -> str:
    """Return the ledger in Markdown."""
    theirs = [finding for finding in findings if not finding.claim.ours]
    ours = [finding for finding in findings if finding.claim.ours]
    header = [
        "", "the paper says", "we find", "verdict", "worst", "corrected", "tolerance", "erratum",
        "counterexample",
    ]  # fmt: skip
    parts = [
        "# The paper's claims, tried",
        f"Made by `{command}`. {summary(findings)}",
        "*Worst* is the largest relative deviation of what the paper says, *corrected* that of "
        "what we find in its place. A statement holds if no instance deviates by more than the "
        "tolerance; it fails, or holds as corrected, if two or more deviate beyond doubt (100 "
        "times the tolerance where nothing else is said). A counterexample is the smallest such "
        "instance; look at it with `numpy.load`. *undefined* means that the printed expression "
        "has no value. Errata are those of docs/paper.md.",
    ]
    if theirs:
        parts += ["## What the paper says", markdown_table(header, [_row(f) for f in theirs])]
    if ours:
        parts += [
            "## What it does not say",
            "Here the verdict is on our finding; *holds as corrected* means that what one might "
            "read into the paper does not hold, and what we find does.",
            markdown_table(header, [_row(f) for f in ours]),
        ]
    parts += [
        "## How each was tried",
        markdown_table(
            ["", "routes", "vertices", "instances", "drawn from", "what limits the tolerance"],
            [_details(finding) for finding in findings],
        ),
        f"Made with {provenance_line()}.",
    ]
    return "\n\n".join(parts) + "\n"


def _row(finding: Finding) -> list[object]:
    claim, corrected = finding.claim, finding.worst_corrected
    refuted = smallest_counterexample(claim, finding.trials) is not None
    return [
        claim.name, claim.says, claim.finds, f"**{finding.verdict.value}**",
        deviation_text(finding.worst), "" if corrected is None else deviation_text(corrected),
        f"{claim.tolerance:.0e}", claim.erratum,
        f"[npz](counterexamples/{claim.key}.npz)" if refuted else "",
    ]  # fmt: skip


def _details(finding: Finding) -> list[object]:
    claim = finding.claim
    return [
        claim.name, claim.routes, finding.vertices, len(finding.trials), claim.ranges, claim.reason,
    ]  # fmt: skip

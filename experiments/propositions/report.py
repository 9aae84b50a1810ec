"""The ledger in Markdown: a verdict, the worst deviation and the counterexample of every claim."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from experiments.propositions.claims import smallest_counterexample
from experiments.propositions.finding import Finding, deviation_text
from experiments.running.provenance import provenance_line
from experiments.running.text import markdown_table


def describe(findings: Sequence[Finding], instances: int, seed: int) -> str:
    """Return the ledger in Markdown."""
    counts = pd.Series([finding.verdict.value for finding in findings]).value_counts()
    summary = ", ".join(f"{count} × {name}" for name, count in counts.items())
    rows, details = [], []
    for finding in findings:
        claim = finding.claim
        corrected = finding.worst_corrected
        refuted = smallest_counterexample(claim, finding.trials) is not None
        link = f"[npz](counterexamples/{claim.key}.npz)" if refuted else ""
        rows.append([
            claim.name, claim.statement, f"**{finding.verdict.value}**",
            deviation_text(finding.worst), "" if corrected is None else deviation_text(corrected),
            f"{claim.tolerance:.0e}", link,
        ])  # fmt: skip
        details.append([claim.name, claim.routes, claim.ranges, claim.reason])
    header = ["claim", "statement", "verdict", "worst", "corrected", "tolerance", "counterexample"]
    return "\n\n".join([
        "# The paper's claims, tried",
        f"Made by `wdro propositions --instances {instances} --seed {seed}` (`make propositions`): "
        f"{instances} random instances for each of {len(findings)} claims. {summary}.",
        "*Worst* is the largest relative deviation of the statement as printed, *corrected* that "
        "of our correction. A statement holds if no instance deviates by more than the tolerance; "
        "it fails if two or more deviate by 100 times the tolerance (E10: by a factor of 2). A "
        "counterexample is the smallest such instance; look at it with `numpy.load`. *undefined* "
        "means that the printed expression has no value.",
        markdown_table(header, rows),
        "## How each was tried",
        markdown_table(["claim", "routes", "instances", "what limits the tolerance"], details),
        f"Made with {provenance_line()}.",
    ]) + "\n"  # fmt: skip

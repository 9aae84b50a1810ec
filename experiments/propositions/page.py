"""``ledger.html`` of the claims: what experiments/page needs to know of the findings."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.page.ledger import LedgerEntry, ledger_page
from experiments.propositions.claims import smallest_counterexample
from experiments.propositions.finding import Finding, summary


def findings_page(findings: Sequence[Finding], command: str) -> str:
    """Return the ledger as a page; the command is the one that made it."""
    entries = [_entry(finding) for finding in findings]
    title, notes = "The paper's claims, tried", [f"Made by {command}."]
    return ledger_page(entries, title, summary(findings), notes)


def _entry(finding: Finding) -> LedgerEntry:
    claim, trials = finding.claim, finding.trials
    example = smallest_counterexample(claim, trials)
    return LedgerEntry(
        claim.name, claim.says, claim.finds, finding.verdict.value, claim.routes,
        f"{finding.vertices} vertices, {claim.ranges}",
        claim.reason, claim.tolerance, claim.refuted,
        [trial.printed for trial in trials],
        [trial.corrected for trial in trials if trial.corrected is not None],
        claim.erratum, claim.ours,
        None if example is None else example.data,
        "" if example is None else f"counterexamples/{claim.key}.npz",
    )  # fmt: skip

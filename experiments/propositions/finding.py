"""What the trials of one claim came to, and how claims add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.propositions.claims import Claim, Trial, Verdict, decide


@dataclass(frozen=True)
class Finding:
    """What the trials of one claim came to; ``dimensions`` where the user chose them."""

    claim: Claim
    trials: Sequence[Trial]
    dimensions: Sequence[int] = ()

    @property
    def vertices(self) -> str:
        """How many vertices the instances have, in words."""
        if self.dimensions:
            return ", ".join(str(d) for d in self.dimensions)
        low, high = self.claim.dimensions
        return f"{low}–{high}"

    @property
    def verdict(self) -> Verdict:
        """What the trials say."""
        return decide(self.claim, self.trials)

    @property
    def worst(self) -> float:
        """The largest deviation of the statement as printed; NaN where it was undefined."""
        return float(np.max([trial.printed for trial in self.trials]))

    @property
    def worst_corrected(self) -> float | None:
        """The largest deviation of our correction, None where there is none."""
        found = [trial.corrected for trial in self.trials if trial.corrected is not None]
        return float(np.max(found)) if found else None


def tally(findings: Sequence[Finding]) -> dict[Verdict, int]:
    """Count verdicts on what the paper says; claims that show one erratum count once.

    Of those the first in the paper's order speaks for the others.
    """
    counts: Counter[Verdict] = Counter()
    seen: set[str] = set()
    for finding in findings:
        claim = finding.claim
        holds = finding.verdict is Verdict.HOLDS
        if claim.ours or (claim.erratum in seen and not holds):
            continue
        counts[finding.verdict] += 1
        if claim.erratum and not holds:
            seen.add(claim.erratum)
    return dict(counts)


def summary(findings: Sequence[Finding]) -> str:
    """Return how many statements were tried and how many hold, in words."""
    theirs = sum(not finding.claim.ours for finding in findings)
    counts = ", ".join(f"{count} × {verdict.value}" for verdict, count in tally(findings).items())
    return (
        f"{theirs} statements of the paper and {len(findings) - theirs} of ours, each on its own "
        "random instances. Of the paper's, those that show one erratum counted once: "
        f"{counts or 'none'}."
    )


def deviation_text(value: float) -> str:
    """Return a deviation in words; a printed expression without a value is undefined."""
    return "undefined" if np.isnan(value) else f"{value:.1e}"

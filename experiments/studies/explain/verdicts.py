"""The words for what differences over graphs show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wdro_cvx.validation import Array

HOLDS, FAILS, OPEN, SAME, NOT_ASKED = "holds", "fails", "open", "the same", "–"
#: A difference counts when it is this many standard errors from zero.
SIGNIFICANT = 2.0


@dataclass(frozen=True)
class Finding:
    """What a way of choosing says of a sentence."""

    verdict: str
    evidence: str = ""


def judged(difference: Array) -> Finding:
    """Return whether a difference that the paper has as positive is so, beyond chance."""
    value, error = _mean(difference)
    signed = HOLDS if value > 0 else FAILS
    verdict = signed if abs(value) > SIGNIFICANT * error else OPEN
    return Finding(verdict, f"{value:+.3f} ± {error:.3f}")


def all_of(findings: Sequence[Finding], names: Sequence[str]) -> Finding:
    """Return whether several differences are all positive; one that is negative refutes."""
    verdicts = [finding.verdict for finding in findings]
    verdict = FAILS if FAILS in verdicts else HOLDS if set(verdicts) == {HOLDS} else OPEN
    parts = [f"{name}: {found.evidence}" for name, found in zip(names, findings, strict=True)]
    return Finding(verdict, "; ".join(parts))


def _mean(values: Array) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))

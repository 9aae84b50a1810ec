"""Try every claim on many random instances and write the ledger."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

# Imported for the claims that they register, in the paper's order.
from experiments.propositions import (  # noqa: F401
    algorithms,
    convexity,
    errata,
    gaussian,
    general,
    norms,
    worst,
)
from experiments.propositions.claims import (
    CLAIMS,
    Claim,
    Trial,
    Verdict,
    decide,
    smallest_counterexample,
    try_claim,
)
from experiments.propositions.figures import draw_figures
from experiments.provenance import provenance_line, write_provenance
from experiments.report import markdown_table
from experiments.store import write_atomically, write_table
from experiments.trials import Row, forget, run_trials

_ORDER = (
    "Definition", "Proposition 1", "Lemma", "Theorem", "Corollary", "Proposition", "Figure",
    "Equation", "Algorithm", "Penalty", "Worst", "Adversary", "Sandwich", "p =", "Erratum",
)  # fmt: skip


@dataclass(frozen=True)
class ClaimTask:
    """One claim on one instance."""

    claim: str
    index: int
    seed: int

    @property
    def key(self) -> str:
        """The name of its file."""
        return f"{self.claim}-{self.seed}-{self.index}"


@dataclass(frozen=True)
class Finding:
    """What the trials of one claim came to."""

    claim: Claim
    trials: Sequence[Trial]

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


def run_propositions(output: Path, instances: int, seed: int, fresh: bool) -> list[Finding]:
    """Try all claims, write the ledger and the figures, return what was found.

    An interrupted run is resumed; a finished one leaves nothing to resume from, so that the ledger
    always speaks of the present code.
    """
    cells = output / "cells"
    if fresh:
        forget(cells)
    tasks = [ClaimTask(key, index, seed) for index in range(instances) for key in CLAIMS]
    rows = run_trials(tasks, _try, cells, "propositions")
    trials = defaultdict(list)
    for task, row in zip(tasks, rows, strict=True):
        trials[task.claim].append(Trial(row["printed"], row["data"], row["corrected"]))
    findings = [Finding(CLAIMS[key], trials[key]) for key in sorted(CLAIMS, key=_place)]
    _write(output, findings, instances, seed)
    draw_figures(output, seed)
    forget(cells)
    return findings


def _try(task: ClaimTask) -> Row:
    trial = try_claim(CLAIMS[task.claim], task.seed, task.index)
    data = {name: np.asarray(value).tolist() for name, value in trial.data.items()}
    return {"printed": trial.printed, "corrected": trial.corrected, "data": data}


def _place(key: str) -> tuple[int, int, str]:
    """Sort as the paper does: by kind, then by number."""
    name = CLAIMS[key].name
    kind = next(i for i, start in enumerate(_ORDER) if name.startswith(start))
    digits = "".join(char for char in name.split(",")[0] if char.isdigit())
    return kind, int(digits or 0), name


def _write(output: Path, findings: Sequence[Finding], instances: int, seed: int) -> None:
    examples = output / "counterexamples"
    forget(examples)
    examples.mkdir(parents=True)
    table = []
    for finding in findings:
        claim = finding.claim
        example = smallest_counterexample(claim, finding.trials)
        path = ""
        if example is not None:
            path = f"counterexamples/{claim.key}.npz"
            arrays: dict[str, Any] = {name: np.asarray(v) for name, v in example.data.items()}
            np.savez(output / path, **arrays, printed_deviation=example.printed)
        table.append({
            "claim": claim.name, "statement": claim.statement, "verdict": finding.verdict.value,
            "worst_deviation": _number(finding.worst), "worst_corrected": finding.worst_corrected,
            "tolerance": claim.tolerance, "reason": claim.reason, "instances": instances,
            "ranges": claim.ranges, "routes": claim.routes, "counterexample": path,
        })  # fmt: skip
    write_table(output / "ledger.csv", pd.DataFrame(table))
    write_atomically(output / "ledger.md", _markdown(findings, instances, seed))
    write_provenance(output, {"instances": instances, "seed": seed})


def _markdown(findings: Sequence[Finding], instances: int, seed: int) -> str:
    counts = pd.Series([finding.verdict.value for finding in findings]).value_counts()
    summary = ", ".join(f"{count} × {name}" for name, count in counts.items())
    rows, details = [], []
    for finding in findings:
        claim = finding.claim
        corrected = finding.worst_corrected
        refuted = smallest_counterexample(claim, finding.trials) is not None
        link = f"[npz](counterexamples/{claim.key}.npz)" if refuted else ""
        rows.append([
            claim.name, claim.statement, f"**{finding.verdict.value}**", _number(finding.worst),
            "" if corrected is None else _number(corrected), f"{claim.tolerance:.0e}", link,
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


def _number(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.1e}"

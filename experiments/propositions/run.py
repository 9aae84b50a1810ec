"""Try every claim on many random instances and write the ledger."""

from __future__ import annotations

import io
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
from experiments.propositions.claims import CLAIMS, Trial, smallest_counterexample, try_claim
from experiments.propositions.figures import draw_figures
from experiments.propositions.finding import Finding, deviation_text
from experiments.propositions.page import findings_page
from experiments.propositions.report import describe
from experiments.running.files import make_folder, remove_folder, write_atomically, write_table
from experiments.running.parallel import run_trials
from experiments.running.provenance import code_digest, write_provenance
from experiments.running.store import Row, Store

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


def run_propositions(output: Path, instances: int, seed: int, fresh: bool) -> list[Finding]:
    """Try all claims, write the ledger and the figures, return what was found."""
    store = Store(output, code_digest(), fresh)
    tasks = [ClaimTask(key, index, seed) for index in range(instances) for key in CLAIMS]
    rows = run_trials(tasks, try_task, store, "propositions")
    trials = defaultdict(list)
    for task, row in zip(tasks, rows, strict=True):
        trials[task.claim].append(Trial(row["printed"], row["data"], row["corrected"]))
    findings = [Finding(CLAIMS[key], trials[key]) for key in sorted(CLAIMS, key=_place)]
    _write(output, findings, instances, seed)
    command = f"wdro propositions --instances {instances} --seed {seed}"
    write_atomically(output / "ledger.html", findings_page(findings, command))
    draw_figures(output, seed)
    return findings


def try_task(task: ClaimTask) -> Row:
    """Try one claim on one instance."""
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
    remove_folder(examples)
    make_folder(examples)
    table = []
    for finding in findings:
        claim = finding.claim
        example = smallest_counterexample(claim, finding.trials)
        path = ""
        if example is not None:
            path = f"counterexamples/{claim.key}.npz"
            arrays: dict[str, Any] = {name: np.asarray(v) for name, v in example.data.items()}
            buffer = io.BytesIO()
            np.savez(buffer, **arrays, printed_deviation=example.printed)
            write_atomically(output / path, buffer.getvalue())
        table.append({
            "claim": claim.name, "statement": claim.statement, "verdict": finding.verdict.value,
            "worst_deviation": deviation_text(finding.worst),
            "worst_corrected": finding.worst_corrected,
            "tolerance": claim.tolerance, "reason": claim.reason, "instances": instances,
            "ranges": claim.ranges, "routes": claim.routes, "counterexample": path,
        })  # fmt: skip
    write_table(output / "ledger.csv", pd.DataFrame(table))
    write_atomically(output / "ledger.md", describe(findings, instances, seed))
    write_provenance(output, {"instances": instances, "seed": seed})

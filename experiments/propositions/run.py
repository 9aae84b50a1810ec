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

from experiments.measuring.digest import Source
from experiments.measuring.files import make_folder, remove_folder, write_atomically, write_table
from experiments.measuring.parallel import run_trials
from experiments.measuring.provenance import write_provenance
from experiments.measuring.store import Row, Store

# Imported for the claims that they register, in the paper's order.
from experiments.propositions import (
    algorithms,
    convexity,
    errata,
    gaussian,
    general,
    norms,
    omissions,
    worst,
)
from experiments.propositions.claims import (
    CLAIMS,
    Claim,
    Trial,
    smallest_counterexample,
    try_claim,
)
from experiments.propositions.figures import draw_figures
from experiments.propositions.finding import Finding, deviation_text
from experiments.propositions.page import findings_page
from experiments.propositions.report import describe
from wdro_cvx import WdroError

_MODULES = (algorithms, convexity, errata, gaussian, general, norms, omissions, worst)
SOURCE = Source(tuple(module.__name__ for module in _MODULES))
_ORDER = (
    "Proposition 1", "Lemma", "Theorem", "Corollary", "Proposition", "Figure", "Equation",
    "Algorithm", "Section", "Reliability", "Scenarios", "Penalty", "Worst", "Adversary",
    "Sandwich", "p =", "First-order",
)  # fmt: skip


@dataclass(frozen=True)
class ClaimTask:
    """One claim on one instance."""

    claim: str
    index: int
    seed: int
    dimensions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Request:
    """Which claims to try, on how many instances, of which sizes (each claim's own if none)."""

    names: tuple[str, ...] = ()
    instances: int = 40
    seed: int = 0
    dimensions: tuple[int, ...] = ()

    @property
    def command(self) -> str:
        """The command that makes the same ledger."""
        names = "".join(f" '{name}'" for name in self.names)
        sizes = ",".join(str(d) for d in self.dimensions)
        rest = f" --dimensions {sizes}" if sizes else ""
        return f"wdro propositions{names} --instances {self.instances} --seed {self.seed}{rest}"


def chosen_claims(names: Sequence[str]) -> dict[str, Claim]:
    """Return claims by name, or by the beginning of one ("Proposition 2"); all if none is named."""
    if not names:
        return dict(CLAIMS)
    found: dict[str, Claim] = {}
    for name in names:
        exact = {key: c for key, c in CLAIMS.items() if name.casefold() == c.name.casefold()}
        start = name.strip().casefold() or "\0"  # no name is the beginning of no claim
        matching = exact or {k: c for k, c in CLAIMS.items() if c.name.casefold().startswith(start)}
        if not matching:
            known = ", ".join(claim.name for claim in CLAIMS.values())
            raise WdroError(f"There is no claim {name!r}. Choose from: {known}.")
        found |= matching
    return found


def run_propositions(output: Path, request: Request, fresh: bool) -> list[Finding]:
    """Try claims, write the ledger and the figures, return what was found."""
    claims = chosen_claims(request.names)
    store = Store(output, SOURCE.digest(), fresh)
    tasks = [
        ClaimTask(key, index, request.seed, request.dimensions)
        for index in range(request.instances)
        for key, claim in claims.items()
        if index < claim.most
    ]
    rows = run_trials(tasks, try_task, store, "propositions")
    trials = defaultdict(list)
    for task, row in zip(tasks, rows, strict=True):
        trials[task.claim].append(Trial(row["printed"], row["data"], row["corrected"]))
    findings = [
        Finding(claims[key], trials[key], request.dimensions) for key in sorted(claims, key=_place)
    ]
    _write(output, findings, request)
    write_atomically(output / "ledger.html", findings_page(findings, request.command))
    if not request.names:
        draw_figures(output, request.seed)
    return findings


def try_task(task: ClaimTask) -> Row:
    """Try one claim on one instance."""
    trial = try_claim(CLAIMS[task.claim], task.seed, task.index, task.dimensions)
    data = {name: np.asarray(value).tolist() for name, value in trial.data.items()}
    return {"printed": trial.printed, "corrected": trial.corrected, "data": data}


def _place(key: str) -> tuple[int, int, str]:
    """Sort as the paper does: by kind, then by number."""
    name = CLAIMS[key].name
    kind = next(i for i, start in enumerate(_ORDER) if name.startswith(start))
    digits = "".join(char for char in name.split(",")[0] if char.isdigit())
    return kind, int(digits or 0), name


def _write(output: Path, findings: Sequence[Finding], request: Request) -> None:
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
            "claim": claim.name, "says": claim.says, "finds": claim.finds,
            "verdict": finding.verdict.value, "erratum": claim.erratum, "ours": claim.ours,
            "worst_deviation": deviation_text(finding.worst),
            "worst_corrected": finding.worst_corrected,
            "tolerance": claim.tolerance, "reason": claim.reason, "instances": len(finding.trials),
            "vertices": finding.vertices, "ranges": claim.ranges, "routes": claim.routes,
            "counterexample": path,
        })  # fmt: skip
    write_table(output / "ledger.csv", pd.DataFrame(table))
    write_atomically(output / "ledger.md", describe(findings, request.command))
    write_provenance(output, {"command": request.command, "seed": request.seed}, SOURCE)

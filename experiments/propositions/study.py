"""Try the chosen propositions on many random instances, and write the ledger of what holds."""

from __future__ import annotations

import argparse
import io
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.measuring.digest import Source
from experiments.measuring.files import remove_folder
from experiments.measuring.text import markdown_table
from experiments.propositions.figures import draw_figures
from experiments.propositions.proposition import (
    PROPOSITIONS,
    Attempt,
    Finding,
    Proposition,
    Ruling,
    tally,
)
from experiments.propositions.trial import PropositionTask, try_task
from experiments.study import Report, Run, Study
from wdro_cvx import WdroError

_TITLE = "The paper's statements, tried"
#: The paper's order: by kind, then by number.
_ORDER = (
    "The set", "Proposition 1", "Lemma", "Theorem", "Corollary", "Proposition", "Figure",
    "Equation", "Algorithm", "Section", "Appendix", "Reliability", "Scenarios", "Penalty", "Worst",
    "Adversary", "Sandwich", "p =", "First-order", "Estimator",
)  # fmt: skip
#: How verdicts look, in the order of the tables: failures first.
_LOOKS = {
    Ruling.FAILS: "**✗ fails**",
    Ruling.UNDECIDED: "**? undecided**",
    Ruling.CORRECTED: "*≈ holds as corrected*",
    Ruling.HOLDS: "✓ holds",
}
_EXPLAINED = (
    "*Worst* is the largest relative deviation of what the paper says, and *corrected* that of "
    "what we find instead. A statement holds if no instance deviates by more than the tolerance. "
    "It is refuted if two or more deviate beyond doubt: by 100 times the tolerance, unless the "
    "statement has its own limit. It then fails, or holds as corrected. The counterexample is the "
    "smallest such instance; load it with `numpy.load`. *Undefined* means that the printed "
    "expression has no value or the printed algorithm never ends. Errata are listed in "
    "docs/paper.md."
)
_UNSAID = (
    "Here the verdict is on our finding. *Holds as corrected* means that what one might read into "
    "the paper does not hold, and what we find does."
)


def chosen_propositions(names: Sequence[str]) -> dict[str, Proposition]:
    """Return propositions by names or beginnings of names, all if there are none; refuse others."""
    found = {} if names else dict(PROPOSITIONS)
    for name in names:
        word = name.strip().casefold() or "\0"  # an empty name begins nothing
        known = {key: p.name.casefold() for key, p in PROPOSITIONS.items()}
        exact = [key for key in known if known[key] == word]
        matching = exact or [key for key in known if known[key].startswith(word)]
        if not matching:
            choices = ", ".join(p.name for p in PROPOSITIONS.values())
            raise WdroError(f"There is no statement {name!r}. Choose from: {choices}.")
        found |= {key: PROPOSITIONS[key] for key in matching}
    return found


def answer(run: Run, options: argparse.Namespace) -> Report:
    """Try propositions and write the ledger; draw the figures if all were tried."""
    chosen = chosen_propositions(options.names)
    tasks = [
        PropositionTask(key, index, options.seed, options.dimensions)
        for index in range(options.instances)
        for key, proposition in chosen.items()
        if index < proposition.most
    ]
    attempts = defaultdict(list)
    for task, row in zip(tasks, run.trials(tasks, try_task, "propositions"), strict=True):
        found = Attempt(row["printed"], row["data"], row["corrected"])
        attempts[task.proposition].append(found)
    findings = [
        Finding(chosen[key], attempts[key], options.dimensions)
        for key in sorted(chosen, key=_place)
    ]
    remove_folder(run.output / "counterexamples")  # those of an earlier run may hold by now
    return Report(
        _TITLE,
        describe(findings),
        tables={"ledger": ledger_table(findings)},
        figures={} if options.names else draw_figures(options.seed),
        files=counterexamples(findings),
        summary="\n".join(f"  {f.proposition.name:24} {f.ruling.value}" for f in findings),
        failure=" ".join(
            f"{f.proposition.name} {f.ruling.value}, but docs/propositions.md says that it "
            f"{f.proposition.known.value}."
            for f in findings
            if f.ruling is not f.proposition.known
        ),
        name="ledger",
    )


def _place(key: str) -> tuple[int, int, str]:
    name = PROPOSITIONS[key].name
    kind = next(i for i, start in enumerate(_ORDER) if name.startswith(start))
    digits = "".join(char for char in name.split(",")[0] if char.isdigit())
    return kind, int(digits or 0), name


def ledger_table(findings: Sequence[Finding]) -> pd.DataFrame:
    """Return one row for every proposition."""
    return pd.DataFrame([
        {
            "statement": p.name, "says": p.says, "finds": p.finds, "verdict": f.ruling.value,
            "erratum": p.erratum, "ours": p.ours, "worst_deviation": _text(f.worst),
            "worst_corrected": max(f.corrections, default=None), "tolerance": p.within[0],
            "reason": p.within[1], "instances": len(f.attempts), "vertices": f.vertices,
            "ranges": p.family.ranges, "routes": p.routes, "counterexample": f.file,
        }
        for f in findings for p in (f.proposition,)
    ])  # fmt: skip


def describe(findings: Sequence[Finding]) -> list[str]:
    """Return the parts of the ledger in Markdown."""
    header = [
        "", "the paper says", "we find", "verdict", "worst", "corrected", "tolerance", "erratum",
        "counterexample",
    ]  # fmt: skip
    parts = [_summary(findings), _EXPLAINED]
    for title, note in (("What the paper says", ""), ("What it does not say", _UNSAID)):
        part = [f for f in findings if f.proposition.ours is bool(note)]
        rows = [_row(f) for f in sorted(part, key=lambda f: list(_LOOKS).index(f.ruling))]
        parts += [f"## {title}", note, markdown_table(header, rows)] if rows else []
    tried = ledger_table(findings)
    columns = ["statement", "routes", "vertices", "instances", "ranges", "reason"]
    header = ["", "routes", "vertices", "instances", "drawn from", "what limits the tolerance"]
    return [
        *parts,
        "## How each was tried",
        markdown_table(header, tried[columns].to_numpy().tolist()),
    ]


def counterexamples(findings: Sequence[Finding]) -> dict[str, bytes]:
    """Return the smallest counterexample to every refuted proposition, by file name."""
    files = {}
    for finding in findings:
        example = finding.counterexample
        if example is not None:
            arrays: dict[str, Any] = {name: np.asarray(v) for name, v in example.data.items()}
            buffer = io.BytesIO()
            np.savez(buffer, **arrays, printed_deviation=example.printed)
            files[finding.file] = buffer.getvalue()
    return files


def _summary(findings: Sequence[Finding]) -> str:
    theirs = sum(not finding.proposition.ours for finding in findings)
    counts = ", ".join(f"{count} × {ruling.value}" for ruling, count in tally(findings).items())
    return (
        f"{theirs} statements of the paper and {len(findings) - theirs} of ours, each tried on its "
        "own random instances. Verdicts on the paper's, where those that show the same erratum "
        f"count once: {counts or 'none'}."
    )


def _row(finding: Finding) -> list[object]:
    p, corrected, file = finding.proposition, finding.corrections, finding.file
    return [
        p.name, p.says, p.finds, _LOOKS[finding.ruling], _text(finding.worst),
        _text(float(np.max(corrected))) if corrected else "", f"{p.within[0]:.0e}", p.erratum,
        f"[npz]({file})" if file else "",
    ]  # fmt: skip


def _text(deviation: float) -> str:
    return "undefined" if np.isnan(deviation) else f"{deviation:.1e}"


STUDY = Study("propositions", Source(("experiments.propositions.trial",)), answer)

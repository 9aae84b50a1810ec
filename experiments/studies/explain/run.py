"""Search on some graphs, then put the paper's sentences to fresh ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.drawing.style import save_figure
from experiments.measuring.digest import Source
from experiments.measuring.files import write_atomically, write_table
from experiments.measuring.parallel import run_trials
from experiments.measuring.provenance import write_provenance
from experiments.measuring.store import Row, Store
from experiments.studies.explain.claims import Sentence, sentences
from experiments.studies.explain.columns import Blind, Fitted, Tuned
from experiments.studies.explain.drawing import draw
from experiments.studies.explain.grid import BLOCKS, ETAS, SCALES, SIMILARITY, Job
from experiments.studies.explain.outcome import Explained, Explanation
from experiments.studies.explain.report import describe
from experiments.studies.explain.scores import Stack
from experiments.studies.explain.settings import Fit, Setting, Stacks, search
from experiments.studies.explain.trial import run_job
from experiments.studies.explain.verdicts import HOLDS

SOURCE = Source(("experiments.studies.explain.trial",))
KINDS = (SIMILARITY, BLOCKS)


def run_explain(
    output: Path, searched: int, graphs: int, seed: int, fresh: bool, scheduler: str | None
) -> Explained:
    """Run both stages; write tables, figure and report below ``output``."""
    store = Store(output, SOURCE.digest(), fresh)

    def trials(
        scales: Sequence[str],
        first: int,
        count: int,
        etas: tuple[float, ...],
        norm_etas: tuple[float, ...],
        blind: bool,
    ) -> Stacks:
        keys = [(kind, scale) for kind in KINDS for scale in scales]
        jobs = [
            Job(kind, trial, seed, scale, etas, norm_etas, blind)
            for trial in range(first, first + count)
            for kind, scale in keys
        ]
        rows = run_trials(jobs, run_job, store, "explain", scheduler=scheduler)
        by_key: dict[tuple[str, str], list[Row]] = {key: [] for key in keys}
        for job, row in zip(jobs, rows, strict=True):
            by_key[job.kind, job.scale].append(row)
        return {key: Stack(found) for key, found in by_key.items()}

    training = trials(SCALES, 0, searched, ETAS, ETAS, False)
    fits = search(training, np.random.default_rng(seed))
    near = [fit for fit in fits if fit.behind <= fit.doubt]
    held = {fit.setting: _held(training, fit.setting) for fit in fits}
    setting = max(near, key=lambda fit: len(held[fit.setting])).setting
    scale = setting.scale
    # The fitted eta and every other one from the largest: a factor of two to three apart.
    etas = tuple(sorted({setting.eta, *ETAS[::-2]}))
    stacks = trials((scale,), searched, graphs, etas, (setting.eta,), True)
    fresh_stacks = {kind: stacks[kind, scale] for kind in KINDS}
    columns = [
        Fitted(fresh_stacks, setting),
        Tuned({kind: training[kind, scale] for kind in KINDS}, fresh_stacks, setting.eta),
        Blind(fresh_stacks),
    ]
    found = [(sentence, [sentence.test(column) for column in columns]) for sentence in sentences()]
    unsolved = sum(stack.unsolved for stack in [*training.values(), *stacks.values()])
    explained = [_explanation(sentence, fits, held) for sentence in sentences()]
    result = Explained(
        fits, setting, len(near), explained, columns, found, searched, graphs, unsolved
    )
    _write(output, result, seed)
    return result


def _held(training: Stacks, setting: Setting) -> set[str]:
    """Return the sentences that hold at a setting, on the graphs of the search."""
    column = Fitted({kind: training[kind, setting.scale] for kind in KINDS}, setting)
    return {s.name for s in sentences() if s.test(column).verdict == HOLDS}


def _explanation(
    sentence: Sentence, fits: Sequence[Fit], held: Mapping[Setting, set[str]]
) -> Explanation:
    able = [fit for fit in fits if sentence.name in held[fit.setting]]
    return Explanation(sentence, len(able), able[0] if able else None)


def _write(output: Path, result: Explained, seed: int) -> None:
    settings = [asdict(fit.setting) | asdict(fit) for fit in result.fits]
    write_table(output / "settings.csv", pd.DataFrame(settings).drop(columns="setting"))
    lines = [
        {"place": sentence.place, "sentence": sentence.text, "choice": column.name,
         "verdict": finding.verdict, "evidence": finding.evidence}
        for sentence, findings in result.findings
        for column, finding in zip(result.columns, findings, strict=True)
    ]  # fmt: skip
    write_table(output / "verdicts.csv", pd.DataFrame(lines))
    save_figure(draw(result), output / "explain")
    write_atomically(output / "report.md", describe(result, seed))
    write_provenance(
        output, {"search": result.searched, "graphs": result.graphs, "seed": seed,
                 "setting": result.setting}, SOURCE,
    )  # fmt: skip

"""Learn from all graphs, tune on some of them, compare on the others."""

from __future__ import annotations

import argparse
from dataclasses import asdict

import pandas as pd

from experiments.measuring.digest import Source
from experiments.studies.shift.drawing import draw
from experiments.studies.shift.grid import SHIFTS, tasks
from experiments.studies.shift.report import describe
from experiments.studies.shift.trial import run_task
from experiments.studies.shift.tuning import collect, compare
from experiments.study import Report, Run, Study, unsolved_failure

METRICS = (*(f"regret, {shift}" for shift in SHIFTS), "mcc", "dog", "dog, drift")


def answer(run: Run, options: argparse.Namespace) -> Report:
    """Compare all models on fresh graphs, under every shift."""
    planned = tasks(range(options.tuned + options.graphs), options.seed)
    rows = run.trials(planned, run_task, "shift")
    pairs = list(zip(planned, rows, strict=True))
    before = [(task, row) for task, row in pairs if task.trial < options.tuned]
    after = [(task, row) for task, row in pairs if task.trial >= options.tuned]
    scores = [collect(*zip(*part, strict=True)) for part in (before, after)]
    comparisons = compare(scores[0], scores[1], METRICS)
    table = pd.DataFrame([asdict(c) | {"verdict": c.verdict} for c in comparisons])
    unsolved = int(sum(row["unsolved"] for row in rows))
    return Report(
        "Does robustness pay?",
        describe(table, options.tuned, options.graphs, unsolved),
        tables={"comparisons": table},
        figures={"shift": draw(table)},
        failure=unsolved_failure(unsolved),
    )


STUDY = Study("shift", Source(("experiments.studies.shift.trial",)), answer)

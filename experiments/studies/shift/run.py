"""Learn from all graphs, tune on some of them, compare on the others."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from experiments.drawing.style import save_figure
from experiments.measuring.digest import Source
from experiments.measuring.files import write_atomically, write_table
from experiments.measuring.parallel import run_trials
from experiments.measuring.provenance import write_provenance
from experiments.measuring.store import Store
from experiments.studies.shift.drawing import draw
from experiments.studies.shift.grid import SHIFTS, tasks
from experiments.studies.shift.report import describe
from experiments.studies.shift.trial import run_task
from experiments.studies.shift.tuning import Comparison, collect, compare

SOURCE = Source(("experiments.studies.shift.trial",))
METRICS = (*(f"regret, {shift}" for shift in SHIFTS), "mcc", "dog", "dog, drift")


@dataclass(frozen=True)
class Outcome:
    """Every comparison, and how many answers the judge did not call solved."""

    comparisons: list[Comparison]
    unsolved: int


def run_shift(
    output: Path, tuned: int, graphs: int, seed: int, fresh: bool, scheduler: str | None
) -> Outcome:
    """Run everything; write table, figure and report below ``output``."""
    store = Store(output, SOURCE.digest(), fresh)
    planned = tasks(range(tuned + graphs), seed)
    rows = run_trials(planned, run_task, store, "shift", scheduler=scheduler)
    pairs = list(zip(planned, rows, strict=True))
    before = [(task, row) for task, row in pairs if task.trial < tuned]
    after = [(task, row) for task, row in pairs if task.trial >= tuned]
    scores = [collect(*zip(*part, strict=True)) for part in (before, after)]
    comparisons = compare(scores[0], scores[1], METRICS)
    table = pd.DataFrame([asdict(c) | {"verdict": c.verdict} for c in comparisons])
    unsolved = int(sum(row["unsolved"] for row in rows))
    write_table(output / "comparisons.csv", table)
    save_figure(draw(table), output / "shift")
    write_atomically(output / "report.md", describe(table, tuned, graphs, seed, unsolved))
    write_provenance(output, {"tuned": tuned, "graphs": graphs, "seed": seed}, SOURCE)
    return Outcome(comparisons, unsolved)

"""Run the parts, each task saved as it comes, and write tables and report."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.measuring.digest import Source
from experiments.measuring.files import write_atomically, write_table
from experiments.measuring.parallel import run_trials
from experiments.measuring.provenance import write_provenance
from experiments.measuring.store import Row, Store, flat
from experiments.studies.validate.coverage import cover, coverage_tasks
from experiments.studies.validate.methods import METHODS
from experiments.studies.validate.report import describe
from experiments.studies.validate.rules import learn_by_rule, rule_tasks
from experiments.studies.validate.scoring import SCORES, score
from experiments.studies.validate.sources import NETWORKS, RANDOM, load_source


@dataclass(frozen=True)
class MethodTask:
    """One graph to learn."""

    source: str
    method: str


def method_tasks() -> list[MethodTask]:
    """Return every source with every method."""
    return [MethodTask(source, method) for source in NETWORKS + RANDOM for method in METHODS]


def learn_by_method(task: MethodTask) -> Row:
    """Learn the graph, and compare it with the known one."""
    source = load_source(task.source)
    known = {"d": len(source.truth), "n": len(source.table), "chance": source.chance}
    try:
        learned = METHODS[task.method](source)
    except FloatingPointError as error:  # the graphical lasso on data of nearly deficient rank
        return {**known, **dict.fromkeys(SCORES, math.nan), "failure": str(error)}
    return {**known, **score(source, learned), "failure": ""}


def read_parts(output: Path) -> dict[str, pd.DataFrame]:
    """Return the tables that a folder holds, by part."""
    paths = {part: output / f"{part}.csv" for part in _PARTS}
    return {
        part: pd.read_csv(
            path, dtype={"failure": str}, keep_default_na=False, na_values=["nan", ""]
        ).fillna({"failure": ""})
        for part, path in paths.items()
        if path.exists()
    }


SOURCE = Source(
    tuple(
        f"experiments.studies.validate.{name}"
        for name in ("coverage", "methods", "rules", "scoring", "sources")
    )
)
_PARTS: dict[str, tuple[Callable[[], list[Any]], Callable[[Any], Row]]] = {
    "methods": (method_tasks, learn_by_method),
    "rules": (rule_tasks, learn_by_rule),
    "coverage": (coverage_tasks, cover),
}


def run_validate(output: Path, parts: Sequence[str], fresh: bool) -> str:
    """Run the parts and write them below ``output``; return the report of all that is there."""
    if set(parts) != {"coverage"}:
        for name in NETWORKS:
            load_source(name)  # so that a missing package is told before anything is run
    store = Store(output, SOURCE.digest(), fresh)
    for part in parts:
        list_tasks, carry_out = _PARTS[part]
        tasks = list_tasks()
        rows = run_trials(tasks, carry_out, store, part)
        table = pd.DataFrame([flat(task) | row for task, row in zip(tasks, rows, strict=True)])
        write_table(output / f"{part}.csv", table)
    text = describe(read_parts(output))
    write_atomically(output / "report.md", text)
    write_provenance(output, {"parts": ", ".join(parts)}, SOURCE)
    return text

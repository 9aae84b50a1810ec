"""Run one trial: learn one draw of a source by one method.

docs/validation.md fixed data, methods and scores before the first run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.studies.validate.methods import METHODS, SCORES, score
from experiments.studies.validate.sources import NETWORKS, RANDOM, load_source

if TYPE_CHECKING:
    from experiments.measuring.store import Row

DRAWS = 20  # of every source


@dataclass(frozen=True)
class MethodTask:
    """One draw of a source to learn by one method."""

    source: str
    trial: int
    method: str


def method_tasks() -> list[MethodTask]:
    """Return every draw of every source with every method."""
    return [
        MethodTask(source, trial, method)
        for trial in range(1, DRAWS + 1)  # draw 0 was seen before the run
        for source in NETWORKS + RANDOM
        for method in METHODS
    ]


def learn_by_method(task: MethodTask) -> Row:
    """Learn a graph and compare it with the known one."""
    source = load_source(task.source, task.trial)
    known = {
        "d": len(source.truth), "n": len(source.table), "chance": source.chance,
        "true": int(source.truth.sum()) // 2,
    }  # fmt: skip
    try:
        learned = METHODS[task.method](source)
    except FloatingPointError as error:  # the graphical lasso on nearly rank-deficient data
        return {**known, **dict.fromkeys(SCORES, math.nan), "failure": str(error)}
    return {**known, **score(source, learned), "failure": ""}

"""Which rule for the radius ranks edges best: fixed in docs/validation.md before it was run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.measuring.store import Row
from experiments.studies.validate.methods import robust
from experiments.studies.validate.scoring import average_precision
from experiments.studies.validate.sources import NETWORKS, RANDOM, load_source

RULES = ("bootstrap", "prediction", "reliability", "cv")
ETAS = (0.1, 0.3, 1.0)
SETS = ("wasserstein", "moment")
TRIALS = 5  # of the paper's graphs


@dataclass(frozen=True)
class RuleTask:
    """One graph to learn."""

    source: str
    trial: int
    ambiguity: str
    eta: float
    rule: str


def rule_tasks() -> list[RuleTask]:
    """Return all of the comparison."""
    drawn = [(name, 0) for name in NETWORKS]
    drawn += [(name, trial) for name in RANDOM for trial in range(TRIALS)]
    return [
        RuleTask(source, trial, ambiguity, eta, rule)
        for source, trial in drawn
        for ambiguity in SETS
        for eta in ETAS
        for rule in RULES
    ]


def learn_by_rule(task: RuleTask) -> Row:
    """Learn the graph, and rank its pairs."""
    source = load_source(task.source, task.trial)
    learned = robust(task.rule, task.eta, task.ambiguity)(source)
    pairs = np.triu_indices(len(source.truth), 1)
    return {"average_precision": average_precision(learned.scores[pairs], source.truth[pairs])}


def rule_cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the average precision of every rule in every cell, a mean over the paper's graphs."""
    keys = ["source", "ambiguity", "eta"]
    return rows.pivot_table("average_precision", keys, "rule", sort=False)[list(RULES)]


def mean_ranks(cells: pd.DataFrame) -> pd.Series:
    """Return the mean rank of every rule, 1 for the best of a cell; equal rules share."""
    return cells.rank(axis=1, ascending=False).mean()

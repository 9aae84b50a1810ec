"""Learn one table by one rule and score the selected edges."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.studies.edges.tables import FAMILIES, KINDS, NOISES, TRUTHS, Table, draw
from solvers import RobustGraph
from wdro_cvx.metrics import edge_correlation

if TYPE_CHECKING:
    from experiments.measuring.store import Row

#: The candidates for the default, and the former default.
RULES: dict[str, dict[str, Any]] = {
    "cut": {},
    "cut, radius 0": {"radius": 0.0},
    "cut, bootstrap": {"radius": "bootstrap"},
    "cut, paper's prior": {"prior": "frobenius"},
    "cut, not clipped": {"moment": "sample"},
    "cut, standardised": {"standardise": True},
    "cut, not standardised": {"standardise": False},
    "fdr 0.1": {"fdr": 0.1},
    "all edges": {"edges": "all"},
    "former default": {
        "radius": "prediction", "prior": "frobenius", "standardise": False, "moment": "sample",
        "edges": "all",
    },
}  # fmt: skip
VERTICES, SIGNALS = (20, 45), (20, 50, 200, 1000)
_TRIALS = 10
# Rules that take long see only the first graphs.
_SLOW, _FEW_TRIALS = ("cut, bootstrap", "former default"), 2
SPOILT = 200  # signals of the tables that are spoilt or have difficult truths


@dataclass(frozen=True)
class Task:
    """One table to learn by one rule."""

    table: Table
    rule: str


def tasks() -> list[Task]:
    """Return every table with every rule; slow rules only with the first tables."""
    tables = [
        Table(family, kind, d, n, trial)
        for trial in range(_TRIALS)
        for d in VERTICES
        for n in SIGNALS
        for family, kinds in [*((name, (*KINDS, *TRUTHS)) for name in FAMILIES), ("noise", NOISES)]
        for kind in kinds
        if family == "noise" or kind == "gaussian" or n == SPOILT
    ]
    return [
        Task(table, rule)
        for table in tables
        for rule in RULES
        if rule not in _SLOW or table.trial < _FEW_TRIALS
    ]


def learn(task: Task) -> Row:
    """Return MCC, F1 and the numbers of edges, and the CPU time of the fit."""
    signals, truth = draw(task.table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tables of noise cause some
        start = process_time()
        graph = RobustGraph(**RULES[task.rule]).fit(signals)
        seconds = process_time() - start
    found = np.asarray(graph.support_)[np.triu_indices(task.table.d, 1)]
    both = int(np.count_nonzero(found & truth))
    return {
        "mcc": edge_correlation(found, truth),
        "f1": 2 * both / max(int(found.sum() + truth.sum()), 1),
        "found": int(found.sum()),
        "true": int(truth.sum()),
        "false": int(found.sum()) - both,
        "pairs": truth.size,
        "cpu_s": seconds,
    }

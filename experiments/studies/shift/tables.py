"""Draw the training signals of a task, and define the scores of graphs learned from them.

Random graphs are tested by their truth. Real temperatures have no true graph. Their graphs are
tested by predicting each state from its neighbours in years that were not used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from experiments.measuring.prediction import prediction_error
from experiments.studies.shift.risks import NOISE, Truth
from experiments.studies.shift.trouble import CLEAN, TROUBLES
from wdro_cvx.examples import state_anomalies
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.validation import Array

D = 20
GRAPHS, STATES = "random graphs", "temperatures of states"
SIZES = {GRAPHS: (10, 30, 100, 300, 1000), STATES: (30, 120)}
#: The sample sizes of spoilt training signals.
SPOILT_SIZES = {GRAPHS: (30, 300), STATES: (30, 120)}
#: The number of years, of 25, from which training signals are drawn.
_YEARS = 12

Score = Callable[[Array], dict[str, float]]


@dataclass(frozen=True)
class ShiftTask:
    """One table: signals of one random graph, or temperatures of one random half of the years."""

    trial: int
    seed: int
    source: str
    n: int
    training: str


def conditions() -> list[tuple[str, int, str]]:
    """Return sources, sample sizes and what happens to the training signals."""
    found = []
    for source in SIZES:
        found += [(source, n, CLEAN) for n in SIZES[source]]
        found += [(source, n, how) for how in list(TROUBLES)[1:] for n in SPOILT_SIZES[source]]
    return found


def tasks(trials: range, seed: int) -> list[ShiftTask]:
    """Return one task for every trial and condition."""
    return [ShiftTask(trial, seed, *condition) for trial in trials for condition in conditions()]


def draw(task: ShiftTask) -> tuple[Array, Score]:
    """Return training signals, spoilt if the task says so, and the scores of a graph.

    Larger scores are better. All conditions of a trial share the graph, or the years; each has its
    own signals.
    """
    shared = np.random.default_rng([task.seed, task.trial])
    rng = np.random.default_rng(
        [task.seed, task.trial, task.n, list(TROUBLES).index(task.training)]
    )
    samples, score = (_states if task.source == STATES else _graphs)(task.n, shared, rng)
    return TROUBLES[task.training](samples, rng), score


def _graphs(n: int, shared: np.random.Generator, rng: np.random.Generator) -> tuple[Array, Score]:
    graph = rbf_graph(D, shared)
    truth = Truth.of(graph, rbf_graph(D, shared))
    return smooth_signals(graph, n, rng, noise=NOISE), truth.score


def _states(n: int, shared: np.random.Generator, rng: np.random.Generator) -> tuple[Array, Score]:
    """Return n months of some years; the other years test the graphs and are never spoilt."""
    table = state_anomalies()
    years = np.array([month.year for month in table.index])
    known = np.isin(years, shared.permutation(np.unique(years))[:_YEARS])
    months = table.to_numpy(float)
    tests = months[~known].T @ months[~known] / np.count_nonzero(~known)
    rows = np.sort(rng.choice(np.flatnonzero(known), n, replace=False))
    return months[rows], lambda laplacian: {"prediction": -prediction_error(laplacian, tests)}

"""Run the trials: learn by every method, learn by every rule for the radius, measure coverage.

docs/validation.md fixed rules, sets and etas before the first run. Coverage counts how often the
set with the bootstrap's radius contains the true second moment. The moment is known for signals on
the paper's random graphs. The signals are Gaussian or have the tails of Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.studies.validate.methods import METHODS, SCORES, average_precision, robust, score
from experiments.studies.validate.sources import NETWORKS, RANDOM, load_source
from solvers.selection.bootstrap import PLACE, RESAMPLES, resampled_distances
from solvers.selection.signals import Signals
from wdro_cvx import AmbiguitySet, MahalanobisBall, MomentBall, Nominal, WassersteinBall
from wdro_cvx.generators import rbf_graph
from wdro_cvx.validation import Array

if TYPE_CHECKING:
    from experiments.measuring.store import Row

RULES = ("bootstrap", "prediction", "reliability", "cv")
_RULE_ETAS = (0.1, 0.3, 1.0)
_RULE_SETS = ("wasserstein", "moment")
_RULE_TRIALS = 5  # of the paper's random graphs
_VERTICES, _SIGNALS = (5, 20, 50), (10, 20, 50, 200)
_COVERED_SETS = ("wasserstein", "moment", "mahalanobis")
_TAILS = ("gaussian", "student-5")
_BATCHES, BATCH = 10, 100  # a thousand tables measure 95 % to within 0.7 points
_NOISE = 0.1
_FREEDOM = 5


@dataclass(frozen=True)
class MethodTask:
    """One graph to learn by one method."""

    source: str
    method: str


def method_tasks() -> list[MethodTask]:
    """Return every source with every method."""
    return [MethodTask(source, method) for source in NETWORKS + RANDOM for method in METHODS]


def learn_by_method(task: MethodTask) -> Row:
    """Learn a graph and compare it with the known one."""
    source = load_source(task.source)
    known = {"d": len(source.truth), "n": len(source.table), "chance": source.chance}
    try:
        learned = METHODS[task.method](source)
    except FloatingPointError as error:  # the graphical lasso on nearly rank-deficient data
        return {**known, **dict.fromkeys(SCORES, math.nan), "failure": str(error)}
    return {**known, **score(source, learned), "failure": ""}


@dataclass(frozen=True)
class RuleTask:
    """One graph to learn by one rule for the radius."""

    source: str
    trial: int
    ambiguity: str
    eta: float
    rule: str


def rule_tasks() -> list[RuleTask]:
    """Return every source with every set, eta and rule."""
    drawn = [(name, 0) for name in NETWORKS]
    drawn += [(name, trial) for name in RANDOM for trial in range(_RULE_TRIALS)]
    return [
        RuleTask(source, trial, ambiguity, eta, rule)
        for source, trial in drawn
        for ambiguity in _RULE_SETS
        for eta in _RULE_ETAS
        for rule in RULES
    ]


def learn_by_rule(task: RuleTask) -> Row:
    """Learn a graph and score the ranking of its pairs."""
    source = load_source(task.source, task.trial)
    learned = robust(task.rule, task.eta, task.ambiguity)(source)
    pairs = np.triu_indices(len(source.truth), 1)
    return {"average_precision": average_precision(learned.scores[pairs], source.truth[pairs])}


@dataclass(frozen=True)
class CoverageTask:
    """A batch of a hundred tables."""

    tails: str
    ambiguity: str
    d: int
    n: int
    batch: int


def coverage_tasks() -> list[CoverageTask]:
    """Return every batch of the simulation."""
    return [
        CoverageTask(tails, name, d, n, batch)
        for tails in _TAILS
        for name in _COVERED_SETS
        for d in _VERTICES
        for n in _SIGNALS
        for batch in range(_BATCHES)
    ]


def cover(task: CoverageTask) -> Row:
    """Count the tables whose set contains the true second moment."""
    rng = np.random.default_rng([11, task.d, task.n, task.batch])
    laplacian = rbf_graph(task.d, rng)
    covariance = np.linalg.pinv(laplacian, hermitian=True) + _NOISE**2 * np.eye(task.d)
    centre = np.eye(task.d) - 1.0 / task.d
    truth = centre @ covariance @ centre
    root = np.linalg.cholesky(covariance)
    ball = _ball(task.ambiguity, task.d)
    covered = 0
    for _ in range(BATCH):
        table = rng.standard_normal((task.n, task.d)) @ root.T
        if task.tails != "gaussian":  # one factor per signal, whose square has mean one
            table *= np.sqrt((_FREEDOM - 2) / rng.chisquare(_FREEDOM, size=(task.n, 1)))
        covered += contains(Signals(table), ball, truth, rng)
    return {"covered": int(covered)}


def contains(signals: Signals, ball: AmbiguitySet, truth: Array, seed: np.random.Generator) -> bool:
    """Return whether the set with the bootstrap's radius contains a second moment.

    It does if enough resamples are at least as far away. Drawing stops once this is decided.
    """
    rows = signals.centred
    distance = ball.distance(Nominal(rows.mean(axis=0), None, rows), truth)
    return any(_reached(way, distance) for way in resampled_distances(signals, ball, seed=seed))


def _reached(way: Iterator[float], distance: float) -> bool:
    needed, left = RESAMPLES - PLACE + 1, RESAMPLES
    for found in way:
        needed, left = needed - int(found >= distance), left - 1
        if needed == 0 or needed > left:
            break
    return needed == 0


def _ball(name: str, d: int) -> AmbiguitySet:
    if name == "mahalanobis":
        return MahalanobisBall.example(0.0, d)
    return WassersteinBall(0.0) if name == "wasserstein" else MomentBall(0.0)

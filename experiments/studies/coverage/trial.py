"""Count how often the set with the bootstrap's radius contains the true second moment.

The moment is known for signals on the paper's random graphs. The signals are Gaussian or have the
tails of Student's t.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solvers.selection.bootstrap import PLACE, RESAMPLES, resampled_distances
from solvers.selection.signals import Signals
from wdro_cvx import AmbiguitySet, MahalanobisBall, MomentBall, Nominal, WassersteinBall
from wdro_cvx.generators import rbf_graph
from wdro_cvx.validation import Array

if TYPE_CHECKING:
    from experiments.measuring.store import Row

_VERTICES, _SIGNALS = (5, 20, 50), (10, 20, 50, 200)
_SETS = ("wasserstein", "moment", "mahalanobis")
BATCH = 100  # tables
#: Batches by the tails of the signals; a thousand tables measure 95 % to within 0.7 points.
_BATCHES = {"gaussian": 10, "student-5": 2}
_NOISE = 0.1
_FREEDOM = 5


@dataclass(frozen=True)
class CoverageTask:
    """A batch of a hundred tables."""

    tails: str
    ambiguity: str
    d: int
    n: int
    batch: int


def tasks() -> list[CoverageTask]:
    """Return every batch of the simulation."""
    return [
        CoverageTask(tails, name, d, n, batch)
        for tails in _BATCHES
        for name in _SETS
        for d in _VERTICES
        for n in _SIGNALS
        for batch in range(_BATCHES[tails])
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

    The set contains it if enough resamples are at least as far away. Drawing stops once this is
    decided.
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

"""How often the set of the bootstrap's radius contains the true second moment.

Gaussian signals on the paper's random graphs, of which the true second moment is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.running.store import Row
from solvers.estimation.bootstrap import bootstrap_radius
from solvers.estimation.signals import Signals
from wdro_cvx import AmbiguitySet, MahalanobisBall, MomentBall, Nominal, WassersteinBall
from wdro_cvx.generators import rbf_graph

#: Vertices and signals; in the last there are no more signals than vertices.
SIZES = ((10, 50), (20, 50), (20, 200), (20, 20))
SETS = ("wasserstein", "moment", "mahalanobis")
BATCHES, BATCH = 4, 100
_NOISE = 0.1


@dataclass(frozen=True)
class CoverageTask:
    """A hundred tables."""

    ambiguity: str
    d: int
    n: int
    batch: int


def coverage_tasks() -> list[CoverageTask]:
    """Return all of the simulation."""
    return [
        CoverageTask(name, d, n, batch)
        for name in SETS
        for d, n in SIZES
        for batch in range(BATCHES)
    ]


def cover(task: CoverageTask) -> Row:
    """Count the tables whose set contains the truth."""
    rng = np.random.default_rng([11, task.d, task.n, task.batch])
    laplacian = rbf_graph(task.d, rng)
    covariance = np.linalg.pinv(laplacian, hermitian=True) + _NOISE**2 * np.eye(task.d)
    centre = np.eye(task.d) - 1.0 / task.d
    truth = centre @ covariance @ centre
    root = np.linalg.cholesky(covariance)
    ball = _ball(task.ambiguity, task.d)
    covered = 0
    for _ in range(BATCH):
        signals = Signals(rng.standard_normal((task.n, task.d)) @ root.T)
        radius = bootstrap_radius(signals, ball, seed=rng)
        rows = signals.centred
        covered += ball.distance(Nominal(rows.mean(axis=0), None, rows), truth) <= radius
    return {"covered": int(covered)}


def _ball(name: str, d: int) -> AmbiguitySet:
    if name == "mahalanobis":
        return MahalanobisBall.example(0.0, d)
    return WassersteinBall(0.0) if name == "wasserstein" else MomentBall(0.0)

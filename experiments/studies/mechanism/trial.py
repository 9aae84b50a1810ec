"""Learn one table with the ball, and with its premium computed from different second moments.

Every list of candidates contains those of the sample average (SAA), as in the study of shifts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.studies.shift.risks import NOISE, signal_length
from experiments.studies.shift.tables import D
from experiments.studies.shift.trial import ETAS, SAA
from experiments.studies.validate.sources import load_source
from solvers import solve_many
from wdro_cvx import GaussianBall, GraphProblem, Nominal, Residuals, Singleton
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.metrics import mcc
from wdro_cvx.validation import Array

if TYPE_CHECKING:
    from experiments.measuring.store import Row

GRAPHS, POWER = "random graphs", "power-57"
CONDITIONS = ((GRAPHS, 30), (GRAPHS, 300), (GRAPHS, 1000), (POWER, 100))
#: Radii in units of the signal length, and weights of residuals. At weight 1 the residual of the
#: complete graph is about as large as its risk. Both are tried with every fourth eta.
RADII = (0.05, 0.1, 0.2, 0.4, 0.8)
WEIGHTS = (0.03, 0.1, 0.3, 1.0, 3.0)
BALL = "Gaussian ball"
OWN, VARIANCES, SHUFFLED, OTHER = "residuals", "variances only", "shuffled", "other signals"
MODELS = (SAA, BALL, OWN, VARIANCES, SHUFFLED, OTHER)
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class MechanismTask:
    """One table of signals."""

    trial: int
    seed: int
    source: str
    n: int


def tasks(trials: range, seed: int) -> list[MechanismTask]:
    """Return one task for every trial and condition."""
    return [MechanismTask(trial, seed, *condition) for trial in trials for condition in CONDITIONS]


def run_task(task: MechanismTask) -> Row:
    """Return the MCC of every candidate of every model, and how many were not certified."""
    samples, other, truth = _draw(task)
    data = Nominal.from_samples(samples)
    length, d = signal_length(data.second_moment), data.d
    order = np.random.default_rng([task.seed, task.trial, 1]).permutation(d)
    own, centring = data.second_moment, np.eye(d) - 1.0 / d
    moments = {
        OWN: own,
        VARIANCES: np.diag(np.diagonal(centring @ own @ centring)),
        SHUFFLED: own[np.ix_(order, order)],
        OTHER: other.T @ other / len(other),
    }
    problems = {SAA: [GraphProblem(data, Singleton(), eta * length**2 / d) for eta in ETAS]}
    problems[BALL] = [
        GraphProblem(data, GaussianBall(radius * length), eta * length**2 / d)
        for radius in RADII
        for eta in ETAS[::4]
    ]
    for name, moment in moments.items():
        moment = centring @ moment @ centring
        moment = moment * (length**2 / float(np.trace(moment)))
        problems[name] = [
            GraphProblem(data, Singleton(), eta * length**2 / d, terms=(Residuals(weight, moment),))
            for weight in WEIGHTS
            for eta in ETAS[::4]
        ]
    scores: dict[str, list[float]] = {}
    unsolved = 0
    for name, listed in problems.items():
        answers = solve_many(listed, _TOLERANCE)
        unsolved += sum(not answer.gap <= _TOLERANCE for answer in answers)
        scores[name] = [round(mcc(answer.laplacian, truth), 6) for answer in answers]
    nested = {name: {"mcc": scores[SAA] * (name != SAA) + scores[name]} for name in MODELS}
    return {"scores": nested, "unsolved": unsolved}


def _draw(task: MechanismTask) -> tuple[Array, Array, Array]:
    """Return two independent tables of one graph, and its Laplacian."""
    if task.source == POWER:
        # Two numbers per trial, so that no loads are used twice.
        one, two = (load_source(POWER, 2 * task.trial + k + 1000) for k in (0, 1))
        return one.table, two.table, np.diag(one.truth.sum(axis=1)) - one.truth
    graph = rbf_graph(D, np.random.default_rng([task.seed, task.trial]))
    rng = np.random.default_rng([task.seed, task.trial, task.n, 0])
    first, second = (smooth_signals(graph, task.n, rng, noise=NOISE) for _ in range(2))
    return first, second, graph

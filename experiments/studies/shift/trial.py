"""One graph and one sample: every candidate of every model learned, judged and tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from experiments.measuring.store import Row
from experiments.studies.shift.grid import (
    ADVERSARY,
    BROKEN,
    DISTANCE,
    DRIFT,
    MIXED,
    MODELS,
    NO_SHIFT,
    NOISE,
    NOISE_SHARE,
    NOISY,
    OUTLIER_FACTOR,
    OUTLIER_SHARE,
    OUTLIERS,
    SENSOR,
    TEST_ETA,
    D,
    ShiftTask,
    ball,
    candidates,
)
from solvers import solve
from wdro_cvx import GaussianBall, GraphProblem, MomentBall, Nominal, Singleton, Solution, judge
from wdro_cvx.generators import add_noise, rbf_graph, scale_to_trace, smooth_signals
from wdro_cvx.metrics import dog, mcc
from wdro_cvx.validation import Array

_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Trial:
    """A distribution, or a set of them, that a graph is tested on, and the best possible risk."""

    problem: GraphProblem
    best: float

    def regret(self, laplacian: Array) -> float:
        """Return by what share the risk of a graph exceeds the best."""
        return self.problem.value(laplacian) / self.best - 1.0


def run_task(task: ShiftTask) -> Row:
    """Return, by model, the scores of every candidate, and how many answers failed."""
    rng = np.random.default_rng([task.seed, task.trial])
    scaled = task.scale == "scaled"
    truth, other = rbf_graph(D, rng, scaled=scaled), rbf_graph(D, rng, scaled=scaled)
    drifted = (1.0 - MIXED) * truth + MIXED * other
    tests = make_tests(truth, drifted)
    # The same graph for all sample sizes; each its own signals.
    rng = np.random.default_rng([task.seed, task.trial, task.n])
    samples = spoil(smooth_signals(truth, task.n, rng, noise=NOISE), task.training, rng)
    graphs = {"truth": scale_to_trace(truth), "drifted": scale_to_trace(drifted)}
    nominal, length = Nominal.from_samples(samples), signal_length(samples)
    unsolved, scores = 0, {}
    for model in MODELS:
        found: dict[str, list[float]] = {}
        answer: Solution | None = None
        for candidate in candidates(model):
            eta = candidate.eta * length**2 / D
            problem = GraphProblem(nominal, ball(model, candidate.radius, length), eta)
            answer = solve(problem, _TOLERANCE, start=answer)
            unsolved += not judge(problem, answer).solved(_TOLERANCE)
            for metric, value in _score(answer.laplacian, tests, graphs).items():
                found.setdefault(metric, []).append(round(value, 6))
        scores[model] = found
    return {"scores": scores, "unsolved": unsolved}


def _score(
    laplacian: Array, tests: Mapping[str, Trial], graphs: Mapping[str, Array]
) -> dict[str, float]:
    found = {f"regret, {name}": test.regret(laplacian) for name, test in tests.items()}
    return found | {
        "mcc": mcc(laplacian, graphs["truth"]),
        "dog": dog(laplacian, graphs["truth"]),
        "dog, drift": dog(laplacian, graphs["drifted"]),
    }


def second_moment(laplacian: Array) -> Array:
    """Return that of the signals of a graph, noise included."""
    return np.asarray(np.linalg.pinv(laplacian, hermitian=True) + NOISE**2 * np.eye(D))


def make_tests(truth: Array, drifted: Array) -> dict[str, Trial]:
    """Return the tests of a graph, each with the best risk that any graph could have."""
    zero = np.zeros(D)
    moment = second_moment(truth)
    length = float(np.sqrt(np.trace(moment) - moment.mean() * D))  # what a Laplacian sees
    eta = TEST_ETA * length**2 / D
    here = Nominal.from_moments(zero, moment)
    there = Nominal.from_moments(zero, second_moment(drifted))
    problems = {
        NO_SHIFT: GraphProblem(here, Singleton(), eta),
        DRIFT: GraphProblem(there, Singleton(), eta),
        SENSOR: GraphProblem(here, MomentBall(BROKEN**2 * length**2 / D, p=1.0), eta),
        ADVERSARY: GraphProblem(here, GaussianBall(DISTANCE * length), eta),
    }
    return {name: Trial(problem, solve(problem).value) for name, problem in problems.items()}


def signal_length(samples: Array) -> float:
    """Return the root mean squared length of signals, less their mean over the vertices.

    A Laplacian sees no more of a signal than that, so it is the unit of a radius.
    """
    centred = samples - samples.mean(axis=1, keepdims=True)
    return float(np.sqrt(np.mean(np.sum(centred**2, axis=1))))


def spoil(samples: Array, how: str, rng: np.random.Generator) -> Array:
    """Return the training signals with noise, with outliers, or as they are."""
    if how == NOISY:
        strength = signal_length(samples) / np.sqrt(samples.shape[1])
        return add_noise(samples, NOISE_SHARE * strength, rng)
    if how == OUTLIERS:
        count = max(1, round(OUTLIER_SHARE * len(samples)))
        factors = np.ones(len(samples))
        factors[rng.choice(len(samples), count, replace=False)] = OUTLIER_FACTOR
        return np.asarray(samples * factors[:, None])
    return samples

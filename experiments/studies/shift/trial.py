"""Learn, judge and test every candidate of every model on one graph and one sample.

All models have the same number of candidates. A shift at test time is an ambiguity set around the
*true* second moment. The same code therefore computes the risk under a shift and the least risk of
any graph. The shifts are:

- none: the true distribution itself;
- drift: the distribution of a graph mixed with thirty per cent of another;
- sensor: the worst vertex for the graph reads noise, which is the moment ball with p = 1;
- adversary: the worst distribution within a Wasserstein distance.

White noise at test time is not included: it adds ``σ²·Tr L = σ²·d`` to the risk of every graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from solvers import solve
from wdro_cvx import (
    AmbiguitySet,
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    Singleton,
    Solution,
    judge,
)
from wdro_cvx.generators import add_noise, rbf_graph, scale_to_trace, smooth_signals
from wdro_cvx.metrics import dog, mcc
from wdro_cvx.validation import Array

if TYPE_CHECKING:
    from experiments.measuring.store import Row

SAA, GAUSSIAN, MIDDLE, DEGREE = "SAA", "WDRO Gaussian", "WDRO p = 3/2", "WDRO p = 1"
MODELS = (SAA, GAUSSIAN, MIDDLE, DEGREE)
_NORMS = {MIDDLE: 1.5, DEGREE: 1.0}
D = 20
NOISE = 0.1
SIZES = (10, 30, 100, 300, 1000)
#: The sample sizes for the other scale and for corrupted training signals.
FEWER_SIZES = (30, 300)
SCALES = ("scaled", "raw")
CLEAN, NOISY, OUTLIERS = "clean", "noisy", "outliers"
#: Corrupted signals: white noise as strong as the signal; every twentieth signal times six.
NOISE_SHARE, OUTLIER_SHARE, OUTLIER_FACTOR = 1.0, 0.05, 6.0
NO_SHIFT, DRIFT, SENSOR, ADVERSARY = "none", "drift", "sensor", "adversary"
SHIFTS = (NO_SHIFT, DRIFT, SENSOR, ADVERSARY)
#: The share of the other graph under drift. The noise of a broken sensor and the distance of the
#: adversary are relative to the signal.
MIXED, BROKEN, DISTANCE = 0.3, 2.0, 0.3
#: The eta of the test risk, relative to the signal and the same for all models.
TEST_ETA = 0.3

#: Fifteen candidates for every model, relative to the data.
_SAA_ETAS = tuple(float(eta) for eta in np.geomspace(0.02, 4.0, 15))
_ETAS = (0.06, 0.15, 0.4, 1.0, 2.5)
_GAUSSIAN_RADII = (0.05, 0.15, 0.4)
_MOMENT_RADII = (0.05, 0.2, 0.8)
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class ShiftTask:
    """One random graph and one sample of its signals."""

    trial: int
    seed: int
    scale: str
    n: int
    training: str


def candidates(model: str) -> list[tuple[float, float]]:
    """Return the candidates of a model: etas and radii, relative to the data."""
    if model == SAA:
        return [(eta, 0.0) for eta in _SAA_ETAS]
    return list(product(_ETAS, _GAUSSIAN_RADII if model == GAUSSIAN else _MOMENT_RADII))


def ball(model: str, radius: float, length: float) -> AmbiguitySet:
    """Return the ambiguity set of a model; ``radius`` is relative to the length of a signal."""
    if model == SAA:
        return Singleton()
    if model == GAUSSIAN:
        return GaussianBall(radius * length)
    shape = MomentBall(1.0, p=_NORMS[model])
    # ‖vec L‖_q of a graph with even degrees grows like d^{1/q}.
    return MomentBall(radius * length**2 * D ** (-1.0 / shape.q), p=shape.p)


def tasks(trials: range, seed: int) -> list[ShiftTask]:
    """Return one task for every graph and condition."""
    return [ShiftTask(trial, seed, *condition) for trial in trials for condition in conditions()]


def conditions() -> list[tuple[str, int, str]]:
    """Return the conditions: scale, sample size and training signals."""
    clean = [(SCALES[0], n, CLEAN) for n in SIZES]
    raw = [(SCALES[1], n, CLEAN) for n in FEWER_SIZES]
    corrupted = [(SCALES[0], n, how) for how in (NOISY, OUTLIERS) for n in FEWER_SIZES]
    return clean + raw + corrupted


@dataclass(frozen=True, eq=False)
class ShiftedRisk:
    """The risk under one shift, and the least risk of any graph (``best``)."""

    problem: GraphProblem
    best: float

    def regret(self, laplacian: Array) -> float:
        """Return the relative excess of a graph's risk over the least risk."""
        return self.problem.value(laplacian) / self.best - 1.0


def run_task(task: ShiftTask) -> Row:
    """Return the scores of every candidate by model, and the number of uncertified answers."""
    rng = np.random.default_rng([task.seed, task.trial])
    scaled = task.scale == "scaled"
    truth, other = rbf_graph(D, rng, scaled=scaled), rbf_graph(D, rng, scaled=scaled)
    drifted = (1.0 - MIXED) * truth + MIXED * other
    tests = make_tests(truth, drifted)
    # All sample sizes share the graph; each has its own signals.
    rng = np.random.default_rng([task.seed, task.trial, task.n])
    samples = corrupt(smooth_signals(truth, task.n, rng, noise=NOISE), task.training, rng)
    graphs = {"truth": scale_to_trace(truth), "drifted": scale_to_trace(drifted)}
    nominal, length = Nominal.from_samples(samples), signal_length(samples)
    unsolved, scores = 0, {}
    for model in MODELS:
        found: dict[str, list[float]] = {}
        answer: Solution | None = None
        for eta, radius in candidates(model):
            problem = GraphProblem(nominal, ball(model, radius, length), eta * length**2 / D)
            answer = solve(problem, _TOLERANCE, start=answer)
            unsolved += not judge(problem, answer).solved(_TOLERANCE)
            for metric, value in _score(answer.laplacian, tests, graphs).items():
                found.setdefault(metric, []).append(round(value, 6))
        scores[model] = found
    return {"scores": scores, "unsolved": unsolved}


def _score(
    laplacian: Array, tests: Mapping[str, ShiftedRisk], graphs: Mapping[str, Array]
) -> dict[str, float]:
    found = {f"regret, {name}": test.regret(laplacian) for name, test in tests.items()}
    return found | {
        "mcc": mcc(laplacian, graphs["truth"]),
        "dog": dog(laplacian, graphs["truth"]),
        "dog, drift": dog(laplacian, graphs["drifted"]),
    }


def second_moment(laplacian: Array) -> Array:
    """Return the second moment of the signals of a graph, including noise."""
    return np.asarray(np.linalg.pinv(laplacian, hermitian=True) + NOISE**2 * np.eye(D))


def make_tests(truth: Array, drifted: Array) -> dict[str, ShiftedRisk]:
    """Return the risk under every shift."""
    zero = np.zeros(D)
    moment = second_moment(truth)
    length = float(np.sqrt(np.trace(moment) - moment.mean() * D))  # of centred signals
    eta = TEST_ETA * length**2 / D
    here = Nominal.from_moments(zero, moment)
    there = Nominal.from_moments(zero, second_moment(drifted))
    problems = {
        NO_SHIFT: GraphProblem(here, Singleton(), eta),
        DRIFT: GraphProblem(there, Singleton(), eta),
        SENSOR: GraphProblem(here, MomentBall(BROKEN**2 * length**2 / D, p=1.0), eta),
        ADVERSARY: GraphProblem(here, GaussianBall(DISTANCE * length), eta),
    }
    return {name: ShiftedRisk(problem, solve(problem).value) for name, problem in problems.items()}


def signal_length(samples: Array) -> float:
    """Return the root mean squared length of signals after centring each over the vertices.

    A Laplacian depends only on centred signals, so this length is the unit of a radius.
    """
    centred = samples - samples.mean(axis=1, keepdims=True)
    return float(np.sqrt(np.mean(np.sum(centred**2, axis=1))))


def corrupt(samples: Array, how: str, rng: np.random.Generator) -> Array:
    """Return the training signals with noise, with outliers, or unchanged."""
    if how == NOISY:
        strength = signal_length(samples) / np.sqrt(samples.shape[1])
        return add_noise(samples, NOISE_SHARE * strength, rng)
    if how == OUTLIERS:
        count = max(1, round(OUTLIER_SHARE * len(samples)))
        factors = np.ones(len(samples))
        factors[rng.choice(len(samples), count, replace=False)] = OUTLIER_FACTOR
        return np.asarray(samples * factors[:, None])
    return samples

"""Learn, judge and score one random graph for every condition, model, eta and radius.

The constants are the conditions of the paper's tables and a grid for the values it leaves open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.drawing.communities import communities
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
from wdro_cvx.generators import rbf_graph, sbm_graph, scale_to_trace, smooth_signals
from wdro_cvx.graphs.laplacian import weights_from_laplacian
from wdro_cvx.metrics import dog, edge_correlation, nmi, reliability
from wdro_cvx.validation import Array

if TYPE_CHECKING:
    from experiments.measuring.store import Row

SIMILARITY, BLOCKS = "similarity", "blocks"
SAA, GAUSSIAN, GENERAL = "SAA", "WDRO Gaussian", "p = 2"
#: The models of the figures and of Table 3; Table 2 also has the other norms.
COMPARED = (SAA, GAUSSIAN, GENERAL)
NORMS = {
    "p = 1": 1.0, "p = 4/3": 4 / 3, "p = 3/2": 1.5, "p = 2": 2.0, "p = 3": 3.0, "p = 4": 4.0,
}  # fmt: skip

#: ``scaled``: Tr L = d before the signals are drawn; ``raw``: the weights of the kernel.
SCALES = ("scaled", "raw")
ETAS = (0.03, 0.06, 0.1, 0.2, 0.3, 0.6)
#: Candidates for every norm, as the paper suggests; a setting may cap them.
RADII = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
#: Small norms need larger radii for the same effect; only the cap ``inf`` includes these.
_FURTHER = {"p = 1": (50.0, 100.0, 200.0), "p = 4/3": (50.0,), "p = 3/2": (50.0,)}
#: Radii of signals, not moments; beyond 5, the Gaussian scenario hardly depends on the data.
_GAUSSIAN_RADII = RADII[2:7]
CAPS = (0.5, 1.0, 2.0, 5.0, 20.0, np.inf)
THRESHOLDS = (1e-4, 1e-3, 1e-2)

NOISE = 0.1
D = 20
SIZES = (20, 50, 100, 200, 1000)
TABLE_2_SIZES = (50, 100, 200, 1000)
NOISES = (0.4, 0.8)
NOISE_N = 100
BLOCK_SIZES = (80, 100, 150, 200, 500, 1000)
PLANTED = (15, 15, 15)
RELIABILITY_N = 50
_TOLERANCE = 1e-6
_TESTS = 500

#: For each metric, one value per eta and radius.
Scores = dict[str, list[list[float]]]
Score = Callable[[Solution, float], Mapping[str, float]]


@dataclass(frozen=True)
class Condition:
    """The number of samples and their noise."""

    n: int
    noise: float = NOISE

    @property
    def key(self) -> str:
        """The key of the condition in stored rows."""
        return f"{self.n}/{self.noise:g}"


@dataclass(frozen=True)
class Job:
    """One random graph and the candidates to try on it.

    Attributes
    ----------
    kind : str
        ``similarity`` (RBF, 20 vertices) or ``blocks`` (45 vertices).
    trial, seed : int
    scale : str
    etas, norm_etas : tuple of float
        Etas for the Gaussian scenario and p = 2, and for the other norms; SAA uses all etas.
    blind : bool
        Whether to learn also from two thirds of the signals, for choices without the truth.
    """

    kind: str
    trial: int
    seed: int
    scale: str
    etas: tuple[float, ...]
    norm_etas: tuple[float, ...]
    blind: bool


def radii(model: str) -> tuple[float, ...]:
    """Return the candidate radii of a model in ascending order; SAA has only 0."""
    if model == SAA:
        return (0.0,)
    return _GAUSSIAN_RADII if model == GAUSSIAN else RADII + _FURTHER.get(model, ())


def ball(model: str, radius: float) -> AmbiguitySet:
    """Return the ambiguity set of a model."""
    if model == SAA:
        return Singleton()
    return GaussianBall(radius) if model == GAUSSIAN else MomentBall(radius, p=NORMS[model])


def conditions(kind: str) -> list[Condition]:
    """Return the conditions under which graphs of a kind are learned."""
    if kind == BLOCKS:
        return [Condition(n) for n in BLOCK_SIZES]
    return [Condition(n) for n in SIZES] + [Condition(NOISE_N, noise) for noise in NOISES]


def models(kind: str, condition: Condition) -> list[str]:
    """Return the models to learn under a condition; Table 2 has every norm."""
    table_2 = kind == SIMILARITY and condition.noise == NOISE and condition.n in TABLE_2_SIZES
    return [SAA, GAUSSIAN, *(NORMS if table_2 else [GENERAL])]


def run_job(job: Job) -> Row:
    """Return the scores by condition and model, and the number of uncertified answers."""
    rng = np.random.default_rng([job.seed, job.trial, job.kind == BLOCKS])
    truth, planted = _truth(job, rng)
    unsolved = 0
    scores: dict[str, dict[str, Scores]] = {}
    for condition in conditions(job.kind):
        samples = smooth_signals(truth, condition.n, rng, noise=condition.noise)
        tests = smooth_signals(truth, _TESTS, rng, noise=condition.noise)
        score = scorer(truth, planted, tests if condition == Condition(RELIABILITY_N) else None)
        here: dict[str, Scores] = {}
        kept = 2 * len(samples) // 3
        for model in models(job.kind, condition):
            etas = ETAS if model == SAA else job.etas if model in COMPARED else job.norm_etas
            here[model], failed = _learn(samples, model, etas, score)
            unsolved += failed
            if job.blind and model in COMPARED:
                blind, failed = _learn(samples[:kept], model, etas, _blind(samples[kept:]))
                here[model] |= blind
                unsolved += failed
        scores[condition.key] = here
    return {"scores": scores, "unsolved": unsolved}


def _truth(job: Job, rng: np.random.Generator) -> tuple[Array, Array | None]:
    scaled = job.scale == "scaled"
    if job.kind == BLOCKS:
        return sbm_graph(PLANTED, rng, scaled=scaled)
    return rbf_graph(D, rng, scaled=scaled), None


def _learn(samples: Array, model: str, etas: tuple[float, ...], score: Score) -> tuple[Scores, int]:
    """Learn for all radii and some etas; return scores (NaN for other etas) and failures."""
    nominal = Nominal.from_samples(samples)
    found: Scores = {}
    unsolved = 0
    for place in (ETAS.index(eta) for eta in etas):
        eta = ETAS[place]
        answer: Solution | None = None
        for step, radius in enumerate(radii(model)):
            problem = GraphProblem(nominal, ball(model, radius), eta)
            answer = solve(problem, _TOLERANCE, start=answer)
            unsolved += not judge(problem, answer).solved(_TOLERANCE)
            for metric, value in score(answer, eta).items():
                lines = found.setdefault(metric, [[math.nan] * len(radii(model)) for _ in ETAS])
                lines[place][step] = round(value, 6)
    return found, unsolved


def scorer(truth: Array, planted: Array | None, tests: Array | None) -> Score:
    """Return a function that scores an answer against the truth.

    ``dog`` compares with the graph from which the signals were drawn, ``shape`` with that graph
    scaled to the trace of a learned one.
    """
    edges = weights_from_laplacian(truth) > 0.0
    scaled = scale_to_trace(truth)

    def score(answer: Solution, eta: float) -> dict[str, float]:
        laplacian = answer.laplacian
        weights = weights_from_laplacian(laplacian)
        found = {
            f"mcc {threshold:g}": edge_correlation(weights >= threshold, edges)
            for threshold in THRESHOLDS
        }
        found |= {"dog": dog(laplacian, truth), "shape": dog(laplacian, scaled)}
        if planted is not None:
            adjacency = np.diag(np.diagonal(laplacian)) - laplacian
            found["nmi"] = nmi(communities(adjacency), planted)
        if tests is not None:
            found["reliability"] = reliability(laplacian, answer.value, eta, tests)
        return found

    return score


def _blind(tests: Array) -> Score:
    def score(answer: Solution, eta: float) -> dict[str, float]:
        return {"blind": neighbour_error(answer.laplacian, tests)}

    return score


def neighbour_error(laplacian: Array, tests: Array) -> float:
    """Return the relative error of predicting a vertex from its neighbours, on unseen signals.

    The prediction is the weighted mean of the neighbours, or zero if there are none. The error
    needs no true graph and, unlike the risk, can compare graphs with different etas.
    """
    degrees = np.diagonal(laplacian)
    adjacency = np.diag(degrees) - laplacian
    guess = (tests @ adjacency) / np.where(degrees > 0.0, degrees, 1.0)
    return float(np.sum((tests - guess) ** 2) / np.sum(tests**2))

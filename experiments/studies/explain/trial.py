"""Learn and score one random graph for every condition, model, eta and radius.

The constants are the conditions of the paper's tables and a grid for the values it leaves open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from experiments.figures.learning import (
    BLOCKS,
    GAUSSIAN,
    GENERAL,
    NOISE,
    NOISE_N,
    NORMS,
    RELIABILITY_N,
    SAA,
    SIMILARITY,
    TABLE_2_SIZES,
    TABLE_3_SIZES,
    Condition,
    Model,
    draw_graph,
    score,
)
from experiments.measuring.prediction import prediction_error
from wdro_cvx import GaussianBall, MomentBall, Singleton, Solution, Status
from wdro_cvx.generators import scale_to_trace, smooth_signals
from wdro_cvx.metrics import dog
from wdro_cvx.validation import Array

if TYPE_CHECKING:
    from experiments.measuring.store import Row

#: ``scaled``: Tr L = d before the signals are drawn; ``raw``: the weights of the kernel.
SCALES = ("scaled", "raw")
ETAS = (0.03, 0.06, 0.1, 0.2, 0.3, 0.6)
#: Candidates for every norm, as the paper suggests; a setting may cap them. Radius 0 is SAA, so
#: every model can choose the baseline.
RADII = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
#: Small norms need larger radii for the same effect; only the cap ``inf`` includes these.
_FURTHER = {"p = 1": (50.0, 100.0, 200.0), "p = 4/3": (50.0,), "p = 3/2": (50.0,)}
CAPS = (0.5, 1.0, 2.0, 5.0, 20.0, np.inf)
MODELS = {
    SAA: Model(Singleton(), ETAS),
    # Radii of signals, not moments; beyond 5, the Gaussian scenario hardly depends on the data.
    GAUSSIAN: Model(GaussianBall(1.0), ETAS, RADII[:8]),
    GENERAL: Model(MomentBall(1.0), ETAS, RADII),
    **{
        name: Model(MomentBall(1.0, p=p), ETAS, RADII + _FURTHER.get(name, ()))
        for name, p in NORMS.items()
        if p != 2.0
    },
}
#: The models of the figures and of Table 3; Table 2 also has the other norms.
COMPARED = (SAA, GAUSSIAN, GENERAL)

SIZES = (20, 50, 100, 200, 1000)
NOISES = (NOISE, 0.4, 0.8)
_TESTS = 500

#: For each metric, one value per eta and radius.
Scores = dict[str, list[list[float]]]
Score = Callable[[Solution, float], Mapping[str, float]]


@dataclass(frozen=True)
class Job:
    """One random graph and the candidates to try on it.

    Attributes
    ----------
    kind : str
        ``similarity`` (RBF, 20 vertices) or ``blocks`` (45 vertices).
    trial, seed : int
    scale : str
    norm_etas : tuple of float
        Etas for the norms other than p = 2; all other models use all etas.
    blind : bool
        Whether to learn also from two thirds of the signals, for choices without the truth.
    """

    kind: str
    trial: int
    seed: int
    scale: str
    norm_etas: tuple[float, ...]
    blind: bool


def stored(model: str) -> str:
    """Return the name under which a model is stored: p = 2 is the general scenario."""
    return GENERAL if model == "p = 2" else model


def conditions(kind: str) -> list[Condition]:
    """Return the conditions under which graphs of a kind are learned."""
    if kind == BLOCKS:
        return [Condition(n) for n in TABLE_3_SIZES]
    return [Condition(n) for n in SIZES] + [Condition(NOISE_N, noise) for noise in NOISES[1:]]


def models(kind: str, condition: Condition) -> list[str]:
    """Return the models to learn under a condition; Table 2 has every norm."""
    table_2 = kind == SIMILARITY and condition.noise == NOISE and condition.n in TABLE_2_SIZES
    return list(MODELS if table_2 else COMPARED)


def run_job(job: Job) -> Row:
    """Return the scores by condition and model, and the number of uncertified answers."""
    rng = np.random.default_rng([job.seed, job.trial, job.kind == BLOCKS])
    truth, planted = draw_graph(job.kind, rng, job.scale == "scaled")
    unsolved = 0
    scores: dict[str, dict[str, Scores]] = {}
    for condition in conditions(job.kind):
        samples = smooth_signals(truth, condition.n, rng, noise=condition.noise)
        tests = smooth_signals(truth, _TESTS, rng, noise=condition.noise)
        scored = scorer(truth, planted, tests if condition == Condition(RELIABILITY_N) else None)
        here: dict[str, Scores] = {}
        kept = 2 * len(samples) // 3
        for name in models(job.kind, condition):
            etas = ETAS if name in COMPARED else job.norm_etas
            model = replace(MODELS[name], etas=etas)
            here[name], failed = _learn(samples, model, scored)
            unsolved += failed
            if job.blind and name in COMPARED:
                blind, failed = _learn(samples[:kept], model, _blind(samples[kept:]))
                here[name] |= blind
                unsolved += failed
        scores[condition.key] = here
    return {"scores": scores, "unsolved": unsolved}


def _learn(samples: Array, model: Model, scored: Score) -> tuple[Scores, int]:
    """Learn with every candidate; return scores (NaN for other etas) and failures."""
    found: Scores = {}
    unsolved = 0
    for (eta, radius), answer in zip(model.candidates, model.answers(samples), strict=True):
        unsolved += answer.status is not Status.SOLVED
        for metric, value in scored(answer, eta).items():
            lines = found.setdefault(metric, [[math.nan] * len(model.radii) for _ in ETAS])
            lines[ETAS.index(eta)][model.radii.index(radius)] = round(value, 6)
    return found, unsolved


def scorer(truth: Array, planted: Array | None, tests: Array | None) -> Score:
    """Return a function that scores an answer against the truth.

    ``dog`` compares with the graph from which the signals were drawn, ``shape`` with that graph
    scaled to the trace of a learned one.
    """
    scaled = scale_to_trace(truth)

    def scored(answer: Solution, eta: float) -> dict[str, float]:
        found = score(answer, eta, truth, planted, tests)
        return found | {"shape": dog(answer.laplacian, scaled)}

    return scored


def _blind(tests: Array) -> Score:
    def scored(answer: Solution, eta: float) -> dict[str, float]:
        return {"blind": prediction_error(answer.laplacian, tests.T @ tests)}

    return scored

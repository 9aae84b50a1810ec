"""One random graph: every condition, model, eta and radius learned, judged and scored."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from experiments.drawing.graphs import communities
from experiments.measuring.store import Row
from experiments.studies.explain.grid import (
    BLOCKS,
    COMPARED,
    ETAS,
    PLANTED,
    RELIABILITY_N,
    SAA,
    THRESHOLDS,
    Condition,
    D,
    Job,
    ball,
    conditions,
    models,
    radii,
)
from solvers import solve
from wdro_cvx import GraphProblem, Nominal, Solution, judge
from wdro_cvx.generators import rbf_graph, sbm_graph, scale_to_trace, smooth_signals
from wdro_cvx.graphs.laplacian import weights_from_laplacian
from wdro_cvx.metrics import dog, edge_correlation, nmi, reliability
from wdro_cvx.validation import Array

#: By metric: one value for every eta and radius.
Scores = dict[str, list[list[float]]]
Score = Callable[[Solution, float], Mapping[str, float]]
_TOLERANCE = 1e-6
_TESTS = 500


def run_job(job: Job) -> Row:
    """Return all scores of one graph, by condition and model, and how many answers failed."""
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
    """Learn along the radii for every eta; return the scores and how many answers failed.

    Where an eta is not asked for, the scores are NaN.
    """
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
    """Return what scores an answer against the truth.

    ``dog`` is literal, against the truth that the signals were drawn from; ``shape`` is the same
    against the truth at the scale of a learned graph.
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
    """Return how badly a vertex's unseen signals are told from its neighbours', relative.

    The guess is the weighted mean of the neighbours, zero without any. It needs no true graph, and
    unlike the risk it compares graphs of different eta.
    """
    degrees = np.diagonal(laplacian)
    adjacency = np.diag(degrees) - laplacian
    guess = (tests @ adjacency) / np.where(degrees > 0.0, degrees, 1.0)
    return float(np.sum((tests - guess) ** 2) / np.sum(tests**2))

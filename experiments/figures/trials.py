"""What each experiment varies, and one trial of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from experiments.drawing.communities import communities
from experiments.figures.learning import (
    GAUSSIAN,
    GENERAL,
    GENERAL_RADII,
    MODELS,
    SAA,
    Model,
    Record,
    ladder,
    learn,
)
from experiments.propositions.convexity import gamma_curve
from experiments.propositions.drawn import REGULAR
from solvers import solve
from wdro_cvx import GaussianBall, GraphProblem, LogDegree, MomentBall, Nominal, Solution
from wdro_cvx.generators import rbf_graph, sbm_graph, smooth_signals
from wdro_cvx.metrics import dog, mcc, nmi
from wdro_cvx.validation import Array

Setting = Mapping[str, Any]
#: Vertices of a similarity graph, and the noise of its signals unless it is varied.
D = 20
NOISE = 0.1
_N = 100
_TESTS = 1000
BLOCKS = (15, 15, 15)
TRUE = "true graph"

NORMS = {"1": 1.0, "4/3": 4 / 3, "3/2": 1.5, "2": 2.0, "3": 3.0, "4": 4.0, "∞": np.inf}
# A norm of d² entries grows like d^{2/p}: a small p needs a large radius for the same effect.
NORM_MODELS = {
    f"p = {name}": Model(
        MomentBall(1.0, p=p), tuple(D ** (2 / p - 1) * radius for radius in GENERAL_RADII)
    )
    for name, p in NORMS.items()
}
RADIUS_MODELS = {
    GAUSSIAN: Model(GaussianBall(1.0), tuple(np.geomspace(0.02, 8.0, 21))),
    GENERAL: Model(MomentBall(1.0), tuple(np.geomspace(0.02, 32.0, 21))),
}

#: The candidates of either prior: strengths are eta, or alpha and beta; radii if it is robust.
STRENGTHS, PRIOR_RADII = ladder(0.01, 10.0, 13), ladder(0.1, 1.6, 5)
PRIOR_MODELS = {
    "Frobenius": (0.0,), "log-degree": (0.0,),
    "Frobenius, Gaussian ball": PRIOR_RADII, "log-degree, Gaussian ball": PRIOR_RADII,
}  # fmt: skip
GRAPHS = ("RBF", "block model")


def _similarity(setting: Setting, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return signals of a random similarity graph, and the graph."""
    truth = rbf_graph(D, rng)
    n, noise = setting.get("n", _N), setting.get("noise", NOISE)
    return smooth_signals(truth, n, rng, noise=noise), truth


def compared(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Learn with every model."""
    return learn(*_similarity(setting, rng))


def along_radii(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Learn along a fine path of radii, and test on unseen signals."""
    samples, truth = _similarity(setting, rng)
    tests = smooth_signals(truth, _TESTS, rng, noise=NOISE)
    return learn(samples, truth, RADIUS_MODELS, tests, held_out=False)


def with_norms(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Learn with every norm."""
    return learn(*_similarity(setting, rng), NORM_MODELS, held_out=False)


def curve(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Try the proposition about g(γ) on a random instance."""
    return [{"deviation": gamma_curve(REGULAR.draw(rng, 6), rng).printed}]


def communities_of(laplacian: Array) -> Array:
    """Return Louvain's community of every vertex of a graph given by its Laplacian."""
    return communities(np.diag(np.diagonal(laplacian)) - laplacian)


def blocks(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Learn a block model and compare its communities with the planted ones."""
    truth, planted = sbm_graph(BLOCKS, rng)
    samples = smooth_signals(truth, setting["n"], rng, noise=NOISE)
    return learn(samples, truth, score=lambda graph: _found(graph, planted)[1])


def example(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Return graphs as lists: the true one, and the best of SAA and of the Gaussian scenario."""
    truth, planted = sbm_graph(BLOCKS, rng)
    samples = smooth_signals(truth, setting["n"], rng, noise=NOISE)
    scores = pd.DataFrame(learn(samples, truth, held_out=False))
    graphs = {TRUE: truth}
    for model in (SAA, GAUSSIAN):
        best = int(scores[scores["model"] == model]["mcc"].to_numpy().argmax())
        graphs[model] = MODELS[model].path(samples)[best].laplacian
    records = []
    for name, graph in graphs.items():
        labels, scored = _found(graph, planted)
        shown = {"model": name, "graph": graph.tolist(), "communities": labels.tolist()}
        records.append(shown | scored)
    return records


def _found(graph: Array, planted: Array) -> tuple[Array, Record]:
    labels = communities_of(graph)
    return labels, {"nmi": nmi(labels, planted), "clusters": len(np.unique(labels))}


def with_priors(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Learn with both priors, at every strength and radius; scores are of graphs with trace d."""
    truth = rbf_graph(D, rng) if setting["truth"] == "RBF" else sbm_graph((10, 10, 10), rng)[0]
    nominal = Nominal.from_samples(smooth_signals(truth, setting["n"], rng, noise=NOISE))
    records = []
    for name, radii in PRIOR_MODELS.items():
        for radius in radii:
            answer: Solution | None = None
            for strength in STRENGTHS:
                warm = None if radius == 0.0 else answer  # a sample average is one step anyway
                answer = solve(prior_problem(name, nominal, strength, radius), start=warm)
                graph = answer.laplacian * (len(truth) / float(np.trace(answer.laplacian)))
                records.append({
                    "model": name, "parameter": f"{strength:g}, ε = {radius:g}",
                    "strength": strength, "radius": radius,
                    "mcc": mcc(graph, truth), "dog": dog(graph, truth),
                })  # fmt: skip
    return records


def prior_problem(name: str, nominal: Nominal, strength: float, radius: float) -> GraphProblem:
    """Return the problem of a candidate; a strength is in units of the data squared."""
    ball = GaussianBall(radius)
    if name.startswith("log-degree"):
        return GraphProblem(nominal, ball, prior=LogDegree(strength, strength))
    return GraphProblem(nominal, ball, eta=strength)


@dataclass(frozen=True)
class Grid:
    """What an experiment varies, and the trial of a setting, which returns records."""

    settings: Sequence[Setting]
    trial: Callable[[Setting, np.random.Generator], list[Record]]


def _sizes(*sizes: int) -> list[Setting]:
    return [{"n": n} for n in sizes]


#: By experiment, in the order of the report.
GRIDS = {
    "communities": Grid(_sizes(50), example),
    "gamma": Grid([{}], curve),
    "sample-size": Grid(_sizes(10, 20, 30, 50, 80, 100, 200, 500, 1000), compared),
    "radius": Grid(_sizes(20, 50, 100, 1000), along_radii),
    "reliability": Grid(_sizes(50), along_radii),
    "noise": Grid([{"noise": round(0.1 * k, 1)} for k in range(1, 11)], compared),
    "norm": Grid(_sizes(50, 100, 200, 1000), with_norms),
    "nmi": Grid(_sizes(80, 100, 150, 200, 500, 1000), blocks),
    "prior": Grid([{"truth": g, "n": n} for g in GRAPHS for n in (20, 50, 200, 1000)], with_priors),
}


def values(experiment: str, name: str) -> list[Any]:
    """Return the values that an experiment gives to one of its settings, in order."""
    return list(dict.fromkeys(setting[name] for setting in GRIDS[experiment].settings))


@dataclass(frozen=True)
class FigureTask:
    """One trial of one setting."""

    experiment: str
    setting: tuple[tuple[str, Any], ...]
    trial: int
    seed: int


def one_trial(task: FigureTask) -> dict[str, Any]:
    """Run one trial; its generator depends on seed and number alone.

    All settings of an experiment therefore see the same graphs, which pairs their differences.
    """
    rng = np.random.default_rng([task.seed, task.trial])
    return {"records": GRIDS[task.experiment].trial(dict(task.setting), rng)}

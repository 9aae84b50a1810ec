"""What each experiment varies, and one trial of it.

One eta and one list of radii are used for every model, and the sample average (SAA) is also tried
with a list of etas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.figures.learning import (
    BLOCKS,
    GAUSSIAN,
    GENERAL,
    NOISE,
    NOISE_N,
    NORMS,
    PLANTED,
    RELIABILITY_N,
    SAA,
    SIMILARITY,
    TABLE_2_SIZES,
    TABLE_3_SIZES,
    TUNED,
    D,
    Model,
    Record,
    communities_of,
    draw_graph,
    ladder,
    score,
)
from experiments.measuring.held_out import held_out
from experiments.propositions.convexity import gamma_curve
from experiments.propositions.drawn import REGULAR
from solvers import solve_many
from wdro_cvx import GaussianBall, GraphProblem, LogDegree, MomentBall, Nominal, Singleton
from wdro_cvx.generators import rbf_graph, sbm_graph, smooth_signals
from wdro_cvx.metrics import dog, mcc, nmi
from wdro_cvx.validation import Array

Setting = Mapping[str, Any]
#: The paper gives no eta; this one reproduces its SAA scores (docs/experiments.md).
ETA = 0.3
_TESTS = 1000
_FOLDS = 3
TRUE = "true graph"

# Radius 0 is SAA, so every model can choose the baseline.
GAUSSIAN_RADII, GENERAL_RADII = (0.0, *ladder(0.05, 4.0, 12)), (0.0, *ladder(0.1, 16.0, 12))
ETAS = ladder(0.03, 3.0, 13)
MODELS = {
    SAA: Model(Singleton(), (ETA,)),
    TUNED: Model(Singleton(), ETAS),
    GAUSSIAN: Model(GaussianBall(1.0), (ETA,), GAUSSIAN_RADII),
    GENERAL: Model(MomentBall(1.0), (ETA,), GENERAL_RADII),
}
# A norm of d² entries grows like d^{2/p}: a small p needs a large radius for the same effect.
NORM_MODELS = {
    name: Model(MomentBall(1.0, p=p), (ETA,), tuple(D ** (2 / p - 1) * r for r in GENERAL_RADII))
    for name, p in (NORMS | {"p = ∞": np.inf}).items()
}
RADIUS_MODELS = {
    GAUSSIAN: Model(GaussianBall(1.0), (ETA,), tuple(np.geomspace(0.02, 8.0, 21))),
    GENERAL: Model(MomentBall(1.0), (ETA,), tuple(np.geomspace(0.02, 32.0, 21))),
}

#: The candidates of either prior. Strengths are eta, or alpha and beta; radii are for the balls.
STRENGTHS, PRIOR_RADII = ladder(0.01, 10.0, 13), ladder(0.1, 1.6, 5)
PRIOR_MODELS = {
    "Frobenius": (0.0,), "log-degree": (0.0,),
    "Frobenius, Gaussian ball": PRIOR_RADII, "log-degree, Gaussian ball": PRIOR_RADII,
}  # fmt: skip
GRAPHS = ("RBF", "block model")


def learn(
    samples: Array,
    truth: Array,
    models: Mapping[str, Model] = MODELS,
    planted: Array | None = None,
    tests: Array | None = None,
    with_held_out: bool = True,
) -> list[Record]:
    """Learn a graph with every model and candidate, and return one record of scores for each.

    ``with_held_out`` adds a cross-validated risk, for a choice that needs no true graph.
    """
    records = []
    for name, model in models.items():
        candidates = model.candidates
        risks = held_out_risks(model, samples) if with_held_out else [np.nan] * len(candidates)
        found = zip(candidates, model.answers(samples), risks, strict=True)
        for (eta, radius), answer, risk in found:
            records.append({
                "model": name, "eta": eta, "radius": radius, "held_out_risk": risk,
                **score(answer, eta, truth, planted, tests),
            })  # fmt: skip
    return records


def held_out_risks(model: Model, samples: Array) -> list[float]:
    """Return the cross-validated risk of every candidate."""
    candidates = model.candidates
    if len(candidates) == 1:
        return [0.0]

    def build(nominal: Nominal, place: float) -> GraphProblem:
        return model.build(nominal, *candidates[int(place)])

    found = held_out(samples, build, range(len(candidates)), ETA, _FOLDS)
    return [scores.risk for scores in found]


@dataclass(frozen=True)
class Grid:
    """What an experiment varies, and the models that it learns with.

    ``tests``: whether to measure reliability on unseen signals; ``with_held_out``: whether to add
    cross-validated risks.
    """

    settings: Sequence[Setting]
    models: Mapping[str, Model]
    kind: str = SIMILARITY
    tests: bool = False
    with_held_out: bool = True

    def trial(self, setting: Setting, rng: np.random.Generator) -> list[Record]:
        """Learn one random graph with every model."""
        truth, planted = draw_graph(self.kind, rng)
        n, noise = setting.get("n", NOISE_N), setting.get("noise", NOISE)
        samples = smooth_signals(truth, n, rng, noise=noise)
        tests = smooth_signals(truth, _TESTS, rng, noise=noise) if self.tests else None
        return learn(samples, truth, self.models, planted, tests, self.with_held_out)


@dataclass(frozen=True)
class Special:
    """An experiment with a trial of its own."""

    settings: Sequence[Setting]
    trial: Callable[[Setting, np.random.Generator], list[Record]]


def curve(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Try the proposition about g(γ) on a random instance."""
    return [{"deviation": gamma_curve(REGULAR.draw(rng, 6), rng).printed}]


def example(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Return graphs as lists: the true one, and the best of SAA and of the Gaussian scenario."""
    truth, planted = sbm_graph(PLANTED, rng)
    samples = smooth_signals(truth, setting["n"], rng, noise=NOISE)
    graphs = {TRUE: truth}
    for name in (SAA, GAUSSIAN):
        found = [answer.laplacian for answer in MODELS[name].answers(samples)]
        graphs[name] = max(found, key=lambda graph: mcc(graph, truth))
    labels = {name: communities_of(graph) for name, graph in graphs.items()}
    return [
        {"model": name, "graph": graph.tolist(), "communities": labels[name].tolist(),
         "nmi": nmi(labels[name], planted), "clusters": len(np.unique(labels[name]))}
        for name, graph in graphs.items()
    ]  # fmt: skip


def with_priors(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Learn with both priors at every strength and radius; score the graphs scaled to trace d."""
    truth = rbf_graph(D, rng) if setting["truth"] == "RBF" else sbm_graph((10, 10, 10), rng)[0]
    nominal = Nominal.from_samples(smooth_signals(truth, setting["n"], rng, noise=NOISE))
    records = []
    for name, radii in PRIOR_MODELS.items():
        for radius in radii:
            problems = [prior_problem(name, nominal, eta, radius) for eta in STRENGTHS]
            for eta, answer in zip(STRENGTHS, solve_many(problems), strict=True):
                graph = answer.laplacian * (len(truth) / float(np.trace(answer.laplacian)))
                records.append({
                    "model": name, "eta": eta, "radius": radius,
                    "mcc": mcc(graph, truth), "dog": dog(graph, truth),
                })  # fmt: skip
    return records


def prior_problem(name: str, nominal: Nominal, strength: float, radius: float) -> GraphProblem:
    """Return the problem of a candidate; a strength is in units of the data squared."""
    ball = GaussianBall(radius)
    if name.startswith("log-degree"):
        return GraphProblem(nominal, ball, prior=LogDegree(strength, strength))
    return GraphProblem(nominal, ball, eta=strength)


def _sizes(*sizes: int) -> list[Setting]:
    return [{"n": n} for n in sizes]


#: By experiment, in the order of the report.
GRIDS: dict[str, Grid | Special] = {
    "communities": Special(_sizes(50), example),
    "gamma": Special([{}], curve),
    "sample-size": Grid(_sizes(10, 20, 30, 50, 80, 100, 200, 500, 1000), MODELS),
    "radius": Grid(_sizes(20, 50, 100, 1000), RADIUS_MODELS, tests=True, with_held_out=False),
    "reliability": Grid(_sizes(RELIABILITY_N), RADIUS_MODELS, tests=True, with_held_out=False),
    "noise": Grid([{"noise": round(0.1 * k, 1)} for k in range(1, 11)], MODELS),
    "norm": Grid(_sizes(*TABLE_2_SIZES), NORM_MODELS, with_held_out=False),
    "nmi": Grid(_sizes(*TABLE_3_SIZES), MODELS, BLOCKS),
    "prior": Special(
        [{"truth": graph, "n": n} for graph in GRAPHS for n in (20, 50, 200, 1000)], with_priors
    ),
}


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

"""Learn, judge and test every candidate of every model on one table.

The lists are nested: every ball's list contains radius 0 with all etas of the sample average. A
ball therefore loses to the sample average only by a bad choice, and wins only by its radius.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.measuring.prediction import prediction_error
from experiments.studies.shift.risks import signal_length
from experiments.studies.shift.tables import ShiftTask, draw
from solvers import solve_many
from wdro_cvx import AmbiguitySet, GaussianBall, GraphProblem, MomentBall, Nominal, Singleton
from wdro_cvx.moments.holes import nominal_with_holes
from wdro_cvx.validation import Array

if TYPE_CHECKING:
    from experiments.measuring.store import Row

#: Etas in units of the squared signal length over d; radii in units of the signal length (Gaussian)
#: or its square over d^{1/q} (moment ball).
_FINE = tuple(float(eta) for eta in np.geomspace(0.02, 4.0, 65))
ETAS = _FINE[::2]
RADII = {"Gaussian": (0.05, 0.15, 0.4), "p = 1": (0.05, 0.2, 0.8)}
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Model:
    """A second moment and a ball around it; ``finer``: the sample average with twice the etas."""

    moment: str = "sample"
    ball: str = ""
    finer: bool = False

    @property
    def candidates(self) -> list[tuple[float, float]]:
        """Pairs of an eta and a radius, relative to the data."""
        nominal = [(eta, 0.0) for eta in (_FINE if self.finer else ETAS)]
        return nominal + [(eta, r) for r in RADII.get(self.ball, ()) for eta in ETAS[::4]]


SAA = "SAA"
MODELS = {
    SAA: Model(),
    "SAA, finer": Model(finer=True),
    "Gaussian": Model(ball="Gaussian"),
    "p = 1": Model(ball="p = 1"),
    **{f"SAA, {name}": Model(name) for name in ("sign", "kendall", "trimmed")},
    **{f"Gaussian, {name}": Model(name, "Gaussian") for name in ("sign", "kendall", "trimmed")},
}


def run_task(task: ShiftTask) -> Row:
    """Return every metric of every candidate, the errors on held-out signals, and failures.

    The candidate chosen from the table alone is the one whose graph, learned from two thirds of the
    signals, predicts the others best. Robust moments have no such choice.
    """
    samples, score = draw(task)
    kept = 2 * task.n // 3
    held_out = filled(samples)[kept:]
    tests = held_out.T @ held_out / len(held_out)
    scores: dict[str, dict[str, list[float]]] = {}
    unsolved = 0
    for moment in dict.fromkeys(model.moment for model in MODELS.values()):
        names = [name for name, model in MODELS.items() if model.moment == moment]
        pairs = list(dict.fromkeys(pair for name in names for pair in _places(name)))
        graphs, failed = learn(nominal(samples, moment), pairs)
        found = {pair: score(laplacian) for pair, laplacian in graphs.items()}
        unsolved += failed
        if moment == "sample":
            blind, failed = learn(nominal(samples[:kept], moment), pairs)
            unsolved += failed
            for pair, laplacian in blind.items():
                found[pair]["blind"] = -prediction_error(laplacian, tests)
        for name in names:
            lines = [found[pair] for pair in _places(name)]
            scores[name] = {key: [round(line[key], 6) for line in lines] for key in lines[0]}
    return {"scores": scores, "unsolved": unsolved}


def _places(name: str) -> list[tuple[str, float, float]]:
    """Return the candidates of a model with their ball; radius 0 is the same for all balls."""
    model = MODELS[name]
    return [(model.ball if radius else "", eta, radius) for eta, radius in model.candidates]


def learn(
    data: Nominal, places: Sequence[tuple[str, float, float]]
) -> tuple[dict[tuple[str, float, float], Array], int]:
    """Return the graph of every candidate, and how many were not certified."""
    length = signal_length(data.second_moment)
    problems = [
        GraphProblem(data, ball(kind, radius, length), eta * length**2 / data.d)
        for kind, eta, radius in places
    ]
    answers = solve_many(problems, _TOLERANCE)
    unsolved = sum(not answer.gap <= _TOLERANCE for answer in answers)
    return {
        place: answer.laplacian for place, answer in zip(places, answers, strict=True)
    }, unsolved


def ball(kind: str, radius: float, length: float) -> AmbiguitySet:
    """Return an ambiguity set; ``radius`` is relative to the length of a signal."""
    if kind == "Gaussian":
        return GaussianBall(radius * length)
    if kind == "p = 1":  # q = ∞, and the norm of a graph with even degrees does not grow with d
        return MomentBall(radius * length**2, p=1.0)
    return Singleton()


def nominal(samples: Array, moment: str) -> Nominal:
    """Return the distribution around which a ball is put."""
    if moment == "sample":
        if np.isnan(samples).any():
            return nominal_with_holes(samples)[0]
        return Nominal.from_samples(samples)
    return Nominal.from_samples(filled(samples), moment=moment)


def filled(samples: Array) -> Array:
    """Return the signals with the median of the column in place of missing values."""
    return np.where(np.isnan(samples), np.nanmedian(samples, axis=0), samples)

"""Define models and their candidates, score one learned graph, and hold the printed tables.

The paper takes the radius with the largest MCC from a set of candidates that it does not give. Here
every model states its candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from solvers import solve_many
from solvers.learned.communities import communities
from wdro_cvx import AmbiguitySet, GraphProblem, Nominal, Singleton, Solution
from wdro_cvx.generators import rbf_graph, sbm_graph
from wdro_cvx.metrics import dog, mcc, nmi, reliability
from wdro_cvx.validation import Array

#: One row of an experiment's table.
Record = dict[str, Any]
#: A table of the paper, by number of samples and model.
Printed = Mapping[tuple[int, str], float]

SAA, TUNED, GAUSSIAN, GENERAL = "SAA", "SAA, tuned η", "WDRO Gaussian", "WDRO general"
NORMS = {
    "p = 1": 1.0, "p = 4/3": 4 / 3, "p = 3/2": 1.5, "p = 2": 2.0, "p = 3": 3.0, "p = 4": 4.0,
}  # fmt: skip

#: The kinds of graphs: RBF similarities on ``D`` vertices, and block models.
SIMILARITY, BLOCKS = "similarity", "blocks"
D = 20
PLANTED = (15, 15, 15)
NOISE = 0.1
#: The number of samples where the noise varies, and where reliability is measured.
NOISE_N = 100
RELIABILITY_N = 50


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
class Model:
    """A model and the candidates for eta and radius; the sample average has no radius."""

    ambiguity: AmbiguitySet
    etas: Sequence[float]
    radii: Sequence[float] = (0.0,)

    @property
    def candidates(self) -> list[tuple[float, float]]:
        """All pairs of an eta and a radius."""
        return list(product(self.etas, self.radii))

    def build(self, nominal: Nominal, eta: float, radius: float) -> GraphProblem:
        """Return the problem of a candidate."""
        if isinstance(self.ambiguity, Singleton):
            return GraphProblem(nominal, self.ambiguity, eta)
        return GraphProblem(nominal, replace(self.ambiguity, radius=radius), eta)

    def answers(self, samples: Array) -> list[Solution]:
        """Return the answer of every candidate, judged."""
        nominal = Nominal.from_samples(samples)
        return solve_many(self.build(nominal, *candidate) for candidate in self.candidates)


def ladder(low: float, high: float, steps: int) -> tuple[float, ...]:
    """Return candidates in geometric progression, to two digits."""
    return tuple(float(f"{value:.2g}") for value in np.geomspace(low, high, steps))


def draw_graph(
    kind: str, rng: np.random.Generator, scaled: bool = True
) -> tuple[Array, Array | None]:
    """Return the Laplacian of a random graph, and the planted communities of a block model."""
    if kind == BLOCKS:
        return sbm_graph(PLANTED, rng, scaled=scaled)
    return rbf_graph(D, rng, scaled=scaled), None


def score(
    answer: Solution, eta: float, truth: Array, planted: Array | None, tests: Array | None
) -> Record:
    """Return the scores of an answer; reliability is measured on ``tests``, unseen signals."""
    found: Record = {"mcc": mcc(answer.laplacian, truth), "dog": dog(answer.laplacian, truth)}
    if planted is not None:
        labels = communities_of(answer.laplacian)
        found |= {"nmi": nmi(labels, planted), "clusters": len(np.unique(labels))}
    if tests is not None:
        found["reliability"] = reliability(answer.laplacian, answer.value, eta, tests)
    return found


def communities_of(laplacian: Array) -> Array:
    """Return Louvain's community of every vertex of a graph given by its Laplacian."""
    return communities(np.diag(np.diagonal(laplacian)) - laplacian)


def _printed(sizes: Sequence[int], rows: Mapping[str, Sequence[float]]) -> Printed:
    """Return a table of the paper, a row of scores by sample size for each model."""
    return {
        (n, model): score
        for model, scores in rows.items()
        for n, score in zip(sizes, scores, strict=True)
    }


TABLE_2_SIZES, TABLE_3_SIZES = (50, 100, 200, 1000), (80, 100, 150, 200, 500, 1000)
#: Table 2 (MCC by norm) and Table 3 (NMI). The paper's p = ∞ is SAA, whatever ε.
PRINTED = {
    SIMILARITY: _printed(TABLE_2_SIZES, {
        "p = 1": (0.629, 0.706, 0.755, 0.820),
        "p = 4/3": (0.640, 0.723, 0.753, 0.822),
        "p = 3/2": (0.656, 0.742, 0.755, 0.824),
        "p = 2": (0.704, 0.771, 0.786, 0.832),
        "p = 3": (0.736, 0.796, 0.812, 0.844),
        "p = 4": (0.740, 0.805, 0.814, 0.851),
        SAA: (0.627, 0.722, 0.752, 0.820),
    }),
    BLOCKS: _printed(TABLE_3_SIZES, {
        SAA: (0.700, 0.699, 0.725, 0.774, 0.779, 0.781),
        GAUSSIAN: (0.737, 0.7734, 0.745, 0.814, 0.776, 0.799),
        GENERAL: (0.727, 0.756, 0.762, 0.814, 0.787, 0.785),
    }),
}  # fmt: skip

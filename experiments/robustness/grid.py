"""The grid: which cells there are, and what is found in one.

A grid over dimension, number of samples, radius, eta and unit of the data, for every ambiguity set.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.running.store import Row
from solvers import solve
from wdro_cvx import AmbiguitySet, GaussianBall, GraphProblem, MomentBall, Nominal, Status, judge
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.laplacian import complete_graph

DIMENSIONS = (2, 3, 20, 100)
RADII = (1e-3, 0.1, 1.0, 20.0)
ETAS = (1e-3, 0.1, 10.0)
UNITS = (1e-3, 1.0, 1e3)
SETS = ("Gaussian", "p = 1", "p = 4/3", "p = 3/2", "p = 2", "p = 3", "p = 4", "p = ∞")
TOLERANCE = 1e-6
_P = dict(zip(SETS[1:], (1.0, 4 / 3, 1.5, 2.0, 3.0, 4.0, np.inf), strict=True))


@dataclass(frozen=True)
class Corner:
    """One problem of the grid."""

    set: str
    d: int
    n: int
    radius: float
    eta: float
    unit: float


def corners(dimensions: Sequence[int]) -> list[Corner]:
    """Return all problems, smallest first."""
    return [
        Corner(name, d, *rest)
        for d in sorted(dimensions)
        for name in SETS
        for rest in itertools.product(sorted({1, 10, 2 * d}), RADII, ETAS, UNITS)
    ]


def solve_corner(corner: Corner) -> Row:
    """Solve one problem and judge the answer."""
    rng = np.random.default_rng([corner.d, corner.n])
    d = corner.d
    graph = rbf_graph(d, rng) if d > 3 else complete_graph(d, float(d))
    nominal = Nominal.from_samples(corner.unit * smooth_signals(graph, corner.n, rng, noise=0.1))
    problem = GraphProblem(nominal, _ambiguity(corner.set, corner.radius), corner.eta)
    answer = solve(problem, tol=TOLERANCE)
    verdict = judge(problem, answer.laplacian, answer.certificate)
    solved = verdict.solved(TOLERANCE)
    return {
        "status": answer.status.value, "gap": verdict.gap, "iterations": answer.iterations,
        "seconds": answer.solve_s, "solved": solved,
        "wrong_claim": answer.status is Status.SOLVED and not solved,
    }  # fmt: skip


def _ambiguity(name: str, radius: float) -> AmbiguitySet:
    return GaussianBall(radius) if name == "Gaussian" else MomentBall(radius, p=_P[name])

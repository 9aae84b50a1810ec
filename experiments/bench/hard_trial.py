"""Run one measurement of ``wdro bench --hard``: learn and judge one hard graph.

The true graph joins neighbouring points, as in ``wdro bench --scale``. The set is either not a
Wasserstein ball, or a ball so large that its worst case is barely unique or not unique at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg  # noqa: F401 - it brings a BLAS that threadpool_limits must find
from threadpoolctl import threadpool_limits

from experiments.bench.scale_trial import ETA, TOLERANCE, current_mb, peak_mb
from experiments.measuring.store import Row
from solvers import SparseSolver
from wdro_cvx import (
    AmbiguitySet,
    CVaRBall,
    GraphProblem,
    KLBall,
    LogDegree,
    MomentBall,
    Nominal,
    PairBall,
    WassersteinBall,
    judge,
)
from wdro_cvx.generators import neighbour_graph, smooth_table

FROBENIUS, LOG_DEGREE = "Frobenius", "log-degree"
_SHAPE = 0.2  # of the log-degree prior: about ten neighbours
PLANE, SPACE = 2, 10

#: The sets by name, as functions of the number of vertices.
SETS: dict[str, Callable[[int], AmbiguitySet]] = {
    "PairBall(0.1)": lambda d: PairBall(0.1),
    "PairBall(0.1, scales from 0.5 to 1.5)": lambda d: PairBall.example(0.1, d),
    "MomentBall(5, p=1)": lambda d: MomentBall(5.0, p=1.0),
    "KLBall(0.5)": lambda d: KLBall(0.5),
    "CVaRBall(0.3)": lambda d: CVaRBall(0.3),
    "WassersteinBall(0.4√d)": lambda d: WassersteinBall(0.4 * float(np.sqrt(d))),
    "WassersteinBall(0.6√d)": lambda d: WassersteinBall(0.6 * float(np.sqrt(d))),
    "WassersteinBall(√d)": lambda d: WassersteinBall(float(np.sqrt(d))),
}


@dataclass(frozen=True)
class HardCell:
    """What to measure.

    Attributes
    ----------
    ambiguity : str
        A key of :data:`SETS`.
    prior : str
        ``FROBENIUS`` or ``LOG_DEGREE``.
    d, n : int
        The numbers of vertices and signals.
    dimensions : int
        The dimension of the cube in which the true graph joins neighbouring points.
    """

    ambiguity: str
    prior: str
    d: int
    n: int
    dimensions: int = PLANE


def cells() -> list[HardCell]:
    """Return all measurements."""
    pairs, scaled, moment, kl, cvar, few, most, all_of_it = SETS
    return [
        HardCell(pairs, FROBENIUS, 5000, 50),
        HardCell(scaled, FROBENIUS, 5000, 50),
        HardCell(moment, FROBENIUS, 5000, 50),
        HardCell(moment, LOG_DEGREE, 5000, 50),
        HardCell(kl, FROBENIUS, 5000, 50),
        HardCell(kl, LOG_DEGREE, 5000, 50),
        HardCell(kl, FROBENIUS, 5000, 200),
        HardCell(kl, FROBENIUS, 20_000, 50),
        HardCell(cvar, FROBENIUS, 1000, 500),
        HardCell(few, FROBENIUS, 1000, 20),
        HardCell(few, FROBENIUS, 2000, 20),
        HardCell(few, FROBENIUS, 5000, 50),
        HardCell(most, FROBENIUS, 500, 20),
        HardCell(most, FROBENIUS, 1000, 20),
        HardCell(all_of_it, FROBENIUS, 1000, 200),
        HardCell(all_of_it, FROBENIUS, 2000, 50),
        HardCell(all_of_it, FROBENIUS, 2000, 200),
        HardCell(all_of_it, FROBENIUS, 2000, 200, SPACE),
    ]


def problem_of(cell: HardCell) -> GraphProblem:
    """Return the problem of a cell, which is the same on every machine."""
    rng = np.random.default_rng([cell.d, cell.n, cell.dimensions])
    truth = neighbour_graph(cell.d, rng, cell.dimensions)
    nominal = Nominal.from_samples(smooth_table(truth, cell.n, rng))
    ambiguity = SETS[cell.ambiguity](cell.d)
    if cell.prior == LOG_DEGREE:
        return GraphProblem(nominal, ambiguity, prior=LogDegree(1.0, _SHAPE))
    return GraphProblem(nominal, ambiguity, ETA)


def measure(cell: HardCell) -> Row:
    """Measure a cell in this process. The time includes the judge, which the solver calls."""
    problem = problem_of(cell)
    with threadpool_limits(1):
        before = current_mb(fresh_peak=True)
        wall, cpu = time.perf_counter(), time.process_time()
        answer = SparseSolver(TOLERANCE).solve(problem)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        peak = peak_mb()
        verdict = judge(problem, answer)
    return {
        "total_s": cpu, "wall_s": wall, "value": float(verdict.value), "gap": float(verdict.gap),
        "said": answer.status.value, "is_solved": bool(verdict.solved(TOLERANCE)),
        "beyond_mb": peak - before,
    }  # fmt: skip

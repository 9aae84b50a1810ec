"""Measure one cell: learn, judge, and tell time, memory and gap.

Times of our paths have the judge's pass over all pairs in them, without which they would not be
answers; near pairs only are judged outside of their time, with the sparse path's bound.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.bench.rivals.neighbours import NeighbourGraph
from experiments.bench.scale.grid import (
    DENSE,
    EIGEN,
    LOG_DENSE,
    LOG_SPARSE,
    NEIGHBOURS,
    SPARSE,
    ScaleCell,
)
from experiments.bench.scale.memory import current_mb, peak_mb
from experiments.measuring.cluster import pricing_cluster
from experiments.measuring.store import Row
from solvers import CertifiedSolver, SparseSolver
from solvers.selection.target_degree import average_neighbours, first_strength
from wdro_cvx import GraphProblem, LogDegree, Nominal, Singleton, Solution, WassersteinBall, judge
from wdro_cvx.generators import neighbour_graph, smooth_table

TOLERANCE = 1e-6
ETA = 0.3
SHARE = 0.1  # of √d: the radius
WANTED = 10  # neighbours of a log-degree graph, in the strength that the field chooses it by


def problem_of(cell: ScaleCell) -> GraphProblem:
    """Make the problem of a cell; the same cell is the same problem on every machine."""
    rng = np.random.default_rng([cell.d, cell.n, cell.dimensions])
    truth = neighbour_graph(cell.d, rng, cell.dimensions)
    nominal = Nominal.from_samples(smooth_table(truth, cell.n, rng))
    if cell.path in (DENSE, SPARSE):
        return GraphProblem(nominal, WassersteinBall(SHARE * float(np.sqrt(cell.d))), ETA)
    shape = first_strength(GraphProblem(nominal, Singleton(), prior=LogDegree(1.0, 1.0)), WANTED)
    return GraphProblem(nominal, Singleton(), prior=LogDegree(1.0, shape))


def measure(cell: ScaleCell, scheduler: str | None = None) -> Row:
    """Run a cell here and now, its blocks of prices on a cluster if one is named."""
    paths: dict[str, Callable[[GraphProblem], Solution]] = {
        DENSE: CertifiedSolver(TOLERANCE).solve,
        SPARSE: SparseSolver(TOLERANCE).solve,
        LOG_DENSE: CertifiedSolver(TOLERANCE).solve,
        LOG_SPARSE: SparseSolver(TOLERANCE).solve,
        NEIGHBOURS: NeighbourGraph(TOLERANCE).solve,
    }
    with threadpool_limits(1), pricing_cluster(scheduler):
        if cell.path == EIGEN:
            return _eigendecomposition(cell.d)
        problem = problem_of(cell)
        if cell.path == NEIGHBOURS:  # what a library takes to load is nobody's time or memory
            import sklearn.decomposition
            import sklearn.neighbors  # noqa: F401
        before = current_mb(fresh_peak=True)
        wall, cpu = time.perf_counter(), time.process_time()
        answer = paths[cell.path](problem)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        peak = peak_mb()
        value, gap = answer.value, answer.gap
        if cell.path == NEIGHBOURS:
            # How far it is from optimal, which takes the best bound there is, and not its own.
            best = SparseSolver(TOLERANCE).solve(problem)
            verdict = judge(problem, answer.laplacian, best.certificate)
            value, gap = verdict.value, verdict.gap
    return {
        "total_s": cpu, "wall_s": wall, "value": float(value), "gap": float(gap),
        "said": answer.status.value,
        "is_solved": bool(gap <= TOLERANCE), "neighbours": average_neighbours(answer),
        "data_mb": cell.n * cell.d * 8 / 1024.0**2, "beyond_mb": peak - before, "peak_mb": peak,
    }  # fmt: skip


def measure_on(task: tuple[ScaleCell, str | None]) -> Row:
    """Run a cell with the address of its scheduler, if it has one."""
    return measure(*task)


def _eigendecomposition(d: int) -> Row:
    """Time what every dense method for these problems does at least once."""
    matrix = np.random.default_rng(d).standard_normal((d, d))
    matrix += matrix.T
    wall, cpu = time.perf_counter(), time.process_time()
    np.linalg.eigh(matrix)
    return {
        "total_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall,
        "is_solved": True,
    }  # fmt: skip

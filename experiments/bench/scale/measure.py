"""Measure one cell: learn, judge, and tell time, memory and gap.

Times of our paths have the judge's pass over all pairs in them, without which they would not be
answers; near pairs only are judged outside of their time, and as far as a judge exists.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.bench.rivals.neighbours import NeighbourGraph
from experiments.bench.scale.grid import DENSE, LOG_DENSE, NEIGHBOURS, SPARSE, ScaleCell
from experiments.running.store import Row
from solvers import CertifiedSolver, SparseSolver
from solvers.estimation.target_degree import average_neighbours, first_strength
from wdro_cvx import GraphProblem, LogDegree, Nominal, Singleton, Solution, WassersteinBall, judge
from wdro_cvx.large.generators import neighbour_graph, smooth_table
from wdro_cvx.solution import SPARSE_FROM

TOLERANCE = 1e-6
ETA = 0.3
SHARE = 0.1  # of √d: the radius
WANTED = 10  # neighbours of a log-degree graph, in the strength that the field chooses it by
_MIB = 1024.0  # ru_maxrss is in KiB


def problem_of(cell: ScaleCell) -> GraphProblem:
    """Make the problem of a cell; the same cell is the same problem on every machine."""
    rng = np.random.default_rng([cell.d, cell.n, cell.dimensions])
    truth = neighbour_graph(cell.d, rng, cell.dimensions)
    nominal = Nominal.from_samples(smooth_table(truth, cell.n, rng))
    if cell.path in (DENSE, SPARSE):
        return GraphProblem(nominal, WassersteinBall(SHARE * float(np.sqrt(cell.d))), ETA)
    shape = first_strength(GraphProblem(nominal, Singleton(), prior=LogDegree(1.0, 1.0)), WANTED)
    return GraphProblem(nominal, Singleton(), prior=LogDegree(1.0, shape))


def measure(cell: ScaleCell) -> Row:
    """Run a cell here and now."""
    paths: dict[str, Callable[[GraphProblem], Solution]] = {
        DENSE: CertifiedSolver(TOLERANCE).solve,
        SPARSE: SparseSolver(TOLERANCE).solve,
        LOG_DENSE: CertifiedSolver(TOLERANCE).solve,
        NEIGHBOURS: NeighbourGraph(TOLERANCE).solve,
    }
    with threadpool_limits(1):
        problem = problem_of(cell)
        if cell.path == NEIGHBOURS:  # what a library takes to load is nobody's time or memory
            import sklearn.decomposition
            import sklearn.neighbors  # noqa: F401
        before = _peak_mb()
        wall, cpu = time.perf_counter(), time.process_time()
        answer = paths[cell.path](problem)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        peak = _peak_mb()
        gap = answer.gap
        if cell.path == NEIGHBOURS:
            gap = judge(problem, answer).gap if cell.d <= SPARSE_FROM else np.nan
    return {
        "total_s": cpu, "wall_s": wall, "gap": float(gap), "said": answer.status.value,
        "is_solved": bool(gap <= TOLERANCE), "neighbours": average_neighbours(answer),
        "data_mb": cell.n * cell.d * 8 / 1024.0**2, "beyond_mb": peak - before, "peak_mb": peak,
    }  # fmt: skip


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MIB

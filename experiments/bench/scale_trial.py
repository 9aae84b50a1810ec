"""Run one measurement of ``wdro bench --scale``: learn and judge a large graph.

The times of our solvers include the judge's pass over all pairs, because they run it themselves.
Every answer is then judged once more, which is not timed.
"""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.linalg  # noqa: F401 - it brings a BLAS that threadpool_limits must find
from threadpoolctl import threadpool_limits

from experiments.bench.rivals.neighbours import NeighbourGraph
from experiments.measuring.cluster import pricing_cluster
from experiments.measuring.store import Row
from solvers import CertifiedSolver, SparseSolver
from solvers.selection.target_degree import average_neighbours, first_strength
from wdro_cvx import GraphProblem, LogDegree, Nominal, Singleton, WassersteinBall, judge
from wdro_cvx.generators import neighbour_graph, smooth_table

DENSE, SPARSE = "dense path", "sparse path"
LOG_DENSE, LOG_SPARSE = "log-degree, dense path", "log-degree, sparse path"
NEIGHBOURS = "log-degree, near pairs only"
#: The unit of time for the goals: one dense eigendecomposition on the same machine.
EIGEN = "one eigendecomposition"
PLANE, SPACE = 2, 10
N = 200
AT = 2000  # vertices for the ratios, the eigendecomposition, and other numbers of signals
TOLERANCE = 1e-6
ETA = 0.3
SHARE = 0.1  # radius / √d
WANTED = 10  # neighbours; determines the strength of the log-degree prior

_SMALL, _LARGE = (500, 1000, 2000), (5000, 10_000, 20_000, 50_000)
_SIZES = {
    DENSE: _SMALL,
    SPARSE: (*_SMALL, *_LARGE, 100_000),
    LOG_DENSE: _SMALL,
    LOG_SPARSE: (*_SMALL, *_LARGE),
    NEIGHBOURS: (*_SMALL, *_LARGE),
}
# One decade suffices in ten dimensions: the same code runs, only on more pairs.
_SIZES_IN_SPACE = {
    path: tuple(d for d in sizes if 1000 <= d <= 10_000) for path, sizes in _SIZES.items()
}
_SIGNALS = (50, 800)


@dataclass(frozen=True)
class ScaleCell:
    """What to measure.

    Attributes
    ----------
    path : str
        The solver and the prior.
    d, n : int
        The numbers of vertices and signals.
    dimensions : int
        The dimension of the cube in which the true graph joins neighbouring points.
    cluster : bool
        Whether a Dask cluster prices the blocks of pairs.
    """

    path: str
    d: int
    n: int
    dimensions: int
    cluster: bool = False


def cells(largest: int, cluster: bool = False) -> list[ScaleCell]:
    """Return all measurements with at most ``largest`` vertices, smallest first."""
    found = [
        (path, d, N, dimensions)
        for dimensions, by_path in ((PLANE, _SIZES), (SPACE, _SIZES_IN_SPACE))
        for path, sizes in by_path.items()
        for d in sizes
    ]
    found += [(path, AT, n, PLANE) for n in _SIGNALS for path in _SIZES]
    found += [(SPARSE, 10_000, n, PLANE) for n in _SIGNALS]
    found += [(SPARSE, d, 50, PLANE) for d in (100_000, 200_000, 1_000_000)]
    found.append((EIGEN, AT, N, PLANE))
    chosen = [ScaleCell(*cell, cluster) for cell in found if cell[1] <= largest]
    return sorted(chosen, key=lambda cell: cell.d)


def problem_of(cell: ScaleCell) -> GraphProblem:
    """Return the problem of a cell, which is the same on every machine."""
    rng = np.random.default_rng([cell.d, cell.n, cell.dimensions])
    truth = neighbour_graph(cell.d, rng, cell.dimensions)
    nominal = Nominal.from_samples(smooth_table(truth, cell.n, rng))
    if cell.path in (DENSE, SPARSE):
        return GraphProblem(nominal, WassersteinBall(SHARE * float(np.sqrt(cell.d))), ETA)
    shape = first_strength(GraphProblem(nominal, Singleton(), prior=LogDegree(1.0, 1.0)), WANTED)
    return GraphProblem(nominal, Singleton(), prior=LogDegree(1.0, shape))


def measure(task: tuple[ScaleCell, str | None]) -> Row:
    """Measure a cell in this process; the task also names a scheduler, if there is one."""
    cell, scheduler = task
    with threadpool_limits(1), pricing_cluster(scheduler):
        return _eigendecomposition(cell.d) if cell.path == EIGEN else _learn(cell)


def _learn(cell: ScaleCell) -> Row:
    problem = problem_of(cell)
    solver: CertifiedSolver | SparseSolver | NeighbourGraph = SparseSolver(TOLERANCE)
    if cell.path in (DENSE, LOG_DENSE):
        solver = CertifiedSolver(TOLERANCE)
    elif cell.path == NEIGHBOURS:
        # Import first, so that loading a library does not count as time or memory.
        import sklearn.decomposition
        import sklearn.neighbors  # noqa: F401

        solver = NeighbourGraph(TOLERANCE)
    before = current_mb(fresh_peak=True)
    wall, cpu = time.perf_counter(), time.process_time()
    answer = solver.solve(problem)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = peak_mb()
    # Near pairs alone prove no bound, so their gap uses the bound of the sparse path.
    best = SparseSolver(TOLERANCE).solve(problem) if cell.path == NEIGHBOURS else answer
    verdict = judge(problem, answer.laplacian, best.certificate)
    return {
        "total_s": cpu, "wall_s": wall, "value": float(verdict.value), "gap": float(verdict.gap),
        "said": answer.status.value, "is_solved": bool(verdict.solved(TOLERANCE)),
        "neighbours": average_neighbours(answer), "data_mb": cell.n * cell.d * 8 / 1024.0**2,
        "beyond_mb": peak - before, "peak_mb": peak,
    }  # fmt: skip


def _eigendecomposition(d: int) -> Row:
    """Time one eigendecomposition; every dense method for these problems needs at least one."""
    matrix = np.random.default_rng(d).standard_normal((d, d))
    matrix += matrix.T
    wall, cpu = time.perf_counter(), time.process_time()
    np.linalg.eigh(matrix)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {"total_s": cpu, "wall_s": wall, "is_solved": True}


_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def current_mb(fresh_peak: bool = False) -> float:
    """Return the memory of this process in MiB.

    ``fresh_peak`` resets the recorded peak if the system permits it. Otherwise, the peak from
    generating the data would hide the memory of the solver.
    """
    if fresh_peak and _STATUS.exists():
        try:
            _FORGET.write_text("5")
        except OSError:  # not permitted: only memory above the old peak is measured
            return _status("VmHWM")
    return _status("VmRSS")


def peak_mb() -> float:
    """Return the peak memory in MiB since the last reset, or since the start."""
    return _status("VmHWM")


def _status(name: str) -> float:
    """Return a field of the process status in MiB, or the overall peak if it is not available."""
    lines = _STATUS.read_text().splitlines() if _STATUS.exists() else []
    kib = [float(line.split()[1]) for line in lines if line.startswith(f"{name}:")]
    return (kib[0] if kib else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024.0

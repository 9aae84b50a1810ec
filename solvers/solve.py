"""``solve``: a problem goes to the best solver for it."""

from __future__ import annotations

from typing import Any

from solvers.certified import CertifiedSolver
from solvers.large import SparseSolver
from solvers.large.pricing import Executor
from solvers.moment import MomentNewton
from solvers.running.incumbent import Callback
from solvers.running.limits import Clock
from solvers.running.threads import right_threads
from wdro_cvx import GraphProblem, ProblemError, Solution


def solve(
    problem: GraphProblem,
    tol: float = 1e-6,
    *,
    start: Solution | None = None,
    progress: bool = False,
    callback: Callback | None = None,
    time_limit: float = float("inf"),
    executor: Executor | None = None,
) -> Solution:
    """Solve a problem with the best solver for it, to a certified relative gap.

    Moment balls go to :class:`MomentNewton`, sparse graphs of many vertices to
    :class:`SparseSolver`, everything else to :class:`CertifiedSolver`. With more than
    ``wdro_cvx.solution.SPARSE_FROM`` vertices a sparse answer's Laplacian is a sparse array.

    Parameters
    ----------
    problem : GraphProblem
    tol : float
        The relative gap between value and lower bound.
    start : Solution, optional
        The answer to a similar problem with the same vertices.
    progress : bool
        Show the gap as it closes.
    callback : callable, optional
        Called with the progress after every iteration.
    time_limit : float
        Seconds after which to stop, looked at between steps; the answer then has the status
        ``TIME_LIMIT`` and its true gap.
    executor : optional
        A ``concurrent.futures`` executor or a Dask client, for graphs of many vertices.

    Notes
    -----
    Up to ``solvers.running.threads.ONE_THREAD_UP_TO`` vertices BLAS is held to one thread.
    """
    with right_threads(problem.d):
        return _best(problem, tol, start, progress, callback, time_limit, executor)


def _best(
    problem: GraphProblem,
    tol: float,
    start: Solution | None,
    progress: bool,
    callback: Callback | None,
    time_limit: float,
    executor: Executor | None,
) -> Solution:
    """Solve a problem with the best solver for it."""
    clock = Clock(time_limit)
    found = SparseSolver(tol, callback, progress, time_limit, executor).attempt(problem)
    if found is not None:
        return found
    settings: dict[str, Any] = {
        "callback": callback,
        "progress": progress,
        "time_limit": max(clock.limit - clock.seconds, 1e-3),
    }
    solver: MomentNewton | CertifiedSolver = MomentNewton(tol, **settings)
    try:
        solver.check_claim(problem)
    except ProblemError:
        solver = CertifiedSolver(tol, **settings)
    return solver.solve(problem, start)

"""``solve``: the best solver for a problem; ``solve_path``: a warm-started sweep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from solvers.certified import CertifiedSolver
from solvers.incumbent import Callback
from solvers.large import SparseSolver
from solvers.large.blocks import Executor
from solvers.limits import Clock
from solvers.moment import MomentNewton
from solvers.threads import right_threads
from wdro_cvx import GraphProblem, ProblemError, Solution, Status


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
        A ``concurrent.futures`` executor or a Dask client, for graphs of many vertices; that of
        :func:`solvers.price_on` if not given.

    Notes
    -----
    Up to ``solvers.threads.ONE_THREAD_UP_TO`` vertices BLAS is held to one thread meanwhile.
    """
    with right_threads(problem.d):
        return _best(problem, tol, start, progress, callback, time_limit, executor)


def solve_path(
    problem: GraphProblem,
    radii: Iterable[float] | None = None,
    *,
    etas: Iterable[float] | None = None,
    tol: float = 1e-6,
) -> list[Solution]:
    """Solve a problem along a path of radii, or of etas, each from the solution before.

    Ctrl-C ends the path; the last answer then has the status ``INTERRUPTED``.

    Parameters
    ----------
    problem : GraphProblem
    radii : iterable of float, optional
    etas : iterable of float, optional
        One of the two must be given.
    tol : float
        The relative gap of each answer.
    """
    solutions: list[Solution] = []
    for step in _problems(problem, radii, etas):
        solutions.append(solve(step, tol, start=solutions[-1] if solutions else None))
        if solutions[-1].status is Status.INTERRUPTED:
            break
    return solutions


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
    found = SparseSolver(tol, callback, progress, time_limit, executor).attempt(problem, start)
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


def _problems(
    problem: GraphProblem, radii: Iterable[float] | None, etas: Iterable[float] | None
) -> Iterator[GraphProblem]:
    """Yield the problems of a path; all are built, and so checked, before the first is solved."""
    if (radii is None) == (etas is None):
        raise ProblemError("solve_path takes radii or etas: give exactly one of them.")
    if etas is not None:
        return iter([replace(problem, eta=eta) for eta in etas])
    assert radii is not None
    sets = [replace(problem.ambiguity, radius=radius) for radius in radii]
    return iter([replace(problem, ambiguity=ambiguity) for ambiguity in sets])

"""``solve``: pass a problem to the best solver for it."""

from __future__ import annotations

from dataclasses import replace

from solvers.base import Solver, registered
from solvers.bracket.limits import Clock
from solvers.bracket.run import Callback, Executor, Request
from solvers.bracket.threads import right_threads
from wdro_cvx import GraphProblem, ProblemError, Solution, SolverError
from wdro_cvx.claims import claimed


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

    Moment balls under the paper's prior go to :class:`MomentNewton`, sparse graphs of many vertices
    to :class:`SparseSolver`, most problems with a log-determinant to :class:`LikelihoodSolver`, and
    all others to :class:`CertifiedSolver`. With more than ``wdro_cvx.solution.SPARSE_FROM``
    vertices the Laplacian of a sparse answer is a sparse array.

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
        Seconds after which to stop, including an estimate of the judge's time. The answer then has
        the status ``TIME_LIMIT`` and its true gap.
    executor : optional
        A ``concurrent.futures`` executor or a Dask client, for graphs of many vertices. The default
        is the executor of :func:`solvers.price_on`.

    Returns
    -------
    Solution
        Its status is ``SOLVED`` only if the judge confirms the gap.

    Raises
    ------
    SolverError
        If no registered solver accepts the problem.

    Notes
    -----
    Up to ``solvers.bracket.threads.ONE_THREAD_UP_TO`` vertices BLAS is held to one thread.

    If a set without structure has a registered formulation and the risk has a kink, Clarabel solves
    that program, and only what the judge confirms of its answer is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import WassersteinBall, GraphProblem, Nominal
    >>> X = np.array([[1.0, 0.9, -1.0, -0.8], [-0.8, -1.0, 0.9, 1.1], [0.5, 0.4, -0.6, -0.5]])
    >>> problem = GraphProblem(Nominal.from_samples(X), WassersteinBall(0.2), eta=0.3)
    >>> from solvers import solve
    >>> answer = solve(problem)
    >>> answer.status.value, answer.gap <= 1e-6
    ('solved', True)
    >>> answer.laplacian.round(1)[:2, :2]  # the first two vertices are joined
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    request = Request(tol, callback, progress, time_limit, start, executor)
    clock = Clock(time_limit)
    with right_threads(problem.d):
        for solver in candidates(problem):
            found = solver.try_solve(problem, _with_time_left(request, clock))
            if found is not None:
                return found
    raise SolverError(refusal(problem))


def _with_time_left(request: Request, clock: Clock) -> Request:
    """Return the request with what is left of its time."""
    if clock.limit == float("inf"):
        return request
    return replace(request, time_limit=max(clock.limit - clock.seconds, 1e-3))


def refusal(problem: GraphProblem) -> str:
    """Return why the solver that comes last, which takes most problems, refuses this one."""
    ranked = [solver for solver in registered().values() if solver.rank is not None]
    for solver in sorted(ranked, key=_rank, reverse=True):
        try:
            solver.check_claim(problem)
        except ProblemError as reason:
            return f"no registered solver answers this problem. {reason}"
    return "no registered solver answers this problem; register CertifiedSolver."


def candidates(problem: GraphProblem) -> list[type[Solver]]:
    """Return the registered solvers that claim a problem, in the order in which to try them."""
    ranked = [solver for solver in registered().values() if solver.rank is not None]
    return sorted(filter(lambda solver: _applies(solver, problem), ranked), key=_rank)


def _rank(solver: type[Solver]) -> int:
    assert solver.rank is not None
    return solver.rank


def _applies(solver: type[Solver], problem: GraphProblem) -> bool:
    if problem.d < solver.least or not claimed(solver.claims, problem):
        return False
    try:
        solver.check_claim(problem)
    except ProblemError:
        return False
    return True

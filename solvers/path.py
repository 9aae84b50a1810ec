"""``solve_path``: a warm-started sweep over radii or etas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from solvers.solve import solve
from wdro_cvx import GraphProblem, ProblemError, Solution, Status


def solve_path(
    problem: GraphProblem,
    radii: Iterable[float] | None = None,
    *,
    etas: Iterable[float] | None = None,
    tol: float = 1e-6,
) -> list[Solution]:
    """Solve a problem for several radii or etas, each from the previous solution.

    Ctrl-C ends the path; the last answer then has the status ``INTERRUPTED``.

    Parameters
    ----------
    problem : GraphProblem
    radii : iterable of float, optional
    etas : iterable of float, optional
        One of the two must be given.
    tol : float
        The relative gap of each answer.

    Returns
    -------
    list of Solution
        One for each radius or eta, in their order.

    Raises
    ------
    ProblemError
        If neither or both of ``radii`` and ``etas`` are given.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import WassersteinBall, GraphProblem, Nominal
    >>> X = np.array([[1.0, 0.9, -1.0, -0.8], [-0.8, -1.0, 0.9, 1.1], [0.5, 0.4, -0.6, -0.5]])
    >>> problem = GraphProblem(Nominal.from_samples(X), WassersteinBall(0.2), eta=0.3)
    >>> from solvers import solve_path
    >>> [round(answer.value, 3) for answer in solve_path(problem, radii=[0.0, 0.1, 0.2])]
    [2.45, 2.533, 2.656]
    """
    solutions: list[Solution] = []
    for step in _problems(problem, radii, etas):
        solutions.append(solve(step, tol, start=solutions[-1] if solutions else None))
        if solutions[-1].status is Status.INTERRUPTED:
            break
    return solutions


def _problems(
    problem: GraphProblem, radii: Iterable[float] | None, etas: Iterable[float] | None
) -> Iterator[GraphProblem]:
    """Return an iterator of the problems of a path; all of them are already built and checked."""
    if (radii is None) == (etas is None):
        raise ProblemError("solve_path takes radii or etas: give exactly one of them.")
    if etas is not None:
        return iter([problem.replace(eta=eta) for eta in etas])
    assert radii is not None
    sets = [replace(problem.ambiguity, radius=radius) for radius in radii]
    return iter([replace(problem, ambiguity=ambiguity) for ambiguity in sets])

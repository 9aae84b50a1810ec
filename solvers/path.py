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


def _problems(
    problem: GraphProblem, radii: Iterable[float] | None, etas: Iterable[float] | None
) -> Iterator[GraphProblem]:
    """Yield the problems of a path; all are built, and so checked, before the first is solved."""
    if (radii is None) == (etas is None):
        raise ProblemError("solve_path takes radii or etas: give exactly one of them.")
    if etas is not None:
        return iter([problem.replace(eta=eta) for eta in etas])
    assert radii is not None
    sets = [replace(problem.ambiguity, radius=radius) for radius in radii]
    return iter([replace(problem, ambiguity=ambiguity) for ambiguity in sets])

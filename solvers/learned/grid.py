"""Solve and judge a grid of radii and etas around the chosen ones, for the page to show.

Small problems are solved together, large ones each from its neighbour's answer. The page has no
solver; it shows the graphs computed here. A time limit may cut off part of the grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse

from solvers.learned.page.content import Path, PathPoint
from solvers.many import solve_many
from wdro_cvx import Certificate, GraphProblem, Singleton, Solution, Status, Verdict, judge
from wdro_cvx.solution import SPARSE_FROM

TOLERANCE = 1e-6
# Tighter than TOLERANCE, so that the page's judge differs from ours only by rounding.
_PATH_TOLERANCE = 1e-7
#: Largest number of vertices, numbers of radii and etas; more take longer and enlarge the file.
_GRIDS = ((60, 16, 5), (200, 9, 3), (500, 5, 3), (1000, 5, 1))
# Up to this many vertices the whole grid is solved at once. For small problems this is faster than
# solving each from its neighbour's answer.
_TOGETHER = 60
_SECONDS = 20.0
_ETA_STEP = 2.0
_RADIUS_REACH = 8.0  # ratio of the largest radius to the chosen one, and of that to the smallest
_USUAL_RADIUS = 0.3  # the middle of the path if the chosen radius is zero


def compute_path(
    problem: GraphProblem,
    answer: Solution,
    verdict: Verdict,
    clock: Callable[[], float] = process_time,
) -> Path:
    """Solve the grid around a problem whose answer is known.

    Parameters
    ----------
    problem : GraphProblem
        Under the log-degree prior, eta is the root of alpha times beta, and both are multiplied by
        the same factor.
    answer : Solution
    verdict : Verdict
        The verdict on the answer; judging a large graph again would take as long as solving it.
    clock : callable
        Returns seconds; the path stops after twenty of them. The default is CPU time, so that a
        busy machine does not shorten the path.

    Returns
    -------
    Path

    Raises
    ------
    KeyboardInterrupt
        If a solve was interrupted.
    """
    radii, etas = _grid(problem)
    middle = radii.index(problem.ambiguity.radius), etas.index(shown_eta(problem))
    points = [_judged(*middle, problem, answer, verdict)]
    end = clock() + _SECONDS
    last = answer
    places = list(_outwards(*middle, len(radii), len(etas)))
    size = max(len(places), 1) if problem.d <= _TOGETHER else 1
    for first in range(0, len(places), size):
        left = end - clock()
        if left <= 0.0:
            break
        part = places[first : first + size]
        steps = [_at(problem, radii[radius], etas[eta]) for radius, eta in part]
        # A hard point may take half of the remaining time; after that it is omitted.
        starts = [last] * len(steps)
        answers = solve_many(steps, _PATH_TOLERANCE, starts=starts, time_limit=left / 2)
        for place, step, found in zip(part, steps, answers, strict=True):
            if found.status is not Status.TIME_LIMIT:
                points.append(_judged(*place, step, found))
                last = found
    return Path(radii, etas, tuple(points), 0)


def chosen_alone(problem: GraphProblem, answer: Solution, verdict: Verdict) -> Path:
    """Return a path with nothing but a known answer."""
    point = _judged(0, 0, problem, answer, verdict)
    return Path((float(problem.ambiguity.radius),), (shown_eta(problem),), (point,), 0)


def _grid(problem: GraphProblem) -> tuple[tuple[float, ...], tuple[float, ...]]:
    radius = float(problem.ambiguity.radius)
    sizes = next(((r, e) for d, r, e in _GRIDS if problem.d <= d), (1, 1))
    if isinstance(problem.ambiguity, Singleton):  # only eta varies
        sizes = 1, sizes[0]
    return _radii(radius, sizes[0]), _etas(shown_eta(problem), sizes[1])


def shown_eta(problem: GraphProblem) -> float:
    """Return eta, or the root of alpha times beta under the log-degree prior."""
    prior = problem.prior
    return float(np.sqrt(prior.alpha * prior.beta) if problem.eta is None else problem.eta)


def _at(problem: GraphProblem, radius: float, eta: float) -> GraphProblem:
    """Return the problem with another radius and eta."""
    step = _at_eta(problem, eta)
    if isinstance(problem.ambiguity, Singleton):
        return step
    return replace(step, ambiguity=replace(problem.ambiguity, radius=radius))


def _at_eta(problem: GraphProblem, eta: float) -> GraphProblem:
    """Return the problem with another eta; the ratio of alpha to beta stays."""
    if problem.eta is not None:
        return problem.replace(eta=eta)
    return replace(problem, prior=problem.prior.scaled(eta / shown_eta(problem)))


def _radii(radius: float, count: int) -> tuple[float, ...]:
    """Return zero and a geometric progression of radii that contains the chosen one."""
    if count == 1:
        return (radius,)
    half = (count - 1) // 2
    middle = radius or _USUAL_RADIUS
    powers = np.arange(-half, count - 1 - half) / half
    found = [
        radius if power == 0.0 and radius else middle * _RADIUS_REACH**power for power in powers
    ]
    return (0.0, *(float(value) for value in found))


def _etas(eta: float, count: int) -> tuple[float, ...]:
    if eta == 0.0:  # only the likelihood allows it
        return (0.0,)
    return tuple(eta * _ETA_STEP ** (k - count // 2) for k in range(count))


def _outwards(radius: int, eta: int, radii: int, etas: int) -> Iterator[tuple[int, int]]:
    """Yield the indices of the grid except the middle, first those of the chosen eta."""
    row = [*range(radius - 1, -1, -1), *range(radius + 1, radii)]
    yield from ((r, eta) for r in row)
    forwards = True  # rows alternate in direction, to keep successive problems close
    for e in sorted(set(range(etas)) - {eta}, key=lambda e: (abs(e - eta), e)):
        yield from ((r, e) for r in (range(radii) if forwards else range(radii - 1, -1, -1)))
        forwards = not forwards


def _judged(
    radius: int, eta: int, problem: GraphProblem, answer: Solution, known: Verdict | None = None
) -> PathPoint:
    """Judge an answer with the least evidence that proves it, to keep the page small."""
    laplacian: Any = answer.laplacian
    if sparse.issparse(laplacian) and problem.d <= SPARSE_FROM:
        laplacian = sparse.csr_array(laplacian).toarray()
    if sparse.issparse(laplacian):
        verdict = judge(problem, answer) if known is None else known
        return PathPoint(radius, eta, problem, laplacian, verdict, answer.multiplier)
    worst = problem.ambiguity.worst_case(problem.nominal, laplacian)
    full = answer.certificate
    if full is None:
        verdict = judge(problem, laplacian)
        return PathPoint(radius, eta, problem, laplacian, verdict, worst.multiplier)
    nu, moment = full.degree_multipliers, None
    verdict = judge(problem, laplacian, Certificate(worst.moment, nu))
    if not verdict.solved(TOLERANCE):
        better = judge(problem, laplacian, full)
        if better.gap < verdict.gap:
            verdict, moment = better, full.moment
    return PathPoint(radius, eta, problem, laplacian, verdict, worst.multiplier, nu, moment)

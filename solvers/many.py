"""``solve_many``: solve many problems at once, each to a certified gap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from solvers.base import Solver
from solvers.bracket.incumbent import Incumbent
from solvers.bracket.limits import MARGIN, Clock, OutOfTime, all_judged
from solvers.bracket.requests import Method, together
from solvers.bracket.run import Run
from solvers.bracket.threads import right_threads
from solvers.control.deadline import watched
from solvers.generic import CertifiedSolver
from solvers.norm import MomentNewton
from solvers.solve import candidates, refusal, solve
from solvers.transport.nearby import NearbyWorst
from wdro_cvx import GraphProblem, ProblemError, Solution, SolverError, Status
from wdro_cvx.ambiguity import Norm
from wdro_cvx.moments.nominal import prepare

_LARGE = 200  # from this many vertices on, stacks gain nothing
_NUMBERS = 2**17  # entries of the matrices in a stack; a few stacks fit into the cache
_MOST = 256  # problems in a stack


def solve_many(
    problems: Iterable[GraphProblem],
    tol: float = 1e-6,
    *,
    starts: Sequence[Solution | None] | None = None,
    time_limit: float = float("inf"),
) -> list[Solution]:
    """Solve many problems, each to a certified relative gap.

    The answers are those of :func:`solvers.solve` up to the tolerance. Problems of a few dozen
    vertices take a fraction of the time, because their matrices are computed as stacks. Problems of
    any sizes, sets and priors can be mixed. Those that cannot be stacked, or that a stack does not
    solve, are solved one by one.

    Parameters
    ----------
    problems : iterable of GraphProblem
    tol : float
        The relative gap between value and lower bound of each answer.
    starts : sequence of Solution or None, optional
        The answer to a similar problem for each problem, or None.
    time_limit : float
        Seconds for all problems together, checked between steps. Answers that are not finished by
        then have the status ``TIME_LIMIT`` and their true gap.

    Returns
    -------
    list of Solution
        One for each problem, in their order. A status is ``SOLVED`` only if the judge confirms the
        gap. ``solve_s`` is an equal share of the time of problems that were solved together.

    Raises
    ------
    ProblemError
        If an entry is not a GraphProblem or has numbers of too different sizes, or if ``starts``
        has another length. This is checked before any problem is solved.
    SolverError
        If no registered solver accepts a problem. This is checked first, too.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import GraphProblem, KLBall, Nominal, Singleton, WassersteinBall
    >>> X = np.array([[1.0, 0.9, -1.0, -0.8], [-0.8, -1.0, 0.9, 1.1], [0.5, 0.4, -0.6, -0.5]])
    >>> nominal = Nominal.from_samples(X)
    >>> sets = Singleton(), WassersteinBall(0.1), WassersteinBall(0.2), KLBall(0.1)
    >>> from solvers import solve_many
    >>> answers = solve_many(GraphProblem(nominal, ball, eta=0.3) for ball in sets)
    >>> print([round(answer.value, 3) for answer in answers])
    [2.45, 2.533, 2.656, 2.461]
    """
    given = list(problems)
    begins = [None] * len(given) if starts is None else list(starts)
    if len(begins) != len(given):
        raise ProblemError(
            f"starts must have one entry for each of the {len(given)} problems; it has "
            f"{len(begins)}."
        )
    clock = Clock(time_limit)
    prepare([one.nominal for one in given if isinstance(one, GraphProblem) and one.d < _LARGE])
    best = [_first_solver(place, problem) for place, problem in enumerate(given)]
    settings = CertifiedSolver(tol, conic=True)  # like `solve`
    answers: dict[int, Solution] = {}
    for places in _stacks(given, best):
        stack, own = [given[place] for place in places], [begins[place] for place in places]
        with right_threads(stack[0].d):
            found = _solve_stack(stack, own, settings, clock)
        answers.update((places[at], answer) for at, answer in found)
    for place, problem in enumerate(given):
        if place not in answers:
            left = max(clock.limit - clock.seconds, 1e-3)
            answers[place] = solve(problem, tol, start=begins[place], time_limit=left)
            if answers[place].status is Status.INTERRUPTED:
                raise KeyboardInterrupt
    return [answers[place] for place in range(len(given))]


def _first_solver(place: int, problem: object) -> type[Solver]:
    """Return the solver that `solve` tries first, or raise the error of an unsolvable entry."""
    if not isinstance(problem, GraphProblem):
        raise ProblemError(
            f"problems[{place}] must be a GraphProblem; it is {type(problem).__name__}."
        )
    try:
        _ = problem.normalised
    except ProblemError as error:
        raise ProblemError(f"problems[{place}]: {error}") from None
    found = candidates(problem)
    if not found:
        raise SolverError(f"problems[{place}]: {refusal(problem)}")
    return found[0]


def _stacks(problems: list[GraphProblem], best: list[type[Solver]]) -> Iterator[list[int]]:
    """Yield the places of problems that are solved together: of the same size and class of set."""
    groups: dict[tuple[int, type], list[int]] = {}
    for place, (problem, solver) in enumerate(zip(problems, best, strict=True)):
        if _stackable(problem, solver):
            groups.setdefault((problem.d, type(problem.ambiguity)), []).append(place)
    for (d, _), places in groups.items():
        size = int(np.clip(_NUMBERS // d**2, 2, _MOST))
        for first in range(0, len(places), size):
            yield places[first : first + size]


def _stackable(problem: GraphProblem, best: type[Solver]) -> bool:
    """Say whether the certified solver's smooth phase suits the problem, and `solve` uses it.

    Moment balls have a faster method of their own, but it cannot be stacked.
    """
    if problem.d >= _LARGE or problem.terms:
        return False
    norm = problem.structure
    if isinstance(norm, Norm):
        plain = problem.bounds is None and 1.0 < norm.order < np.inf
        return best in (MomentNewton, CertifiedSolver) and plain
    return best is CertifiedSolver


def _solve_stack(
    problems: list[GraphProblem],
    starts: list[Solution | None],
    settings: CertifiedSolver,
    clock: Clock,
) -> list[tuple[int, Solution]]:
    """Return the places and answers of the problems that are solved, or cut short by the clock."""
    watch, tol = Clock(), settings.tol
    incumbents = [
        Incumbent(problem.normalised, MARGIN * tol, Run(settings, clock, problem.unit))
        for problem in problems
    ]
    for incumbent in incumbents:
        if NearbyWorst.takes(incumbent.problem):
            incumbent.oracle = NearbyWorst(incumbent.problem, incumbent.tol)
    # A moment ball that the smooth phase does not solve is left to MomentNewton.
    methods = [
        settings.smooth_phase(incumbent, start)
        if isinstance(incumbent.problem.structure, Norm)
        else settings.phases(incumbent, start)
        for incumbent, start in zip(incumbents, starts, strict=True)
    ]
    ended: dict[int, Status] = {}
    if np.isfinite(clock.limit):
        methods = [_timed(*pair) for pair in zip(methods, incumbents, strict=True)]
    for place, outcome in together(methods):
        if outcome is None:
            solved = incumbents[place].solved
            ended[place] = Status.SOLVED if solved else Status.ITERATION_LIMIT
        elif isinstance(outcome, OutOfTime):
            ended[place] = Status.TIME_LIMIT
        else:
            raise outcome
    finished = [place for place, status in ended.items() if status is not Status.ITERATION_LIMIT]
    own = [problems[place] for place in finished]
    answers = [incumbents[place].solution(ended[place]) for place in finished]
    found = zip(finished, all_judged(own, answers, tol, watch), strict=True)
    kept = Status.SOLVED, Status.TIME_LIMIT
    return [(place, answer) for place, answer in found if answer.status in kept]


def _timed(method: Method[None], incumbent: Incumbent) -> Method[None]:
    """Run a method whose inner loops notice the time limit between its requests."""
    answer = None
    while True:
        with watched(incumbent.check_clock):
            try:
                request = method.send(answer)
            except StopIteration:
                return
        answer = yield request

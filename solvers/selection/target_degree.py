"""Find the strength of a prior whose graph has about k neighbours per vertex on average.

For either prior, one number makes the graph denser: eta, or the product alpha·beta. (Since
``L*(α, β) = α L*(1, αβ)``, alpha alone sets the scale.) This number is bracketed and found on a
logarithmic scale; each graph starts from the previous one. Kalofolias and Perraudin (ICLR 2019)
choose it from distances alone. Their choice is the first guess here; the search then counts the
edges of the optimal graphs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from solvers.bracket.limits import Clock, judged
from solvers.selection.degree_search import DegreeSearch
from solvers.solve import solve
from wdro_cvx import GraphProblem, LogDegree, ProblemError, Solution, Status
from wdro_cvx.judging.edges import EDGE_THRESHOLD
from wdro_cvx.priors import Frobenius
from wdro_cvx.validation import Array, real_number

_SAMPLED = 200  # vertices whose costs determine the first guess
_HALVINGS = 10


class OutOfReachError(ProblemError):
    """No strength of the prior gives the requested number of neighbours."""


@dataclass(frozen=True, eq=False)
class NeighbourFit:
    """A graph with about a given number of neighbours, and the search that found it.

    Attributes
    ----------
    problem : GraphProblem
        The problem whose prior has the strength that was found.
    solution : Solution
    neighbours : float
        The average number of neighbours of a vertex.
    trials : tuple of (strength, neighbours)
        All strengths that were tried, eta or alpha·beta.
    complete : bool
        Whether the search ended before its time limit.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import WassersteinBall, GraphProblem, Nominal
    >>> X = np.array([[1.0, 0.9, -1.0, -0.8], [-0.8, -1.0, 0.9, 1.1], [0.5, 0.4, -0.6, -0.5]])
    >>> problem = GraphProblem(Nominal.from_samples(X), WassersteinBall(0.2), eta=0.3)
    >>> from solvers import solve_for_neighbours
    >>> fit = solve_for_neighbours(problem, neighbours=2)
    >>> fit.neighbours, fit.problem.eta == fit.trials[-1][0]
    (2.0, True)
    """

    problem: GraphProblem
    solution: Solution
    neighbours: float
    trials: tuple[tuple[float, float], ...]
    complete: bool = True


def average_neighbours(solution: Solution) -> float:
    """Return the average number of neighbours of a vertex.

    Edges below ``EDGE_THRESHOLD`` times the mean degree count as absent.
    """
    edges = solution.edges
    least = EDGE_THRESHOLD * 2 * float(edges.weights.sum()) / edges.d
    return 2 * int(np.count_nonzero(edges.weights >= least)) / edges.d


def solve_for_neighbours(
    problem: GraphProblem, neighbours: float, tol: float = 1e-6, time_limit: float = math.inf
) -> NeighbourFit:
    """Choose the strength of the prior for a given average number of neighbours, and solve.

    For a log-degree prior, alpha is set such that the mean degree is 1, unless edges have bounds.

    Parameters
    ----------
    problem : GraphProblem
        Its eta, or the product of its alpha and beta, is replaced.
    neighbours : float
        How many neighbours a vertex should have on average.
    tol : float
        The relative gap of every graph on the way.
    time_limit : float
        Seconds after which the search stops; the answer is then the nearest graph so far.

    Returns
    -------
    NeighbourFit

    Raises
    ------
    OutOfReachError
        If no strength gives this number of neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from wdro_cvx import WassersteinBall, GraphProblem, Nominal
    >>> X = np.array([[1.0, 0.9, -1.0, -0.8], [-0.8, -1.0, 0.9, 1.1], [0.5, 0.4, -0.6, -0.5]])
    >>> problem = GraphProblem(Nominal.from_samples(X), WassersteinBall(0.2), eta=0.3)
    >>> from solvers import solve_for_neighbours
    >>> solve_for_neighbours(problem, neighbours=1).neighbours
    1.0
    """
    target, clock = _reachable(problem, neighbours), Clock(time_limit)
    search = DegreeSearch(target, math.log(first_strength(problem, target)), 1.0 / problem.d)
    best: tuple[GraphProblem, Solution, float] | None = None
    answer: Solution | None = None
    while not search.done and (best is None or clock.seconds < clock.limit):
        trial = _at_strength(problem, math.exp(search.place))
        # A sample average is a single QP; its own start is better than any graph.
        warm = None if problem.ambiguity.radius == 0.0 else answer
        left = max(clock.limit - clock.seconds, 1e-3)
        answer = solve(trial, tol, start=warm, time_limit=left)
        if answer.status is Status.INTERRUPTED:  # an interrupt ends the whole search
            raise KeyboardInterrupt
        if isinstance(trial.prior, LogDegree) and trial.bounds is None:
            # The next graph starts with this alpha, so little rescaling is left.
            trial, answer = of_mean_degree_one(trial, answer, tol)
            problem = replace(problem, prior=trial.prior)
        count = average_neighbours(answer)
        if best is None or abs(count - target) < abs(best[2] - target):
            best = trial, answer, count
        search.tell(count)
    assert best is not None
    if search.stuck:
        raise OutOfReachError(_unreachable(problem, target, search))
    trials = tuple((math.exp(place), count) for place, count in search.seen)
    return NeighbourFit(*best, trials, search.done)


def with_smaller_radius(
    problem: GraphProblem, neighbours: float, tol: float, time_limit: float = math.inf
) -> NeighbourFit:
    """Do what :func:`solve_for_neighbours` does, with a smaller radius if the target needs one.

    Parameters
    ----------
    problem : GraphProblem
    neighbours : float
    tol : float
    time_limit : float
        Seconds for the searches at all radii.
    """
    ball, clock = problem.ambiguity, Clock(time_limit)
    for radius in (*(ball.radius * 0.5**halved for halved in range(_HALVINGS)), 0.0):
        smaller = replace(problem, ambiguity=replace(ball, radius=radius))
        try:
            left = max(clock.limit - clock.seconds, 1e-3)
            return solve_for_neighbours(smaller, neighbours, tol, left)
        except OutOfReachError:
            if radius == 0.0:
                raise
    raise AssertionError("the last radius returns or raises")


def _reachable(problem: GraphProblem, neighbours: float) -> float:
    """Return the target as a number; raise ProblemError if no graph can reach it."""
    if problem.terms:
        raise ProblemError(
            f"neighbours are chosen for problems without terms; this one has {problem.terms[0]!r}. "
            "Give eta as a number."
        )
    if not isinstance(problem.prior, (Frobenius, LogDegree)):
        raise ProblemError(
            f"neighbours are chosen by eta or by alpha·beta; the prior is {problem.prior!r}. "
            "Use eta or LogDegree."
        )
    target = real_number("neighbours", neighbours, 0.0, strict=True)
    bounds, d = problem.bounds, problem.d
    most = float(d - 1) if bounds is None else 2 * np.count_nonzero(bounds.upper > 0.0) / d
    if target > most:
        raise ProblemError(
            f"neighbours is {target:g}, and a vertex of this problem has at most {most:.4g} on "
            "average; ask for fewer."
        )
    if isinstance(problem.prior, LogDegree) and target < 1.0:
        raise ProblemError(
            f"neighbours is {target:g}, and under LogDegree every vertex keeps an edge; ask for at "
            "least 1, or use eta."
        )
    return target


def _unreachable(problem: GraphProblem, neighbours: float, search: DegreeSearch) -> str:
    place, count = search.seen[-1]
    word = "least" if count > search.target else "most"
    name = "eta" if isinstance(problem.prior, Frobenius) else "alpha·beta"
    other = "more" if count > search.target else "fewer"
    if problem.ambiguity.radius > 0.0 and other == "more":
        other = "more, or take a smaller radius"
    return (
        f"neighbours={neighbours:g} is out of reach: the {word} that these data give is "
        f"{count:.4g} (at {name} = {math.exp(place):.2g}); ask for {other}."
    )


def _at_strength(problem: GraphProblem, strength: float) -> GraphProblem:
    """Return the problem with another eta, or another product of alpha and beta."""
    if isinstance(problem.prior, Frobenius):
        return problem.replace(eta=strength)
    alpha = problem.prior.alpha
    return replace(problem, prior=LogDegree(alpha, strength / alpha, problem.bounds))


def of_mean_degree_one(
    problem: GraphProblem, solution: Solution, tol: float
) -> tuple[GraphProblem, Solution]:
    """Return a log-degree problem and its answer, rescaled such that the mean degree is 1.

    The map ``L → cL`` with ``α → cα, β → β/c`` preserves stationarity, multipliers and the worst
    case, unless the weights have bounds.

    Parameters
    ----------
    problem : GraphProblem
    solution : Solution
    tol : float
        The relative gap of the answer.
    """
    prior = problem.prior
    scale = problem.d / float(solution.laplacian.diagonal().sum())
    scaled = replace(problem, prior=LogDegree(scale * prior.alpha, prior.beta / scale))
    answer = judged(scaled, replace(solution, laplacian=solution.laplacian * scale), tol)
    if solution.status is Status.SOLVED is not answer.status:
        # Rescaling shifts the value by logarithms, so the relative gap may grow.
        answer = solve(scaled, tol, start=answer)
    return scaled, answer


def first_strength(problem: GraphProblem, target: float) -> float:
    """Return the strength at which vertices, each choosing alone, take ``target`` neighbours.

    With costs ``c_1 ≤ c_2 ≤ …``, their sums ``C_k`` and degree u, a vertex takes its k-th
    neighbour for ``η ≥ (kc_k - C_k)/4u``, or for ``αβ ≥ c_k(kc_k - C_k)/8``.

    Parameters
    ----------
    problem : GraphProblem
        Supplies the data and the kind of prior.
    target : float
        The number of neighbours.
    """
    costs = _nearest_costs(problem)
    k = min(max(round(target), 1), problem.d - 1)
    entries = []
    for count in (k, min(k + 1, problem.d - 1)):
        last = costs[:, count - 1]
        excess = count * last - costs[:, :count].sum(axis=1)
        frobenius = isinstance(problem.prior, Frobenius)
        degree = problem.target_trace / problem.d
        entries.append(float(np.mean(excess / (4 * degree) if frobenius else last * excess / 8)))
    guess = math.sqrt(max(entries[0], 0.0) * entries[1]) or entries[1]
    square = float(np.sum(problem.nominal.factor**2)) / problem.d or 1.0
    unit = square if isinstance(problem.prior, Frobenius) else square**2
    return guess if guess > 1e-12 * unit else unit


def _nearest_costs(problem: GraphProblem) -> Array:
    """Return the costs of all edges of some vertices, in ascending order per vertex."""
    rows = problem.nominal.factor
    squares = np.sum(rows**2, axis=0)
    some = np.unique(np.linspace(0, problem.d - 1, min(problem.d, _SAMPLED)).astype(int))
    costs = squares[some, np.newaxis] + squares - 2 * rows[:, some].T @ rows
    costs[np.arange(some.size), some] = np.inf
    return np.sort(np.maximum(costs, 0.0), axis=1)[:, :-1]

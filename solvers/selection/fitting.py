"""Turn the estimator's options into a problem and solve it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from solvers.selection.bootstrap import has_law
from solvers.selection.radius import ChoiceWarning, check_rules
from solvers.selection.signals import Signals
from solvers.selection.target_degree import (
    of_mean_degree_one,
    solve_for_neighbours,
    with_smaller_radius,
)
from solvers.solve import solve
from wdro_cvx import (
    AmbiguitySet,
    EdgeBounds,
    Frobenius,
    GraphProblem,
    LogDegree,
    LogDet,
    Nominal,
    ProblemError,
    Solution,
    Status,
)
from wdro_cvx.ambiguity import Transport, ambiguity_names, named_ambiguity
from wdro_cvx.solution import SPARSE_FROM
from wdro_cvx.validation import real_number

PRIORS = ("frobenius", "log-degree", "likelihood")
_ETAS = {"frobenius": 0.3, "log-degree": 0.6, "likelihood": 0.01}


def default_eta(prior: str) -> float:
    """Return the eta that is used if none is given.

    The values of the two other priors were chosen by comparison. The likelihood needs no eta; a
    small one keeps the weight between nearly equal columns finite.
    """
    return _ETAS[prior]


def either_spelling(name: str, british: Any, american: Any, default: Any) -> Any:
    """Return the value of a parameter that may be given in either spelling, but not in both.

    Raises
    ------
    ProblemError
        If both are given.
    """
    if american is None:
        return british
    if british != default:
        raise ProblemError(
            f"{name} is given in both spellings, as {british!r} and {american!r}; give it once."
        )
    return american


def check_options(
    radius: float | str,
    eta: float | str | None,
    ambiguity: str | AmbiguitySet,
    prior: str,
    neighbours: float | None,
) -> AmbiguitySet:
    """Check that options of :class:`solvers.RobustGraph` fit together.

    Parameters
    ----------
    radius, eta, ambiguity, prior, neighbours
        As for the estimator.

    Returns
    -------
    AmbiguitySet
        The set; its radius does not matter.

    Raises
    ------
    ProblemError
        If an option is not allowed, alone or with another one.

    Examples
    --------
    >>> check_options(0.5, "auto", "moment", "frobenius", None)
    MomentBall(radius=0.0, p=2.0, alpha=1.0)
    """
    if not isinstance(radius, str):
        real_number("radius", radius, 0.0)
    if not (isinstance(prior, str) and prior in PRIORS):
        raise ProblemError(f"prior must be one of {', '.join(PRIORS)}; it is {prior!r}.")
    if not (eta is None or isinstance(eta, str)):
        real_number("eta", eta, 0.0, strict=prior != "likelihood")
    if prior == "likelihood" and (neighbours is not None or eta == "auto"):
        unfit = "eta='auto'" if neighbours is None else f"neighbours={neighbours!r}"
        raise ProblemError(
            f"{unfit} is not available with prior='likelihood'; give eta as a number, or use "
            "prior='log-degree'."
        )
    check_rules(radius, default_eta(prior) if eta is None else eta)
    if neighbours is not None and (eta is not None or radius == "prediction"):
        name, asked = ("eta", eta) if eta is not None else ("radius", radius)
        raise ProblemError(
            f"neighbours={neighbours!r} chooses eta, which contradicts {name}={asked!r}; give one "
            "of the two."
        )
    return _kind(ambiguity, radius)


def _kind(ambiguity: str | AmbiguitySet, radius: float | str) -> AmbiguitySet:
    kind = named_ambiguity(ambiguity) if isinstance(ambiguity, str) else ambiguity
    if not isinstance(kind, AmbiguitySet):
        raise ProblemError(
            f"ambiguity must be one of {', '.join(ambiguity_names())} or a set such as "
            f"MomentBall(0.0, p=1.0); it is {ambiguity!r}."
        )
    if kind.radius not in (0.0, radius):
        raise ProblemError(
            f"ambiguity has radius {kind.radius:g}, but radius is {radius!r}; give it as radius "
            "alone, and the set with radius 0."
        )
    return kind


def warn_if_uncovered(signals: Signals, nominal: Nominal, kind: AmbiguitySet, block: int) -> None:
    """Warn if the bootstrap's radius is too small to cover the truth with 95 % confidence."""
    structure = kind.structure(nominal) if len(signals) < signals.d else None
    few = isinstance(structure, Transport) and structure.moves_all
    if few and not has_law(signals, kind, block):
        warnings.warn(
            f"A {type(kind).__name__} with the bootstrap's radius contains the true second moment "
            f"for fewer than 95 % of tables with fewer signals ({len(signals)}) than vertices "
            f"({signals.d}) and missing values, blocks or very many vertices "
            "(docs/validation.md). Use ambiguity='moment', which reaches 95 %.",
            ChoiceWarning,
            stacklevel=3,
        )


def build_problem(
    kind: AmbiguitySet,
    prior: str,
    bounds: EdgeBounds | None,
    nominal: Nominal,
    radius: float,
    eta: float,
) -> GraphProblem:
    """Return the problem with a given set, named prior, radius and eta."""
    if not (bounds is None or isinstance(bounds, EdgeBounds)):
        raise ProblemError(f"bounds must be made by EdgeBounds.from_edges; it is {bounds!r}.")
    ball = replace(kind, radius=radius)
    if prior == "log-degree":
        return GraphProblem(nominal, ball, prior=LogDegree(eta, eta, bounds))
    if prior == "likelihood":
        if nominal.d > SPARSE_FROM:
            raise ProblemError(
                f"prior='likelihood' takes up to {SPARSE_FROM} columns; there are {nominal.d}. Use "
                "prior='log-degree', which has a solver for large sparse graphs."
            )
        free = Frobenius(eta, None, bounds=bounds)
        return GraphProblem(nominal, ball, prior=free, terms=(LogDet(1.0),))
    return GraphProblem(nominal, ball, eta, bounds=bounds)


def solve_stated(
    problem: GraphProblem,
    tol: float,
    radius: float | str,
    neighbours: float | None,
    progress: bool,
    time_limit: float = float("inf"),
) -> tuple[GraphProblem, Solution]:
    """Return the problem with its final eta, scale and radius, and its solution."""
    if neighbours is not None:
        find = with_smaller_radius if isinstance(radius, str) else solve_for_neighbours
        fit = find(problem, neighbours, tol, time_limit)
        if not fit.complete:
            warnings.warn(
                f"The search for neighbours={float(neighbours):g} stopped after {time_limit:g} s; "
                f"the graph has {fit.neighbours:.3g} on average. Raise time_limit.",
                ConvergenceWarning,
                stacklevel=3,
            )
        before, after = problem.ambiguity.radius, fit.problem.ambiguity.radius
        if after < before:
            warnings.warn(
                f"radius {before:.3g}, chosen by the rule {radius!r}, leaves more than "
                f"{float(neighbours):g} neighbours for every eta; it was lowered to {after:.3g}.",
                ChoiceWarning,
                stacklevel=3,
            )
        return fit.problem, fit.solution
    # Only large graphs take long enough for a progress display.
    shown = progress and problem.d > SPARSE_FROM
    answer = solve(problem, tol, progress=shown, time_limit=time_limit)
    finished = answer.status is not Status.INTERRUPTED
    if finished and isinstance(problem.prior, LogDegree) and problem.bounds is None:
        return of_mean_degree_one(problem, answer, tol)
    return problem, answer

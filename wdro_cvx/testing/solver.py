"""Checks for authors of solvers: whether reported solutions are optimal, for every claimed set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet, WorstCase, registered_ambiguities
from wdro_cvx.ambiguity.singleton import Singleton
from wdro_cvx.claims import Claim, Offer, claimed
from wdro_cvx.errors import ProblemError, SolverError
from wdro_cvx.judge import Verdict, judge
from wdro_cvx.moments.nominal import Nominal
from wdro_cvx.problem import GraphProblem
from wdro_cvx.solution import Solution, Status
from wdro_cvx.terms.base import Term
from wdro_cvx.testing.problems import PRIORS, D, some_problem
from wdro_cvx.testing.report import CheckReport, CheckResult, run_check, subject_of
from wdro_cvx.validation import Array

_RADIUS = 0.1  # small enough that risks are smooth at the optimum
_LARGE = 3.0
_TOLERANCE = 1e-6  # the least tolerance of judged gaps
_PLAIN = "the paper's prior"
_UNIT = 8.0  # of the data; scaling by a power of two is exact


class AnySolver(Protocol):
    """The interface that is checked; see ``solvers.Solver``."""

    claims: tuple[Claim, ...]

    def check_claim(self, problem: GraphProblem) -> None:
        """Raise ProblemError if the solver does not apply to a problem."""

    def solve(self, problem: GraphProblem) -> Solution:
        """Solve the problem."""


@dataclass(frozen=True)
class _Unknown(AmbiguitySet):
    """A set without a structure that no solver knows."""

    def worst_case(self, nominal: Nominal, laplacian: Array) -> WorstCase:
        moment = nominal.second_moment
        return WorstCase(float(np.vdot(moment, laplacian)), moment, 0.0)

    def distance(self, nominal: Nominal, second_moment: Array) -> float:
        return float(np.abs(second_moment - nominal.second_moment).max())


def check_solver(
    solver: AnySolver, ambiguity: AmbiguitySet | None = None, seed: int = 0
) -> CheckReport:
    """Check a solver against the judge, and return a report.

    Parameters
    ----------
    solver : Solver
        An instance with its settings, such as ``MySolver()``.
    ambiguity : AmbiguitySet, optional
        A set for 6 vertices; by default all registered sets that the solver claims.
    seed : int
        The seed of the random data.

    Returns
    -------
    CheckReport
        One line per property; print it.

    Examples
    --------
    >>> from solvers import CertifiedSolver
    >>> from wdro_cvx import Singleton, check_solver
    >>> report = check_solver(CertifiedSolver(), Singleton())
    >>> report.passed
    True
    """
    tol = max(float(getattr(solver, "tol", 0.0)), _TOLERANCE)
    sets = [ambiguity] if ambiguity is not None else _claimed_sets(solver)
    results = [_claims(solver, sets)]
    if sets and results[0].passed:
        terms = _needed_terms(solver, sets, seed)
        if terms:
            sets = [tried for tried in sets if _first_claimed(solver, [tried], seed, terms)]
        wrong = _no_solution(solver, sets, seed, terms)
        if wrong is not None:  # every check would say the same
            return CheckReport(subject_of(solver), (*results, wrong))
        for prior in PRIORS:
            problems = [some_problem(tried, prior, seed, terms=terms) for tried in sets]
            results.append(run_check(f"solves with {prior}", _solves, solver, problems, tol))
        prior = _first_claimed(solver, sets, seed, terms) or _PLAIN
        hard = [some_problem(_large(tried), prior, seed, 3, terms) for tried in sets]
        results.append(run_check("honest where it is hard", _honest, solver, hard, tol))
        plain = [some_problem(tried, prior, seed, terms=terms) for tried in sets]
        for name, check in _CHECKS.items():
            results.append(run_check(name, _worst, check, solver, plain, tol))
        results.append(run_check("refuses what it does not claim", _refuses, solver, seed))
    return CheckReport(subject_of(solver), tuple(results))


def _claimed_sets(solver: AnySolver) -> list[AmbiguitySet]:
    known = registered_ambiguities().values()
    problems = [some_problem(kind.example(_RADIUS, D), _PLAIN) for kind in known]
    claims = getattr(solver, "claims", ())
    return [problem.ambiguity for problem in problems if claimed(claims, problem)]


def _claims(solver: AnySolver, sets: list[AmbiguitySet]) -> CheckResult:
    claims = getattr(solver, "claims", ())
    good = bool(claims) and all(
        isinstance(claim, Offer) or issubclass(claim, AmbiguitySet) for claim in claims
    )
    if not good:
        return CheckResult("claims", False, "claims must be a tuple of sets or offers")
    if not sets:
        return CheckResult("claims", False, "no registered set is among them; give ambiguity")
    return CheckResult("claims", True, ", ".join(type(tried).__name__ for tried in sets))


def _large(ambiguity: AmbiguitySet) -> AmbiguitySet:
    """Return the set with a large radius; with few samples the worst case is then not unique."""
    return ambiguity if isinstance(ambiguity, Singleton) else replace(ambiguity, radius=_LARGE)


def _claims_problem(solver: AnySolver, problem: GraphProblem) -> bool:
    try:
        solver.check_claim(problem)
    except ProblemError:
        return False
    return True


def _first_claimed(
    solver: AnySolver, sets: list[AmbiguitySet], seed: int, terms: tuple[Term, ...] = ()
) -> str | None:
    """Return the first prior that the solver accepts with all sets, or None."""
    for prior in PRIORS:
        problems = [some_problem(tried, prior, seed, terms=terms) for tried in sets]
        if all(_claims_problem(solver, problem) for problem in problems):
            return prior
    return None


def _needed_terms(solver: AnySolver, sets: list[AmbiguitySet], seed: int) -> tuple[Term, ...]:
    """Return a term if the solver accepts no problem without one, else nothing."""
    taken = getattr(solver, "takes_terms", ())
    if not taken or any(_first_claimed(solver, [tried], seed) for tried in sets):
        return ()
    return (taken[0].example(1.0, D),)


def _no_solution(
    solver: AnySolver, sets: list[AmbiguitySet], seed: int, terms: tuple[Term, ...]
) -> CheckResult | None:
    """Return what is wrong if ``solve`` returns something else than a Solution, else None."""
    prior = _first_claimed(solver, sets[:1], seed, terms)
    if prior is None:
        return None
    try:
        answer = solver.solve(some_problem(sets[0], prior, seed, terms=terms))
    except Exception:  # the checks say where
        return None
    if isinstance(answer, Solution):
        return None
    told = f"solve must return a Solution; it returns {type(answer).__name__}"
    return CheckResult("answers", False, told)


def _solves(solver: AnySolver, problems: list[GraphProblem], tol: float) -> tuple[bool, str]:
    """Solve all claimed problems and check the judge's verdicts."""
    worst, where, tried = 0.0, "", 0
    for problem in problems:
        if not _claims_problem(solver, problem):
            continue
        tried += 1
        answer = solver.solve(problem)
        verdict, name = judge(problem, answer), type(problem.ambiguity).__name__
        if answer.status is not Status.SOLVED or not verdict.solved(tol):
            return False, (
                f"{name}: said {answer.status.name}, judged gap {verdict.gap:.1e}, infeasible by "
                f"{verdict.residuals.largest:.1e}"
            )
        if verdict.gap >= worst:
            worst, where = verdict.gap, f" ({name})"
    return True, f"judged gaps up to {worst:.1e}{where}" if tried else "not claimed"


def _honest(solver: AnySolver, problems: list[GraphProblem], tol: float) -> tuple[bool, str]:
    """Check that the solver never reports an unsolved problem as solved; giving up is allowed."""
    said = 0
    for problem in problems:
        try:
            answer = solver.solve(problem)
        except SolverError:
            continue
        verdict, name = judge(problem, answer), type(problem.ambiguity).__name__
        if answer.status is not Status.SOLVED:
            continue
        said += 1
        if not verdict.solved(tol):
            return False, f"{name}: said SOLVED, judged gap {verdict.gap:.1e}"
    return True, f"{said} of {len(problems)} reported as solved, all confirmed"


Check = Callable[[AnySolver, GraphProblem, Solution, Verdict], float]


def _worst(
    check: Check, solver: AnySolver, problems: list[GraphProblem], tol: float
) -> tuple[bool, str]:
    """Return whether a property's error is within the tolerance, and its maximum over all sets."""
    misses = {}
    for problem in problems:
        answer = solver.solve(problem)
        misses[type(problem.ambiguity).__name__] = check(
            solver, problem, answer, judge(problem, answer)
        )
    where = max(misses, key=lambda name: np.nan_to_num(misses[name], nan=np.inf))
    detail = f"missed by {misses[where]:.1e} ({where}), {tol:.0e} allowed"
    return misses[where] <= tol, detail


def _value(solver: AnySolver, problem: GraphProblem, answer: Solution, verdict: Verdict) -> float:
    return abs(answer.value - verdict.value) / _scale(problem, verdict)


def _scale(problem: GraphProblem, verdict: Verdict) -> float:
    """Return the size of the value; with logarithms it may be close to zero."""
    return max(abs(verdict.value), problem.floor)


def _bound(solver: AnySolver, problem: GraphProblem, answer: Solution, verdict: Verdict) -> float:
    """Check that the bound does not exceed the judge's value, an upper bound of the optimum."""
    return max(answer.bound - verdict.value, 0.0) / _scale(problem, verdict)


def _unit(solver: AnySolver, problem: GraphProblem, answer: Solution, verdict: Verdict) -> float:
    moved = solver.solve(problem.scaled(_UNIT)).value / _UNIT**2
    return abs(moved - answer.value) / _scale(problem, verdict)


def _again(solver: AnySolver, problem: GraphProblem, answer: Solution, verdict: Verdict) -> float:
    again = solver.solve(problem)
    return float(np.abs(again.laplacian - answer.laplacian).max())


#: Name → the error of a property, relative to the value.
_CHECKS: dict[str, Check] = {
    "value is the judge's": _value,
    "bound is one": _bound,
    "unit of the data": _unit,
    "the same again": _again,
}


def _refuses(solver: AnySolver, seed: int) -> tuple[bool, str]:
    unknown = some_problem(_Unknown(_RADIUS), _PLAIN, seed)
    if claimed(solver.claims, unknown):
        return True, "it claims every set"
    for refuse in (solver.check_claim, solver.solve):
        try:
            refuse(unknown)
        except ProblemError:
            continue
        return False, f"{refuse.__name__} accepts a set that it does not claim"
    return True, "a problem that it does not claim is refused"

"""Checks for authors of formulations: whether the program solves every claimed set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from wdro_cvx.ambiguity.base import AmbiguitySet
from wdro_cvx.ambiguity.singleton import Singleton
from wdro_cvx.errors import ProblemError
from wdro_cvx.judge import judge
from wdro_cvx.problem import GraphProblem
from wdro_cvx.testing.ambiguity import answers, check_ambiguity
from wdro_cvx.testing.problems import PRIORS, D, some_nominal, some_problem
from wdro_cvx.testing.report import CheckReport, CheckResult, run_check

_TOLERANCE = 1e-6  # of values and judged gaps


#: A subclass of ``formulations.Formulation``, which this package does not import.
AnyFormulation: TypeAlias = Any


class _OtherSet(Singleton):
    """A set that no formulation claims."""


def check_formulation(
    formulation: AnyFormulation, ambiguity: AmbiguitySet | None = None, seed: int = 0
) -> CheckReport:
    """Check a formulation against the judge, and return a report.

    Parameters
    ----------
    formulation : Formulation subclass
    ambiguity : AmbiguitySet, optional
        The set for 6 vertices to try it with; the first that it claims, with radius 0.5, if not
        given.
    seed : int
        The seed of the random data.

    Returns
    -------
    CheckReport
        One line per property; print it.

    Examples
    --------
    >>> from formulations import SampleAverage
    >>> from wdro_cvx import check_formulation
    >>> check_formulation(SampleAverage).passed
    True
    """
    results = [run_check("claims", _claims, formulation)]
    if results[0].passed and ambiguity is None:
        results.append(run_check("example of the set", _has_example, formulation))
    if results[-1].passed:
        ball = ambiguity or formulation.claims[0].example(0.5, D)
        found = answers(ball, some_nominal(seed), by_default=False)
        results += _results(formulation, ball, seed) if found.passed else [found]
    return CheckReport(formulation.__name__, tuple(results))


def _results(formulation: AnyFormulation, ball: AmbiguitySet, seed: int) -> list[CheckResult]:
    problems = {prior: some_problem(ball, prior, seed, samples=2 * D) for prior in PRIORS}
    plain = problems["the paper's prior"]
    at_zero = plain.replace(ambiguity=replace(ball, radius=0.0))
    results = [run_check("DPP", _dpp, formulation, plain)]
    if not results[0].passed:  # it cannot be solved
        return [*results, run_check("refuses other sets", _refuses, formulation, plain)]
    results += [
        run_check(f"solves with {prior}", _solves, formulation, problem)
        for prior, problem in problems.items()
    ]
    results.append(run_check("radius 0 is the sample average", _solves, formulation, at_zero))
    if ball.radius > 0.0:
        results.append(run_check("sweeps", _sweeps, formulation, plain))
    results.append(run_check("refuses other sets", _refuses, formulation, plain))
    return _told_once(results)


def _told_once(results: Sequence[CheckResult]) -> list[CheckResult]:
    """Return the results with each reason at its first failure; the others refer to that one."""
    first: dict[str, str] = {}
    told = []
    for result in results:
        if not result.passed:
            figures, reason = _parts(result)
            same = re.sub(r"[-+.\de]*\d", "0", reason)  # reasons that differ in numbers only
            if first.setdefault(same, result.name) != result.name:
                result = replace(result, detail=f"{figures}the reason of '{first[same]}'")
        told.append(result)
    return told


def _parts(result: CheckResult) -> tuple[str, str]:
    """Return the figures of a result, which may be empty, and the reason."""
    figures, mark, reason = result.detail.partition("allowed; ")
    return (figures + mark, reason) if mark else ("", result.detail)


def _claims(formulation: AnyFormulation) -> tuple[bool, str]:
    claims = getattr(formulation, "claims", ())
    good = bool(claims) and all(issubclass(item, AmbiguitySet) for item in claims)
    return good, ", ".join(item.__name__ for item in claims) or "it must name a set"


def _has_example(formulation: AnyFormulation) -> tuple[bool, str]:
    return True, type(formulation.claims[0].example(0.5, D)).__name__


def _dpp(formulation: AnyFormulation, problem: GraphProblem) -> tuple[bool, str]:
    program = _asked(formulation, problem).cvxpy
    if program.is_dcp(dpp=True):
        return True, "a sweep compiles once"
    if not program.is_dcp():
        return False, (
            "CVXPY's rules (DCP) do not show that the program is convex: state the risk as a "
            "convex expression with convex constraints"
        )
    return False, (
        "a parameter is multiplied or divided by another one, or stands where CVXPY's rules (DPP) "
        "forbid it: multiply by self.radius or self.radius_squared only once"
    )


def _asked(formulation: AnyFormulation, problem: GraphProblem) -> Any:
    """Return the stated program, or raise ProblemError if ``risk`` does not return a Risk."""
    stated: list[Any] = []

    def risk(self: Any, laplacian: Any) -> Any:
        stated.append(formulation.risk(self, laplacian))
        return stated[-1]

    try:
        return type(formulation.__name__, (formulation,), {"risk": risk})(problem)
    except Exception as error:  # a user's program may raise anything
        if stated and not hasattr(stated[-1], "worst_moment"):
            kind = type(stated[-1]).__name__
            raise ProblemError(f"risk must return a Risk; it returns {kind}") from error
        raise


def _run(program: Any) -> Any:
    """Solve a program, or raise ProblemError if its failure has a reason that can be told."""
    try:
        return program.solve()
    except Exception as error:  # a backend may raise anything
        if "status 'unbounded" in str(error):
            raise ProblemError(
                "the program is unbounded: is a constraint missing from Risk(expression, [...])?"
            ) from error
        if any(np.isnan(_entries(constant.value)).any() for constant in program.cvxpy.constants()):
            raise ProblemError("the program's constants hold NaN") from error
        raise


def _entries(value: Any) -> Any:
    return value.data if hasattr(value, "tocsr") else np.asarray(value)


def _solves(formulation: AnyFormulation, problem: GraphProblem) -> tuple[bool, str]:
    """Check the value against the judge's, and that the judge proves it optimal."""
    answer = _run(formulation(problem))
    verdict = judge(problem, answer)
    miss = abs(answer.value - verdict.value) / max(abs(verdict.value), problem.floor)
    detail = (
        f"value off the judge's by {miss:.1e}, judged gap {verdict.gap:.1e}, "
        f"{_TOLERANCE:.0e} allowed"
    )
    if verdict.gap < -_TOLERANCE:
        return False, f"{detail}; {_contradiction(answer)}"
    if not miss <= _TOLERANCE:
        return False, f"{detail}; {_wrong_value(problem, answer.value < verdict.value)}"
    if verdict.solved(_TOLERANCE):
        return True, detail
    if answer.certificate is None:
        return False, (
            f"{detail}; Risk has no worst_moment. Where the Laplacian does not determine the worst "
            "case it must be read off the dual variables: Risk(..., worst_moment=...)"
        )
    ball, moment = problem.ambiguity, answer.certificate.second_moment
    distance = ball.distance(problem.nominal, moment)
    return False, (
        f"{detail}; worst_moment is at a distance of {distance:.6g} for a radius of "
        f"{ball.radius:g}: is it the derivative of the risk in L, in normalised units?"
    )


def _contradiction(answer: Any) -> str:
    """Say why a bound exceeds the value: it rests on the set alone, not on the program."""
    moment = "a worst case of the set" if answer.certificate is None else "worst_moment"
    return (
        f"the set contradicts itself: {moment} is within distance and has a larger risk than "
        "worst_case. Either worst_case is not the worst, or distance is too small"
    )


def _wrong_value(problem: GraphProblem, below: bool) -> str:
    """Say whether the set or the program is at fault for a wrong value."""
    if problem.ambiguity.radius == 0.0:
        return "at radius 0 the risk must be ⟨Θ, L⟩, in the program and in worst_case"
    broken = check_ambiguity(problem.ambiguity, problem.nominal, instances=2).failures
    if broken:
        return f"the set itself is inconsistent: check_ambiguity fails in {', '.join(broken)}"
    side = "below" if below else "above"
    return (
        f"check_ambiguity passes, so the program's risk is {side} that of worst_case: compare the "
        "two at one Laplacian, in normalised units (self.normalised, self.radius)"
    )


def _sweeps(formulation: AnyFormulation, problem: GraphProblem) -> tuple[bool, str]:
    radius = 2 * problem.ambiguity.radius
    swept = _run(formulation(problem).at(radius=radius)).value
    built = _run(formulation(problem.replace(radius=radius))).value
    miss = abs(swept / built - 1.0)
    return miss <= _TOLERANCE, f"a moved program differs from a new one by {miss:.1e}"


def _refuses(formulation: AnyFormulation, problem: GraphProblem) -> tuple[bool, str]:
    try:
        formulation.check_claim(problem.replace(ambiguity=_OtherSet()))
    except ProblemError:
        return True, "a problem that it does not claim is refused"
    return issubclass(Singleton, formulation.claims), "it accepts a set that it does not claim"

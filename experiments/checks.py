"""Checks for authors of formulations: that the program solves the problem that it claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from formulations import Formulation
from solvers import CertifiedSolver
from wdro_cvx import AmbiguitySet, GraphProblem, ProblemError, Singleton, Status, WdroError, judge
from wdro_cvx.testing import CheckReport, CheckResult
from wdro_cvx.testing.problems import PRIORS, D, some_problem

_TOLERANCE = 1e-6  # of values and judged gaps
_CERTIFIED = 1e-7  # of what they are compared with
_SECONDS = 10.0  # for each; at 6 vertices it takes a fraction of a second
_NOTHING = "there is nothing to compare with"


class _OtherSet(Singleton):
    """A set that no formulation claims."""


def check_formulation(
    formulation: type[Formulation], ambiguity: AmbiguitySet | None = None, seed: int = 0
) -> CheckReport:
    """Check a formulation against the certified solver and the judge.

    Parameters
    ----------
    formulation : Formulation subclass
    ambiguity : AmbiguitySet, optional
        The set for 6 vertices to try it with; the first that it claims, with radius 0.5, if not
        given.
    seed : int
        Of the random data.
    """
    results: list[CheckResult] = []

    def check(name: str, run: Callable[[], tuple[bool, str]]) -> bool:
        try:
            passed, detail = run()
        except (WdroError, TypeError, AttributeError) as error:
            passed, detail = False, f"raised {type(error).__name__}: {error}"
        results.append(CheckResult(name, passed, detail))
        return passed

    def claims() -> tuple[bool, str]:
        claimed = getattr(formulation, "claims", ())
        good = bool(claimed) and all(issubclass(item, AmbiguitySet) for item in claimed)
        return good, ", ".join(item.__name__ for item in claimed) or "it must name a set"

    if not check("claims", claims):
        return CheckReport(formulation.__name__, tuple(results))
    ball = ambiguity or formulation.claims[0].example(0.5, D)
    problem = some_problem(ball, "the paper's prior", seed, samples=2 * D)

    def sweeps() -> tuple[bool, str]:
        moved = replace(ball, radius=2 * ball.radius)
        swept = formulation(problem).at(radius=moved.radius).solve().value
        built = formulation(replace(problem, ambiguity=moved)).solve().value
        miss = abs(swept / built - 1.0)
        return miss <= _TOLERANCE, f"a moved program differs from a new one by {miss:.1e}"

    def refuses() -> tuple[bool, str]:
        try:
            formulation.check_claim(replace(problem, ambiguity=_OtherSet()))
        except ProblemError:
            return True, "a problem that it does not claim is refused"
        return issubclass(Singleton, formulation.claims), "it accepts a set that it does not claim"

    check("DPP", lambda: _dpp(formulation, problem))
    for prior in PRIORS:
        stated = some_problem(ball, prior, seed, samples=2 * D)
        agrees = check(f"agrees with {prior}", partial(_agrees, formulation, stated))
        if not agrees and _NOTHING in results[-1].detail:  # nor will there be with the others
            return CheckReport(formulation.__name__, tuple(results))
    check("judged", lambda: _judged(formulation, problem))
    at_zero = replace(problem, ambiguity=replace(ball, radius=0.0))
    check("radius 0 is the sample average", lambda: _agrees(formulation, at_zero))
    if ball.radius > 0.0:
        check("sweeps", sweeps)
    check("refuses other sets", refuses)
    return CheckReport(formulation.__name__, tuple(results))


def _dpp(formulation: type[Formulation], problem: GraphProblem) -> tuple[bool, str]:
    good = formulation(problem).cvxpy.is_dcp(dpp=True)
    return good, "a sweep compiles once" if good else "radius or eta enter against DPP's rules"


def _agrees(formulation: type[Formulation], problem: GraphProblem) -> tuple[bool, str]:
    """Compare values with the certified solver's."""
    expected = CertifiedSolver(_CERTIFIED, time_limit=_SECONDS).solve(problem)
    if expected.status is not Status.SOLVED:
        return False, (
            f"{_NOTHING}: the certified solver ended with "
            f"{expected.status.name} and a gap of {expected.gap:.1e}. Does check_ambiguity pass?"
        )
    miss = abs(formulation(problem).solve().value - expected.value)
    miss /= max(abs(expected.value), problem.floor)
    return miss <= _TOLERANCE, f"values differ by {miss:.1e}, {_TOLERANCE:.0e} allowed"


def _judged(formulation: type[Formulation], problem: GraphProblem) -> tuple[bool, str]:
    answer = formulation(problem).solve()
    verdict = judge(problem, answer)
    detail = f"judged gap {verdict.gap:.1e}, {_TOLERANCE:.0e} allowed"
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

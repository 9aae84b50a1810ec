"""Checks for authors of formulations: that the program solves the problem that it claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from formulations import Formulation
from solvers import CertifiedSolver
from wdro_cvx import AmbiguitySet, GraphProblem, Nominal, ProblemError, Singleton, WdroError, judge
from wdro_cvx.testing import CheckReport, CheckResult

_D = 6
_TOLERANCE = 1e-6  # the backend's and the certified solver's gap


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
        The set to try it with; the first that it claims, with radius 0.5, if not given.
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
    ball = ambiguity or formulation.claims[0].example(0.5, _D)
    rng = np.random.default_rng(seed)
    nominal = Nominal.from_samples(rng.standard_normal((2 * _D, _D)) + rng.random(_D))
    problem = GraphProblem(nominal, ball, 0.2)

    def dpp() -> tuple[bool, str]:
        good = formulation(problem).cvxpy.is_dcp(dpp=True)
        return good, "a sweep compiles once" if good else "radius or eta enter against DPP's rules"

    def agrees(stated: GraphProblem) -> tuple[bool, str]:
        found, expected = formulation(stated).solve().value, CertifiedSolver(1e-8).solve(stated)
        miss = abs(found / expected.value - 1.0)
        return miss <= _TOLERANCE, f"values differ by {miss:.1e}, {_TOLERANCE:.0e} allowed"

    def judged() -> tuple[bool, str]:
        answer = formulation(problem).solve()
        verdict = judge(problem, answer.laplacian, answer.certificate)
        return verdict.solved(_TOLERANCE), f"judged gap {verdict.gap:.1e}"

    def sweeps() -> tuple[bool, str]:
        moved = replace(ball, radius=2 * ball.radius)
        swept = formulation(problem).at(radius=moved.radius).solve().value
        built = formulation(replace(problem, ambiguity=moved)).solve().value
        miss = abs(swept / built - 1.0)
        return miss <= _TOLERANCE, f"a moved program differs from a new one by {miss:.1e}"

    def neutral() -> tuple[bool, str]:
        at_zero = replace(problem, ambiguity=replace(ball, radius=0.0))
        return agrees(at_zero)

    def refuses() -> tuple[bool, str]:
        try:
            formulation.check_claim(replace(problem, ambiguity=_OtherSet()))
        except ProblemError:
            return True, "a problem that it does not claim is refused"
        return issubclass(Singleton, formulation.claims), "it accepts a set that it does not claim"

    check("DPP", dpp)
    check("agrees with the certified solver", lambda: agrees(problem))
    check("agrees with a penalised trace", lambda: agrees(replace(problem, trace_penalty=5.0)))
    check("judged", judged)
    check("radius 0 is the sample average", neutral)
    if ball.radius > 0.0:
        check("sweeps", sweeps)
    check("refuses other sets", refuses)
    return CheckReport(formulation.__name__, tuple(results))

"""The public check of solvers: every kind of error is reported by name."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from solvers import CertifiedSolver, Solver
from wdro_cvx import GaussianBall, KLBall, Solution, Status, check_solver
from wdro_cvx.graphs.laplacian import complete_graph
from wdro_cvx.testing import solver as checks


@dataclass(frozen=True)
class Spoiled(Solver):
    """The certified solver with a way to spoil each property."""

    claims = (GaussianBall, KLBall)

    tol: float = 1e-6
    spoil: str = ""

    def solve(self, problem):
        self.check_claim(problem)
        answer = CertifiedSolver(self.tol).solve(problem)
        size, spoil = problem.nominal.samples.std(), self.spoil
        if spoil == "lies" and problem.nominal.n_samples == 3:
            return replace(answer, laplacian=complete_graph(problem.d, float(problem.d)))
        if spoil == "trace" and problem.prior.trace.target != problem.d:
            share = problem.d / np.trace(answer.laplacian)
            return replace(answer, laplacian=share * answer.laplacian)
        if spoil == "value":
            return replace(answer, value=answer.value * (1 + 1e-5))
        if spoil == "bound":
            return replace(answer, bound=answer.value * (1 + 1e-5))
        if spoil == "unit" and size > 2.0:
            return replace(answer, value=answer.value * (1 + 1e-5))
        if spoil == "gives up":
            return replace(answer, status=Status.ITERATION_LIMIT)
        if spoil == "crashes":
            return Solution(answer.laplacian, "a value", Status.SOLVED)
        return answer


class Careless(Spoiled):
    """Takes what it does not claim."""

    @classmethod
    def check_claim(cls, problem):
        pass


@pytest.mark.parametrize(
    ("spoil", "failure"),
    [
        ("lies", "honest where it is hard"),
        ("trace", "solves with a trace other than d"),
        ("value", "value is the judge's"),
        ("bound", "bound is one"),
        ("unit", "unit of the data"),
        ("gives up", "solves with the paper's prior"),
        ("crashes", "value is the judge's"),
    ],
)
def test_every_kind_of_wrong_is_caught_by_name(spoil, failure):
    report = check_solver(Spoiled(spoil=spoil), GaussianBall(0.3))
    assert failure in report.failures, str(report)
    assert f"FAILED {failure}" in str(report)


def test_right_ones_pass_and_only_with_what_they_claim():
    report = check_solver(Spoiled())
    assert report.passed, str(report)
    assert "claims: GaussianBall, KLBall" in str(report)


def test_what_is_not_claimed_must_be_refused():
    assert check_solver(Careless(), KLBall(0.1)).failures == ("refuses what it does not claim",)


def test_claims_that_are_none_are_named():
    nothing = type("Nothing", (Spoiled,), {"claims": ()})
    assert check_solver(nothing()).failures == ("claims",)
    unheard = type("Unheard", (Spoiled,), {"claims": (checks._Unknown,)})
    assert "give ambiguity" in str(check_solver(unheard()))


def test_an_answer_that_is_no_solution_is_told_once():
    class Bare(Spoiled):
        def solve(self, problem):
            return super().solve(problem).laplacian

    report = check_solver(Bare(), KLBall(0.1))
    assert report.failures == ("answers",)
    assert str(report).count("solve must return a Solution; it returns ndarray") == 1

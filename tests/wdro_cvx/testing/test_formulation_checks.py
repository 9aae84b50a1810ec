"""The public check of formulations: every kind of error is reported by name."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import formulations
from formulations import Formulation, Risk, registered, smoothness
from wdro_cvx import (
    AmbiguitySet,
    MomentBall,
    ProblemError,
    SolverError,
    WorstCase,
    check_formulation,
)
from wdro_cvx.testing.problems import some_problem


class Wrong(Formulation):
    """Half of the premium."""

    claims = (MomentBall,)

    def risk(self, laplacian):
        average = smoothness(self.normalised.nominal.second_moment, laplacian)
        return Risk(average + 0.5 * self.radius * cp.norm(cp.vec(laplacian.matrix, order="C"), 2))


class Stiff(Formulation):
    """The radius as a number instead of a parameter: a sweep does not move."""

    claims = (MomentBall,)

    def risk(self, laplacian):
        average = smoothness(self.normalised.nominal.second_moment, laplacian)
        radius = self.normalised.ambiguity.radius
        return Risk(average + radius * cp.norm(cp.vec(laplacian.matrix, order="C"), 2))


class Uncertified(Formulation):
    """Right, but where two degrees are the largest nothing tells how they share the shift."""

    claims = (MomentBall,)

    def risk(self, laplacian):
        average = smoothness(self.normalised.nominal.second_moment, laplacian)
        return Risk(average + self.radius * cp.max(laplacian.degrees))


class Miscertified(Uncertified):
    """With a worst moment outside the set."""

    def risk(self, laplacian):
        moment = 2.0 * self.normalised.nominal.second_moment
        return replace(super().risk(laplacian), worst_moment=lambda: moment)


class Curved(Stiff):
    """The square of the radius, as a product of parameters: CVXPY cannot compile a sweep."""

    def risk(self, laplacian):
        norm = cp.norm(cp.vec(laplacian.matrix, order="C"), 2)
        average = smoothness(self.normalised.nominal.second_moment, laplacian)
        return Risk(average + self.radius * self.radius / self.radius * norm)


class Concave(Stiff):
    def risk(self, laplacian):
        norm = cp.norm(cp.vec(laplacian.matrix, order="C"), 2)
        return Risk(-self.radius * norm)


class Claimless(Formulation):
    def risk(self, laplacian):
        return Risk(cp.Constant(0.0))


@pytest.mark.parametrize(
    ("formulation", "failure"),
    [
        (Wrong, "solves with the paper's prior"),
        (Stiff, "sweeps"),
        (Claimless, "claims"),
    ],
)
def test_wrong_formulations_are_caught_by_name(formulation, failure):
    report = check_formulation(formulation)
    assert failure in report.failures
    assert f"FAILED {failure}" in str(report)


@pytest.mark.parametrize(
    ("formulation", "hint"),
    [
        (Uncertified, "Risk has no worst_moment"),
        (Miscertified, "worst_moment is at a distance of"),
    ],
)
def test_a_missing_or_wrong_worst_moment_is_named(formulation, hint):
    report = check_formulation(formulation, MomentBall(3.0, p=1.0))
    assert "solves with the paper's prior" in report.failures
    assert all(name.startswith("solves with") for name in report.failures)
    assert hint in str(report)


@pytest.mark.parametrize(
    ("formulation", "hint"),
    [
        (Curved, "multiply by self.radius or self.radius_squared only once"),
        (Concave, "state the risk as a convex expression"),
    ],
)
def test_a_program_that_cannot_be_compiled_is_told_once(formulation, hint):
    report = check_formulation(formulation)
    assert report.failures == ("DPP",)
    assert hint in str(report)
    problem = some_problem(MomentBall(0.5), "the paper's prior")
    with pytest.raises(SolverError, match=f"check_formulation.{formulation.__name__}. says more"):
        formulation(problem).solve()


class Shapeless(MomentBall):
    @classmethod
    def example(cls, radius, d):
        raise KeyError("none")


class Weightless(MomentBall):
    def worst_case(self, nominal, laplacian):
        return super().worst_case(nominal, laplacian[:4, :4])


@pytest.mark.parametrize(
    ("kind", "failure"), [(Shapeless, "example of the set"), (Weightless, "answers")]
)
def test_a_set_that_raises_is_told_once(kind, failure):
    class Program(Stiff):
        claims = (kind,)

    report = check_formulation(Program)
    assert report.failures == (failure,)
    assert len(report.results) <= 3


def test_incomplete_formulations_say_what_is_missing():
    with pytest.raises(ProblemError, match="claims must be"):
        formulations.register(Claimless)
    assert np.all([issubclass(item, Formulation) for item in registered().values()])


class Diagonal(AmbiguitySet):
    """A Frobenius ball whose worst case is that of diagonal shifts."""

    radius_degree = 2

    def worst_case(self, nominal, laplacian):
        degrees = np.diag(laplacian)
        shift = self.radius * np.diag(degrees) / np.linalg.norm(degrees)
        moment = nominal.second_moment + shift
        return WorstCase(float(np.vdot(moment, laplacian)), moment, 0.0)

    def distance(self, nominal, second_moment):
        return float(np.linalg.norm(second_moment - nominal.second_moment))


class WholeBall(Formulation):
    """The right program of the ball that ``distance`` describes."""

    claims = (Diagonal,)

    def risk(self, laplacian):
        moment, matrix = self.normalised.nominal.second_moment, laplacian.matrix
        norm = cp.norm(cp.vec(matrix, order="C"), 2)

        def worst():
            return moment + self.radius.value * matrix.value / np.linalg.norm(matrix.value)

        return Risk(smoothness(moment, laplacian) + self.radius * norm, worst_moment=worst)


class WorstDegrees(WholeBall):
    """The program of the worst case, with a worst moment of the ball."""

    def risk(self, laplacian):
        average = smoothness(self.normalised.nominal.second_moment, laplacian)
        expression = average + self.radius * cp.norm(laplacian.degrees, 2)
        return replace(super().risk(laplacian), expression=expression)


@pytest.mark.parametrize("formulation", [WholeBall, WorstDegrees])
def test_a_set_that_contradicts_itself_is_not_blamed_on_the_program(formulation):
    told = str(check_formulation(formulation))
    assert "the set contradicts itself: worst_moment is within distance" in told
    assert "is it the derivative of the risk" not in told
    assert "program's risk" not in told


def test_a_long_reason_is_told_once():
    report = check_formulation(Miscertified, MomentBall(3.0, p=1.0))
    told = str(report)
    assert told.count("worst_moment is at a distance of") == 1
    assert len(report.failures) > 1
    again = told.count(f"1e-06 allowed; the reason of '{report.failures[0]}'")
    assert again == len(report.failures) - 1


class Silent(Stiff):
    def risk(self, laplacian):
        super().risk(laplacian)


class Bare(Stiff):
    def risk(self, laplacian):
        return super().risk(laplacian).expression


@pytest.mark.parametrize(("formulation", "kind"), [(Silent, "NoneType"), (Bare, "AddExpression")])
def test_a_risk_that_is_none_is_told(formulation, kind):
    assert f"risk must return a Risk; it returns {kind}" in str(check_formulation(formulation))


def test_a_risk_that_raises_is_told_as_it_is():
    class Raising(Stiff):
        def risk(self, laplacian):
            raise KeyError("mine")

    assert "raised KeyError: 'mine' (test_formulation_checks.py" in str(check_formulation(Raising))


class Forgetful(Formulation):
    """A bound of the risk whose constraint is not returned."""

    claims = (MomentBall,)

    def risk(self, laplacian):
        above = cp.Variable()
        average = smoothness(self.normalised.nominal.second_moment, laplacian)
        return Risk(average + self.radius * above)


class Undefined(Stiff):
    def risk(self, laplacian):
        moment = np.nan * self.normalised.nominal.second_moment
        return Risk(smoothness(moment, laplacian))


@pytest.mark.parametrize(
    ("formulation", "told"),
    [
        (Forgetful, "unbounded: is a constraint missing from Risk(expression, [...])?"),
        (Undefined, "the program's constants hold NaN"),
    ],
)
def test_a_program_without_a_solution_is_told_why(formulation, told):
    assert str(check_formulation(formulation)).count(told) == 1


def test_a_wrong_sample_average_is_told_without_blaming_the_set():
    class Extra(WholeBall):
        claims = (MomentBall,)

        def solve(self, *arguments, **options):
            answer = super().solve(*arguments, **options)
            return replace(answer, value=1.01 * answer.value)

    lines = str(check_formulation(Extra)).splitlines()
    (at_zero,) = [line for line in lines if "radius 0 is" in line]
    assert "at radius 0 the risk must be ⟨Θ, L⟩" in at_zero

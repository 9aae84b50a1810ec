"""The forms of the Gaussian scenario: the dual program, and the closed form at small radii."""

import numpy as np
import pytest
from instances import paper_problem

from formulations import GaussianClosedForm, GaussianDual, RobustPremium, registered
from wdro_cvx import GaussianBall, Status, judge


@pytest.mark.parametrize("penalty", [None, 0.7])
@pytest.mark.parametrize(("samples", "radius"), [(3, 4.0), (30, 0.5), (30, 1e-3)])
def test_the_dual_program_has_the_value_the_graph_and_the_multiplier_of_the_primal(
    samples, radius, penalty
):
    problem = paper_problem(8, samples, GaussianBall(radius), trace_penalty=penalty)
    primal, dual = RobustPremium(problem).solve(), GaussianDual(problem).solve()
    assert dual.status is Status.SOLVED
    assert dual.value == pytest.approx(primal.value, rel=1e-7)
    assert judge(problem, dual).solved(1e-7)
    assert np.abs(dual.laplacian - primal.laplacian).max() < 1e-3
    # γ is the derivative of the value in ε², which a flat optimum determines to few digits.
    assert dual.multiplier == pytest.approx(primal.multiplier, rel=1e-2)


def test_the_moment_of_the_dual_program_is_in_the_ball():
    problem = paper_problem(8, 20, GaussianBall(0.5))
    answer = GaussianDual(problem).solve()
    distance = problem.ambiguity.distance(problem.nominal, answer.certificate.second_moment)
    assert distance == pytest.approx(0.5, abs=1e-5)
    assert issubclass(registered()["GaussianDual"], GaussianDual)


@pytest.mark.parametrize("form", [GaussianClosedForm, GaussianDual])
@pytest.mark.parametrize("radius", [0.01, 0.03, 0.1])
def test_small_radii_and_etas_are_solved(form, radius):
    """γ is of order 1/ε; in other units than its own, the closed form ended as inaccurate."""
    for eta in (1e-3, 0.03, 0.3):
        problem = paper_problem(9, 200, GaussianBall(radius), eta)
        answer = form(problem).solve()
        assert answer.status is Status.SOLVED, (radius, eta)
        assert judge(problem, answer).solved(1e-6), (radius, eta)
        assert answer.value == pytest.approx(problem.value(answer.laplacian), rel=1e-6)

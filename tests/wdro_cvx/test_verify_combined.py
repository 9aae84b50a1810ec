"""Exact proofs of combined sets: against CVXPY and the judge, and with forged parts."""

from copy import deepcopy
from fractions import Fraction

import combinations
import numpy as np
import pytest

from formulations import CombinedProgram
from solvers import solve
from wdro_cvx import (
    CombinedSet,
    GraphProblem,
    KLBall,
    MomentBall,
    MomentUncertainty,
    Nominal,
    ProblemError,
    WassersteinBall,
    judge,
    verify,
)
from wdro_cvx.ambiguity import ShiftIntersection, WeightsIntersection
from wdro_cvx.proof import proof_document
from wdro_cvx.testing.problems import D, some_nominal


def intersects(ambiguity) -> bool:
    parts = ambiguity.parts if isinstance(ambiguity, CombinedSet) else (ambiguity,)
    return any(isinstance(part, (ShiftIntersection, WeightsIntersection)) for part in parts)


PROVED = {name: one for name, one in combinations.ALL.items() if not intersects(one)}


@pytest.mark.parametrize("name", PROVED)
def test_combinations_are_proved_as_closely_as_they_are_judged(name):
    problem = GraphProblem(some_nominal(), PROVED[name], eta=0.2)
    answer = solve(problem, 1e-7)
    verdict = judge(problem, answer)
    result = verify.prove(proof_document(problem, answer))
    assert result.bound <= Fraction(verdict.value)
    assert Fraction(verdict.bound) <= result.value
    gap = float(result.value - result.bound)
    assert gap <= 2 * (verdict.value - verdict.bound) + 1e-12 * verdict.value


@pytest.mark.parametrize("name", ["kl + wasserstein", "thrice", "total variation + half a ball"])
def test_the_optimum_of_cvxpy_lies_between(name):
    problem = GraphProblem(some_nominal(), PROVED[name], eta=0.2)
    result = verify.prove(proof_document(problem, solve(problem, 1e-7)))
    optimum = CombinedProgram(problem).solve().value
    slack = 1e-6 * optimum  # Clarabel's
    assert float(result.bound) - slack <= optimum <= float(result.value) + slack


def test_numbers_of_one_edge_follow_from_a_formula():
    """Two vertices of trace 2 have one graph: value and bound are its objective."""
    nominal = Nominal.from_samples([[0.0, 1.0], [0.0, 3.0]])
    coordinates = np.array([[1.0, 0.0], [0.0, 3.0]])
    ambiguity = 2.0 * WassersteinBall(0.5) + 0.5 * MomentBall(0.25).in_coordinates(coordinates)
    problem = GraphProblem(nominal, ambiguity, eta=0.5)
    result = verify.prove(proof_document(problem, solve(problem, 1e-9)))
    # One edge of weight w costs w·mean(x₀ - x₁)² = 5. The ball adds 2ε√(2·5) + 2ε², and the norm of
    # TᵀLT, which is (1, -3)ᵀ(1, -3), is 10; the prior is η‖L‖² = 2.
    exact = 5 + 2 * (np.sqrt(10) + 0.5) + 0.5 * 0.25 * 10 + 2
    assert float(result.value) == pytest.approx(exact, rel=1e-12)
    assert float(result.bound) == pytest.approx(exact, rel=1e-9)


def test_points_outside_a_part_are_drawn_into_that_part():
    """A budget that one part does not use is no other part's."""
    problem = GraphProblem(some_nominal(), KLBall(0.1) + WassersteinBall(0.3), eta=0.2)
    document = proof_document(problem, solve(problem, 1e-8))
    honest = verify.prove(document)
    for factor in (1.5, 100.0):
        forged = deepcopy(document)
        moment = forged["certificate"]["parts"][1]["moment"]
        moment["moves"] = (factor * np.array(moment["moves"])).tolist()
        weights = forged["certificate"]["parts"][0]["moment"]["weights"]
        forged["certificate"]["parts"][0]["moment"]["weights"] = [1.0] * len(weights)
        assert verify.establish(forged).bound <= honest.value
    # The parts' evidence belongs to the parts in their order.
    forged = deepcopy(document)
    forged["certificate"]["parts"].reverse()
    with pytest.raises(verify.RefusedError, match="members weights"):
        verify.establish(forged)
    # A smaller set in the problem must not inherit the larger one's value or bound.
    smaller = deepcopy(document)
    smaller["problem"]["ambiguity"]["factors"] = [1.0, 0.0]
    alone = problem.replace(ambiguity=KLBall(0.1))
    verdict = judge(alone, solve(alone, 1e-9))
    assert verify.establish(smaller).bound <= Fraction(verdict.value)


def test_signals_with_weights_are_refused_under_a_part_that_reweighs():
    problem = GraphProblem(some_nominal(), KLBall(0.1) + WassersteinBall(0.3), eta=0.2)
    document = proof_document(problem, solve(problem, 1e-6))
    rows = document["problem"]["data"]["table"]
    document["problem"]["data"] |= {"weights": [1.0] * len(rows), "counts": None}
    with pytest.raises(verify.RefusedError, match="count alike under a CombinedSet"):
        verify.establish(document)


def test_nesting_does_not_exhaust_the_stack():
    problem = GraphProblem(some_nominal(), 2.0 * MomentBall(0.1), eta=0.2)
    document = proof_document(problem, solve(problem, 1e-6))
    nested = document["problem"]["ambiguity"]
    for _ in range(5000):
        nested = {"kind": "CombinedSet", "factors": [1.0], "parts": [nested]}
    document["problem"]["ambiguity"] = nested
    with pytest.raises(verify.RefusedError, match="kind must be"):
        verify.read_ambiguity(verify.Given("ambiguity", nested), D)


def test_many_parts_count_as_work():
    problem = GraphProblem(some_nominal(), 2.0 * WassersteinBall(0.1), eta=0.2)
    document = proof_document(problem, solve(problem, 1e-6))
    document["certificate"]["parts"][0]["moment"]["spread"] = [[]] * 10_000
    document["problem"]["vertices"] = 2000
    with pytest.raises(verify.RefusedError, match="hours"):
        verify.establish(document)


@pytest.mark.parametrize(
    ("ambiguity", "name"),
    [
        (combinations.FEW, "WeightsIntersection"),
        (combinations.NORMS + WassersteinBall(0.1), "ShiftIntersection"),
        (MomentUncertainty(0.2, 1.0, 1.0).in_coordinates(combinations.T), "SetInCoordinates"),
        (CombinedSet(1.0, (2.0 * KLBall(0.1),)), "CombinedSet"),
    ],
    ids=["weights", "norms", "coordinates", "nested"],
)
def test_what_the_verifier_does_not_know_is_named(ambiguity, name):
    problem = GraphProblem(some_nominal(), ambiguity, eta=0.2)
    answer = CombinedProgram  # no solution is needed to refuse it
    with pytest.raises(ProblemError, match=f"this problem has {name}"):
        proof_document(problem, answer)

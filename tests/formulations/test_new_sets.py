"""The sets beyond the paper: conic form against certified solver, both judged."""

import numpy as np
import pytest
from instances import random_nominal

from formulations import (
    ChiSquarePremium,
    KLDual,
    MahalanobisPremium,
    MomentPremium,
    RobustPremium,
)
from solvers import CertifiedSolver
from wdro_cvx import (
    ChiSquareBall,
    GaussianBall,
    GraphProblem,
    KLBall,
    MahalanobisBall,
    MomentUncertainty,
    Nominal,
    ProblemError,
    judge,
)

# Vertices and samples: fewer samples than vertices, more than the moment has entries, one alone.
SIZES = [(3, 1), (4, 30), (6, 10), (8, 60), (10, 5)]

CASES = [
    *((KLDual, KLBall(radius)) for radius in (1e-4, 0.05, 0.5)),
    *((ChiSquarePremium, ChiSquareBall(radius)) for radius in (1e-4, 0.1, 0.8)),
]
#: Beyond these radii all weight is on the worst samples, and the risk has kinks everywhere.
HARD = [(KLDual, KLBall(6.0)), (ChiSquarePremium, ChiSquareBall(80.0))]


def check_agreement(formulation, problem):
    certified = CertifiedSolver(tol=3e-7).solve(problem)
    conic = formulation(problem).solve("CLARABEL")
    assert judge(problem, certified.laplacian, certified.certificate).solved(1e-6)
    assert judge(problem, conic.laplacian, conic.certificate).solved(1e-6)
    assert conic.value == pytest.approx(certified.value, rel=1e-6)
    return conic


@pytest.mark.parametrize(("formulation", "ambiguity"), CASES, ids=str)
def test_conic_form_and_certified_solver_agree(formulation, ambiguity):
    """At other sizes than tests/conformance, which has the other priors."""
    for d, n in SIZES:
        nominal = random_nominal(np.random.default_rng(d * n), d, n)
        check_agreement(formulation, GraphProblem(nominal, ambiguity, 0.1))


@pytest.mark.parametrize(("formulation", "ambiguity"), HARD, ids=str)
def test_they_agree_where_the_worst_sample_has_all_weight(formulation, ambiguity):
    nominal = random_nominal(np.random.default_rng(120), 4, 30)
    check_agreement(formulation, GraphProblem(nominal, ambiguity, 0.1))


@pytest.mark.parametrize("scale", [1e-3, 1e3])
@pytest.mark.parametrize(("formulation", "ambiguity"), CASES[1::3], ids=str)
def test_units_do_not_matter(formulation, ambiguity, scale):
    nominal = random_nominal(np.random.default_rng(7), 5, 20)
    problem = GraphProblem(nominal, ambiguity, 0.1)
    reference = check_agreement(formulation, problem)
    scaled = check_agreement(formulation, problem.scaled(scale))
    assert scaled.value == pytest.approx(scale**2 * reference.value, rel=1e-6)


@pytest.mark.parametrize(("formulation", "ambiguity"), CASES[1::3], ids=str)
def test_multiplier_is_that_of_the_worst_case(formulation, ambiguity):
    nominal = random_nominal(np.random.default_rng(9), 6, 25)
    conic = formulation(GraphProblem(nominal, ambiguity, 0.1)).solve()
    worst = ambiguity.worst_case(nominal, conic.laplacian)
    assert conic.multiplier == pytest.approx(worst.multiplier, rel=1e-4)
    assert np.allclose(conic.certificate.second_moment, worst.second_moment, rtol=0, atol=1e-4)


@pytest.mark.parametrize(("formulation", "ambiguity"), HARD, ids=str)
def test_reweighing_needs_samples(formulation, ambiguity):
    nominal = Nominal.from_moments(np.zeros(3), np.eye(3))
    with pytest.raises(ProblemError, match=r"samples.*from_samples"):
        formulation(GraphProblem(nominal, ambiguity, 0.1))


@pytest.mark.parametrize("unit", [1e-3, 30.0])
@pytest.mark.parametrize("radius", [1e-3, 0.1, 0.5])
def test_sensor_scales(radius, unit):
    """Only the product of radius and scales counts."""
    for d, n in SIZES:
        rng = np.random.default_rng(d * n)
        nominal = random_nominal(rng, d, n)
        ambiguity = MahalanobisBall(radius / unit, unit * rng.uniform(0.3, 2.0, d))
        check_agreement(MahalanobisPremium, GraphProblem(nominal, ambiguity, 0.5))


@pytest.mark.parametrize("radius", [1e-3, 0.1, 0.4])
def test_uncertain_moments(radius):
    for d, n in SIZES[1:3]:
        nominal = random_nominal(np.random.default_rng(d * n), d, n)
        for shape in [(0.3, 1.0), (1.0, 0.1)]:
            ambiguity = MomentUncertainty(radius, *shape)
            check_agreement(MomentPremium, GraphProblem(nominal, ambiguity, 0.3))


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_duals_certify_uncertain_moments_in_the_hard_case(mean):
    """A wide ball of means: the worst one is not unique, and the duals mix the right ones."""
    nominal = random_nominal(np.random.default_rng(60), 6, 10, mean=mean)
    problem = GraphProblem(nominal, MomentUncertainty(5.0, 1.0, 0.1), 0.1)
    conic = MomentPremium(problem).solve()
    assert judge(problem, conic.laplacian, conic.certificate).solved(1e-7)
    assert not judge(problem, conic.laplacian).solved(1e-4)


def test_equal_scales_are_the_gaussian_ball():
    nominal = random_nominal(np.random.default_rng(10), 6, 9)
    euclidean = RobustPremium(GraphProblem(nominal, GaussianBall(0.4), 0.2)).solve()
    same = MahalanobisPremium(GraphProblem(nominal, MahalanobisBall(0.4, (1.0,) * 6), 0.2)).solve()
    assert same.value == pytest.approx(euclidean.value, rel=1e-8)
    doubled = GraphProblem(nominal, MahalanobisBall(0.2, (2.0,) * 6), 0.2)
    assert MahalanobisPremium(doubled).solve().value == pytest.approx(euclidean.value, rel=1e-8)

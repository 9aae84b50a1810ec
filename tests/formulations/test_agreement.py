"""The propositions, route against route, and every route against the judge."""

import numpy as np
import pytest
from instances import random_nominal

from formulations import (
    GaussianClosedForm,
    GaussianSDP,
    GeneralRegularized,
    GeneralSDP,
    RobustPremium,
    SampleAverage,
)
from wdro_cvx import (
    GaussianBall,
    GraphProblem,
    MomentBall,
    Nominal,
    Singleton,
    Status,
    WassersteinBall,
    judge,
)
from wdro_cvx.graphs.laplacian import laplacian_from_weights

# d, N, radius, eta, scale of the data, mean: fewer samples than vertices, a single sample, the
# hard case (few samples, large radius), means that dominate, units from 1e-3 to 1e3.
INSTANCES = [
    (5, 20, 0.5, 0.1, 1.0, 1.0),
    (8, 3, 0.5, 0.1, 1.0, 1.0),
    (8, 3, 20.0, 0.1, 1.0, 0.0),
    (9, 20, 1.0, 0.5, 1.0, 5.0),
    (10, 4, 0.3, 1.0, 1.0, 0.0),
    (6, 12, 5e-4, 1e-7, 1e-3, 1.0),
    (6, 12, 5e2, 1e5, 1e3, 1.0),
    (6, 12, 5e2, 0.1, 1e3, 1.0),
    (2, 1, 0.5, 0.1, 1.0, 0.0),
    (3, 1, 2.0, 0.01, 1.0, 1.0),
]

HARD = [INSTANCES[2], INSTANCES[5]]


def samples_of(instance, seed=0):
    d, n, _, _, scale, mean = instance
    return random_nominal(np.random.default_rng(seed), d, n, scale, mean)


def judged(problem, solution, tol=1e-6):
    """The judge's verdict, which must confirm the answer and the value that was claimed for it."""
    verdict = judge(problem, solution.laplacian, solution.certificate)
    assert verdict.solved(tol), (verdict, solution.status)
    assert solution.value == pytest.approx(verdict.value, rel=1e-6)
    return verdict


@pytest.mark.parametrize(
    ("instance", "penalty"), [*((one, None) for one in INSTANCES), *((one, 3.0) for one in HARD)]
)
def test_theorem_1_propositions_2_and_3_and_the_premium_agree(instance, penalty):
    _, _, radius, eta, scale, _ = instance
    nominal = samples_of(instance)
    penalty = None if penalty is None else penalty * scale**2
    gaussian = GraphProblem(nominal, GaussianBall(radius), eta, trace_penalty=penalty)
    general = GraphProblem(nominal, WassersteinBall(radius), eta, trace_penalty=penalty)
    solutions = [
        (gaussian, GaussianClosedForm(gaussian).solve()),
        (gaussian, GaussianSDP(gaussian).solve()),
        (gaussian, RobustPremium(gaussian).solve()),
        (general, GeneralSDP(general).solve()),
        (general, RobustPremium(general).solve()),
    ]
    values = [solution.value for _, solution in solutions]
    assert max(values) - min(values) <= 1e-6 * abs(values[0])
    for problem, solution in solutions:
        judged(problem, solution)
    # The Laplacian is unique, and strong convexity bounds its distance by the gap: η‖ΔL‖² ≤ gap.
    reference = solutions[0][1].laplacian
    for _, solution in solutions[1:]:
        distance = np.linalg.norm(solution.laplacian - reference)
        assert eta * distance**2 <= 2e-6 * abs(values[0])


@pytest.mark.parametrize("p", [1.0, 4 / 3, 1.5, 2.0, 3.0, 4.0, np.inf])
@pytest.mark.parametrize("instance", INSTANCES[:6], ids=str)
def test_theorem_3_for_every_p(instance, p):
    _, _, radius, eta, _, _ = instance
    nominal = samples_of(instance)
    problem = GraphProblem(nominal, MomentBall(radius, p=p), eta)
    judged(problem, GeneralRegularized(problem).solve())


def test_theorem_3_is_another_problem_than_proposition_3():
    for seed in range(5):
        nominal = samples_of(INSTANCES[0], seed)
        wasserstein = GraphProblem(nominal, WassersteinBall(0.5), 0.1)
        moment = GraphProblem(nominal, MomentBall(0.5, p=2.0, alpha=2.0), 0.1)
        first = GeneralSDP(wasserstein).solve().value
        second = GeneralRegularized(moment).solve().value
        assert abs(first - second) > 0.02 * first


@pytest.mark.parametrize("over", ["weights", "matrix"])
@pytest.mark.parametrize("instance", [INSTANCES[0], INSTANCES[1]], ids=str)
def test_radius_zero_makes_all_equal_the_sample_average(instance, over):
    nominal = samples_of(instance)
    reference = GraphProblem(nominal, Singleton(), 0.2)
    expected = SampleAverage(reference, over).solve()
    judged(reference, expected)
    for formulation, ambiguity in [
        (GaussianClosedForm, GaussianBall(0.0)),
        (GaussianSDP, GaussianBall(0.0)),
        (RobustPremium, WassersteinBall(0.0)),
        (GeneralSDP, WassersteinBall(0.0)),
        (GeneralRegularized, MomentBall(0.0, p=3.0)),
        (GeneralRegularized, MomentBall(0.0, p=1.0)),
    ]:
        solution = formulation(GraphProblem(nominal, ambiguity, 0.2), over).solve()
        assert solution.value == pytest.approx(expected.value, rel=1e-8)
        assert np.allclose(solution.laplacian, expected.laplacian, atol=1e-5)


def test_small_radius_is_continuous_in_the_premium_form():
    """The paper's forms lose digits there; ours must not."""
    nominal = samples_of(INSTANCES[0])
    average = SampleAverage(GraphProblem(nominal, Singleton(), 0.1)).solve().value
    for radius in (1e-2, 1e-3, 1e-4, 1e-5):
        problem = GraphProblem(nominal, GaussianBall(radius), 0.1)
        solution = RobustPremium(problem).solve()
        judged(problem, solution, tol=1e-7)
        # The premium is at most 2ε‖LΘ^½‖ + ε²λmax, and positive.
        assert 0 < solution.value - average < 20 * radius * np.sqrt(average)


@pytest.mark.parametrize("over", ["weights", "matrix"])
@pytest.mark.parametrize("backend", ["CLARABEL", "SCS"])
def test_both_statements_of_the_laplacian_and_both_backends(over, backend):
    nominal = samples_of(INSTANCES[0])
    tol = 1e-9 if backend == "CLARABEL" else 1e-8
    for formulation, ambiguity in [
        (SampleAverage, Singleton()),
        (GaussianClosedForm, GaussianBall(0.5)),
        (GaussianSDP, GaussianBall(0.5)),
        (RobustPremium, WassersteinBall(0.5)),
        (GeneralSDP, WassersteinBall(0.5)),
        (GeneralRegularized, MomentBall(0.5, p=3.0)),
        (GeneralRegularized, MomentBall(0.5, p=1.0)),
    ]:
        problem = GraphProblem(nominal, ambiguity, 0.1)
        solution = formulation(problem, over).solve(backend, tol=tol)
        judged(problem, solution, tol=1e-6 if backend == "CLARABEL" else 1e-5)


def test_p_infinity_is_the_sample_average_plus_a_constant():
    nominal = samples_of(INSTANCES[1])
    average = SampleAverage(GraphProblem(nominal, Singleton(), 0.1)).solve()
    flat = GeneralRegularized(GraphProblem(nominal, MomentBall(0.7, p=np.inf), 0.1)).solve()
    assert flat.value == pytest.approx(average.value + 2 * 8 * 0.7, rel=1e-8)
    assert np.allclose(flat.laplacian, average.laplacian, atol=1e-6)


def test_p_two_is_on_the_sample_average_path():
    nominal = samples_of(INSTANCES[1])
    robust = GeneralRegularized(GraphProblem(nominal, MomentBall(0.7), 0.1)).solve()
    eta = 0.1 + 0.7 / (2 * np.linalg.norm(robust.laplacian))
    average = SampleAverage(GraphProblem(nominal, Singleton(), eta)).solve()
    assert np.allclose(robust.laplacian, average.laplacian, atol=1e-5)


@pytest.mark.parametrize(
    "samples",
    [
        np.column_stack([np.arange(6.0), np.ones(6), np.zeros(6), np.arange(6.0) ** 2]),
        np.tile([1.0, 2.0, 3.0], (7, 1)),
        np.zeros((3, 4)),
    ],
    ids=["constant columns", "duplicated samples", "all zero"],
)
def test_degenerate_data_work(samples):
    nominal = Nominal.from_samples(samples)
    for formulation, ambiguity in [
        (SampleAverage, Singleton()),
        (GaussianSDP, GaussianBall(0.5)),
        (RobustPremium, WassersteinBall(0.5)),
        (GeneralSDP, WassersteinBall(0.5)),
        (GeneralRegularized, MomentBall(0.5)),
    ]:
        problem = GraphProblem(nominal, ambiguity, 0.1)
        judged(problem, formulation(problem).solve())


def test_moments_are_enough_where_no_samples_are_needed():
    nominal = samples_of(INSTANCES[0])
    moments = Nominal.from_moments(nominal.mean, nominal.covariance)
    from_samples = GaussianSDP(GraphProblem(nominal, GaussianBall(0.5), 0.1)).solve()
    from_moments = GaussianSDP(GraphProblem(moments, GaussianBall(0.5), 0.1)).solve()
    assert from_moments.value == pytest.approx(from_samples.value, rel=1e-8)


def test_two_vertices_have_one_graph():
    nominal = samples_of((2, 4, 0.0, 0.0, 1.0, 1.0))
    problem = GraphProblem(nominal, WassersteinBall(0.3), 0.1)
    solution = RobustPremium(problem).solve()
    assert solution.status is Status.SOLVED
    assert np.allclose(solution.laplacian, laplacian_from_weights(np.array([1.0])), atol=1e-7)

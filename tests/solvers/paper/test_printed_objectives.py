"""The objectives of Algorithms 2 and 4: values, gradients, and how wrong the printed ones are."""

import numpy as np
import pytest
from instances import paper_problem, random_laplacian, random_nominal

from solvers.paper.printed_objectives import gaussian_objective, general_objective
from wdro_cvx import GaussianBall, GraphProblem, MomentBall, Nominal, Singleton
from wdro_cvx.graphs.laplacian import adjoint, laplacian_from_weights, weights_from_laplacian

ORDERS = [4 / 3, 1.5, 2.0, 3.0, 4.0, np.inf]


def random_weights(d):
    """The weights of a complete graph whose trace is not d, so that the penalty has a gradient."""
    rng = np.random.default_rng(0)
    return weights_from_laplacian(random_laplacian(rng, d, trace=1.3 * d, density=1.0))


def slope_error(objective, weights, seed=0):
    """The error of a gradient along a random direction, by differences, relative to its length."""
    direction = np.random.default_rng(seed).standard_normal(weights.size)
    step = 1e-6
    ahead, behind = (objective(weights + s * direction)[0] for s in (step, -step))
    gradient = objective(weights)[1]()
    scale = np.linalg.norm(gradient) * np.linalg.norm(direction)
    return abs(gradient @ direction - (ahead - behind) / (2 * step)) / scale


@pytest.mark.parametrize("p", [*ORDERS, 1.1, 1.0])
def test_the_corrected_gradient_of_algorithm_4(p):
    problem = paper_problem(7, 14, MomentBall(0.8, p=p), trace_penalty=3.0)
    assert slope_error(general_objective(problem, False), random_weights(7)) < 1e-7


def test_the_gradient_without_a_ball():
    problem = paper_problem(7, 14, Singleton(), trace_penalty=3.0)
    assert slope_error(general_objective(problem, False), random_weights(7)) < 1e-7


@pytest.mark.parametrize("p", [*ORDERS, 1.0])
def test_the_value_of_algorithm_4_is_the_problem_s(p):
    problem = paper_problem(7, 14, MomentBall(0.8, p=p), trace_penalty=3.0)
    weights = random_weights(7)
    value = general_objective(problem, False)(weights)[0]
    assert value == pytest.approx(problem.value(laplacian_from_weights(weights)), rel=1e-12)


def gaussian_case(d=7, moment=None):
    nominal = random_nominal(np.random.default_rng(1), d, 3 * d)
    if moment is not None:
        nominal = Nominal.from_moments(np.zeros(d), moment)
    problem = GraphProblem(nominal, GaussianBall(0.5), 0.3, trace_penalty=3.0)
    weights = random_weights(d)
    gamma = 1.4 * float(np.linalg.eigvalsh(laplacian_from_weights(weights))[-1])
    return problem, weights, gamma


def test_the_corrected_gradient_of_algorithm_2():
    problem, weights, gamma = gaussian_case()
    assert slope_error(gaussian_objective(problem, gamma, False), weights) < 1e-7


def test_the_value_of_algorithm_2_is_equation_25_with_the_penalty():
    problem, weights, gamma = gaussian_case()
    laplacian, theta = laplacian_from_weights(weights), problem.nominal.second_moment
    inverse = np.linalg.inv(gamma * np.eye(7) - laplacian)
    expected = gamma * (0.25 - np.trace(theta)) + gamma**2 * np.trace(inverse @ theta)
    expected += 0.3 * np.sum(laplacian**2) + 3.0 * (np.trace(laplacian) - 7) ** 2
    assert gaussian_objective(problem, gamma, False)(weights)[0] == pytest.approx(expected)
    assert gaussian_objective(problem, 0.6 * gamma, False)(weights)[0] == np.inf


def test_equation_35_is_wrong_by_a_commutator():
    """E3: ``γ²𝒯*((γI - L)⁻¹[(γI - L)⁻¹, Θ])``, which is not small, and 0 where they commute."""
    problem, weights, gamma = gaussian_case()
    printed = gaussian_objective(problem, gamma, True)
    right = gaussian_objective(problem, gamma, False)(weights)[1]()
    theta = problem.nominal.second_moment
    inverse = np.linalg.inv(gamma * np.eye(7) - laplacian_from_weights(weights))
    excess = gamma**2 * adjoint(inverse @ (inverse @ theta - theta @ inverse))
    np.testing.assert_allclose(printed(weights)[1]() - right, excess, atol=1e-10)
    assert np.linalg.norm(excess) > 0.05 * np.linalg.norm(right)
    assert slope_error(printed, weights) > 1e-3

    problem, weights, gamma = gaussian_case(moment=2.0 * np.eye(7))
    both = (gaussian_objective(problem, gamma, form)(weights)[1]() for form in (True, False))
    np.testing.assert_allclose(*both, rtol=1e-9)


def test_equation_45_lacks_a_sign():
    """E4: right for p = 2; for p = 3/2 the weights enter with the wrong sign."""
    weights = random_weights(7)
    norm = float(np.sum(np.abs(laplacian_from_weights(weights)) ** 3) ** (1 / 3))
    for p, excess in [(2.0, 0.0), (1.5, -4 * 0.8 * weights**2 / norm**2)]:
        problem = paper_problem(7, 14, MomentBall(0.8, p=p), trace_penalty=3.0)
        printed, right = (general_objective(problem, form)(weights)[1]() for form in (True, False))
        np.testing.assert_allclose(printed - right, excess, atol=1e-12)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, random_laplacian, seeds
from scipy.optimize import minimize

from wdro_cvx import ProblemError
from wdro_cvx.graphs.laplacian import (
    adjoint,
    complete_graph,
    degrees,
    incidence,
    laplacian_from_weights,
    laplacian_operator,
    nearest_feasible,
    project_simplex,
    residuals,
    symmetric_weights,
    vertex_count,
    weights_from_laplacian,
)


@given(seeds, dimensions)
def test_adjointness(seed, d):
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal(d * (d - 1) // 2)
    matrix = rng.standard_normal((d, d))  # not symmetric: 𝒯* must hold there too
    left = np.vdot(laplacian_from_weights(weights), matrix)
    assert left == pytest.approx(weights @ adjoint(matrix), rel=1e-12, abs=1e-12)


@given(seeds, dimensions)
def test_identities_of_the_operator(seed, d):
    weights = np.random.default_rng(seed).exponential(size=d * (d - 1) // 2)
    laplacian = laplacian_from_weights(weights)
    assert np.allclose(laplacian.sum(axis=1), 0, atol=1e-12 * weights.sum())
    assert np.trace(laplacian) == pytest.approx(2 * weights.sum())
    assert np.allclose(degrees(weights), np.diagonal(laplacian))
    assert np.allclose(incidence(d) @ weights, degrees(weights))
    assert np.vdot(laplacian, laplacian) == pytest.approx(
        2 * weights @ weights + degrees(weights) @ degrees(weights)
    )
    assert np.allclose(weights_from_laplacian(laplacian), weights)
    assert np.allclose((laplacian_operator(d) @ weights).reshape(d, d), laplacian)
    assert np.linalg.eigvalsh(laplacian)[0] >= -1e-12 * weights.sum()


def test_gram_matrix_has_three_eigenvalues():
    d = 7
    operator = laplacian_operator(d).toarray()
    found = np.unique(np.round(np.linalg.eigvalsh(operator.T @ operator), 9))
    assert np.allclose(found, [2, d, 2 * d])


@pytest.mark.parametrize("size", [1e8, 1e17, 1e200])
def test_projection_of_a_huge_point_is_on_the_simplex(size):
    """Far away all of the mass goes to the largest entry, and none is lost in rounding."""
    point = size * np.array([-1.0, 0.3, -0.2, 0.3])
    np.testing.assert_allclose(project_simplex(point, 2.5), [0.0, 1.25, 0.0, 1.25])


@given(seeds, st.integers(1, 30), st.booleans())
def test_projection_onto_the_simplex_satisfies_the_variational_inequality(seed, m, weighted):
    rng = np.random.default_rng(seed)
    point = rng.standard_normal(m) * rng.choice([0.01, 1, 100])
    slope = rng.uniform(0.1, 3, m) if weighted else None
    normal = np.ones(m) if slope is None else slope
    projected = project_simplex(point, 2.0, slope)
    assert projected.min() >= 0
    assert normal @ projected == pytest.approx(2.0, rel=1e-9)
    # (point - projected)·(v - projected) ≤ 0 for all feasible v; the vertices 2e_i/slope_i suffice.
    direction = point - projected
    scale = 1 + np.abs(point).max()
    assert (direction * 2.0 / normal).max() <= direction @ projected + 1e-9 * scale**2


def test_projection_against_a_general_solver():
    rng = np.random.default_rng(5)
    point, slope = rng.standard_normal(4), rng.uniform(0.5, 2, 4)
    reference = minimize(
        lambda w: np.sum((w - point) ** 2),
        np.ones(4),
        bounds=[(0, None)] * 4,
        constraints={"type": "eq", "fun": lambda w: slope @ w - 3.0},
        options={"ftol": 1e-14},
    )
    assert np.allclose(project_simplex(point, 3.0, slope), reference.x, atol=1e-6)


@pytest.mark.parametrize(
    ("field", "spoil"),
    [
        ("symmetry", lambda L: L + np.triu(np.full_like(L, 1e-3), 1) - np.diag([0.002, 0.001, 0])),
        ("row_sums", lambda L: L + 1e-3 * np.eye(3)),
        ("sign", lambda L: L + 5 * np.array([[1, -1, 0], [-1, 1, 0], [0, 0, 0]]) * -1),
        ("trace", lambda L: 1.01 * L),
    ],
)
def test_each_residual_sees_its_violation(field, spoil):
    laplacian = complete_graph(3, 3.0)
    assert residuals(laplacian, 3.0).largest < 1e-15
    assert getattr(residuals(spoil(laplacian), 3.0), field) > 1e-4


def test_the_trace_residual_is_off_for_penalised_problems():
    assert residuals(2 * complete_graph(3, 3.0), 3.0, fixed_trace=False).largest < 1e-15


@given(seeds, dimensions)
def test_nearest_feasible_is_feasible_and_keeps_feasible_ones(seed, d):
    rng = np.random.default_rng(seed)
    repaired = nearest_feasible(rng.standard_normal((d, d)), 3.0)
    assert residuals(repaired, 3.0).largest < 1e-14
    laplacian = random_laplacian(rng, d)
    assert np.allclose(nearest_feasible(laplacian, float(d)), laplacian, atol=1e-13)


def test_nearest_feasible_of_nothing_is_the_complete_graph():
    assert np.array_equal(nearest_feasible(np.zeros((3, 3)), 3.0), complete_graph(3, 3.0))
    assert not nearest_feasible(np.zeros((3, 3)), None).any()


@pytest.mark.parametrize("m", [0, 2, 4, 5])
def test_numbers_of_weights_that_no_graph_has(m):
    with pytest.raises(ProblemError, match="d\\(d-1\\)/2"):
        vertex_count(np.zeros(m))


def test_bad_simplices():
    with pytest.raises(ProblemError, match="slope"):
        project_simplex([1.0, 2.0], 1.0, [1.0, 0.0])
    with pytest.raises(ProblemError, match="total"):
        project_simplex([1.0, 2.0], -1.0)


@given(seeds, dimensions, st.sampled_from([1e-6, 0.5, 1e3, 1e9]), st.booleans())
def test_residuals_are_relative_to_the_size_of_the_graph(seed, d, factor, fixed):
    """A matrix and its trace in another unit are violated by as much, each constraint alike."""
    matrix = np.random.default_rng(seed).standard_normal((d, d))
    here = residuals(matrix, 3.0, fixed_trace=fixed)
    there = residuals(factor * matrix, factor * 3.0, fixed_trace=fixed)
    size = 3.0 if fixed else np.abs(matrix).max()
    assert here.row_sums == pytest.approx(np.abs(matrix.sum(axis=1)).max() / size, rel=1e-12)
    for name in ("symmetry", "row_sums", "sign", "trace"):
        assert getattr(there, name) == pytest.approx(getattr(here, name), rel=1e-9, abs=1e-15)


@given(dimensions, seeds)
def test_the_weights_of_a_matrix_are_those_of_its_symmetric_part(d, seed):
    matrix = np.random.default_rng(seed).standard_normal((d, d))
    expected = weights_from_laplacian(matrix / 2 + matrix.T / 2)
    np.testing.assert_array_equal(symmetric_weights(matrix), expected)


def test_the_symmetric_part_of_the_largest_numbers_is_a_number():
    assert symmetric_weights(np.full((3, 3), -1e308)) == pytest.approx(1e308)

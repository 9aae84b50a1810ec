import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, random_nominal, seeds

from wdro_cvx import DataError, Nominal
from wdro_cvx.nominal import symmetric_root


@given(seeds, dimensions, st.integers(1, 20))
def test_second_moment_is_that_of_the_samples(seed, d, n):
    nominal = random_nominal(np.random.default_rng(seed), d, n)
    scale = np.abs(nominal.samples).max() ** 2
    theta = nominal.covariance + np.outer(nominal.mean, nominal.mean)
    assert np.allclose(nominal.second_moment, theta, atol=1e-13 * scale)
    assert np.allclose(nominal.factor.T @ nominal.factor, theta, atol=1e-13 * scale)
    assert nominal.factor.shape[0] <= d
    twin = Nominal.from_moments(nominal.mean, nominal.covariance)
    assert np.allclose(twin.second_moment, theta, atol=1e-13 * scale)
    assert np.allclose(twin.factor.T @ twin.factor, theta, atol=1e-12 * scale)


@given(seeds, dimensions, st.sampled_from([1e-3, 0.5, 1e3]))
def test_scaling_scales_everything(seed, d, factor):
    nominal = random_nominal(np.random.default_rng(seed), d, 5)
    scaled = nominal.scaled(factor)
    again = Nominal.from_samples(nominal.samples * factor)
    assert np.allclose(scaled.mean, again.mean)
    assert np.allclose(scaled.covariance, again.covariance)
    assert np.allclose(scaled.second_moment, again.second_moment)


def test_root_of_a_singular_matrix_has_no_noise():
    vector = np.array([1.0, 2.0, -1.0])
    root = symmetric_root(np.outer(vector, vector))
    assert np.linalg.matrix_rank(root) == 1
    assert np.allclose(root @ root, np.outer(vector, vector))


def test_data_cannot_change_under_the_nominal():
    samples = np.ones((3, 2))
    nominal = Nominal.from_samples(samples)
    samples[0, 0] = 7.0
    assert nominal.samples[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        nominal.samples[0, 0] = 7.0


GOOD = np.eye(2)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Nominal.from_samples([[1.0, np.nan]]), r"NaN or infinite.*\(0, 1\)"),
        (lambda: Nominal.from_samples([[1.0, np.inf]]), "NaN or infinite"),
        (lambda: Nominal.from_samples([1.0, 2.0]), "2 axes.*np.newaxis"),
        (lambda: Nominal.from_samples(np.zeros((0, 3))), "empty"),
        (lambda: Nominal.from_samples(np.zeros((3, 0))), "empty"),
        (lambda: Nominal.from_samples([[1.0], [2.0]]), "at least 2"),
        (lambda: Nominal.from_samples([["a", "b"]]), "real numbers"),
        (lambda: Nominal.from_samples([[1j, 2.0]]), "real numbers"),
        (lambda: Nominal.from_samples([[1.0, 2.0], [3.0]]), "real numbers"),
        (lambda: Nominal.from_moments([0, 0], [[1.0, 0.5], [0.4, 1.0]]), "not symmetric"),
        (lambda: Nominal.from_moments([0, 0], [[1.0, 2.0], [2.0, 1.0]]), "positive semidefinite"),
        (lambda: Nominal.from_moments([0, 0], np.eye(3)), r"shape \(2, 2\)"),
        (lambda: Nominal.from_moments([[0, 0]], GOOD), "1 axes"),
        (lambda: Nominal.from_moments([0, np.nan], GOOD), "NaN"),
        (lambda: Nominal.from_moments([0.0], [[1.0]]), "at least 2"),
    ],
)
def test_bad_data_is_named(build, message):
    with pytest.raises(DataError, match=message):
        build()

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, random_nominal, seeds

from wdro_cvx import DataError, Nominal
from wdro_cvx.graphs.laplacian import adjoint
from wdro_cvx.moments.nominal import prepare, symmetric_root
from wdro_cvx.summation import BLOCK_ROWS


@given(seeds, dimensions, st.integers(1, 20))
def test_second_moment_is_that_of_the_samples(seed, d, n):
    nominal = random_nominal(np.random.default_rng(seed), d, n)
    scale = np.abs(nominal.samples).max() ** 2
    theta = nominal.covariance + np.outer(nominal.mean, nominal.mean)
    assert np.allclose(nominal.second_moment, theta, atol=1e-13 * scale)
    assert np.allclose(nominal.factor.T @ nominal.factor, theta, atol=1e-13 * scale)
    assert nominal.factor.shape[0] <= d
    # Moments are levelled in their own way; what a Laplacian sees of them is the same.
    twin = Nominal.from_moments(nominal.mean, nominal.covariance)
    assert np.allclose(adjoint(twin.second_moment), adjoint(theta), atol=1e-12 * scale)


@given(seeds, dimensions, st.integers(1, 20), st.sampled_from([1e3, -1e6, 1e9]))
def test_a_constant_in_a_signal_does_not_matter(seed, d, n, offset):
    rng = np.random.default_rng(seed)
    samples = np.round(rng.standard_normal((n, d)), 3)
    offsets = offset * rng.integers(1, 5, (n, 1))
    raised = samples + offsets  # this rounds the samples, which is not our affair
    exact = raised - offsets
    found = Nominal.from_samples(raised).samples
    # Only differences count, and none of their digits is lost.
    assert np.allclose(found - found[:, :1], exact - exact[:, :1], rtol=1e-14, atol=1e-15)


def test_large_and_dead_columns_cost_the_others_no_digits():
    samples = np.random.default_rng(0).standard_normal((8, 5))
    samples[:, 0] *= 1e12
    samples[:, 1] = 0.0
    raised = samples + 1e8
    raised[:, 1] = 0.0
    for table in (samples, raised):
        found = Nominal.from_samples(table).samples
        expected = table[:, 2] - table[:, 3]
        assert np.allclose(found[:, 2] - found[:, 3], expected, rtol=1e-15, atol=0.0)


def test_covariances_with_a_common_part_and_a_large_vertex():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((20, 5))
    covariance = table.T @ table / 20
    common = Nominal.from_moments(np.zeros(5), covariance + 1e6)
    assert np.abs(common.covariance).max() < 10.0
    assert np.allclose(adjoint(common.covariance), adjoint(covariance), atol=1e-9)
    scales = np.array([1e8, 1.0, 1.0, 1.0, 1.0])
    large = Nominal.from_moments(np.zeros(5), covariance * np.outer(scales, scales))
    small = adjoint(covariance)[4:]
    assert np.allclose(adjoint(large.second_moment)[4:], small, rtol=1e-13)


@given(seeds, dimensions, st.sampled_from([1e-3, 0.5, 1e3]))
def test_scaling_scales_everything(seed, d, factor):
    nominal = random_nominal(np.random.default_rng(seed), d, 5)
    scaled = nominal.scaled(factor)
    again = Nominal.from_samples(nominal.samples * factor)
    # Another unit may have another level that is exact; no Laplacian sees it.
    assert np.allclose(np.diff(scaled.mean), np.diff(again.mean))
    assert np.allclose(adjoint(scaled.covariance), adjoint(again.covariance))
    assert np.allclose(adjoint(scaled.second_moment), adjoint(again.second_moment))


def test_root_of_a_singular_matrix_has_no_noise():
    vector = np.array([1.0, 2.0, -1.0])
    root = symmetric_root(np.outer(vector, vector))
    assert np.linalg.matrix_rank(root) == 1
    assert np.allclose(root @ root, np.outer(vector, vector))


def test_data_cannot_change_under_the_nominal():
    samples = np.array([[1.0, 3.0]] * 3)
    nominal = Nominal.from_samples(samples)
    samples[0, 0] = 7.0
    assert nominal.samples[0, 0] == -1.0
    for array in (nominal.samples, nominal.second_moment, nominal.factor, nominal.mean):
        with pytest.raises(ValueError, match="read-only"):
            array[..., 0] = 7.0


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
        (lambda: Nominal.from_samples(np.ma.masked_less([[1.0, 2.0]], 1.5)), "1 masked"),
        (lambda: Nominal.from_samples(np.array([["2020", "2021"]], "M8[Y]")), "datetime64"),
        (lambda: Nominal.from_samples([["1", "2"]]), "real numbers"),
        (lambda: Nominal.from_samples([[1e200, 2.0]]), "another unit"),
        (lambda: Nominal.from_samples([[1e-200, 2e-200]]), "another unit"),
        (lambda: Nominal.from_moments([0, 0], 1e250 * GOOD), "another unit"),
    ],
)
def test_bad_data_is_named(build, message):
    with pytest.raises(DataError, match=message):
        build()


@pytest.mark.parametrize("shape", [(40, 20), (5, 8), (100, 7), (BLOCK_ROWS + 1, 3), (1, 2)])
def test_what_is_prepared_together_is_what_each_computes(shape):
    tables = np.random.default_rng(0).standard_normal((4, *shape))
    together, alone = ([Nominal.from_samples(table) for table in tables] for _ in range(2))
    weighted = Nominal.from_samples(tables[0], weights=np.arange(1.0, shape[0] + 1.0))
    moments = Nominal.from_moments(np.zeros(3), np.eye(3))
    prepare([*together, weighted, moments])
    for found, known in zip(together, alone, strict=True):
        for name in ("second_moment", "lengths", "rows", "factor"):
            np.testing.assert_allclose(
                getattr(found, name), getattr(known, name), rtol=1e-13, atol=1e-15
            )
        assert np.array_equal(found.second_moment, found.second_moment.T)
        assert not found.second_moment.flags.writeable

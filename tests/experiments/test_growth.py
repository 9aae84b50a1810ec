"""Exponents only where they mean something, with intervals that contain the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.measuring.growth import fit_growth


@given(st.floats(1.6, 6.0), st.floats(1e-6, 1e3))
def test_a_power_law_is_found(k, scale):
    sizes = np.array([10.0, 20.0, 40.0, 80.0, 120.0])
    found = fit_growth(sizes, scale * sizes**k)
    assert found.exponent == pytest.approx(k)
    assert found.low == pytest.approx(k)
    assert found.high == pytest.approx(k)


def test_sizes_dominated_by_overhead_do_not_count():
    sizes = np.array([10.0, 20.0, 40.0, 80.0, 160.0, 320.0])
    found = fit_growth(sizes, 1.0 + 1e-6 * sizes**4)
    assert found.first == 40.0  # the times are 1.01, 1.16 and then 3.56
    assert found.exponent == pytest.approx(4.0, abs=0.2)
    assert found.low < 4.0 < found.high


def test_no_growth_from_few_sizes_or_from_overhead_alone():
    sizes = np.array([10.0, 20.0, 40.0])
    assert fit_growth(sizes, sizes**3) is None  # the smallest does not count, and two are few
    assert fit_growth(np.array([]), np.array([])) is None
    sizes = np.array([10.0, 20.0, 40.0, 80.0, 120.0])
    assert fit_growth(sizes, np.full(5, 2.0)) is None
    close = np.array([10.0, 20.0, 22.0, 24.0])
    assert fit_growth(close, close**3) is None


def test_the_interval_contains_the_exponent_as_often_as_it_says():
    rng = np.random.default_rng(0)
    sizes = np.repeat([10.0, 20.0, 40.0, 60.0, 80.0, 120.0], 5)
    inside = 0
    for _ in range(300):
        found = fit_growth(sizes, sizes**2.5 * np.exp(0.2 * rng.standard_normal(sizes.size)))
        inside += found.low <= 2.5 <= found.high
    assert 0.91 <= inside / 300 <= 0.985  # 95 %, within three standard errors

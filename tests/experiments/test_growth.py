"""Fitted growth: none from too few sizes or from overhead, and intervals that contain the truth."""

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


def test_without_overhead_every_size_counts():
    sizes = np.array([10.0, 20.0, 40.0])
    assert fit_growth(sizes, sizes**3, overhead=False).first == 10.0
    flat = fit_growth(sizes, np.full(3, 2.0), overhead=False)
    assert flat.exponent == pytest.approx(0.0, abs=1e-12)
    negative = np.array([1.0, 2.0, -1.0])  # a difference of two medians may be
    assert fit_growth(sizes, negative, overhead=False) is None


def test_many_data_sets_do_not_hide_a_curve_that_is_no_power_law():
    sizes = np.array([10.0, 20.0, 40.0, 80.0])
    bent = np.exp(np.log(sizes) ** 2)
    once = fit_growth(sizes, bent, overhead=False)
    often = fit_growth(np.repeat(sizes, 50), np.repeat(bent, 50), overhead=False)
    assert often.high - often.low == pytest.approx(once.high - once.low)


def test_the_interval_contains_the_exponent_as_often_as_it_says():
    rng = np.random.default_rng(0)
    sizes = np.repeat([10.0, 20.0, 40.0, 60.0, 80.0, 120.0], 5)
    inside = 0
    for _ in range(300):
        noisy = sizes**2.5 * np.exp(0.2 * rng.standard_normal(sizes.size))
        found = fit_growth(sizes, noisy, overhead=False)
        inside += found.low <= 2.5 <= found.high
    assert 0.91 <= inside / 300 <= 0.985  # 95 %, within three standard errors

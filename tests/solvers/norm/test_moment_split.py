import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import seeds

from solvers.norm.split import Box, split_largest, split_norm, weighted_norm

CONJUGATES = [1.001, 1.01, 1.0526, 4 / 3, 1.5, 2.0, 2.5, 3.0, 4.0, 21.0, 50.0, 1e3]
conjugates = st.sampled_from(CONJUGATES)
powers = st.floats(-3, 3).map(lambda exponent: 10.0**exponent)
radii = st.sampled_from([1e-3, 0.5, 20.0])


def random_prices(rng, n, spread):
    """Prices over many orders of magnitude, a few of them negative or zero."""
    prices = 10.0 ** rng.uniform(-spread, 1, n) * np.where(rng.random(n) < 0.2, -1.0, 1.0)
    prices[rng.integers(n)] = 0.0
    return prices


def random_in_ball(rng, n, copies, p, radius):
    """A point of the p-ball, from deep inside to the boundary."""
    point = rng.standard_normal(n) * (rng.random(n) < 0.5) + 1e-9
    size = np.abs(point).max() * (copies @ np.abs(point / np.abs(point).max()) ** p) ** (1 / p)
    return point * (radius * rng.random() ** 0.1 / size)


@examples(300)
@given(seeds, st.integers(2, 40), conjugates, st.floats(0.5, 30), powers)
def test_the_split_solves_its_equation(seed, n, q, spread, radius):
    rng = np.random.default_rng(seed)
    prices, copies = random_prices(rng, n, spread), rng.integers(1, 3, n).astype(float)
    eta, p = 0.3, q / (q - 1)
    split = split_norm(prices, copies, q, radius, eta)
    # Powers with large exponents magnify rounding by as much.
    accuracy = 1e-11 * max(p, q)
    sizes = np.abs(split.shift) / radius
    norm = sizes.max() * (copies @ (sizes / sizes.max()) ** p) ** (1 / p)
    assert np.all(split.shift * prices >= 0.0)
    if not split.values.any():  # inside the ball
        np.testing.assert_array_equal(split.shift, prices)
        assert norm <= 1.0 + 1e-12
        return
    assert norm == pytest.approx(1.0, rel=accuracy)
    np.testing.assert_allclose(2 * eta * split.values + split.shift, prices, rtol=accuracy)
    # ζ = z^{q-1} entry by entry, from the side that does not magnify, however small the entry.
    values = np.abs(split.values)
    z = values / (values.max() * (copies @ (values / values.max()) ** q) ** (1 / q))
    if q >= 2.0:
        np.testing.assert_allclose(sizes, z ** (q - 1), rtol=3 * accuracy, atol=1e-300)
    else:
        np.testing.assert_allclose(z, sizes ** (p - 1), rtol=3 * accuracy, atol=1e-300)


@given(seeds, st.integers(2, 12), conjugates, radii)
def test_the_shift_is_the_projection_onto_the_ball(seed, n, q, radius):
    """No point of the ball makes an acute angle with what the projection leaves."""
    rng = np.random.default_rng(seed)
    prices, copies = random_prices(rng, n, 2.0), rng.integers(1, 3, n).astype(float)
    split = split_norm(prices, copies, q, radius, 0.3)
    rest = prices - split.shift
    scale = copies @ np.abs(prices) ** 2
    for _ in range(20):
        other = random_in_ball(rng, n, copies, q / (q - 1), radius)
        assert copies @ (rest * (other - split.shift)) <= 1e-8 * scale


@given(seeds, st.integers(2, 12), radii)
def test_the_shift_for_the_largest_entry_is_the_projection_onto_the_simplex(seed, d, radius):
    rng = np.random.default_rng(seed)
    prices = random_prices(rng, d + 3, 2.0)
    split = split_largest(prices, d, radius, 0.3)
    np.testing.assert_array_equal(split.shift[d:], 0.0)
    assert split.shift.min() >= 0.0
    assert split.shift.sum() == pytest.approx(radius, rel=1e-9)
    np.testing.assert_allclose(0.6 * split.values + split.shift, prices, atol=1e-12)
    for _ in range(20):
        other = radius * rng.dirichlet(np.full(d, 0.3))
        angle = (prices - split.shift)[:d] @ (other - split.shift[:d])
        assert angle <= 1e-10 * (prices @ prices + radius**2)


@given(seeds, st.integers(2, 12), st.sampled_from([1.05, 4 / 3, 2.0, 3.0, 21.0, np.inf]))
def test_the_derivative_of_the_split_by_finite_differences(seed, n, q):
    rng = np.random.default_rng(seed)
    prices, copies, eta = rng.uniform(0.5, 3.0, n), np.ones(n), 0.3
    prices *= np.where(rng.random(n) < 0.3, -1.0, 1.0)

    def split(at):
        largest = np.isinf(q)
        return split_largest(at, n, 1.0, eta) if largest else split_norm(at, copies, q, 1.0, eta)

    found = split(prices)
    derivative = np.diag(found.slopes) + found.weight * np.outer(found.b, found.b)
    direction, step = rng.standard_normal(n), 1e-6
    ahead, behind = split(prices + step * direction), split(prices - step * direction)
    if np.isinf(q) and not np.array_equal(ahead.b, behind.b):
        return  # a kink in between
    difference = 2 * eta * (ahead.values - behind.values) / (2 * step)
    # Central differences err by the third derivative, which grows with the exponents.
    tolerance = 1e-6 * max(1.0, 0.0 if np.isinf(q) else max(q, q / (q - 1)))
    np.testing.assert_allclose(derivative @ direction, difference, atol=10 * tolerance)
    assert found.slopes.min() >= 0.0
    assert found.slopes.max() <= 1.0


# Values in intervals.


def random_box(rng, n, d, unit):
    """Intervals for the entries from ``d`` on: none, lower ends, upper ends, points."""
    lower, upper = np.zeros(n), np.full(n, np.inf)
    kept, capped = (np.arange(n) >= d) & (rng.random((2, n)) < 0.5)
    lower[kept] = unit * 10.0 ** rng.uniform(-3, 2, kept.sum())
    upper[capped] = lower[capped] + unit * 10.0 ** rng.uniform(-3, 2, capped.sum())
    fixed = kept & (rng.random(n) < 0.2)
    upper[fixed] = lower[fixed]
    return Box(lower, upper)


@examples(500)
@given(seeds, st.integers(2, 12), st.sampled_from([*CONJUGATES, np.inf]), powers, powers)
def test_the_split_in_a_box_is_optimal(seed, n, q, radius, eta):
    """Its conditions entry by entry: what is left of a price points out of the interval."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, n))
    box = random_box(rng, n, d, 1.0 / eta)
    prices = random_prices(rng, n, 3.0)
    edges = np.arange(n) >= d
    prices[edges & (box.lower == 0.0)] = np.abs(prices[edges & (box.lower == 0.0)])
    copies = np.where(edges, 2.0, 1.0)
    if np.isinf(q):
        # The largest entry is to be a degree.
        prices[0] = 1e6 + 1e6 * eta * np.max(box.upper, where=np.isfinite(box.upper), initial=1.0)
        split, p = split_largest(prices, d, radius, eta, box), 1.0
    else:
        split, p = split_norm(prices, copies, q, radius, eta, box), q / (q - 1)
    accuracy = 1e-11 * (1.0 if np.isinf(q) else max(p, q))
    values = split.values
    assert np.all(values[edges] >= box.lower[edges] * (1 - 1e-14))
    assert np.all(values <= box.upper * (1 + 1e-14))
    assert weighted_norm(split.shift, copies, p) <= radius * (1 + accuracy)
    norm = radius * weighted_norm(values, copies, q)
    assert copies @ (split.shift * values) == pytest.approx(norm, rel=accuracy)
    rest = prices - 2 * eta * values - split.shift
    rest[np.abs(rest) <= accuracy * (np.abs(prices) + 2 * eta * np.abs(values))] = 0.0
    at_lower = edges & (values <= box.lower * (1 + 1e-14))
    at_upper = values >= box.upper * (1 - 1e-14)
    assert np.all(rest[~at_lower] >= 0.0)
    assert np.all(rest[~at_upper] <= 0.0)
    assert np.all(split.slopes[rest != 0.0] == 0.0)
    assert np.all(split.b[rest != 0.0] == 0.0)


@given(seeds, st.integers(3, 12), st.sampled_from([1.01, 1.05, 4 / 3, 2.0, 3.0, 21.0, 101.0]))
def test_the_derivative_in_a_box_by_finite_differences(seed, n, q):
    rng = np.random.default_rng(seed)
    prices, copies, eta, d = rng.uniform(0.5, 3.0, n), np.ones(n), 0.3, 1
    box = random_box(rng, n, d, 0.1)
    direction, step = rng.standard_normal(n), 1e-6
    at = [split_norm(prices + s * direction, copies, q, 1.0, eta, box) for s in (0.0, step, -step)]
    found, ahead, behind = at
    if not np.array_equal(ahead.slopes == 0.0, behind.slopes == 0.0):
        return  # a kink in between
    derivative = np.diag(found.slopes) + found.weight * np.outer(found.b, found.b)
    difference = 2 * eta * (ahead.values - behind.values) / (2 * step)
    tolerance = 1e-5 * max(q, q / (q - 1))  # as without a box
    np.testing.assert_allclose(derivative @ direction, difference, atol=tolerance)


@given(seeds, st.integers(2, 12), st.sampled_from(CONJUGATES), powers)
def test_a_box_that_holds_nothing_changes_nothing(seed, n, q, radius):
    rng = np.random.default_rng(seed)
    prices, copies = random_prices(rng, n, 3.0), rng.integers(1, 3, n).astype(float)
    plain = split_norm(prices, copies, q, radius, 0.3)
    boxed = split_norm(prices, copies, q, radius, 0.3, Box(np.zeros(n), np.full(n, np.inf)))
    # σ is as accurate as ``‖z‖_q^q = 1``; for q next to 1 that is all that holds tiny values.
    scale = np.abs(prices).max()
    np.testing.assert_allclose(boxed.shift, plain.shift, atol=1e-10 * max(q, q / (q - 1)) * scale)
    np.testing.assert_allclose(boxed.values, plain.values, atol=1e-9 * max(q, q / (q - 1)) * scale)

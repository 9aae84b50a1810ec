"""The bootstrap's radius: through each set's own distance, in any axes, in runs of rows."""

import numpy as np
import pytest
import signal_tables
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from signal_tables import plain

from experiments.studies.coverage.trial import contains
from solvers.selection.bootstrap import (
    RESAMPLES,
    bootstrap_radius,
    has_law,
)
from solvers.selection.resampling import draw_counts, draw_halves
from solvers.selection.signals import Signals
from wdro_cvx import (
    ChiSquareBall,
    DataError,
    KLBall,
    MahalanobisBall,
    MomentBall,
    MomentUncertainty,
    Nominal,
    ProblemError,
    WassersteinBall,
    registered_ambiguities,
)
from wdro_cvx.generators import rbf_graph

EVERY = [
    WassersteinBall(0.0), MomentBall(0.0), MomentBall(0.0, p=1.0),
    MahalanobisBall(0.0, scales=(0.5, 1.0, 2.0, 1.0, 1.5)), KLBall(0.0), ChiSquareBall(0.0),
    MomentUncertainty(0.0, 1.0, 2.0),
]  # fmt: skip
# Distances to a mean and a covariance are found by descent, which takes long.
EACH = [*EVERY[:-1], pytest.param(EVERY[-1], marks=pytest.mark.slow)]


def signals(n=30, d=5, seed=0):
    return signal_tables.signals(n, d, seed)


@pytest.mark.parametrize("ball", EACH, ids=lambda ball: repr(ball)[:30])
def test_halves_are_measured_by_the_sets_own_distance(ball):
    """Runs of two rows have halves alone, for every set."""
    table = signals()
    centred = table - table.mean(axis=1, keepdims=True)
    nominal = Nominal(centred.mean(axis=0), None, centred)
    size = np.trace(nominal.second_moment)
    found = []
    for weights in draw_halves(30, 2, np.random.default_rng(0), RESAMPLES):
        moment = np.einsum("n,ni,nj->ij", weights / weights.sum(), centred, centred)
        pivot = (size / np.trace(moment)) ** (ball.radius_degree / 2)
        found.append(pivot * ball.distance(nominal, moment))
    radius = bootstrap_radius(Signals(table), ball, block=2, seed=0)
    assert 0.0 < radius < np.inf
    assert np.count_nonzero(np.array(found) <= radius * (1 + 1e-6)) == 190


@pytest.mark.parametrize("ball", EVERY, ids=lambda ball: repr(ball)[:30])
def test_who_has_a_law(ball):
    """Sets that have every moment at some radius; runs, holes and very many have halves."""
    table = signals(4)
    everywhere = isinstance(ball, WassersteinBall | MahalanobisBall | MomentBall)
    assert has_law(Signals(table), ball) == everywhere
    assert has_law(Signals(signals(50)), ball) == everywhere
    assert not has_law(Signals(signals(51)), ball)
    assert not has_law(Signals(table), ball, block=2)
    table[0, 0] = np.nan
    assert not has_law(Signals(table), ball)
    assert not has_law(Signals(np.zeros((4, 501))), ball)


def share_of_tables_with_the_truth(covariance, n, ball, tables, seed):
    d, rng = len(covariance), np.random.default_rng(seed)
    root, centre = np.linalg.cholesky(covariance), np.eye(d) - 1 / d
    truth = centre @ covariance @ centre
    drawn = (Signals(rng.standard_normal((n, d)) @ root.T) for _ in range(tables))
    return np.mean([contains(table, ball, truth, rng) for table in drawn])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ball", "d", "n", "tables"),
    [
        (MomentBall(0.0), 6, 40, 300),
        (MomentBall(0.0), 6, 120, 300),  # halves alone
        (WassersteinBall(0.0), 20, 6, 60),  # halves have the truth hardly ever
        (MahalanobisBall.example(0.0, 20), 20, 6, 60),
        (MomentBall(0.0), 50, 10, 300),  # halves have it nearly always
    ],
)
def test_the_truth_is_in_the_set_nineteen_times_of_twenty(ball, d, n, tables):
    """Within three standard errors and two points; `wdro study validate` has more tables."""
    laplacian = rbf_graph(d, np.random.default_rng(5))
    covariance = np.linalg.pinv(laplacian, hermitian=True) + 0.01 * np.eye(d)
    found = share_of_tables_with_the_truth(covariance, n, ball, tables, 7)
    assert abs(found - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / tables) + 0.02


def test_an_error_of_the_law_nearly_cancels(monkeypatch):
    """A law of equal variances, which these signals have not, puts the yardstick out by little.

    The distance of that law's tables itself is two fifths longer than the radius.
    """
    table = Signals(signals(30, 20))
    ball = WassersteinBall(0.0)
    radius = bootstrap_radius(table, ball)
    monkeypatch.setattr(
        "solvers.selection.likely_law.spread_spectrum", lambda values, _: np.ones_like(values)
    )
    assert bootstrap_radius(table, ball) == pytest.approx(radius, rel=0.25)


def test_the_gauge_does_not_depend_on_the_length_of_the_yardstick(monkeypatch):
    """Twice the distance in both yardsticks is twice the radius, whatever a law's distance is."""
    table, ball = Signals(signals(30, 5)), MomentBall(0.0)
    radius = bootstrap_radius(table, ball)
    size = MomentBall.size
    monkeypatch.setattr(MomentBall, "size", lambda self, shift: 2.0 * size(self, shift))
    assert bootstrap_radius(table, ball) == pytest.approx(2.0 * radius, rel=1e-12)


def test_rows_that_are_all_alike_leave_nothing_to_distrust(cheap_choice):
    row = np.array([1.0, -2.0, 0.5, 0.5])
    assert bootstrap_radius(Signals(np.outer([1, -1, 1, 1, -1], row)), WassersteinBall(0.0)) < 1e-6


@examples(30)
@given(
    st.integers(0, 10**6),
    st.sampled_from(
        [kind.example(0.0, 4) for kind in registered_ambiguities().values()]
        + [MomentBall(0.0, p=1.0), MomentBall(0.0, p=np.inf)]
    ),
)
def test_a_distance_that_claims_it_is_the_same_in_all_axes(seed, ball):
    """What lets few rows of many vertices be taken to few axes."""
    rng = np.random.default_rng(seed)
    rows, others = rng.standard_normal((2, 6, 4))
    structure = ball.structure(Nominal.from_samples(rows))
    if structure is None or not structure.isotropic:
        return
    axes = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    moment = others.T @ others / 6
    plain = ball.distance(Nominal(rows.mean(axis=0), None, rows), moment)
    turned = rows @ axes
    there = ball.distance(Nominal(turned.mean(axis=0), None, turned), axes.T @ moment @ axes)
    # Distances may overstate by what roots of rounding are.
    assert there == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize("ball", [WassersteinBall(0.0), MomentBall(0.0)])
def test_few_rows_of_many_vertices(ball, monkeypatch):
    table = Signals(signals(8, 30))
    fast = bootstrap_radius(table, ball, block=2)
    monkeypatch.setattr(type(ball.structure(table.nominal()[0])), "isotropic", False)
    # Roots of moments of less than full rank keep half of the digits.
    assert fast == pytest.approx(bootstrap_radius(table, ball, block=2), rel=1e-6)


@pytest.mark.parametrize("ball", EVERY[:3])
@pytest.mark.parametrize("factor", [1e-3, 1e4])
def test_it_has_the_unit_of_the_data(ball, factor, cheap_choice):
    table = signals()
    radius = bootstrap_radius(Signals(table), ball)
    scaled = bootstrap_radius(Signals(factor * table + 7.0), ball)
    # The level 7 leaves rounding errors of 1e-12; a transport distance contains their root.
    assert scaled == pytest.approx(factor**ball.radius_degree * radius, rel=1e-6)


@pytest.mark.slow
def test_more_signals_make_it_smaller():
    """By the root of their number, on average over tables and through the end of the law."""
    radii = [
        np.mean([bootstrap_radius(Signals(signals(n, 5, k)), MomentBall(0.0)) for k in range(20)])
        for n in (20, 80, 320)
    ]
    assert radii[0] > 1.5 * radii[1] > 2.25 * radii[2]


def test_runs_of_rows_are_drawn():
    counts = draw_counts(10, 5, np.random.default_rng(0), resamples=200)
    assert (counts.sum(axis=1) == 10).all()
    for line in counts:  # two runs of five, cyclic: neighbours share their count
        changes = np.count_nonzero(line != np.roll(line, 1))
        assert changes <= 4
    single = draw_counts(10, 1, np.random.default_rng(0), resamples=200)
    assert max(np.count_nonzero(line != np.roll(line, 1)) for line in single) > 4


@given(st.integers(2, 40), st.integers(1, 20), st.integers(0, 10**6))
def test_half_of_the_runs_count_twice(n, block, seed):
    """Mean one and variance one over the runs, whatever is drawn; rows of a run count alike."""
    block = min(block, n // 2)
    weights = draw_halves(n, block, np.random.default_rng(seed), resamples=20)
    assert weights.shape == (20, n)
    # 1 - 1 of the even case leaves a rounding.
    assert weights.min() >= -1e-15
    if n % block == 0:
        np.testing.assert_allclose(weights.mean(axis=1), 1.0, atol=1e-12)
        np.testing.assert_allclose(weights.var(axis=1), 1.0, atol=1e-12)
    if n % (2 * block) == 0:
        assert set(weights.round(12).ravel()) == {0.0, 2.0}
    changes = np.count_nonzero(weights != np.roll(weights, 1, axis=1), axis=1)
    assert changes.max() <= -(-n // block)


def test_a_resampled_mean_varies_as_much_as_a_mean_does():
    """The unbiased estimate S²/N, exactly, over all halves of four rows; with replacement less."""
    values = np.array([1.0, 2.0, 4.0, 9.0])
    weights = np.unique(draw_halves(4, 1, np.random.default_rng(0), RESAMPLES), axis=0)
    assert len(weights) == 6
    assert np.var(weights @ values / 4) == pytest.approx(values.var(ddof=1) / 4, rel=1e-12)


def test_runs_see_what_signals_remember(cheap_choice):
    """A slow series tells less than its length; drawn row by row it seems to tell more."""
    rng = np.random.default_rng(3)
    steps = rng.standard_normal((400, 5))
    slow = np.zeros_like(steps)
    for t in range(1, 400):
        slow[t] = 0.95 * slow[t - 1] + steps[t]
    ball = WassersteinBall(0.0)
    alone = bootstrap_radius(Signals(slow), ball)
    assert bootstrap_radius(Signals(slow), ball, block=40) > 2 * alone


def test_holes_and_weights(few_halves):
    table = signals(60)
    whole = bootstrap_radius(Signals(table), WassersteinBall(0.0))
    rng = np.random.default_rng(1)
    with_holes = table.copy()
    with_holes[rng.random(table.shape) < 0.1] = np.nan
    assert whole < bootstrap_radius(Signals(with_holes), WassersteinBall(0.0)) < 3 * whole
    halves = np.repeat([1.0, 0.0], 30)
    weighted = bootstrap_radius(Signals(table, halves), WassersteinBall(0.0))
    assert weighted == pytest.approx(
        bootstrap_radius(Signals(table[:30]), WassersteinBall(0.0)), rel=0.25
    )


def test_bad_input_is_named():
    with pytest.raises(DataError, match="give the radius as a number"):
        bootstrap_radius(Signals(signals(1)), WassersteinBall(0.0))
    with pytest.raises(ProblemError, match="half of the 30 signals"):
        bootstrap_radius(Signals(signals()), WassersteinBall(0.0), block=16)
    wide = Signals(np.zeros((2, 5001)))
    with pytest.raises(ProblemError, match="give the radius as a number"):
        bootstrap_radius(wide, MomentBall(0.0, p=1.0))


def test_the_seed_decides():
    table = signals()

    def chosen(seed):  # moments are compared ten times as fast as couplings
        return plain("bootstrap", ambiguity="moment", random_state=seed).fit(table).radius_

    first, again, other = map(chosen, (1, 1, 2))
    assert first == again != other
    state = chosen(np.random.RandomState(0))
    assert state == pytest.approx(first, rel=0.3)
    assert RESAMPLES == 199

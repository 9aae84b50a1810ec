"""The law from which tables are drawn: its spectrum, its tails, and how far its tables are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.selection.likely_law import kurtosis, likely_law, spread_spectrum


def centred(n, d, seed=0):
    rows = np.random.default_rng(seed).standard_normal((n, d)) * np.linspace(0.5, 2.0, d)
    return rows - rows.mean(axis=1, keepdims=True)


def law_of(rows, shares=None):
    if shares is None:
        shares = np.full(len(rows), 1.0 / len(rows))
    return likely_law(rows, shares, np.random.default_rng(0), 199)


@given(st.integers(2, 30), st.floats(0.05, 0.95), st.integers(0, 10**6))
def test_the_spectrum_has_the_mean_square_that_is_asked_for(p, part, seed):
    values = np.sort(np.random.default_rng(seed).chisquare(2, size=p) + 0.01)
    values /= values.mean()
    target = 1.0 + part * (np.mean(values**2) - 1.0)
    spread = spread_spectrum(values, target)
    assert np.mean(spread) == pytest.approx(1.0, rel=1e-9)
    assert np.mean(spread**2) == pytest.approx(target, rel=1e-6)
    assert (np.diff(spread) >= 0.0).all()


def test_the_dispersion_of_the_spectrum_is_right_on_average():
    """Of tables with half as many signals as vertices; that of the sample is several times it."""
    truth = np.linspace(0.5, 2.0, 20) ** 2
    centre = np.eye(20) - 1 / 20
    moment = centre @ np.diag(truth) @ centre
    square = np.sum(moment**2) / np.trace(moment) ** 2
    found, plain = [], []
    for seed in range(200):
        rows = centred(10, 20, seed)
        law = law_of(rows)
        gram = law.axes @ law.axes.T
        found.append(np.sum(gram**2) / np.trace(gram) ** 2)
        sample = rows.T @ rows
        plain.append(np.sum(sample**2) / np.trace(sample) ** 2)
    assert np.mean(found) == pytest.approx(square, rel=0.1)
    assert np.mean(plain) > 1.5 * square


def test_it_has_the_size_of_the_table_and_no_level():
    rows = centred(7, 12)
    law = law_of(rows)
    covariance = law.axes.T @ law.axes
    assert np.trace(covariance) == pytest.approx(np.sum(rows**2) / 7, rel=1e-9)
    np.testing.assert_allclose(covariance @ np.ones(12), 0.0, atol=1e-10)
    assert np.linalg.matrix_rank(covariance) == 11  # of seven rows


def test_heavy_tails_are_seen_and_drawn():
    rng = np.random.default_rng(3)
    plain = centred(100, 10)
    wild = plain / np.sqrt(rng.chisquare(4, size=(100, 1)) / 4)
    heavy = law_of(wild)
    assert heavy.heavy
    assert np.var(heavy.factors) > 0.2
    # About two of ten Gaussian tables are taken for heavy.
    assert sum(law_of(centred(30, 10, seed)).heavy for seed in range(30)) <= 15
    drawn = [law.draw(np.random.default_rng(1)) for law in (law_of(plain), heavy)]
    kurtoses = [kurtosis(np.sum(table**2, axis=1), np.full(100, 0.01)) for table in drawn]
    assert kurtoses[1] > 1.2 * kurtoses[0]


def test_rows_that_do_not_count_change_nothing():
    rows = centred(8, 6)
    shares = np.repeat([1 / 8, 0.0], [8, 3])
    more = law_of(np.vstack([rows, 5.0 + centred(3, 6, 1)]), shares)
    axes = law_of(rows).axes
    np.testing.assert_allclose(more.axes.T @ more.axes, axes.T @ axes, atol=1e-10)


def test_one_row_has_no_law():
    assert law_of(centred(2, 4), np.array([1.0, 0.0])) is None
    assert law_of(np.zeros((5, 4))) is None


def test_tables_have_the_covariance_of_the_law():
    """A hundred thousand signals: entries to a few thousandths, with heavy tails a few times."""
    rng = np.random.default_rng(3)
    wild = centred(40, 6) / np.sqrt(rng.chisquare(4, size=(40, 1)) / 4)
    for law, error in ((law_of(centred(40, 6)), 0.02), (law_of(wild), 0.06)):
        tables = np.vstack([law.draw(rng) for _ in range(2500)])
        found = tables.T @ tables / len(tables)
        scale = np.trace(law.covariance) * np.mean(law.factors if law.heavy else 1.0)
        np.testing.assert_allclose(
            found / np.trace(found), law.covariance / np.trace(law.covariance), atol=error
        )
        assert np.trace(found) == pytest.approx(scale, rel=error)

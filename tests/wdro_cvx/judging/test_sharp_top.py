"""The sharp bound of the largest eigenvalue: never below the eigenvalue, and close to it."""

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import random_laplacian, seeds
from scipy import sparse

from wdro_cvx import Nominal, WassersteinBall
from wdro_cvx.generators import neighbour_graph, smooth_table
from wdro_cvx.judging.sparse import sharp_top
from wdro_cvx.judging.sparse.premium import premium_bound
from wdro_cvx.judging.sparse.sharp_top import sharp_eigenvalue_bound
from wdro_cvx.judging.sparse.top import eigenvalue_bound


@given(seeds, st.integers(4, 30), st.floats(0.1, 1.0), st.floats(-8.0, 8.0))
@examples(80)
def test_it_is_an_upper_bound_and_sharp(seed, d, density, size):
    rng = np.random.default_rng(seed)
    laplacian = 10.0**size * random_laplacian(rng, d, density=density)
    if rng.integers(2):  # as a Mahalanobis ball has it: no row sums are left
        scales = np.exp(rng.standard_normal(d))
        laplacian = laplacian * np.outer(scales, scales)
    top = float(np.linalg.eigvalsh(laplacian)[-1])
    found = sharp_eigenvalue_bound(sparse.csr_array(laplacian))
    assert found >= top * (1 - 1e-14)
    assert found <= top * (1 + 2e-6)


@pytest.mark.parametrize("dimensions", [2, 10])
def test_odd_cycles_do_not_mislead_it(dimensions):
    laplacian = neighbour_graph(300, np.random.default_rng(0), dimensions).laplacian()
    top = float(np.linalg.eigvalsh(laplacian.toarray())[-1])
    assert top <= sharp_eigenvalue_bound(laplacian) <= top * (1 + 2e-6)
    assert eigenvalue_bound(laplacian) >= top * 1.03


@pytest.mark.parametrize("share", [0.5, 0.99, 1.0 - 1e-9])
def test_a_level_below_the_eigenvalue_is_no_bound(share):
    """Whatever Lanczos' method says: a pivot tells."""
    laplacian = neighbour_graph(200, np.random.default_rng(1)).laplacian()
    top = float(np.linalg.eigvalsh(laplacian.toarray())[-1])
    assert sharp_top._proved(laplacian, share * top) == np.inf
    assert sharp_top._proved(laplacian, top * (1 + 1e-9)) < np.inf


def test_an_estimate_that_is_too_low_is_raised(monkeypatch):
    laplacian = neighbour_graph(200, np.random.default_rng(1)).laplacian()
    top = float(np.linalg.eigvalsh(laplacian.toarray())[-1])
    low = np.array([top * (1 - 1e-3)])
    monkeypatch.setattr(sharp_top.sparse_linalg, "eigsh", lambda *args, **kwargs: low)
    assert top <= sharp_eigenvalue_bound(laplacian) <= 1.02 * top


def test_what_would_take_minutes_is_not_tried(monkeypatch):
    laplacian = neighbour_graph(200, np.random.default_rng(1)).laplacian()
    monkeypatch.setattr(sharp_top, "_MOST_WORK", 10.0)
    assert sharp_eigenvalue_bound(laplacian) == np.inf
    assert sharp_eigenvalue_bound(laplacian[:3, :3]) == np.inf


@pytest.mark.parametrize("share", [0.3, 1.0, 3.0, 10.0])
def test_next_to_the_largest_eigenvalue_the_premium_is_sharp_and_not_understated(share):
    """Signals without a part on top: γ comes down to λmax, where iterations would not end."""
    rng = np.random.default_rng(0)
    graph = neighbour_graph(150, rng)
    laplacian, radius = graph.laplacian(), share * np.sqrt(150)
    top = np.linalg.eigh(laplacian.toarray())[1][:, -3:]
    samples = smooth_table(graph, 4, rng)
    nominal = Nominal.from_samples(samples - samples @ top @ top.T)
    worst = WassersteinBall(radius).worst_case(nominal, laplacian.toarray())
    premium = worst.risk - float(np.vdot(nominal.second_moment, laplacian.toarray()))
    found = premium_bound(laplacian, np.array(nominal.factor.T, order="C"), radius)
    assert premium * (1 - 1e-12) <= found.value <= premium * (1 + 1e-5)
    assert np.linalg.norm(found.moves) <= radius * (1 + 1e-12)

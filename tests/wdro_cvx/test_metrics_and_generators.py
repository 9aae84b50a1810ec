import numpy as np
import pytest
from hypothesis import given
from instances import dimensions, random_laplacian, seeds

from wdro_cvx import DataError, ProblemError
from wdro_cvx.generators import add_noise, rbf_graph, sbm_graph, smooth_signals
from wdro_cvx.graphs.laplacian import residuals, weights_from_laplacian
from wdro_cvx.metrics import dog, mcc, nmi, reliability


@given(seeds, dimensions)
def test_mcc_is_the_correlation_of_the_edge_indicators(seed, d):
    rng = np.random.default_rng(seed)
    learned, truth = random_laplacian(rng, d), random_laplacian(rng, d)
    found = weights_from_laplacian(learned) >= 1e-4
    true = weights_from_laplacian(truth) >= 1e-4
    if found.std() == 0 or true.std() == 0:
        assert mcc(learned, truth) == 0.0
    else:
        assert mcc(learned, truth) == pytest.approx(np.corrcoef(found, true)[0, 1])
        assert mcc(truth, truth) == 1.0


def test_mcc_ignores_edges_below_the_threshold():
    truth = random_laplacian(np.random.default_rng(0), 6, density=0.4)
    dust = truth + 1e-5 * (6 * np.eye(6) - 1)
    assert mcc(dust, truth) == 1.0
    assert mcc(dust, truth, threshold=1e-6) < 1.0


def test_dog_and_nmi():
    truth = random_laplacian(np.random.default_rng(0), 4)
    assert dog(truth, truth) == 0.0
    assert dog(1.5 * truth, truth) == pytest.approx(0.5)
    assert nmi([0, 0, 1, 1], [1, 1, 0, 0]) == pytest.approx(1.0)
    assert nmi([0, 1, 0, 1], [0, 0, 1, 1]) == pytest.approx(0.0)


def test_reliability_counts_samples_below_the_value():
    laplacian = np.array([[1.0, -1.0], [-1.0, 1.0]])
    samples = [[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]]  # risks 0, 1, 9, plus eta·4
    assert reliability(laplacian, 1.5, 0.1, samples) == pytest.approx(2 / 3)
    assert reliability(laplacian, 100.0, 0.1, samples) == 1.0
    assert reliability(laplacian, 0.4, 0.1, samples) == 0.0


def test_generated_graphs_are_laplacians_of_trace_d_and_repeatable():
    for seed in range(5):
        first = rbf_graph(20, np.random.default_rng(seed))
        assert residuals(first, 20.0).largest < 1e-14
        assert np.array_equal(first, rbf_graph(20, np.random.default_rng(seed)))
        block, labels = sbm_graph([15, 15, 15], np.random.default_rng(seed))
        assert residuals(block, 45.0).largest < 1e-14
        assert np.array_equal(np.bincount(labels), [15, 15, 15])
        again, _ = sbm_graph([15, 15, 15], np.random.default_rng(seed))
        assert np.array_equal(block, again)


def test_rbf_threshold_and_block_densities():
    graph = rbf_graph(30, np.random.default_rng(0))
    weights = weights_from_laplacian(graph)
    kept = weights[weights > 0]
    assert kept.min() / kept.max() > 0.7
    block, labels = sbm_graph([60, 60], np.random.default_rng(0), p_within=0.3, p_between=0.02)
    edges = block < -1e-12
    same = labels[:, None] == labels[None, :]
    off = ~np.eye(120, dtype=bool)
    assert edges[same & off].mean() == pytest.approx(0.3, abs=0.03)
    assert edges[~same].mean() == pytest.approx(0.02, abs=0.01)


def test_signals_have_the_covariance_of_the_pseudo_inverse():
    rng = np.random.default_rng(0)
    graph = rbf_graph(6, rng)
    signals = smooth_signals(graph, 200_000, rng)
    expected = np.linalg.pinv(graph)
    # Four standard errors of an entry of a sample covariance at this sample size.
    error = 4 * np.diagonal(expected).max() / np.sqrt(200_000) * np.sqrt(2)
    assert np.abs(signals.T @ signals / 200_000 - expected).max() < error
    noisy = add_noise(np.zeros((200_000, 2)), 0.3, rng)
    assert noisy.std() == pytest.approx(0.3, rel=0.01)


def test_rounding_errors_of_the_laplacian_hardly_change_the_signals():
    weights = np.random.default_rng(0).normal(1.0, 1e-15, (12, 12))
    ring = np.roll(np.eye(12), 1, axis=0)
    perturbed = (ring + ring.T) * (weights + weights.T) / 2  # the ring has double eigenvalues
    drawn = [
        smooth_signals(np.diag(adjacency.sum(axis=0)) - adjacency, 5, np.random.default_rng(1))
        for adjacency in (ring + ring.T, perturbed)
    ]
    assert 0.0 < np.abs(drawn[0] - drawn[1]).max() < 1e-6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: rbf_graph(1, rng), "d must be"),
        (lambda rng: rbf_graph(5, rng, threshold=1.0), "no edge"),
        (lambda rng: sbm_graph([1], rng), "sum"),
        (lambda rng: sbm_graph([5, 5], rng, p_within=1.5), "p_within.*probability"),
        (lambda rng: sbm_graph([5, 5], rng, p_within=0.0, p_between=0.0), "no edge"),
        (lambda rng: smooth_signals(np.eye(3), 0, rng), "n must be"),
        (lambda rng: smooth_signals(np.eye(3), 5, rng, noise=-1.0), "noise"),
        (lambda rng: mcc(np.eye(3), np.eye(4)), "learned must have shape"),
        (lambda rng: dog(np.eye(3), np.zeros((3, 3))), "no edges"),
        (lambda rng: nmi([0, 1], [0, 1, 1]), "one label per vertex"),
        (lambda rng: reliability(np.eye(3), 1.0, 0.1, np.ones((5, 2))), "2 columns"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ProblemError, match=message):
        call(np.random.default_rng(0))


def test_bad_signals_are_data_errors():
    with pytest.raises(DataError, match="NaN"):
        reliability(np.eye(2), 1.0, 0.1, [[np.nan, 0.0]])


@given(seeds)
def test_unscaled_graphs_keep_the_weights_that_they_are_drawn_with(seed):
    raw = rbf_graph(12, np.random.default_rng(seed), scaled=False)
    weights = weights_from_laplacian(raw)
    assert ((weights == 0.0) | ((weights > 0.7) & (weights <= 1.0))).all()
    scaled = rbf_graph(12, np.random.default_rng(seed))
    np.testing.assert_allclose(scaled, raw * 12 / np.trace(raw), rtol=1e-12)
    blocks, _ = sbm_graph((5, 5), np.random.default_rng(seed), scaled=False)
    assert set(np.unique(weights_from_laplacian(blocks))) <= {0.0, 1.0}

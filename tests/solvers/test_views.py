"""Views of the estimator: graphs of other libraries, filled tables, prepared signals."""

import sys
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from signal_tables import plain, signals

from solvers import RobustGraph
from solvers.learned.imputation import impute
from solvers.selection.preparation import has_heavy_rows, prepare, weighted_median
from solvers.selection.signals import Signals
from wdro_cvx import SolverError


@pytest.fixture
def graph():
    return plain(0.1).fit(pd.DataFrame(signals(), columns=list("abcdef")))


def test_igraph(graph, monkeypatch):
    class Graph:
        def __init__(self, n, edges):
            self.n, self.edges, self.es, self.vs = n, edges, {}, {}

    monkeypatch.setitem(sys.modules, "igraph", SimpleNamespace(Graph=Graph))
    found = graph.to_igraph()
    assert found.n == 6
    assert found.vs["name"] == list("abcdef")
    for (i, j), weight in zip(found.edges, found.es["weight"], strict=True):
        assert weight == graph.adjacency_[i, j]
    assert len(found.edges) == len(graph.edges_)


def test_torch_geometric(graph, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(as_tensor=np.asarray))
    data = SimpleNamespace(Data=lambda **parts: SimpleNamespace(**parts))
    monkeypatch.setitem(sys.modules, "torch_geometric", SimpleNamespace(data=data))
    monkeypatch.setitem(sys.modules, "torch_geometric.data", data)
    found = graph.to_pyg()
    again = np.zeros((6, 6))
    again[tuple(found.edge_index)] = found.edge_weight
    np.testing.assert_array_equal(again, graph.adjacency_.astype(np.float32))
    assert found.edge_weight.dtype == np.float32  # layers of PyTorch refuse other ones
    assert found.num_nodes == 6


def test_pygsp(graph, monkeypatch):
    graphs = SimpleNamespace(Graph=lambda weights: weights)
    monkeypatch.setitem(sys.modules, "pygsp", SimpleNamespace(graphs=graphs))
    np.testing.assert_array_equal(graph.to_pygsp().toarray(), graph.adjacency_)


def test_a_library_that_is_not_there_is_named(graph, monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(SolverError, match="igraph is not installed"):
        graph.to_igraph()


def test_imputed_values_are_harmonic():
    rng = np.random.default_rng(0)
    laplacian = nx.laplacian_matrix(nx.cycle_graph(6)).toarray().astype(float)
    table = rng.standard_normal((4, 6))
    table[0, [1, 2]] = table[1, [1, 2]] = table[2, 5] = np.nan
    filled = impute(table, laplacian)
    gaps = np.isnan(table)
    np.testing.assert_array_equal(filled[~gaps], table[~gaps])
    np.testing.assert_allclose((filled @ laplacian)[gaps], 0.0, atol=1e-7)
    np.testing.assert_allclose(impute(table, sparse.csr_array(laplacian)), filled)
    empty = np.full((1, 6), np.nan)
    assert np.isnan(impute(empty, laplacian)).all()


def test_a_vertex_without_a_path_to_an_observed_one_gets_the_mean_of_its_row():
    laplacian = np.zeros((3, 3))
    laplacian[:2, :2] = [[1.0, -1.0], [-1.0, 1.0]]
    np.testing.assert_allclose(impute(np.array([[1.0, 2.0, np.nan]]), laplacian), [[1.0, 2.0, 1.5]])


def test_transform_fills_in_the_units_of_the_table_and_names_its_columns():
    table = pd.DataFrame(signals(60), columns=list("abcdef")) * 100.0 + np.arange(6.0)
    estimator = plain(0.1, standardise=True).set_output(transform="pandas").fit(table)
    holes = table.mask(np.random.default_rng(0).random(table.shape) < 0.1)
    filled = estimator.transform(holes)
    assert list(filled.columns) == list(estimator.get_feature_names_out()) == list("abcdef")
    assert not filled.isna().any().any()
    assert filled[~holes.isna()].equals(holes[~holes.isna()])
    other = plain(0.1, standardise=True).fit(table / 7.0 - 1.0).transform(holes / 7.0 - 1.0)
    np.testing.assert_allclose(other, filled / 7.0 - 1.0, atol=1e-2)  # two answers of gap 1e-6


@pytest.mark.parametrize("tails", [2.5, np.inf])
def test_rows_are_clipped_if_their_lengths_ask_for_it(tails):
    rng = np.random.default_rng(0)
    table = rng.standard_normal((200, 8))
    if np.isfinite(tails):
        table *= np.sqrt(tails / rng.chisquare(tails, (200, 1)))
    assert has_heavy_rows(Signals(table)) == np.isfinite(tails)
    prepared = prepare(Signals(table), standardise=False)
    assert prepared.clipped == np.isfinite(tails)
    lengths = np.linalg.norm(prepared.signals.centred, axis=1)
    if prepared.clipped:
        assert np.count_nonzero(np.isclose(lengths, lengths.max())) == 100  # longer than the median
    else:
        np.testing.assert_array_equal(prepared.signals.table, table)
    assert not prepare(Signals(table), moment="sample").clipped
    assert prepare(Signals(table), moment="clipped").clipped


def chain(n, seed):
    """Return Gaussian signals; neighbouring columns have correlation 0.7."""
    noise = np.random.default_rng(seed).standard_normal((n, 20))
    for column in range(1, 20):
        noise[:, column] = 0.7 * noise[:, column - 1] + 0.51**0.5 * noise[:, column]
    return noise


def with_holes(table, kind, rng):
    missing = rng.random(table.shape) < {"some": 0.1, "many": 0.35, "half": 0.7}[kind]
    if kind == "half":
        missing[:, ::2] = False
    return np.where(missing, np.nan, table)


@pytest.mark.parametrize("kind", ["some", "many", "half"])
@pytest.mark.parametrize("units", [1.0, np.linspace(1.0, 6.0, 20)])
def test_missing_cells_alone_do_not_look_like_outlying_rows(kind, units):
    clipped = [0, 0]
    for seed in range(20):
        rng, table = np.random.default_rng(seed), chain(300, seed) * units
        outlying = table * np.where(rng.random(300) < 0.03, 5.0, 1.0)[:, np.newaxis]
        for place, rows in enumerate((table, outlying)):
            rows = Signals(with_holes(rows, kind, rng))
            clipped[place] += prepare(rows, standardise=False).clipped
    assert clipped[0] <= 2
    assert clipped[1] == 20


def test_heavy_tails_show_in_few_rows_that_lack_most_cells():
    found = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        table = chain(60, seed) * np.sqrt(3.0 / rng.chisquare(5, (60, 1)))
        found += has_heavy_rows(Signals(np.where(rng.random(table.shape) < 0.6, np.nan, table)))
    assert found >= 21


def test_rows_that_lack_cells_are_clipped_as_often_as_others():
    table = chain(2000, 0) * np.where(np.arange(20) < 5, 1.0, 4.0)
    table[::2, 5:] = np.nan  # the columns that vary most
    found = prepare(Signals(table), standardise=False, moment="clipped").signals
    lengths = [np.linalg.norm(Signals(part).centred, axis=1) for part in (table, found.table)]
    shortened = (lengths[1] < 0.999 * lengths[0]).reshape(-1, 2).mean(axis=0)
    np.testing.assert_allclose(shortened, 0.5, atol=0.1)


def test_rows_of_one_cell_do_not_count_among_lengths():
    table = chain(100, 0)
    single = np.full((400, 20), np.nan)
    single[:, 0] = table[0, 0]
    both = Signals(np.concatenate([table, single]))
    assert not has_heavy_rows(both)
    found = prepare(both, standardise=False, moment="clipped").signals
    shortened = np.linalg.norm(found.centred[:100], axis=1) < 0.9 * np.linalg.norm(
        Signals(table).centred, axis=1
    )
    assert 20 <= np.count_nonzero(shortened) <= 60


def test_medians_count_weights_and_leave_gaps_out():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((11, 3))
    values[2, 1] = np.nan
    counts = rng.integers(1, 4, 11)
    expected = np.nanmedian(np.repeat(values, counts, axis=0), axis=0)
    np.testing.assert_allclose(weighted_median(values, counts / counts.sum()), expected)


def test_a_new_fit_forgets_what_the_old_one_knew():
    samples = signals()
    estimator = plain(0.1).fit(samples)
    estimator.stability(samples, 2)
    assert hasattr(estimator, "stability_")
    assert not hasattr(estimator.fit(samples), "stability_")


def test_absolute_turns_columns_round_and_the_score_knows_it():
    table = signals(60)
    turned = table * np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0]) + 0.0
    level = np.random.default_rng(1).standard_normal((60, 1)) * 3.0
    table, turned = table + level, turned + level * np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    first = RobustGraph(edges="all", moment="sample").fit(table)
    second = RobustGraph(edges="all", moment="sample", absolute=True).fit(turned)
    assert second.signs_.tolist() == [1.0, -1.0, 1.0, 1.0, -1.0, 1.0]
    np.testing.assert_allclose(second.laplacian_, first.laplacian_, atol=1e-9)
    assert second.score(turned) == pytest.approx(first.score(table))

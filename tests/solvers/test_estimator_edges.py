"""What the estimator reports about edges: names, the optimum, stability, pictures."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from signal_tables import plain, signals

from solvers import RobustGraph
from wdro_cvx import (
    DataError,
)
from wdro_cvx.metrics import EDGE_THRESHOLD

ETA = 0.05  # not the default


def test_edges_in_the_optimum_are_edges_of_a_sharper_answer():
    table = pd.DataFrame(signals(30), columns=list("abcdef"))
    rough = plain(0.5, tol=1e-3).fit(table)
    sharp = plain(0.5, tol=1e-9).fit(table).to_networkx()
    edges = rough.edges_
    assert list(edges.columns) == ["source", "target", "weight", "in_optimum"]
    assert edges["weight"].is_monotonic_decreasing
    assert len(edges) == rough.to_networkx().number_of_edges()
    assert edges["in_optimum"].any()
    for source, target, _, proved in edges.itertuples(index=False):
        assert sharp.has_edge(source, target) or not proved
    assert int(edges["in_optimum"].sum()) == rough.brackets_.counts()["present"]
    assert not plain(0.5, tol=0.5).fit(table).edges_["in_optimum"].all()


def test_stability_is_one_where_signals_repeat_and_less_where_they_do_not():
    same = np.repeat(signals(1), 20, axis=0) + 1e-9 * signals(20)
    assert set(np.unique(plain(0.1).fit(same).stability(same, 5))) == {0.0, 1.0}
    samples = signals(8)
    shares = plain(0.05).fit(samples).stability(samples, 20)
    np.testing.assert_array_equal(shares, shares.T)
    assert ((shares > 0.0) & (shares < 1.0)).any()


def test_pictures():
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection

    table = pd.DataFrame(signals(30), columns=list("abcdef"))
    graph = plain(0.3, tol=1e-2).fit(table)
    axes = graph.plot()
    assert {text.get_text() for text in axes.texts} == set("abcdef")
    assert f"{len(graph.edges_)} edges" in axes.get_title()
    drawn = [lines for lines in axes.collections if isinstance(lines, LineCollection)]
    widths = np.concatenate([lines.get_linewidths() for lines in drawn])
    assert len(widths) == len(graph.edges_)
    placed = graph.plot(places=np.arange(12.0).reshape(6, 2))
    np.testing.assert_array_equal(placed.collections[-1].get_offsets()[0], [0.0, 1.0])
    with pytest.raises(DataError, match="places must have shape"):
        graph.plot(places=np.zeros((5, 2)))
    path = graph.plot_path([0.1, 0.3, 1.0])
    weights = graph.adjacency_[np.triu_indices(6, 1)]
    at_radius = sorted(line.get_ydata()[1] for line in path.get_lines()[:-1])
    strong = sorted(weights[weights > 0.05])
    # Both are answers of their own tolerance: 1e-2 leaves a tenth of the graph.
    np.testing.assert_allclose(at_radius[-len(strong) :], strong, atol=0.1)
    plt.close("all")


def test_adjacency_leaves_faint_edges_out():
    graph = plain(0.1, eta=ETA).fit(signals())
    weights = -graph.laplacian_ * (1 - np.eye(6))
    np.testing.assert_array_equal(graph.adjacency_, weights)  # here no edge is that faint
    assert weights[weights > 0.0].min() > EDGE_THRESHOLD
    threshold = float(np.median(weights[weights > 0.0]))
    fewer = replace(graph.graph_, threshold=threshold)
    np.testing.assert_array_equal(fewer.adjacency, np.where(weights >= threshold, weights, 0.0))
    assert len(fewer.edges) == np.count_nonzero(fewer.adjacency) / 2


def test_names_of_a_data_frame_name_the_vertices():
    table = pd.DataFrame(signals(), columns=list("abcdef"))
    graph = plain(0.1, eta=0.03).fit(table)
    assert list(graph.feature_names_in_) == list("abcdef")
    network = graph.to_networkx()
    assert list(network) == list("abcdef")
    np.testing.assert_array_equal(nx.to_numpy_array(network), graph.adjacency_)
    assert 0 < network.number_of_edges() < 15
    with pytest.raises(ValueError, match="feature names"):
        graph.score(table.rename(columns={"a": "z"}))
    graph.fit(signals())
    assert not hasattr(graph, "feature_names_in_")


def test_vertices_without_names_are_numbered():
    graph = plain(0.1).fit(signals())
    network = graph.to_networkx()
    assert list(network) == list(range(6))
    np.testing.assert_array_equal(nx.to_numpy_array(network), graph.adjacency_)


def test_equal_names_are_refused_not_merged():
    table = pd.DataFrame(signals(), columns=list("abcdea"))
    with pytest.raises(ValueError, match="unique column names"):
        plain(0.1).fit(table)


def test_names_in_pictures_do_not_cover_each_other_and_widths_are_explained():
    import matplotlib.pyplot as plt

    table = pd.DataFrame(signals(12, 70), columns=[f"station {i}" for i in range(70)])
    axes = plain(0.3).fit(table).plot()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) > 20
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
    assert axes.get_legend().get_texts()[0].get_text().startswith("weight")
    plt.close("all")


def test_a_graph_without_edges_is_drawn():
    import matplotlib.pyplot as plt

    graph = replace(plain(0.3).fit(signals()).graph_, threshold=1e9)
    assert "0 edges" in graph.plot().get_title()
    assert graph.isolated == tuple(range(6))
    plt.close("all")


@pytest.mark.filterwarnings("ignore::solvers.selection.tables.TableWarning")
def test_a_controlled_rate_finds_next_to_nothing_in_noise():
    """Without each row's mean, independent columns look like a complete graph."""
    noise = np.random.default_rng(0).standard_t(3, (1000, 20))
    assert len(RobustGraph(fdr=0.1).fit(noise).edges_) <= 2

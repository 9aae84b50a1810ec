"""Which edges are selected: the cut, false discoveries, tables without structure."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from solvers import RobustGraph
from solvers.learned.evidence import describe_evidence, edge_evidence
from solvers.selection.edges import Candidates, Debiased, cut, debias
from solvers.selection.structure import discoveries, find_structure
from solvers.selection.tables import TableWarning
from wdro_cvx import EdgeBounds, Nominal, ProblemError, judge
from wdro_cvx.generators import smooth_signals
from wdro_cvx.metrics import edge_correlation

PAIRS = np.triu_indices(20, 1)


def grid(n=200, seed=0, tails=np.inf):
    """Return signals on a grid of 4 × 5 vertices, and its edges."""
    truth = nx.laplacian_matrix(nx.grid_2d_graph(4, 5)).toarray().astype(float)
    rng = np.random.default_rng(seed)
    table = smooth_signals(truth, n, rng)
    if np.isfinite(tails):
        table *= np.sqrt(tails / rng.chisquare(tails, (n, 1)))
    return table, truth < 0.0


def quality(graph, truth):
    return edge_correlation(graph.support_[PAIRS], truth[PAIRS])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_error_with_holes_is_the_usual_one_without_holes(weighted):
    table = grid(80, tails=5)[0]
    shares = np.arange(1.0, 81.0) if weighted else np.ones(80)
    shares /= shares.sum()
    heads, tails = (ends.astype(np.intp) for ends in PAIRS)
    weights = np.random.default_rng(0).exponential(size=len(heads))
    rows = (table - table.mean(axis=1, keepdims=True)) * np.sqrt(shares)[:, np.newaxis]
    samples = 1.0 / np.sum(shares**2)
    whole = debias(Candidates(heads, tails, weights, rows, samples, True), weights)
    nominal = Nominal.from_samples(table, shares)
    holes = Candidates(heads, tails, weights, rows, samples, False, nominal)
    found = debias(holes, weights)
    if weighted:  # rows as such, or as effective rows
        np.testing.assert_allclose(found.observed, whole.observed, rtol=0.1)
    else:
        np.testing.assert_allclose(found.observed, whole.observed, rtol=1e-9)
    np.testing.assert_array_equal(found.error, whole.error)


def test_columns_of_noise_that_lack_the_same_rows_have_no_structure():
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        table, present = rng.standard_normal((200, 20)), np.ones((200, 20), dtype=bool)
        present[:100, :10] = False  # half of the stations start later
        found.append(find_structure(np.where(present, table, 0.0), False, rng, present).score)
    assert np.mean(np.array(found) > 2.0) < 0.2
    assert abs(np.mean(found)) < 0.8
    related = grid(200)[0]
    assert find_structure(np.where(present, related, 0.0), False, rng, present).found


@pytest.mark.parametrize(("every", "share"), [(1, 0.35), (2, 0.5)])
def test_holes_do_not_raise_the_share_of_false_edges(every, share):
    false = []
    for seed in range(10):
        table, truth = grid(200, seed)
        columns = table[:, ::every]
        columns[np.random.default_rng(seed).random(columns.shape) < share] = np.nan
        support = RobustGraph(fdr=0.1).fit(table).support_[PAIRS]
        false.append(np.mean(~truth[PAIRS][support]))
    assert np.mean(false) < 0.1


@pytest.mark.filterwarnings("ignore::solvers.selection.radius.ChoiceWarning")
@pytest.mark.filterwarnings("ignore::solvers.selection.tables.TableWarning")
def test_rows_of_weight_zero_say_nothing_about_edges():
    noise = np.random.default_rng(1).standard_normal((60, 20))
    table, weights = np.vstack([noise, grid(60)[0]]), np.repeat([1.0, 0.0], 60)
    alone, both = RobustGraph().fit(noise), RobustGraph().fit(table, sample_weight=weights)
    assert not alone.graph_.selection.found
    assert both.structure_ == alone.structure_
    pd.testing.assert_frame_equal(both.edges_, alone.edges_)
    chosen = RobustGraph("prediction", edges="all").fit(table, sample_weight=weights)
    assert chosen.radius_ == RobustGraph("prediction", edges="all").fit(noise).radius_
    assert both.stability(table, 20, weights).max() <= 1.0


def test_rows_of_hardly_any_weight_hardly_change_a_z_score():
    table = grid()[0]
    heads, tails = (ends.astype(np.intp) for ends in PAIRS)
    weights = np.full(len(heads), 0.1)
    shares = np.repeat([1.0, 1e-9], 100) / (100.0 + 1e-7)
    rows = table * np.sqrt(shares)[:, np.newaxis]
    samples = 1.0 / np.sum(shares**2)
    alone = debias(Candidates(heads, tails, weights, table[:100] / 10.0, 100.0, True), weights)
    both = debias(Candidates(heads, tails, weights, rows, samples, True), weights)
    np.testing.assert_allclose(both.observed, alone.observed, rtol=1e-6)
    np.testing.assert_allclose(both.z_scores, alone.z_scores, rtol=1e-5, atol=1e-5)


def test_the_cut_finds_the_graph_and_the_certificate_is_that_of_the_optimum():
    table, truth = grid()
    graph = RobustGraph().fit(table)
    assert quality(graph, truth) > 0.85
    everything = RobustGraph(edges="all").fit(table)
    assert quality(everything, truth) < 0.75  # the optimal graph has too many edges
    np.testing.assert_array_equal(graph.laplacian_, everything.laplacian_)
    assert judge(graph.problem_, graph.laplacian_, graph.certificate_).solved(1e-6)
    assert len(graph.edges_) == graph.support_.sum() // 2 < len(everything.edges_)
    assert graph.to_networkx().number_of_edges() == len(graph.edges_)
    np.testing.assert_array_equal(graph.support_, graph.support_.T)


def test_what_the_table_of_edges_says():
    table, _ = grid(100)
    graph = RobustGraph().fit(pd.DataFrame(table, columns=[f"v{i}" for i in range(20)]))
    edges = graph.edges_
    columns = ["source", "target", "weight", "z_score", "q_value", "in_optimum"]
    assert list(edges.columns) == columns
    assert edges["weight"].is_monotonic_decreasing
    names = list(graph.feature_names_in_)
    for source, target, weight in edges[columns[:3]].itertuples(index=False):
        assert weight == graph.adjacency_[names.index(source), names.index(target)]
    graph.stability(pd.DataFrame(table, columns=names), 3)
    assert list(graph.stability_.columns) == names == list(graph.stability_.index)
    assert list(graph.edges_.columns) == [*columns[:5], "stability", "in_optimum"]


@pytest.mark.parametrize("tails", [np.inf, 5.0])
def test_false_discoveries_are_rare(tails):
    shares, found = [], 0
    for seed in range(6):
        table, truth = grid(200, seed, tails)
        chosen = RobustGraph(fdr=0.1).fit(table).support_[PAIRS]
        shares.append(np.count_nonzero(chosen & ~truth[PAIRS]) / max(chosen.sum(), 1))
        found += chosen.sum()
    assert np.mean(shares) <= 0.12
    assert found > 6 * 15  # of 31: silence would control it, too


@pytest.mark.parametrize(("n", "d"), [(50, 20), (200, 20), (1000, 20), (20, 45), (60, 45)])
def test_noise_has_next_to_no_edges_and_says_so(n, d):
    table = np.random.default_rng(1).standard_normal((n, d))
    with pytest.warns(
        TableWarning,
        match="No structure found: .* do not show that neighbours",
    ):
        graph = RobustGraph().fit(table)
    assert graph.support_.sum() <= 0.05 * d * (d - 1)
    assert graph.structure_ < 2.0
    assert graph.graph_.notes


def test_false_alarms_are_rare_and_graphs_are_noticed():
    rng = np.random.default_rng(3)
    alarms = [find_structure(rng.standard_normal((50, 10)), False, rng).found for _ in range(60)]
    assert np.mean(alarms) <= 0.1
    slow = np.cumsum(rng.standard_normal((200, 10)), axis=0)  # trends are no dependence
    assert not find_structure(np.diff(slow, axis=0) + 0.9 * np.diff(slow, axis=0), False, rng).found
    assert all(find_structure(grid(50, seed)[0], False, rng).found for seed in range(5))


def test_few_signals_do_not_fill_the_graph():
    truth = nx.laplacian_matrix(nx.barabasi_albert_graph(100, 2, seed=1)).toarray().astype(float)
    table = smooth_signals(truth, 50, np.random.default_rng(0))
    graph = RobustGraph().fit(table)
    assert 100 <= graph.support_.sum() // 2 <= 300  # 196 are true; the optimum has about 700
    assert len(RobustGraph(edges="all").fit(table).edges_) > 500


def test_edges_that_bounds_require_are_selected():
    table, _ = grid(60)
    bounds = EdgeBounds.from_edges(20, present=[(0, 19)], absent=[(0, 1)], least=0.01)
    graph = RobustGraph(bounds=bounds).fit(table)
    assert graph.support_[0, 19]
    assert not graph.support_[0, 1]


def test_neighbours_select_all_edges_of_their_graph():
    graph = RobustGraph(neighbours=3).fit(grid(60)[0])
    np.testing.assert_array_equal(graph.support_, graph.adjacency_ > 0.0)
    assert np.isnan(graph.structure_)


def test_false_discoveries_of_too_many_vertices_are_refused(monkeypatch):
    monkeypatch.setattr("solvers.selection.support.REFIT_UP_TO", 10)
    with pytest.raises(ProblemError, match="fdr needs a refit"):
        RobustGraph(fdr=0.1).fit(grid(60)[0])


def test_the_cut_is_at_the_largest_joint_z_score():
    weights, error = np.array([3.0, 1.0, 0.2, 2.0]), np.ones(4)
    keep = cut(np.array([4.0, 3.0, 2.0, 1.0]), Debiased(weights, error, error))
    # 3, 4/√2, 4.2/√3, 6.2/√4: the last edge is strong, and brings the faint one along.
    assert keep.tolist() == [True, True, True, True]
    weights = np.array([3.0, 1.5, 0.2, 1.0])
    keep = cut(np.array([4.0, 3.0, 2.0, 1.0]), Debiased(weights, error, error))
    assert keep.tolist() == [True, True, False, False]
    assert cut(np.zeros(0), Debiased(*np.zeros((3, 0)))).tolist() == []


def test_with_missing_values_the_cut_counts_an_edge_by_how_well_it_is_measured():
    score, weights, error = np.array([4.0, 3.0, 2.0]), np.array([3.0, 0.8, 2.4]), np.ones(3)
    observed = np.array([1.0, 9.0, 1.0])
    assert cut(score, Debiased(weights, error, observed)).tolist() == [True, True, True]
    # Ranked 4, 2, 3/√9 = 1: 3, 5.4/√2, (5.4 + 0.8/81)/√(2 + 1/81).
    assert cut(score, Debiased(weights, error, observed, True)).tolist() == [True, False, True]
    unknown = np.array([1.0, np.inf, 1.0])  # a vertex without an edge in the pilot
    assert cut(score, Debiased(weights, unknown, error, True)).tolist() == [True, True, True]
    assert cut(score, Debiased(weights, unknown, error)).tolist() == [True, True, True]


def test_columns_that_lack_most_values_bring_few_wrong_edges_along():
    false, found = [], []
    for seed in range(8):
        table, truth = grid(600, seed)
        columns = table[:, 1::2]
        columns[np.random.default_rng(seed).random(columns.shape) < 0.7] = np.nan
        graph = RobustGraph().fit(table)
        false.append(np.mean(~truth[PAIRS][graph.support_[PAIRS]]))
        found.append(quality(graph, truth))
    assert np.mean(false) < 0.1
    assert np.mean(found) > 0.9


def test_debiased_weights_are_those_of_the_formula():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((40, 5)) / np.sqrt(40)
    rows -= rows.mean(axis=1, keepdims=True)
    heads, tails = np.triu_indices(5, 1)
    weights = rng.random(10)
    found = debias(Candidates(heads, tails, weights, rows, 40.0, True), weights)
    pilot = np.zeros((5, 5))
    pilot[heads, tails] = -weights
    pilot += pilot.T
    np.fill_diagonal(pilot, -pilot.sum(axis=1))
    expected = -(2 * pilot - pilot @ (rows.T @ rows) @ pilot)
    np.testing.assert_allclose(found.weights, expected[heads, tails])
    diagonal = np.diag(pilot)
    error = np.sqrt((np.outer(diagonal, diagonal) + pilot**2) / 40)
    np.testing.assert_allclose(found.error, error[heads, tails])
    moved = rows @ pilot * np.sqrt(40)
    products = moved[:, heads] * moved[:, tails]
    np.testing.assert_allclose(found.observed, products.std(axis=0) / np.sqrt(40))


def test_discoveries_are_those_of_scipy():
    z_scores = np.random.default_rng(0).standard_normal(30) + 1.0
    expected = stats.false_discovery_control(np.append(stats.norm.sf(z_scores), np.ones(20)))
    np.testing.assert_allclose(discoveries(z_scores, 50), expected[:30])


# --- What is said about the selected edges -----------------------------------------------------


def related_pairs(n, d, seed=0):
    """Return independent columns, of which two pairs are related."""
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((n, d))
    table[:, 1] = table[:, 0] + 0.5 * rng.standard_normal(n)
    table[:, 3] = table[:, 2] + 0.5 * rng.standard_normal(n)
    return table


def test_few_clear_edges_among_many_are_remarked():
    graph = RobustGraph().fit(related_pairs(300, 20)).graph_
    clear = (graph.edges["q_value"] <= 0.1).sum()
    assert 0 < clear < len(graph.edges) / 2
    (note,) = graph.notes
    assert note.startswith(f"Only {clear} of {len(graph.edges)} selected edges are shown clearly")
    assert "Try fdr=0.1" in note
    (other,) = describe_evidence(replace(graph, selection=replace(graph.selection, as_fdr=False)))
    assert "fdr" not in other  # another pilot decides there, and may find other edges
    assert other.endswith("Try more observations.")
    careful = RobustGraph(fdr=0.1).fit(related_pairs(300, 20)).graph_
    assert (len(careful.edges), careful.notes) == (clear, ())
    assert RobustGraph().fit(grid(200)[0]).graph_.notes == ()


def test_the_remark_is_about_the_edges_above_the_threshold():
    graph = RobustGraph().fit(related_pairs(300, 20)).graph_
    heavy = replace(graph, threshold=float(graph.edges["weight"].iloc[2]))
    assert len(heavy.edges) == 3
    assert describe_evidence(heavy) == []


@pytest.mark.parametrize(("score", "poor"), [(-0.01, True), (0.0, False), (0.7, False)])
def test_a_held_out_score_below_zero_is_said_to_be_poor(score, poor):
    graph = RobustGraph().fit(grid(50)[0]).graph_
    said = dict(edge_evidence(replace(graph, held_out=score)))["held-out prediction"]
    assert ("predict worse" in said) == poor


def test_clear_edges_that_are_not_selected_are_counted():
    table, _ = grid(1000)
    graph, careful = RobustGraph().fit(table).graph_, RobustGraph(fdr=0.1).fit(table).graph_
    missed = np.count_nonzero(careful.support & ~graph.support) // 2
    assert missed > 0
    many = "1 further edge" if missed == 1 else f"{missed} further edges"
    said = dict(edge_evidence(graph))["not selected"]
    assert said.startswith(f"{many} of the optimal graph ha")
    assert "(fdr) of 0.1 selects" in said
    assert "not selected" not in dict(edge_evidence(careful))
    assert "not selected" not in dict(edge_evidence(replace(graph, threshold=1.0)))
    short = RobustGraph().fit(table[:30]).graph_  # its pilot is not the one of fdr
    assert not short.selection.as_fdr


@pytest.mark.parametrize(("slope", "said"), [(0.9, True), (0.0, False), (0.2, False)])
def test_rows_that_resemble_their_neighbours_are_remarked(slope, said):
    table, _ = grid(400)
    for row in range(1, 400):
        table[row] += slope * table[row - 1]
    graph = RobustGraph().fit(table).graph_
    assert any("Neighbouring rows are alike (lag-1" in note for note in graph.notes) == said
    if said:
        assert graph.selection.lag == pytest.approx(slope, abs=0.05)
    assert RobustGraph(edges="all").fit(table).graph_.notes == ()

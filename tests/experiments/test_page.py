"""Result pages: what Python puts into them."""

import base64
import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from signal_tables import signals

from solvers import solve
from solvers.learned import grid as path
from solvers.learned.drawing import spread_out
from solvers.learned.page import libraries
from solvers.learned.page.content import GraphPage
from solvers.learned.page.data import graph_data
from solvers.learned.page.document import STATIC, bundle, document, in_order, packed
from wdro_cvx import (
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    KLBall,
    LogDegree,
    LogDet,
    MomentBall,
    Nominal,
    Singleton,
    judge,
)
from wdro_cvx.graphs.edge_list import EdgeList


def problem(d=8, n=30, ambiguity=None, **prior):
    nominal = Nominal.from_samples(signals(n, d))
    return GraphProblem(nominal, ambiguity or GaussianBall(0.3), **prior or {"eta": 0.3})


def computed(stated, **settings):
    answer = solve(stated)
    return path.compute_path(stated, answer, judge(stated, answer), **settings)


def page_of(stated, names=None):
    d = stated.d
    found = computed(stated)
    names = names or [f"v{i}" for i in range(d)]
    places = np.random.default_rng(1).random((d, 2))
    return GraphPage("t", names, places, False, np.zeros(d), found, 1e-4, stated.nominal.samples)


# --- Libraries and modules -----------------------------------------------------------------------


def test_libraries_are_what_was_pinned_and_a_changed_byte_is_seen(tmp_path, monkeypatch):
    assert libraries.altered() == []
    copy = tmp_path / "copy"
    shutil.copytree(libraries._HERE, copy)
    (copy / "d3.min.js").write_text((copy / "d3.min.js").read_text() + " ")
    (copy / "d3.LICENSE.txt").unlink()
    monkeypatch.setattr(libraries, "_HERE", copy)
    assert sorted(libraries.altered()) == ["d3.LICENSE.txt", "d3.min.js"]


def test_every_library_has_its_licence_and_its_archive_a_hash():
    for package in libraries.packages():
        assert package.integrity.startswith("sha512-")
        assert any(name.endswith(".LICENSE.txt") for name in package.files.values())


@pytest.mark.parametrize("entry", [p.stem for p in STATIC.glob("*.html")])
def test_bundles_hold_every_module_once_after_what_it_imports(entry):
    order, text = in_order(entry), bundle(entry)
    for place, name in enumerate(order):
        assert text.count(f"const ${name} = (() => {{") == 1
        needed = re.findall(r'from "\./(\w+)\.js"', (STATIC / f"{name}.js").read_text())
        assert set(needed) <= set(order[:place])
    assert not re.search(r"^\s*(import|export)\b", text, re.MULTILINE)


# --- The document --------------------------------------------------------------------------------


@examples(60)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_no_name_can_begin_markup_and_every_name_comes_back(name):
    hostile = f"{name}</script><!--<script>{name}\u2028&"
    text = document(hostile, {"names": [hostile]})
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert not set("<>&\u2028") & set(data[1])
    assert json.loads(data[1])["names"] == [hostile]
    title = re.search(r"<title>(.*?)</title>", text, re.DOTALL)[1]
    assert "<" not in title


def test_the_policy_names_every_script_and_allows_nothing_else():
    text = document("t", {})
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "http" not in policy
    scripts = re.findall(r"<script(?: id=\"judge-code\")?>", text)
    assert len(scripts) == len(re.search(r"script-src ([^;]*)", policy)[1].split()) == 3


def test_packed_numbers_keep_every_bit():
    values = np.array([np.pi, -0.0, 5e-324, 1e300])
    found = packed(values, "f8")
    back = np.frombuffer(base64.b64decode(found["base64"]), "<f8")
    assert back.tobytes() == values.tobytes()


# --- The path ------------------------------------------------------------------------------------


def test_the_path_holds_the_chosen_graph_and_only_judged_ones():
    stated = problem()
    answer = solve(stated)
    found = path.compute_path(stated, answer, judge(stated, answer))
    chosen = found.points[found.chosen]
    assert len(found.points) == len(found.radii) * len(found.etas) == 80
    assert (found.radii[chosen.radius], found.etas[chosen.eta]) == (0.3, 0.3)
    np.testing.assert_array_equal(chosen.laplacian, answer.laplacian)
    assert found.radii[0] == 0.0
    assert list(found.radii) == sorted(found.radii)
    assert len({(point.radius, point.eta) for point in found.points}) == 80
    for point in found.points:
        assert point.problem.ambiguity.radius == found.radii[point.radius]
        assert point.problem.eta == found.etas[point.eta]
        assert point.verdict.solved(1e-6)


def test_the_path_of_a_log_degree_prior_keeps_the_ratio_of_its_numbers():
    stated = problem(prior=LogDegree(1.2, 0.3))
    found = computed(stated)
    chosen = found.points[found.chosen]
    assert len(found.points) == len(found.radii) * len(found.etas) == 80
    assert (found.radii[chosen.radius], found.etas[chosen.eta]) == (0.3, 0.6)
    for point in found.points:
        prior = point.problem.prior
        assert point.problem.ambiguity.radius == found.radii[point.radius]
        assert np.sqrt(prior.alpha * prior.beta) == pytest.approx(found.etas[point.eta], rel=1e-14)
        assert prior.alpha / prior.beta == pytest.approx(4.0, rel=1e-14)
        assert point.verdict.solved(1e-6)


def test_the_path_ends_when_its_time_is_over_and_keeps_what_it_has(monkeypatch):
    monkeypatch.setattr(path, "_TOGETHER", 0)  # as for a graph with many vertices
    stated = problem()
    ticks = iter([0.0, 1.0, 2.0, *[1e9] * 100])
    found = computed(stated, clock=lambda: next(ticks))
    assert len(found.points) == 3
    assert found.points[0].problem is stated


@pytest.mark.parametrize("radius", [0.0, 0.5])
def test_without_a_set_only_eta_varies_and_from_radius_zero_the_path_goes_up(radius):
    single = computed(problem(ambiguity=Singleton()))
    assert single.radii == (0.0,)
    assert len(single.etas) == len(single.points) == 16
    radii = path._radii(radius, 16)
    assert len(set(radii)) == 16
    assert radius in radii


def test_a_graph_that_its_own_worst_case_does_not_prove_carries_its_moment():
    stated = problem(n=3, ambiguity=GaussianBall(2.0))
    answer = solve(stated, 1e-8)
    point = path._judged(0, 0, stated, answer)
    assert not judge(stated, answer.laplacian).solved(1e-6)
    assert point.moment is not None
    assert point.verdict.solved(1e-6)


# --- What the page is given ----------------------------------------------------------------------


FORBIDDEN = EdgeBounds.from_edges(8, absent=[(0, 1)])


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        (problem(ambiguity=KLBall(0.1)), "no judge for KLBall"),
        (problem(eta=0.3, trace_penalty=2.0), "with a fixed trace"),
        (problem(eta=0.3, bounds=FORBIDDEN), "without bounds"),
        (problem(eta=0.3, terms=(LogDet(1.0),)), "no judge for LogDet terms"),
        (problem(prior=LogDegree(1.0, 0.1, FORBIDDEN)), "without bounds"),
    ],
)
def test_what_the_page_cannot_judge_it_says(stated, why, monkeypatch):
    monkeypatch.setattr(path, "_GRIDS", ((500, 3, 1),))
    data = graph_data(page_of(stated))
    assert data["problem"]["set"] is None
    assert why in data["problem"]["why"]
    assert "rows" not in data["problem"]


def test_evidence_that_is_too_large_is_left_out_and_missed(monkeypatch):
    monkeypatch.setattr(path, "_GRIDS", ((500, 3, 1),))
    monkeypatch.setattr("solvers.learned.page.data._EVIDENCE", 0)
    data = graph_data(page_of(problem(ambiguity=MomentBall(1.0, p=1.0))))
    lacking = [point for point in data["points"] if point["lacks"]]
    assert lacking
    assert all(point["moment"] is None for point in lacking)


def test_undecided_edges_are_those_of_the_brackets(monkeypatch):
    monkeypatch.setattr(path, "_GRIDS", ((500, 3, 1),))
    stated = problem(d=12, n=6)
    rough = solve(stated, 1e-2)
    point = path._judged(0, 0, stated, rough)
    page = page_of(stated)
    page = replace(page, path=path.Path((0.3,), (0.3,), (point,), 0))
    data = graph_data(page)["points"][0]
    flags = np.frombuffer(base64.b64decode(data["undecided"]["base64"]), np.uint8)
    edges = EdgeList.from_laplacian(point.laplacian)
    expected = np.zeros((12, 12), dtype=bool)
    expected[np.triu_indices(12, 1)] = point.verdict.edges.undecided(1e-4)
    np.testing.assert_array_equal(flags, expected[edges.heads, edges.tails])
    assert flags.sum() > 0


@pytest.mark.parametrize("d", [30, 600])
def test_layouts_are_finite_spread_and_the_same_again(d):
    stated = problem(d=d, n=20, ambiguity=Singleton())
    answer = solve(stated)
    edges, places = answer.edges, spread_out(answer.adjacency)
    assert places.shape == (d, 2)
    np.testing.assert_array_equal(places, spread_out(answer.adjacency))
    assert len(np.unique(places.round(6), axis=0)) == d
    near = np.linalg.norm(places[edges.heads] - places[edges.tails], axis=1).mean()
    rng = np.random.default_rng(0)
    far = np.linalg.norm(places - places[rng.permutation(d)], axis=1).mean()
    assert near < far  # neighbours are closer than strangers


@pytest.mark.parametrize("d", [30, 600])
def test_vertices_without_an_edge_are_in_rows_below_the_others(d):
    weights = sparse.lil_array((d, d))
    alone = np.arange(0, d, 3)
    joined = np.setdiff1d(np.arange(d), alone)
    weights[joined[:-1], joined[1:]] = weights[joined[1:], joined[:-1]] = 1.0
    places = spread_out(sparse.csr_array(weights))
    assert places[alone, 1].max() < places[joined, 1].min()
    assert len(np.unique(places[alone, 1])) == -(-len(alone) // 25)
    assert len(np.unique(places.round(9), axis=0)) == d


@pytest.mark.parametrize("d", [30, 600])
def test_a_graph_without_edges_has_a_layout(d):
    places = spread_out(sparse.csr_array((d, d)))
    assert np.isfinite(places).all()
    assert len(np.unique(places.round(6), axis=0)) == d


@pytest.mark.parametrize("tol", [pytest.param(1e-2, marks=pytest.mark.slow), 1e-8])
def test_large_graphs_keep_their_verdict_and_the_brackets_of_listed_pairs(monkeypatch, tol):
    monkeypatch.setattr(path, "SPARSE_FROM", 10)
    monkeypatch.setattr(path, "_GRIDS", ((500, 3, 1),))
    stated = problem(d=30, n=10)
    answer = solve(stated, tol)
    answer = replace(answer, laplacian=sparse.csr_array(answer.laplacian))
    verdict = judge(stated, answer)
    point = path._judged(0, 0, stated, answer, verdict)
    assert point.verdict is verdict  # judging it again would take as long as solving it
    brackets = verdict.edges
    open_pairs = brackets.undecided(1e-4)
    listed = dict(zip(zip(brackets.heads, brackets.tails, strict=True), open_pairs, strict=True))
    edges = answer.edges
    expected = [
        listed.get(pair, brackets.others >= 1e-4)
        for pair in zip(edges.heads, edges.tails, strict=True)
    ]
    page = replace(page_of(stated), path=path.Path((0.3,), (0.3,), (point,), 0))
    found = graph_data(page)["points"][0]["undecided"]
    flags = np.frombuffer(base64.b64decode(found["base64"]), np.uint8)
    np.testing.assert_array_equal(flags, expected)

"""``graph.html`` for sets that it cannot check, for large graphs, and for unusual ones."""

import re
from dataclasses import replace

import numpy as np
import pytest
from browser import Watched
from graph_pages import AGREE, data, move, paged, verified, written

from solvers import solve
from solvers.learned import grid as path
from wdro_cvx import GaussianBall, GraphProblem, KLBall, Nominal, WassersteinBall, judge
from wdro_cvx.graphs.edge_list import EdgeList


def test_a_set_that_the_page_does_not_know_is_not_called_verified(browser, tmp_path):
    stated = GraphProblem(Nominal.from_samples(data(8, 30, 0)), KLBall(0.1), eta=0.3)
    point = path._judged(0, 0, stated, solve(stated))
    watched = Watched(browser, written(paged([point]), tmp_path))
    assert (
        watched.page.inner_text("#verified")
        == "Not checked here: this page has no judge for KLBall."
    )
    assert "solved" in watched.page.inner_text("#judged")
    watched.page.locator("#rows tr").first.locator("td.weight").click()
    assert "not computed here" in watched.page.inner_text("#details")
    watched.check()
    watched.context.close()


def test_hundreds_of_vertices_are_drawn_on_a_canvas_and_judged(browser, tmp_path):
    stated = GraphProblem(Nominal.from_samples(data(520, 30, 0)), GaussianBall(2.0), eta=0.3)
    point = path._judged(0, 0, stated, solve(stated, 1e-7))
    page = paged([point])
    page.places[:] = np.random.default_rng(0).random((520, 2))
    watched = Watched(browser, written(page, tmp_path))
    assert watched.page.locator("#picture canvas").count() == 1
    found = verified(watched.page)
    assert found["gap"] == pytest.approx(point.verdict.gap, abs=AGREE)
    assert watched.page.locator("#rows tr").count() == 200
    watched.page.click("#more")
    assert watched.page.locator("#rows tr").count() == 400
    with watched.page.expect_download() as waiting:
        watched.page.click("[data-file='graph.svg']")
    assert waiting.value.path().read_text().count("<circle") == 520
    watched.check()
    watched.context.close()


@pytest.mark.parametrize(
    "change",
    [
        {"threshold": 1e9, "names": ["", " ", "\u202egnp.exe", "🐧" * 2000, "a\nb", "é" * 3]},
        {
            "threshold": 0.0,
            "columns": {"flat": np.full(6, 7.0), "huge": np.geomspace(1e-300, 1e300, 6)},
            "communities": np.arange(6) * 100.0,
        },
        {"places": np.zeros((6, 2)), "on_map": True, "signals": None},
        {"places": np.array([[0.0, 90.0], [360.0, -90.0]] * 3), "on_map": True},
    ],
    ids=["no edge, odd names", "nothing decided, odd numbers", "all in one place", "poles"],
)
def test_odd_graphs_open_without_complaint_and_can_be_walked_through(browser, tmp_path, change):
    stated = GraphProblem(Nominal.from_samples(data(6, 9, 3)), GaussianBall(0.3), eta=0.3)
    point = path._judged(0, 0, stated, solve(stated, 1e-7))
    plain = replace(paged([point]), places=np.random.default_rng(0).random((6, 2)))
    page = replace(plain, **{"signals": stated.nominal.samples, **change})
    watched = Watched(browser, written(page, tmp_path), viewport={"width": 500, "height": 700})
    assert verified(watched.page)["gap"] <= 1e-6
    for vertex in range(6):
        watched.page.evaluate("(k) => { location.hash = `v=${k}&c=huge`; }", vertex)
    watched.page.focus("#picture")
    for key in ("ArrowLeft", "ArrowDown", "+", "0"):
        watched.page.keyboard.press(key)
    for name in ("edges.csv", "graph.graphml", "laplacian.npz", "graph.svg", "graph.png"):
        with watched.page.expect_download():
            watched.page.click(f"[data-file='{name}']")
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= 500
    watched.check()
    watched.context.close()


def test_no_two_communities_share_a_colour(browser, tmp_path):
    stated = GraphProblem(Nominal.from_samples(data(24, 60, 3)), GaussianBall(0.3), eta=0.3)
    point = path._judged(0, 0, stated, solve(stated, 1e-7))
    labels = np.arange(24) // 2
    places = np.random.default_rng(0).random((24, 2))
    page = replace(paged([point]), places=places, communities=labels)
    watched = Watched(browser, written(page, tmp_path))
    fills = watched.page.eval_on_selector_all(
        "#picture .vertex", "all => all.map((e) => e.getAttribute('fill'))"
    )
    paper = "#ffffff"  # of a vertex without an edge, which has no colour
    own = [{fills[i] for i in np.flatnonzero(labels == label)} - {paper} for label in range(7)]
    assert [len(colours) for colours in own] == [1] * 7
    assert len(set.union(*own)) == 7
    assert {fills[i] for i in np.flatnonzero(labels >= 7)} - {paper} == {"#C4C4C4"}
    assert "5 smaller" in watched.page.inner_text("#legend")
    watched.check()
    watched.context.close()


def test_the_worst_case_of_a_graph_too_large_for_a_factor_is_shown(browser, tmp_path):
    d = 1010
    rng = np.random.default_rng(0)
    signals = rng.standard_normal((12, d)).cumsum(axis=1) / 10
    stated = GraphProblem(Nominal.from_samples(signals), GaussianBall(4.0), eta=0.3)
    weights = np.full(d - 1, 0.5 * d / (d - 1))
    laplacian = EdgeList(d, np.arange(d - 1), np.arange(1, d), weights).laplacian().toarray()
    worst = WassersteinBall(4.0).worst_case(stated.nominal, laplacian)
    point = path.PathPoint(0, 0, stated, laplacian, judge(stated, laplacian), worst.multiplier)
    places = rng.random((d, 2))
    page = replace(paged([point]), places=places, signals=stated.nominal.samples)
    watched = Watched(browser, written(page, tmp_path), "#v=500&u=501")
    told = watched.page.inner_text("#details")
    found = [float(n) for n in re.findall(r"from ([\d.]+) to ([\d.]+) in", told)[0]]
    moved = worst.distribution.points[:12]
    sizes = [
        np.sqrt(np.mean((x[:, 500] - x[:, 501]) ** 2)) for x in (stated.nominal.samples, moved)
    ]
    assert found == pytest.approx(sizes, rel=6e-3)
    assert "up to 1000 vertices" in watched.page.inner_text("#verified")
    watched.check()
    watched.context.close()


def test_sliders_stop_only_where_a_graph_was_computed(browser, tmp_path):
    stated = GraphProblem(Nominal.from_samples(data(8, 30, 3)), GaussianBall(0.3), eta=0.3)
    answer = solve(stated, 1e-7)
    every = path.compute_path(stated, answer, judge(stated, answer))
    kept = [p for p in every.points if p.eta == every.points[0].eta and p.radius % 2 == 0]
    chosen = kept.index(every.points[0])
    found = replace(every, points=tuple(kept), chosen=chosen)
    page = replace(paged(kept), path=found, places=np.random.default_rng(0).random((8, 2)))
    watched = Watched(browser, written(page, tmp_path), "#r=3&e=0")
    shown = watched.page
    assert shown.get_attribute("#radius", "max") == str(len(kept) - 1)
    assert shown.is_disabled("#eta")
    assert shown.locator("#along rect").count() == len(kept)
    assert "72 of 80 graphs were left out" in shown.inner_text("#skipped")
    for place, point in enumerate(sorted(kept, key=lambda p: p.radius)):
        move(shown, "radius", place)
        shown.wait_for_selector(f"#verified[data-point='{kept.index(point)}']")
        assert shown.inner_text("#radius-text").startswith(f"{every.radii[point.radius]:.4g}")
        edges = EdgeList.from_laplacian(point.laplacian).weights
        assert shown.locator("#picture .edge").count() == np.sum(edges >= 1e-4)
    watched.check()
    watched.context.close()


def test_of_very_many_edges_the_strongest_are_drawn_and_the_table_has_all(browser, tmp_path):
    d = 40
    weights = np.random.default_rng(0).uniform(0.1, 1.0, (d, d))
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    weights *= d / weights.sum()
    stated = GraphProblem(Nominal.from_samples(data(d, 30, 0)), GaussianBall(2.0), eta=0.3)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    worst = stated.ambiguity.worst_case(stated.nominal, laplacian)
    point = path.PathPoint(0, 0, stated, laplacian, judge(stated, laplacian), worst.multiplier)
    places = np.random.default_rng(0).random((d, 2))
    watched = Watched(browser, written(replace(paged([point]), places=places), tmp_path))
    page = watched.page
    drawn = page.eval_on_selector_all(
        "#picture .edge", "all => all.map((e) => Number(e.dataset.edge))"
    )
    edges = EdgeList.from_laplacian(laplacian)
    ends = {tuple(sorted((edges.heads[e], edges.tails[e]))) for e in drawn}
    for vertex in range(d):
        strongest = np.argsort(-weights[vertex])[:3]
        assert {tuple(sorted((vertex, other))) for other in strongest} <= ends
    assert len(drawn) < 3 * d
    assert f"{len(drawn)} of 780 edges drawn" in page.inner_text("#legend")
    assert "780 of 780" in page.inner_text("#count")
    page.evaluate("location.hash = 'v=7'")
    page.wait_for_selector("#details h2")
    assert page.locator("#picture .edge").count() > len(drawn)  # all edges of what is picked
    watched.check()
    watched.context.close()

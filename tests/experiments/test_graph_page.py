"""``graph.html`` in a real browser: what it shows, what it proves, and what it never does."""

import json
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from browser import Watched, started_browser

from experiments.learn.graph import LearnOptions
from experiments.learn.run import run_learn
from experiments.page import path
from experiments.page.graph import GraphPage, graph_data, graph_page
from solvers import solve
from wdro_cvx import (
    GaussianBall,
    GraphProblem,
    KLBall,
    LogDegree,
    MomentBall,
    Nominal,
    Singleton,
    WassersteinBall,
    judge,
)
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.graphs.laplacian import laplacian_from_weights

HOSTILE = [
    "</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "<!-- {{7*7}} ${7*7}",
    "'; alert(1); //", "javascript:alert(1)", "Åre & Malmö", 'quoted, "twice"', "__proto__",
]  # fmt: skip
# Two judges add up the same terms in different orders, and one of them rounds outwards: for some
# hundred vertices that is some 1e-12 of the value.
AGREE = 1e-9


@pytest.fixture(scope="module")
def browser():
    with started_browser() as found:
        yield found


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learned")
    rng = np.random.default_rng(2)
    d = 16
    signals = smooth_signals(rbf_graph(d, rng), 40, rng, noise=0.1)
    names = HOSTILE + [f"station {i}" for i in range(d - len(HOSTILE))]
    pd.DataFrame(signals, columns=names).to_csv(folder / "signals.csv", index=False)
    places = pd.DataFrame(
        {
            "name": names,
            "lat": rng.uniform(40, 50, d),
            "lon": rng.uniform(5, 15, d),
            "height": np.arange(d),
            "country": ["no number", *range(1, d)],
        }
    )
    places.to_csv(folder / "places.csv", index=False)
    graph, _ = run_learn(
        folder / "signals.csv", LearnOptions(radius=0.3), folder / "out", folder / "places.csv"
    )
    return graph, folder / "out" / "graph.html"


@pytest.fixture
def opened(browser, learned):
    watched = Watched(browser, learned[1])
    yield watched
    watched.check()
    watched.context.close()


def verified(page):
    page.wait_for_selector("#verified[data-gap]")
    return {name: float(page.get_attribute("#verified", f"data-{name}"))
            for name in ("gap", "value", "bound", "point")}  # fmt: skip


def move(page, name, place):
    page.eval_on_selector(
        f"#{name}", "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", place
    )


# --- The page of a learned graph -----------------------------------------------------------------


def test_the_page_shows_the_graph_and_proves_it_again(opened, learned):
    graph, _ = learned
    page = opened.page
    assert page.locator("#picture .edge").count() == graph.to_networkx().number_of_edges()
    assert page.locator("#picture .vertex").count() == 16
    assert page.locator("#picture .vertex.alone").count() == len(graph.isolated)
    assert page.locator("#picture .outlines path").count() > 0
    found = verified(page)
    verdict = judge(graph.problem, graph.solution)
    assert found["value"] == pytest.approx(verdict.value, rel=AGREE)
    assert found["gap"] == pytest.approx(verdict.gap, abs=1e-6)  # of a certificate of its own
    assert "Verified here" in page.inner_text("#verified")


def test_sliders_change_the_graph_and_every_graph_is_verified(opened):
    page = opened.page
    edges = set()
    for radius in range(0, 16, 5):
        for eta in range(0, 5, 2):
            move(page, "radius", radius)
            move(page, "eta", eta)
            page.wait_for_function("document.querySelector('#verified').dataset.gap !== undefined")
            assert "Verified here" in page.inner_text("#verified")
            edges.add(page.locator("#picture .edge").count())
    assert len(edges) > 3
    assert page.is_enabled("#chosen")
    page.click("#chosen")
    assert "(chosen)" in page.inner_text("#radius-text")
    assert page.is_disabled("#chosen")


def test_an_edge_that_is_clicked_filters_the_table_and_a_row_marks_the_picture(opened):
    page = opened.page
    every = page.locator("#rows tr").count()
    ends = page.evaluate("""() => {
        const line = [...document.querySelectorAll("#picture .edge")].pop();
        const at = line.getScreenCTM(), share = 0.37;
        const x = +line.getAttribute("x1") * (1 - share) + +line.getAttribute("x2") * share;
        const y = +line.getAttribute("y1") * (1 - share) + +line.getAttribute("y2") * share;
        return [x * at.a + at.e, y * at.d + at.f];
    }""")
    page.mouse.click(*ends)
    assert page.locator("#rows tr.picked").count() == 1
    assert page.locator("#rows tr").count() < every
    assert page.locator('#picture .edge[stroke-opacity="1"]').count() == 1
    assert "worst case changes the difference" in page.inner_text("#details")
    page.click("#clear")
    assert page.locator("#rows tr").count() == every
    page.locator("#rows tr").nth(2).locator("td.number").click()
    marked = page.get_attribute('#picture .edge[stroke-opacity="1"]', "data-edge")
    assert page.get_attribute("#rows tr.picked", "data-edge") == marked


def test_the_table_sorts_searches_and_filters(opened):
    page = opened.page
    weights = [float(text) for text in page.locator("#rows td.number").all_inner_texts()]
    assert weights == sorted(weights, reverse=True)
    page.click("[data-sort=source]")
    sources = [text.lower() for text in page.locator("#rows td:first-child").all_inner_texts()]
    assert sources == sorted(sources)
    assert page.get_attribute("th:first-child", "aria-sort") == "ascending"
    page.fill("#search", "malmö")
    for row in page.locator("#rows tr").all_inner_texts():
        assert "malmö" in row.lower()
    page.select_option("#kind", "undecided")
    assert page.locator("#rows tr").count() == 0


def test_vertices_are_coloured_by_any_column_of_numbers(opened):
    page = opened.page
    offered = page.locator("#colour option").all_inner_texts()
    assert offered == ["community", "degree", "mean of the signal", "deviation", "height"]
    page.select_option("#colour", "height")
    fills = page.eval_on_selector_all(
        "#picture .vertex:not(.alone)", "all => all.map((e) => e.getAttribute('fill'))"
    )
    assert len(set(fills)) == len(fills)  # every height has its own colour
    assert "height" in page.inner_text("#legend")


def test_names_lie_neither_on_one_another_nor_outside_the_picture(opened):
    boxes = opened.page.evaluate("""() => {
        const labels = document.querySelector("g.labels");
        return [labels.ownerSVGElement, ...labels.querySelectorAll("text")]
          .map((one) => one.getBoundingClientRect())
          .map(({ left, right, top, bottom }) => [left, right, top, bottom]);
    }""")
    frame, *names = boxes
    assert len(names) >= 8
    for k, (left, right, top, bottom) in enumerate(names):
        assert frame[0] <= left < right <= frame[1]
        assert frame[2] <= top + 2 < bottom <= frame[3] + 2
        for other in names[:k]:
            # Boxes include the space above and below the letters.
            beside = left >= other[1] - 1 or right <= other[0] + 1
            assert beside or top >= other[3] - 5 or bottom <= other[2] + 5


def test_a_link_brings_back_the_view(browser, learned, opened):
    page = opened.page
    move(page, "radius", 9)
    page.select_option("#colour", "deviation")
    page.locator("#rows tr").nth(1).locator("td.number").click()
    page.fill("#search", "s")
    address = page.evaluate("location.hash")
    again = Watched(browser, learned[1], address)
    for look in ("#rows", "#details", "#subtitle", "#radius-text"):
        assert again.page.inner_text(look) == page.inner_text(look)
    assert again.page.input_value("#colour") == "deviation"
    assert again.page.input_value("#search") == "s"
    again.check()
    again.context.close()


@pytest.mark.parametrize("fragment", ["#r=99&e=-1&c=nothing&v=1e9&u=x&s=none", "#r=&v=%", "#%00"])
def test_a_link_that_makes_no_sense_shows_the_chosen_graph(browser, learned, fragment):
    watched = Watched(browser, learned[1], fragment)
    assert "(chosen)" in watched.page.inner_text("#radius-text")
    watched.check()
    watched.context.close()


def test_the_keyboard_reaches_vertices(opened):
    page = opened.page
    page.focus("#picture")
    reached = set()
    for key in ("Right", "Right", "Down", "Left", "Left", "Up", "Up"):
        page.keyboard.press(f"Arrow{key}")
        reached.add(page.inner_text("#details h2"))
    assert len(reached) > 2
    page.keyboard.press("+")
    page.wait_for_selector('#picture g.all[transform*="scale(1.5)"]', state="attached")
    page.keyboard.press("Escape")
    assert page.locator("#details h2").count() == 0


def test_downloads_are_the_graph_that_is_shown(opened, learned, tmp_path):
    graph, _ = learned
    page = opened.page
    files = {}
    for button in page.locator("#downloads button").all():
        with page.expect_download() as waiting:
            button.click()
        name = waiting.value.suggested_filename
        files[name] = tmp_path / name
        waiting.value.save_as(files[name])
    assert set(files) == {"edges.csv", "graph.graphml", "laplacian.npz", "graph.svg", "graph.png"}
    arrays = np.load(files["laplacian.npz"])
    np.testing.assert_allclose(arrays["laplacian"], graph.laplacian, atol=1e-13)
    assert tuple(arrays["names"]) == graph.names
    table = pd.read_csv(files["edges.csv"])
    network = graph.to_networkx()
    assert {frozenset(pair) for pair in zip(table.source, table.target, strict=True)} == {
        frozenset(pair) for pair in network.edges
    }
    back = nx.read_graphml(files["graph.graphml"])
    assert nx.utils.graphs_equal(nx.Graph(back.edges), nx.Graph(network.edges))
    for first, second, weight in network.edges(data="weight"):
        assert back[first][second]["weight"] == weight
    assert files["graph.png"].read_bytes().startswith(b"\x89PNG")
    svg = files["graph.svg"].read_text()
    assert svg.count("<circle") == 16
    assert "<script" not in svg


def test_hostile_names_are_shown_and_do_nothing(opened, learned):
    page = opened.page
    shown = page.locator("#picture text").all_text_contents()
    for name in HOSTILE:
        assert name in shown
        page.fill("#search", name)
        assert (page.locator("#rows tr").count() == 0) == (name in learned[0].isolated)
    page.fill("#search", "")
    for vertex in range(len(HOSTILE)):
        page.evaluate("(k) => { location.hash = `v=${k}`; }", vertex)
        page.wait_for_function("(n) => document.querySelector('#details h2')?.textContent === n",
                               arg=HOSTILE[vertex])  # fmt: skip
    assert page.locator("img").count() == 0
    assert page.evaluate("document.scripts.length") == 4  # the data, d3, the judge, the page


# --- The page's judge against the project's ------------------------------------------------------


@pytest.fixture(scope="module")
def bench(browser, learned):
    """A page whose judge can be given any problem."""
    watched = Watched(browser, learned[1])

    def judged(page, change=""):
        # As its worker would: nothing but the page's own code touches the numbers.
        return watched.page.evaluate(
            "([text, change]) => { const data = $data.decode(JSON.parse(text));"
            "return data.points.map((_, k) => { const task = $data.task(data, k);"
            "if (change === 'forged' && task.moment) {"
            "if (task.moment.shift) task.moment.shift = task.moment.shift.map((v) => 9 * v);"
            "else { task.moment.moved = task.moment.moved.map((v) => 1.5 * v);"
            "task.moment.spread = task.moment.spread.map((v) => 40 * v); } }"
            "if (change === 'hint') task.multiplier *= 0.3;"
            "if (change === 'spoiled') task.graph.weights = task.graph.weights.map("
            "(v, n) => n % 2 ? v : 3 * v);"
            "return $judge.judge(task); }); }",
            [json.dumps(graph_data(page)), change],
        )

    yield judged
    watched.check()
    watched.context.close()


def paged(points):
    stated = points[0].problem
    d = stated.d
    found = path.Path((stated.ambiguity.radius,), (stated.eta,), tuple(points), 0)
    return GraphPage(
        "t", [f"v{i}" for i in range(d)], np.zeros((d, 2)), False, np.zeros(d), found, 1e-4
    )


SETS = [
    GaussianBall(0.4), WassersteinBall(3.0), GaussianBall(0.0), Singleton(), MomentBall(0.7, p=2.0),
    MomentBall(0.7, p=1.0), MomentBall(0.7, p=1.5), MomentBall(0.7, p=4.0),
    MomentBall(0.7, p=np.inf),
]  # fmt: skip


def data(d, n, seed, offset=0.0):
    rng = np.random.default_rng(seed)
    return smooth_signals(rbf_graph(d, rng), n, rng, noise=0.1) + offset


@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
@pytest.mark.parametrize(("d", "n"), [(2, 3), (7, 3), (25, 60), (40, 12)])
def test_the_two_judges_agree_on_any_graph(bench, ambiguity, d, n):
    # Far from the optimum every term counts, and counts differently.
    stated = GraphProblem(Nominal.from_samples(data(d, n, d)), ambiguity, eta=0.2, trace=1.3 * d)
    rng = np.random.default_rng(n)
    points = []
    for share in (1.0, 0.3, 0.05):
        weights = rng.exponential(size=d * (d - 1) // 2) ** 3
        weights[rng.random(weights.size) > share] = 0.0
        if not weights.any():
            weights[0] = 1.0
        laplacian = laplacian_from_weights(weights * 1.3 * d / (2 * weights.sum()))
        worst = ambiguity.worst_case(stated.nominal, laplacian)
        verdict = judge(stated, laplacian)
        points.append(path.PathPoint(0, 0, stated, laplacian, verdict, worst.multiplier))
    for point, found in zip(points, bench(paged(points)), strict=True):
        assert found["value"] == pytest.approx(point.verdict.value, rel=AGREE)
        near = {"rel": AGREE, "abs": AGREE * found["value"]}  # bounds may be close to zero
        assert found["bound"] == pytest.approx(point.verdict.bound, **near)
        assert found["gap"] == pytest.approx(point.verdict.gap, rel=1e3 * AGREE)


@pytest.mark.parametrize("ambiguity", SETS, ids=repr)
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_the_two_judges_agree_on_solutions_to_1e_9(bench, ambiguity, offset):
    # n < d and large radii: the hard case, where a moment has to be carried along.
    stated = GraphProblem(Nominal.from_samples(data(20, 6, 1, offset)), ambiguity, eta=0.3)
    point = path._judged(0, 0, stated, solve(stated, 1e-7))
    [found] = bench(paged([point]))
    assert point.verdict.solved(1e-6)
    assert found["gap"] == pytest.approx(point.verdict.gap, abs=AGREE)
    assert found["repair"] < 1e-12


@pytest.mark.parametrize("ambiguity", [WassersteinBall(3.0), MomentBall(0.7, p=1.0)], ids=repr)
def test_forged_evidence_and_wrong_hints_prove_nothing_false(bench, ambiguity):
    stated = GraphProblem(Nominal.from_samples(data(20, 6, 1)), ambiguity, eta=0.3)
    point = path._judged(0, 0, stated, solve(stated, 1e-7))
    assert point.moment is not None
    optimum = point.verdict.value
    for change in ("forged", "hint"):
        [found] = bench(paged([point]), change)
        assert found["bound"] <= optimum * (1 + 1e-12)
        assert found["value"] >= point.verdict.bound * (1 - 1e-12)
    [spoiled] = bench(paged([point]), "spoiled")
    assert spoiled["gap"] > 1e-3


# --- What it cannot check, and what is large -----------------------------------------------------


def written(page, folder):
    target = folder / "graph.html"
    target.write_text(graph_page(page), encoding="utf-8")
    return target


def test_a_set_that_the_page_does_not_know_is_not_called_verified(browser, tmp_path):
    stated = GraphProblem(Nominal.from_samples(data(8, 30, 0)), KLBall(0.1), eta=0.3)
    point = path._judged(0, 0, stated, solve(stated))
    watched = Watched(browser, written(paged([point]), tmp_path))
    assert (
        watched.page.inner_text("#verified")
        == "Not checked here: this page has no judge for KLBall."
    )
    assert "solved" in watched.page.inner_text("#judged")
    watched.page.locator("#rows tr").first.locator("td.number").click()
    assert "not computed here" in watched.page.inner_text("#details")
    watched.check()
    watched.context.close()


def test_a_prior_without_eta_has_no_slider_for_it(browser, tmp_path):
    stated = GraphProblem(
        Nominal.from_samples(data(8, 30, 0)), GaussianBall(0.1), prior=LogDegree(1.0, 0.1)
    )
    answer = solve(stated)
    found = path.compute_path(stated, answer, judge(stated, answer))
    page = replace(paged(found.points), path=found)
    watched = Watched(browser, written(page, tmp_path))
    assert "fixed trace only" in watched.page.inner_text("#verified")
    assert watched.page.is_visible("#radius")
    assert not watched.page.is_visible("#eta")
    assert not watched.page.is_visible("label[for=eta]")
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 820, 1400])
def test_every_width_and_scheme_shows_all_and_overflows_nowhere(browser, learned, width, scheme):
    watched = Watched(
        browser, learned[1], viewport={"width": width, "height": 800}, color_scheme=scheme
    )
    page = watched.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 22, 26)")
    frame = page.locator("#picture").bounding_box()
    for vertex in page.locator("#picture .vertex").all():
        box = vertex.bounding_box()
        assert frame["x"] <= box["x"] <= frame["x"] + frame["width"]
        assert frame["y"] <= box["y"] <= frame["y"] + frame["height"]
    unnamed = page.eval_on_selector_all(
        "button, input, select", "all => all.filter((e) => !e.labels?.length && "
        "!e.getAttribute('aria-label') && !e.textContent.trim() && !e.hidden).map((e) => e.id)"
    )  # fmt: skip
    assert unnamed == []
    watched.check()
    watched.context.close()


def test_on_paper_there_are_no_controls_and_the_whole_table(opened):
    page = opened.page
    page.emulate_media(media="print")
    assert not page.is_visible("#radius")
    assert not page.is_visible("#downloads")
    assert page.is_visible("#verified")
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).maxHeight") == "none"


@pytest.mark.parametrize(
    "change",
    [
        {"threshold": 1e9},  # no edge at all
        {"threshold": 0.0},  # nothing can be decided
        {"places": np.zeros((6, 2)), "on_map": True},  # all in one place
        {"places": np.array([[0.0, 90.0], [360.0, -90.0]] * 3), "on_map": True},
        {"columns": {"flat": np.full(6, 7.0), "huge": np.geomspace(1e-300, 1e300, 6)}},
        {"names": ["", " ", "\u202egnp.exe", "🐧" * 2000, "a\nb", "é" * 3]},
        {"signals": None},
        {"communities": np.arange(6) * 100.0},
    ],
    ids=lambda change: next(iter(change)),
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

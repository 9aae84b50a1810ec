"""``graph.html`` of a learned graph in a real browser: what it shows and what it never does."""

import re
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from browser import Watched
from colour_vision import apart
from graph_pages import AGREE, HOSTILE, move, verified
from playwright.sync_api import expect

from solvers.learned.communities import communities
from solvers.learned.evidence import edge_evidence
from solvers.learned.html import graph_html
from solvers.learned.palette import COLOURS
from wdro_cvx import judge


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
    page.check("#every")
    edges = set()
    for radius in range(0, 16, 5):
        for eta in range(0, 5, 2):
            move(page, "radius", radius)
            move(page, "eta", eta)
            # The page's policy forbids the evaluation of strings, so wait for the element.
            page.locator("#verified[data-gap]").wait_for(state="attached")
            assert "Verified here" in page.inner_text("#verified")
            edges.add(page.locator("#picture .edge").count())
    assert len(edges) > 3
    assert page.get_attribute("#radius", "aria-valuetext") == page.inner_text("#radius-text")
    assert page.is_enabled("#chosen")
    page.click("#chosen")
    assert "(chosen)" in page.get_attribute("#eta", "aria-valuetext")
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
    page.locator("#rows tr").nth(2).locator("td.weight").click()
    marked = page.get_attribute('#picture .edge[stroke-opacity="1"]', "data-edge")
    assert page.get_attribute("#rows tr.picked", "data-edge") == marked


def test_the_table_sorts_searches_and_filters(alone):
    page = alone.page
    weights = [float(text) for text in page.locator("#rows td.weight").all_inner_texts()]
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
    assert "No edge matches" in page.inner_text("#none")
    page.click("#unfilter")
    assert page.locator("#rows tr").count() == len(weights)
    assert not page.is_visible("#none")


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
    page.locator("#rows tr").nth(1).locator("td.weight").click()
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
    groups = communities(graph.selected)
    assert [back.nodes[name]["community"] for name in graph.names] == list(groups + 1)
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
        expect(page.locator("#details h2")).to_have_text(HOSTILE[vertex])
    assert page.locator("img").count() == 0
    assert page.evaluate("document.scripts.length") == 4  # the data, d3, the judge, the page


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


def test_on_paper_there_are_no_controls_and_the_whole_table(alone):
    page = alone.page
    page.emulate_media(media="print")
    assert not page.is_visible("#radius")
    assert not page.is_visible("#downloads")
    assert page.is_visible("#verified")
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).maxHeight") == "none"


def test_paper_is_white_whatever_the_screen_was(browser, learned):
    fills = []
    for scheme in ("dark", "light"):
        watched = Watched(browser, learned[1], "#c=height", color_scheme=scheme)
        page = watched.page
        if scheme == "dark":
            assert page.get_attribute("#picture .edge", "stroke") == "#c9ccd1"
        page.emulate_media(media="print", color_scheme=scheme)
        page.wait_for_selector('#picture .edge[stroke="#333"]', state="attached")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(255, 255, 255)"
        every = "all => all.map((e) => e.getAttribute('fill'))"
        fills.append(page.eval_on_selector_all("#picture .vertex", every))
        watched.check()
        watched.context.close()
    assert fills[0] == fills[1]


def test_a_link_keeps_what_was_zoomed_to(browser, learned, opened):
    page = opened.page
    for _ in range(3):
        page.click("#zoom-in")
    address = page.evaluate("location.hash")
    assert "z=3.37" in address
    again = Watched(browser, learned[1], address)
    shown = [p.get_attribute("#picture g.all", "transform") for p in (page, again.page)]
    numbers = [np.array([float(n) for n in re.findall(r"-?[\d.]+", text)]) for text in shown]
    np.testing.assert_allclose(numbers[0], numbers[1], atol=1.0)  # pixels
    page.click("#zoom-all")
    assert "z=" not in page.evaluate("location.hash")
    again.check()
    again.context.close()


def test_the_worst_case_of_a_vertex_and_of_an_edge_is_the_sets_own(opened, learned):
    graph, _ = learned
    nominal = graph.problem.nominal
    worst = graph.problem.ambiguity.worst_case(nominal, graph.laplacian)
    before, after = nominal.samples, worst.distribution.points[: len(nominal.samples)]
    for place, end in ((0, None), (3, None), (2, 9)):
        opened.page.evaluate(
            "(to) => { location.hash = to; }", f"v={place}" + ("" if end is None else f"&u={end}")
        )
        opened.page.wait_for_selector("#details .line")
        told = [
            float(n)
            for n in re.findall(
                r"from ([\d.]+) to ([\d.]+) in", opened.page.inner_text("#details")
            )[0]
        ]
        series = [x[:, place] - (0.0 if end is None else x[:, end]) for x in (before, after)]
        sizes = [float(np.sqrt(np.mean(values**2))) for values in series]
        assert told == pytest.approx(sizes, rel=6e-3)  # three digits are shown
        assert sizes[0] != pytest.approx(sizes[1], rel=2e-2)  # so that they say something


def test_bars_above_the_slider_count_the_edges_and_choose_a_radius(opened, learned):
    graph, _ = learned
    page = opened.page
    counts = [int(text.split()[0]) for text in page.locator("#along title").all_text_contents()]
    assert len(counts) == 16
    # Bars count the edges of optimal graphs, to be comparable; the chosen one shows a selection.
    chosen = page.locator("#along title").all_text_contents()[int(page.input_value("#radius"))]
    drawn, every = page.locator("#picture .edge").count(), np.count_nonzero(graph.adjacency) // 2
    assert chosen == f"{every} edges, {drawn} of them selected at radius 0.3"
    assert drawn < every
    width = page.locator("#along").bounding_box()["width"]
    page.locator("#along").click(position={"x": width - 10, "y": 25})
    assert page.input_value("#radius") == "15"
    assert "in the chosen graph" in page.inner_text("#legend")  # colours are not this graph's
    page.check("#every")
    assert page.locator("#picture .edge").count() == counts[15]


def test_other_graphs_show_their_strongest_edges_as_many_as_were_selected(opened):
    page = opened.page
    weights = "#rows td.weight"
    selected = page.locator(weights).count()
    move(page, "radius", 12)
    shown = page.locator(weights).all_inner_texts()
    assert len(shown) == selected == page.locator("#picture .edge").count()
    assert f"the {selected} strongest of" in page.inner_text("#subtitle")
    page.check("#every")
    every = sorted(page.locator(weights).all_inner_texts(), key=float, reverse=True)
    assert len(every) > selected
    assert shown == every[:selected]
    address = page.evaluate("location.hash")
    page.uncheck("#every")
    assert page.locator(weights).all_inner_texts() == shown
    page.evaluate("(to) => { location.hash = to; }", address)  # a link restores the choice
    expect(page.locator("#every")).to_be_checked()
    page.click("#chosen")
    assert page.locator(weights).count() > selected


def test_an_edge_that_is_not_shown_is_not_said_to_be_missing(opened, learned):
    graph, _ = learned
    page = opened.page
    heads, tails = np.nonzero(np.triu(graph.adjacency > graph.threshold) & ~graph.support)
    page.evaluate("(to) => { location.hash = to; }", f"v={heads[0]}&u={tails[0]}")
    expect(page.locator("#details dd").first).to_contain_text("(not shown)")
    page.check("#every")
    expect(page.locator("#details dd").first).not_to_contain_text("(not shown)")


def test_what_the_data_say_comes_before_what_the_solver_proves(opened, learned):
    graph, _ = learned
    page = opened.page
    said = page.locator("#evidence").bounding_box()["y"]
    assert said < page.locator("#certificate").bounding_box()["y"]
    assert page.inner_text("#certificate h2") == "Solver accuracy"
    for label, text in edge_evidence(graph):
        assert label in page.inner_text("#said")
        assert text in page.inner_text("#said")
    assert graph.held_out is not None
    table = graph.edges.set_index(["source", "target"])
    for row in page.locator("#rows tr").all():
        source, target, _, z_score, q_value, _ = row.locator("td").all_inner_texts()
        ends = (source, target) if (source, target) in table.index else (target, source)
        assert float(z_score) == pytest.approx(table.loc[ends, "z_score"], rel=0.06)
        assert float(q_value) == pytest.approx(table.loc[ends, "q_value"], rel=0.06)
    assert not page.is_visible("#about")
    move(page, "radius", 3)
    assert page.is_visible("#about")  # another graph, whose edges were not tested


def test_a_vertex_without_a_selected_edge_is_in_no_community(browser, learned, tmp_path):
    graph = learned[0]
    few = replace(graph, threshold=float(graph.edges["weight"].iloc[1]))
    every = replace(few, selection=None)
    alone = few.isolated
    assert len(alone) > 10
    for shown, word in ((few, "selected "), (every, "")):
        path = tmp_path / "few.html"
        path.write_text(graph_html(shown, "few", grid=False), encoding="utf-8")
        watched = Watched(browser, path)
        page, count = watched.page, len(shown.isolated)
        assert page.is_visible("#every") == bool(word)
        without = f", {count} without a{'' if word else 'n'} {word}edge"
        assert page.inner_text("#subtitle").endswith(without)
        assert f"no {word}edge ({count})" in page.inner_text("#legend")
        vertex = shown.names.index(shown.isolated[0])
        page.evaluate("(k) => { location.hash = `v=${k}`; }", vertex)
        expect(page.locator("#details h2")).to_have_text(shown.isolated[0])
        said = page.locator("#details dd").all_inner_texts()
        assert (said[0], said[2]) == (f"none {word}".strip(), "none")  # between: its degree
        sizes = np.unique(communities(shown.selected), return_counts=True)[1]
        numbered = [f"{k + 1} ({size})" for k, size in enumerate(sizes) if size > 1]
        assert re.findall(r"\d+ \(\d+\)", page.inner_text("#legend")) == numbered
        watched.check()
        watched.context.close()


def test_every_warning_of_the_run_is_shown(browser, learned, tmp_path):
    graph = replace(learned[0], notes=("The table is odd.", "So is <b>the radius</b>."))
    page = graph_html(graph, "t", grid=False)
    (tmp_path / "graph.html").write_text(page, encoding="utf-8")
    watched = Watched(browser, tmp_path / "graph.html")
    assert watched.page.locator("#warnings li").all_inner_texts() == list(graph.notes)
    watched.check()
    watched.context.close()


def test_the_selection_has_a_colour_of_its_own(browser, learned):
    for scheme in ("light", "dark"):
        watched = Watched(browser, learned[1], color_scheme=scheme)
        style = "getComputedStyle(document.documentElement).getPropertyValue('--mark')"
        mark = watched.page.evaluate(style).strip()
        for colour in COLOURS:
            for sight in ("normal", "deuteranopia"):
                assert apart(mark, colour, sight) > 25, (scheme, colour, sight)
        watched.context.close()


def test_coasts_are_not_cropped_and_stay_near(browser, learned):
    watched = Watched(browser, learned[1])
    frame, coast, vertices = (
        watched.page.eval_on_selector(f"#picture {name}", "(e) => { const b = "
        "e.getBoundingClientRect(); return [b.left, b.right, b.top, b.bottom]; }")
        for name in ("svg", "g.outlines", "g.vertices")
    )  # fmt: skip
    # Around a part of Europe the coasts go on for long; a tenth of the map beyond is shown.
    for side in (0, 2):
        room = 0.05 * (frame[side + 1] - frame[side])
        assert vertices[side] - frame[side] > room or coast[side] >= frame[side]
        assert frame[side + 1] - vertices[side + 1] > room or coast[side + 1] <= frame[side + 1]
    watched.check()
    watched.context.close()


def test_a_notebook_shows_the_page_in_a_frame(browser, learned, tmp_path):
    target = tmp_path / "notebook.html"
    target.write_text(f"<!doctype html><body>{learned[0]._repr_html_()}</body>", encoding="utf-8")
    page = browser.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"file://{target}")
    inside = page.frame_locator("iframe")
    inside.locator("#verified[data-gap]").wait_for(state="attached")
    assert "Verified here" in inside.locator("#verified").inner_text()
    inside.locator("#rows tr td.weight").first.click()
    assert inside.locator("#rows tr.picked").count() == 1
    assert not inside.locator("#link").is_visible()
    assert complaints == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_the_page_has_no_violations_of_accessibility(browser, learned, width, scheme):
    rules = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    look = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    watched = Watched(browser, learned[1], "#v=1", **look)
    found = rules.run(watched.page)
    assert found.violations_count == 0, found.generate_report()
    watched.context.close()


def test_a_window_that_becomes_narrow_shows_the_whole_width(browser, learned):
    watched = Watched(browser, learned[1], "#v=1", viewport={"width": 850, "height": 800})
    watched.page.set_viewport_size({"width": 390, "height": 800})
    watched.page.wait_for_timeout(200)
    sizes = "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    shown, window = watched.page.evaluate(sizes)
    assert shown <= window
    inside = """() => {
      const rights = (query) => [...document.querySelectorAll(query)]
        .map((one) => one.getBoundingClientRect().right);
      return [Math.max(...rights("#controls *")), rights("#controls")[0]];
    }"""
    content, card = watched.page.evaluate(inside)
    assert content <= card
    watched.context.close()

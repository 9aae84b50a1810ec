"""Figures: one style for each method, and marks, labels and colours that can be told apart."""

from itertools import combinations
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from colour_vision import apart
from matplotlib.text import Text

from experiments.compare.grid import METHODS
from experiments.drawing.graphs import community_colour, match_labels
from experiments.drawing.scaling import draw_curves, draw_panels
from experiments.drawing.style import (
    _FAMILIES,
    COLOURS,
    GREY,
    PAGE,
    label_line,
    method_style,
    note_point,
    place_notes,
)
from experiments.learn.places import Places
from experiments.measuring.outcome import Outcome
from experiments.measuring.text import markdown_table, seconds
from experiments.studies.temperature.study import draw_directions
from solvers.learned.communities import communities


def test_every_method_has_a_style_of_its_own():
    styles = [method_style(method) for method in METHODS]
    assert len(set(styles)) == len(METHODS)
    one, other = (method_style(f"GaussianSDP:{backend}") for backend in ("CLARABEL", "SCS"))
    assert one.colour == other.colour
    assert one.line != other.line
    assert len({colour for colour, _ in _FAMILIES.values()}) == len(_FAMILIES)
    assert method_style("Newcomer") == method_style("Newcomer")
    # A backend has one line, and one colour where CVXPY calls it and another where we do.
    through, direct = method_style("SampleAverage:PIQP"), method_style("PIQP")
    assert through.line == direct.line != method_style("OSQP").line
    assert through.colour != direct.colour


@pytest.mark.parametrize("sight", ["normal", "deuteranopia", "protanopia"])
def test_no_two_colours_look_alike_to_anybody(sight):
    families = [colour for colour, _ in _FAMILIES.values()]
    for palette in (COLOURS, families):
        for first, second in combinations(palette, 2):
            assert apart(first, second, sight) > 15, (first, second)
    assert apart(COLOURS[3], "#999999", "deuteranopia") < 10  # Okabe and Ito's own grey


def test_notes_at_points_cover_neither_labels_nor_each_other():
    figure, axes = plt.subplots()
    axes.set(xlim=(0, 10), ylim=(0, 10))
    label_line(axes, 4.0, 5.3, "> 2 s", "k")
    for x in (4.9, 5.0, 5.1, 5.2, 5.3):
        note_point(axes, x, 5.0, "0.25 %", "k")
    figure.canvas.draw()
    place_notes(axes)
    boxes = [text.get_window_extent() for text in axes.texts]
    assert 3 <= len(boxes) < 7  # those without room are left out
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    plt.close(figure)


def test_notes_cover_no_marker_and_stay_inside():
    figure, axes = plt.subplots()
    axes.set(xlim=(0, 10), ylim=(0, 10))
    points = [(0.1, 5.0), (5.0, 5.0), (5.0, 5.3), (9.9, 5.0)]
    for x, y in points:
        axes.plot([x], [y], marker="o", markersize=6)
        note_point(axes, x, y, "0.25 %", "k")
    figure.canvas.draw()
    place_notes(axes)
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == len(points)
    for x, y in axes.transData.transform(points):
        assert not any(box.contains(x, y) for box in boxes)
    assert all(axes.bbox.x0 < box.x0 and box.x1 < axes.bbox.x1 for box in boxes)
    plt.close(figure)


def test_no_two_time_outs_are_on_one_spot():
    rows = pd.DataFrame([
        {"method": method, "d": 40, "is_solved": False, "outcome": outcome, "limit_s": 60.0,
         "total_s": np.nan, "fastest_s": np.nan, "slowest_s": np.nan}
        for method, outcome in (
            ("GaussianSDP:CLARABEL", Outcome.TIME_OUT), ("GaussianSDP:SCS", Outcome.TIME_OUT),
            ("RobustPremium:SCS", Outcome.OUT_OF_MEMORY),
        )
    ])  # fmt: skip
    figure, axes = plt.subplots()
    draw_curves(axes, rows)
    marks = {line.get_marker() for line in axes.lines}
    assert {"x", "+"} < marks
    spots = {float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() in ("x", "+")}
    assert len(spots) == 3
    plt.close(figure)


def test_communities_without_an_edge_are_all_different():
    assert len(set(communities(np.zeros((4, 4))))) == 4
    pairs = np.kron(np.eye(2), np.ones((2, 2)) - np.eye(2))
    labels = communities(pairs)
    assert labels[0] == labels[1] != labels[2] == labels[3]


def test_words():
    assert markdown_table(["a"], [[1]]) == "| a |\n| --- |\n| 1 |"
    assert [seconds(0.0123), seconds(12.3), seconds(float("nan"))] == ["12.3 ms", "12.3 s", "–"]


def test_no_two_communities_share_a_colour_but_grey():
    colours = [community_colour(label) for label in range(12)]
    assert len(set(colours[:7])) == 7
    assert set(colours[7:]) == {GREY}
    assert GREY not in colours[:7]


def test_labels_are_those_of_the_communities_that_share_most():
    reference = np.array([0, 0, 0, 1, 1, 2])
    turned = np.array([5, 5, 1, 0, 0, 7])
    assert match_labels(turned, reference).tolist() == [0, 0, 3, 1, 1, 2]
    assert match_labels(reference, reference).tolist() == reference.tolist()


def test_the_largest_community_is_the_first():
    adjacency = np.zeros((7, 7))
    for group in ((0, 1), (2, 3, 4, 5)):
        for i in group:
            for j in group:
                adjacency[i, j] = float(i != j)
    assert communities(adjacency).tolist() == [1, 1, 0, 0, 0, 0, 2]


def covering(figure, artists):
    """Return the pairs of texts that cover each other."""
    figure.canvas.draw()
    boxes = [(artist.get_text(), artist.get_window_extent()) for artist in artists]
    return [(a, b) for k, (a, one) in enumerate(boxes) for b, two in boxes[:k] if one.overlaps(two)]


def test_panels_fill_a_page_with_one_legend_and_no_title_on_another():
    rows = pd.DataFrame([
        {"method": method, "d": d, "is_solved": True, "outcome": Outcome.OK, "limit_s": 60.0,
         "total_s": d / 1e3, "fastest_s": d / 2e3, "slowest_s": d / 5e2}
        for method in ("CertifiedSolver", "GaussianSDP:SCS") for d in (10, 20, 30, 40, 60, 80)
    ])  # fmt: skip
    titles = [f"a ball with a long name, radius {k}, N = 10, gap ≤ 1e-6" for k in range(5)]
    figure = draw_panels(dict.fromkeys(titles, rows))
    assert figure.get_figwidth() == PAGE
    assert len(figure.legends) == 1
    assert [text.get_text() for text in figure.legends[0].texts] == [
        "certified solver", "SCS on the paper's SDP",
    ]  # fmt: skip
    words = [text for text in figure.findobj(Text) if text.get_text()]
    assert {text.get_fontsize() for text in words} == {8.0}
    assert covering(figure, [panel.title for panel in figure.axes if panel.axison]) == []
    plt.close(figure)


def test_the_ends_of_many_curves_are_named_in_order_and_beside_each_other():
    through = [f"SampleAverage:{name}" for name in ("CLARABEL", "PIQP", "OSQP", "ECOS", "QOCO")]
    times = {name: 1.0 + k / 100 for k, name in enumerate(["solve", "PIQP", "OSQP", *through])}
    rows = pd.DataFrame([
        {"method": method, "d": d, "is_solved": True, "outcome": Outcome.OK, "limit_s": 60.0,
         "total_s": s * d, "fastest_s": s * d / 9, "slowest_s": 9 * s * d}
        for method, s in times.items() for d in (10, 80)
    ])  # fmt: skip
    figure = draw_panels({"a": rows})
    labels = list(figure.axes[0].texts)
    assert [text.get_text() for text in labels][:3] == ["solve", "PIQP", "OSQP"]
    assert len(labels) == len(times)
    assert covering(figure, labels) == []
    places = [text.get_window_extent().y0 for text in labels]
    assert places == sorted(places)
    moved = [text.xyann[1] for text in labels]
    assert abs(sum(moved)) < 1e-6  # half of them upwards, half downwards
    plt.close(figure)


def test_bearings_of_many_graphs_have_titles_and_labels_that_can_be_read():
    rng = np.random.default_rng(0)
    places = Places(rng.uniform(30, 40, 12), rng.uniform(-100, -80, 12))
    adjacency = np.triu(rng.random((12, 12)) < 0.4, 1).astype(float)
    readings = [
        SimpleNamespace(
            title=f"Australian stations, {model}", stations=SimpleNamespace(places=places),
            graph=SimpleNamespace(adjacency=adjacency + adjacency.T),
        )
        for model in ("Gaussian", "general") * 3
    ]  # fmt: skip
    figure = draw_directions(readings, rows=2)
    names = [part for panel in figure.axes for part in (panel.title, panel.xaxis.label)]
    assert covering(figure, [name for name in names if name.get_text()]) == []
    assert figure.get_figwidth() == PAGE
    plt.close(figure)

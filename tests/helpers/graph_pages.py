"""Shared by the tests of ``graph.html``: data, pages, and functions that operate them."""

import base64

import numpy as np
from signal_tables import signals

from solvers.learned import grid as path
from solvers.learned.page.content import GraphPage
from solvers.learned.page.data import graph_data
from solvers.learned.page.document import document, packed
from wdro_cvx import GaussianBall, MomentBall, Singleton, WassersteinBall

HOSTILE = [
    "</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "<!-- {{7*7}} ${7*7}",
    "'; alert(1); //", "javascript:alert(1)", "Åre & Malmö", 'quoted, "twice"', "__proto__",
]  # fmt: skip
# Two judges add the same terms in different orders, and one of them rounds outwards. For some
# hundred vertices, the difference is about 1e-12 of the value.
AGREE = 1e-9
SETS = [
    GaussianBall(0.4), WassersteinBall(3.0), GaussianBall(0.0), Singleton(), MomentBall(0.7, p=2.0),
    MomentBall(0.7, p=1.0), MomentBall(0.7, p=1.5), MomentBall(0.7, p=4.0),
    MomentBall(0.7, p=np.inf),
]  # fmt: skip


def data(d, n, seed, offset=0.0):
    return signals(n, d, seed) + offset


def paged(points):
    stated = points[0].problem
    d = stated.d
    found = path.Path((stated.ambiguity.radius,), (path.shown_eta(stated),), tuple(points), 0)
    return GraphPage(
        "t", [f"v{i}" for i in range(d)], np.zeros((d, 2)), False, np.zeros(d), found, 1e-4
    )


def written(page, folder):
    target = folder / "graph.html"
    target.write_text(document(page.title, graph_data(page)), encoding="utf-8")
    return target


def forged(page, change):
    """Return a page's data after ``change``, which sees its arrays as NumPy arrays."""
    data = _open(graph_data(page))
    change(data)
    return _closed(data)


def at(*place, to):
    """Return a change that puts a value, or a function of the old one, at a place of the data."""

    def change(given):
        node = given
        for name in place[:-1]:
            node = node[name]
        node[place[-1]] = to(node[place[-1]]) if callable(to) else to

    return change


def of_point(*place, to):
    return at("points", 0, *place, to=to)


def put(entry, value):
    def changed(array):
        array[entry] = value
        return array

    return changed


def shown(browser, given, folder):
    """Open a page, which may fail to draw everything, and return the verdict that it shows."""
    page = browser.new_page()
    page.goto(f"file://{written_data(given, folder)}")
    page.wait_for_selector("#verified.good, #verified.bad")
    found = {name: page.inner_text(f"#{name}") for name in ("verified", "judged", "bound", "value")}
    page.close()
    return found


def written_data(data, folder):
    target = folder / "graph.html"
    target.write_text(document("t", data), encoding="utf-8")
    return target


def _open(node):
    if isinstance(node, list):
        return [_open(value) for value in node]
    if not isinstance(node, dict):
        return node
    if "base64" in node:
        return np.frombuffer(base64.b64decode(node["base64"]), node["type"]).copy()
    return {name: _open(value) for name, value in node.items()}


def _closed(node):
    if isinstance(node, np.ndarray):
        return packed(node, node.dtype.str[1:])
    if isinstance(node, list):
        return [_closed(value) for value in node]
    return {k: _closed(v) for k, v in node.items()} if isinstance(node, dict) else node


def verified(page):
    page.wait_for_selector("#verified[data-gap]")
    return {name: float(page.get_attribute("#verified", f"data-{name}"))
            for name in ("gap", "value", "bound", "point")}  # fmt: skip


def move(page, name, place):
    page.eval_on_selector(
        f"#{name}", "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", place
    )

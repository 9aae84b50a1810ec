"""Warnings of the documentation build beyond those of Sphinx."""

import importlib.util
import logging
from pathlib import Path
from types import SimpleNamespace

import pytest

EXTENSIONS = Path(__file__).parents[1] / "docs" / "extensions"


def extension(name):
    spec = importlib.util.spec_from_file_location(name, EXTENSIONS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def complaints(folder, caplog, **pages):
    pytest.importorskip("sphinx")
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(f"<html><body>{body}</body></html>")
    app = SimpleNamespace(outdir=folder, builder=SimpleNamespace(format="html"))
    caplog.set_level(logging.WARNING, logger="sphinx")
    logging.getLogger("sphinx").propagate = True
    extension("closed").check(app, None)
    return [record.getMessage() for record in caplog.records]


def test_links_that_lead_somewhere_are_fine(tmp_path, caplog):
    (tmp_path / "table.csv").write_text("")
    first = '<a href="second.html#part">x</a><a href="table.csv">y</a><a href="#own">z</a>'
    first += '<p id="own"></p><a href="https://example.org/">outside, by hand</a>'
    assert not complaints(tmp_path, caplog, first=first, second='<p id="part"></p>')


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="gone.html">x</a>', "links to gone.html"),
        ('<a href="#gone">x</a>', "links to #gone"),
        ('<img src="gone.png">', "links to gone.png"),
        ('<script src="https://example.org/x.js"></script>', "fetches https://example.org/x.js"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "fetches //example.org/x.css"),
    ],
)
def test_dead_links_and_outside_resources_are_told(body, said, tmp_path, caplog):
    assert complaints(tmp_path, caplog, page=body) == [f"page.html {said}"]


def test_links_of_the_repository_become_those_of_the_site():
    pytest.importorskip("sphinx")
    source = ['<a id="E1"></a>E1, [x](../examples/priors.py), [all](../examples), [a.md](a.md#b)']
    extension("links").translate(None, "page", source)
    assert source == ["[E1]{#E1}, [x](gallery/priors.rst), [all](gallery/index.rst), [](a.md#b)"]


def test_what_scrolls_can_be_reached_and_headings_have_a_level(tmp_path):
    pytest.importorskip("sphinx")
    page = tmp_path / "page.html"
    page.write_text(
        '<p class="caption" role="heading">Start</p><pre>x</pre><th class="head"><p></p></th>'
        '<a class="reference internal" href="a.html"><span class="doc">A</span></a>'
    )
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html"))
    for _ in range(2):  # a second build changes nothing
        extension("accessible").change(app, None)
        assert page.read_text() == (
            '<p class="caption" role="heading" aria-level="2">Start</p><pre tabindex="0">x</pre>'
            '<td class="head"><p></p></td><a class="reference internal" href="a.html" '
            'aria-label="A"><span class="doc">A</span></a>'
        )


def test_every_example_has_its_place_in_the_gallery():
    place = extension("order").place
    names = [path.name for path in (EXTENSIONS.parents[1] / "examples").glob("*.py")]
    assert sorted(map(place, names)) == list(range(len(names)))

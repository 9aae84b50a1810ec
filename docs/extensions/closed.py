"""The finished site, looked at from outside: every link leads somewhere, and nothing is fetched."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.application import Sphinx
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)
#: Elements whose address the browser opens by itself.
_FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
_NOT_FETCHED = {"canonical", "author", "search", "index", "next", "prev"}  # kinds of <link>


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at the site once it is written."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class _Page(HTMLParser):
    """The anchors of a page, where its links go and what it makes the browser open."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element names and refers to."""
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        attribute = _FETCHED.get(tag, "")
        if given.get(attribute) and not set(given.get("rel", "").split()) & _NOT_FETCHED:
            self.fetched.append(given[attribute])


def check(app: Sphinx, failure: Exception | None) -> None:
    """Warn of every link that leads nowhere and of everything that would need a network."""
    if failure is not None or app.builder.format != "html":
        return
    pages = {path.resolve(): _Page(path) for path in Path(app.outdir).rglob("*.html")}
    for path, page in pages.items():
        name = path.relative_to(app.outdir)
        for address in page.fetched:
            if urlsplit(address).netloc:
                _LOGGER.warning("%s fetches %s", name, address, type="site", subtype="fetch")
        for address in page.links + page.fetched:
            if not _leads_somewhere(address, path, pages):
                _LOGGER.warning("%s links to %s", name, address, type="site", subtype="link")


def _leads_somewhere(address: str, path: Path, pages: dict[Path, _Page]) -> bool:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return True  # elsewhere: not looked at, for want of a network
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target not in pages:
        return target.exists()
    return parts.fragment in {"", "top"} or unquote(parts.fragment) in pages[target].anchors

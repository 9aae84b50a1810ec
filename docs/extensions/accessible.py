"""What the theme leaves out of the pages that readers with a keyboard or a screen reader need.

Headings get a level, regions a name, and what scrolls can be reached with the keyboard.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

# Text of a page as the theme writes it, and what replaces it.
_CHANGES = {
    r'(<p class="caption" role="heading")>': r'\1 aria-level="2">',
    r'(<aside class="sidebar-drawer")>': r'\1 aria-label="All pages">',
    r'(<aside class="toc-drawer(?: no-toc)?")>': r'\1 aria-label="This page">',
    r"<pre>": r'<pre tabindex="0">',
    r'(<div class="table-wrapper[^"]*")>': r'\1 tabindex="0">',
    # A header cell without a word is no header.
    r"<th( class=\"[^\"]*\")?><p></p></th>": r"<td\1><p></p></td>",
    # The words of a thumbnail's link are hidden: the title below it repeats them.
    r'(<a class="reference internal" href="[^"]*")(><span class="doc">)([^<]*)</span>': (
        r'\1 aria-label="\3"\2\3</span>'
    ),
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Change the pages when they are written."""
    app.connect("build-finished", change)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def change(app: Sphinx, problem: Exception | None) -> None:
    """Make every page of a build accessible; a page that is already stays as it is."""
    if problem is not None or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        text = before = path.read_text(encoding="utf-8")
        for pattern, replacement in _CHANGES.items():
            text = re.sub(pattern, replacement, text)
        if text != before:
            path.write_text(text, encoding="utf-8")

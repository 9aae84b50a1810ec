"""Links that read otherwise in the repository than on the site.

An anchor that Markdown knows as HTML, `<a id="E1"></a>`, is a target that Sphinx knows too; a link
to an example leads to its page in the gallery; a document goes by its title, not its file.
"""

import re

from sphinx.application import Sphinx

_ANCHOR = re.compile(r'<a id="(\w+)"></a>(\w+)')
_EXAMPLE = re.compile(r"\]\(\.\./examples/(\w+)\.py\)")
_FILE_NAME = re.compile(r"\[[\w/-]+\.md\]\(([^)]+)\)")


def setup(app: Sphinx) -> dict[str, bool]:
    """Translate every document as it is read."""
    app.connect("source-read", translate)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def translate(app: Sphinx, name: str, source: list[str]) -> None:
    """Write the links of a document as the site needs them."""
    text = _ANCHOR.sub(r"[\2]{#\1}", source[0])
    text = _EXAMPLE.sub(r"](gallery/\1.rst)", text)
    text = _FILE_NAME.sub(r"[](\1)", text)
    source[0] = text.replace("](../examples)", "](gallery/index.rst)")

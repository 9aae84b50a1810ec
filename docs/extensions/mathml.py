"""Formulas as MathML, made when the site is built: browsers draw it without a script."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

_UNDER = re.compile(r"\\(max|min|inf)_")
#: ≻ and ⪰, which the converter takes for letters and sets without space.
_RELATION = re.compile(r"<mi>(&#x0(?:227B|2AB0);)</mi>")


def setup(app: Sphinx) -> dict[str, bool]:
    """Make MathML the way formulas are drawn."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(inline, None), block_renderers=(block, None)
    )
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Draw a formula in a line of text."""
    translator.body.append(_drawn(node.astext(), "inline"))
    raise nodes.SkipNode


def block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Draw a formula in a line of its own, with what is optimised over below its operator."""
    formula = _drawn(_UNDER.sub(r"\\\1\\limits_", node.astext()), "block")
    translator.body.append(f'<div class="formula">{formula}</div>')
    raise nodes.SkipNode


def _drawn(formula: str, display: str) -> str:
    return _RELATION.sub(r"<mo>\1</mo>", convert(formula, display=display))

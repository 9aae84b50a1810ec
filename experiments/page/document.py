"""A page as one HTML file: text, style, data, libraries, code, and a policy against the rest.

The Content-Security-Policy names the hash of every script and style that belongs to the page.
Nothing else runs, and nothing is ever requested. Data are JSON in which no markup can begin.

Browsers refuse ``import`` from a file on disk. Every JavaScript module therefore becomes a function
that runs once, in the order of their imports; its exports are the fields of ``$name``.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.page import libraries

STATIC = Path(__file__).parent / "static"
_LIBRARIES = {"d3": "d3.min.js", "plot": "plot.umd.min.js"}
# What Plot puts into every figure of class "plot"; it has to be allowed by its hash as well.
_PLOT_STYLE = """:where(.plot) {
  --plot-background: white;
  display: block;
  height: auto;
  height: intrinsic;
  max-width: 100%;
}
:where(.plot text),
:where(.plot tspan) {
  white-space: pre;
}"""
_IMPORT = re.compile(r'^import \{ ([^}]+) \} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|const) (\w+)", re.MULTILINE)
_TYPES = {"f8": "float64", "f4": "float32", "u4": "uint32", "u2": "uint16", "u1": "uint8"}


def packed(values: NDArray[Any], kind: str) -> dict[str, str]:
    """Return numbers as the page reads them: exact, little-endian, in a third of the text."""
    raw = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
    return {"type": _TYPES[kind], "base64": base64.b64encode(raw).decode()}


def document(
    kind: str, title: str, data: dict[str, Any], used: Sequence[str] = ("d3",), judge: bool = False
) -> str:
    """Return a page.

    Parameters
    ----------
    kind : str
        Names ``static/<kind>.html``, its body, and ``static/<kind>.js``, its code.
    title : str
    data : dict
        What JSON can hold, with numbers from :func:`packed`.
    used : sequence of str
        Libraries: ``d3``, ``plot``.
    judge : bool
        Whether the page has a judge. Its code is a script of its own, which a worker runs again.
    """
    scripts = [("", libraries.source(_LIBRARIES[name])) for name in used]
    known = in_order("judge") if judge else []
    if judge:
        scripts.append(("judge-code", bundle("judge")))
    scripts.append(("", bundle(kind, without=known)))
    style = static_text("style.css")
    styles = [style, _PLOT_STYLE] if "plot" in used else [style]
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts, styles)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{html.escape(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        static_text(f"{kind}.html").replace("<!-- licences -->", _licences(used)),
        f'<script type="application/json" id="data">{_json(data)}</script>',
        *(f"<script{_identity(name)}>{_inert(text)}</script>" for name, text in scripts),
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _policy(scripts: Sequence[tuple[str, str]], styles: Sequence[str]) -> str:
    code = " ".join(_hash(text) for _, text in scripts)
    looks = " ".join(_hash(text) for text in styles)
    return (
        f"default-src 'none'; script-src {code}; style-src {looks}; img-src data: blob:; "
        "worker-src blob:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _identity(name: str) -> str:
    return f' id="{name}"' if name else ""


def _inert(code: str) -> str:
    """Return code that cannot end its own element; ours and the libraries' never try."""
    assert "</script" not in code.lower()
    assert "<!--" not in code
    return code


def _json(data: dict[str, Any]) -> str:
    """Return JSON in which no tag can begin, whatever the names in it are."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _licences(used: Sequence[str]) -> str:
    """Return the licences of what the page contains, as text."""
    prefixes = ("d3",) if "plot" not in used else ("",)
    names = sorted(n for n in libraries.digests() if n.endswith(".LICENSE.txt"))
    kept = [name for name in names if name.startswith(prefixes)]
    return "".join(
        f"<h3>{html.escape(name.removesuffix('.LICENSE.txt'))}</h3>"
        f"<pre>{html.escape(libraries.source(name))}</pre>"
        for name in kept
    )


@cache
def static_text(name: str) -> str:
    """Return the text of one of our files."""
    return (STATIC / name).read_text("utf-8")


def imported(name: str) -> list[str]:
    """Return the modules that one imports, by name without suffix."""
    return [found[2] for found in _IMPORT.finditer(static_text(f"{name}.js"))]


def in_order(entry: str, without: Collection[str] = ()) -> list[str]:
    """Return a module and all that it needs, each after what it imports."""
    order: list[str] = []

    def visit(name: str) -> None:
        if name in order or name in without:
            return
        for needed in imported(name):
            visit(needed)
        order.append(name)

    visit(entry)
    return order


def bundle(entry: str, without: Collection[str] = ()) -> str:
    """Return a script that runs a module and all that it needs, less what already ran."""
    return "\n".join(_wrapped(name) for name in in_order(entry, without))


def _wrapped(name: str) -> str:
    text = static_text(f"{name}.js")
    exports = [found[2] for found in _EXPORT.finditer(text)]
    text = _IMPORT.sub(lambda found: f"const {{ {found[1]} }} = ${found[2]};", text)
    text = _EXPORT.sub(r"\1 \2", text)
    fields = ", ".join(exports)
    return f'const ${name} = (() => {{\n"use strict";\n{text}\nreturn {{ {fields} }};\n}})();\n'

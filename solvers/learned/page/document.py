"""Assemble a page as one HTML file from text, style, data, libraries and code.

The Content-Security-Policy lists the hash of every script and style of the page. Nothing else runs,
and the page makes no requests. Data are JSON in which no HTML tag can begin.

Browsers refuse ``import`` from a file on disk. Every JavaScript module therefore becomes a function
that runs once, after the modules that it imports. Its exports are the fields of ``$name``.
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

from solvers.learned.page import libraries

STATIC = Path(__file__).parent / "static"
_IMPORT = re.compile(r'^import \{ ([^}]+) \} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|const) (\w+)", re.MULTILINE)
_TYPES = {"f8": "float64", "f4": "float32", "u4": "uint32", "u2": "uint16", "u1": "uint8"}


def packed(values: NDArray[Any], kind: str) -> dict[str, str]:
    """Return numbers for the page: little-endian bytes of the type ``kind``, in base64."""
    raw = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
    return {"type": _TYPES[kind], "base64": base64.b64encode(raw).decode()}


def document(title: str, data: dict[str, Any]) -> str:
    """Return a page.

    Parameters
    ----------
    title : str
    data : dict
        Data that JSON can represent, with numbers from :func:`packed`.
    """
    scripts = [
        ("", libraries.source("d3.min.js")),
        ("judge-code", bundle("judge")),  # a separate script, which a worker runs again
        ("", bundle("graph", without=in_order("judge"))),
    ]
    style = static_text("style.css")
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts, style)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{html.escape(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        static_text("graph.html").replace("<!-- licences -->", _licences()),
        f'<script type="application/json" id="data">{_json(data)}</script>',
        *(f"<script{_identity(name)}>{_inert(text)}</script>" for name, text in scripts),
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _policy(scripts: Sequence[tuple[str, str]], style: str) -> str:
    code = " ".join(_hash(text) for _, text in scripts)
    return (
        f"default-src 'none'; script-src {code}; style-src {_hash(style)}; img-src data: blob:; "
        "worker-src blob:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _identity(name: str) -> str:
    return f' id="{name}"' if name else ""


def _inert(code: str) -> str:
    """Return code after asserting that it cannot end its own script element."""
    assert "</script" not in code.lower()
    assert "<!--" not in code
    return code


def _json(data: dict[str, Any]) -> str:
    """Return JSON in which no tag can begin, whatever names it contains."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _licences() -> str:
    """Return the licences of d3 and of what it contains as HTML."""
    names = sorted(name for name in libraries.digests() if name.endswith(".LICENSE.txt"))
    return "".join(
        f"<h3>{html.escape(name.removesuffix('.LICENSE.txt'))}</h3>"
        f"<pre>{html.escape(libraries.source(name))}</pre>"
        for name in names
    )


@cache
def static_text(name: str) -> str:
    """Return the text of a file in ``static/``."""
    return (STATIC / name).read_text("utf-8")


def imported(name: str) -> list[str]:
    """Return the modules that a module imports, without suffix."""
    return [found[2] for found in _IMPORT.finditer(static_text(f"{name}.js"))]


def in_order(entry: str, without: Collection[str] = ()) -> list[str]:
    """Return a module and its dependencies, each after the modules that it imports."""
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
    """Return a script that runs a module and its dependencies, except for those in ``without``."""
    return "\n".join(_wrapped(name) for name in in_order(entry, without))


def _wrapped(name: str) -> str:
    text = static_text(f"{name}.js")
    exports = [found[2] for found in _EXPORT.finditer(text)]
    text = _IMPORT.sub(lambda found: f"const {{ {found[1]} }} = ${found[2]};", text)
    text = _EXPORT.sub(r"\1 \2", text)
    fields = ", ".join(exports)
    return f'const ${name} = (() => {{\n"use strict";\n{text}\nreturn {{ {fields} }};\n}})();\n'

"""Our JavaScript modules in one script, so that a page is one file and needs no server.

Browsers refuse ``import`` from a file on disk. Every module therefore becomes a function that runs
once, in the order of their imports; its exports are the fields of ``$name``.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from pathlib import Path

STATIC = Path(__file__).parent / "static"

_IMPORT = re.compile(r'^import \{ ([^}]+) \} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|const) (\w+)", re.MULTILINE)


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

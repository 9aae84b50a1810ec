"""Write the page of the `wdro` command: the help of every command and study."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

from experiments.cli import make_parser

_INTRODUCTION = """# The wdro command

`wdro NAME`, or `python -m wdro_cvx NAME`. [Running things](../running.md) explains where results
go, how runs are resumed and what exit codes mean.
"""


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before documents are read."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write(app: Sphinx) -> None:
    """Write the page, if it has changed."""
    os.environ["COLUMNS"] = "88"
    parts = [_INTRODUCTION]
    for parser in _commands(make_parser()):
        parts.append(f"## {parser.prog}\n\n```text\n{parser.format_help().strip()}\n```\n")
    page, text = Path(app.srcdir) / "docs/api/commands.md", "\n".join(parts)
    if not page.exists() or page.read_text() != text:
        page.write_text(text)


def _commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of all commands, a group followed by its members."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield inner
                yield from _commands(inner)

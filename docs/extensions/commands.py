"""The page of the `wdro` command: what `--help` says, of every command."""

import argparse
import os
from pathlib import Path

from sphinx.application import Sphinx

from experiments.cli import COMMANDS

_INTRODUCTION = """# The wdro command

`wdro NAME`, or `python -m wdro_cvx NAME`. Where results go, how runs are resumed and what exit
codes mean is told in [Running things](../running.md).
"""


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before documents are read."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write(app: Sphinx) -> None:
    """Write the page, if it has changed."""
    os.environ["COLUMNS"] = "88"
    parts = [_INTRODUCTION]
    commands = argparse.ArgumentParser(prog="wdro").add_subparsers()
    for command in COMMANDS:
        command.add(commands)
    for name, parser in commands.choices.items():
        parts.append(f"## wdro {name}\n\n```text\n{parser.format_help().strip()}\n```\n")
    page, text = Path(app.srcdir) / "docs/api/commands.md", "\n".join(parts)
    if not page.exists() or page.read_text() != text:
        page.write_text(text)

"""Provide d3 as published, pinned by hash, with its licences.

``python -m solvers.learned.page.libraries`` fetches it again with npm and checks the hashes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

_HERE = Path(__file__).parent


class Package(NamedTuple):
    """A published package, npm's hash of its archive, and our names for the files we keep."""

    name: str
    version: str
    integrity: str
    files: dict[str, str]


def packages() -> list[Package]:
    """Return the pinned packages."""
    pinned = json.loads((_HERE / "pinned.json").read_text("utf-8"))
    return [Package(**entry) for entry in pinned["packages"]]


def digests() -> dict[str, str]:
    """Return the required SHA-256 of every kept file, by name."""
    return dict(json.loads((_HERE / "pinned.json").read_text("utf-8"))["sha256"])


@cache
def source(name: str) -> str:
    """Return the text of a library, e.g. ``d3.min.js``."""
    return (_HERE / name).read_text("utf-8")


def sha512(raw: bytes) -> str:
    """Return a SHA-512 hash in npm's notation."""
    return "sha512-" + base64.b64encode(hashlib.sha512(raw).digest()).decode()


def altered() -> list[str]:
    """Return the names of kept files that are missing or differ from the pinned ones."""
    return [
        name
        for name, expected in digests().items()
        if not (_HERE / name).is_file()
        or hashlib.sha256((_HERE / name).read_bytes()).hexdigest() != expected
    ]

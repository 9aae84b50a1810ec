"""What a result was made with: versions, processor, threads, commit, and a digest of the code."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from experiments.running.extensions import installed_files
from experiments.running.files import write_atomically

_ROOT = Path(__file__).parents[2]
_ROOMS = ("wdro_cvx", "formulations", "solvers", "experiments")
_PACKAGES = ("numpy", "scipy", "cvxpy", "clarabel", "scs", "piqp", "networkx", "scikit-learn")
#: Code that shows results and makes none: changing it leaves them valid.
_SHOWING = ("cli.py", "command.py", "report.py", "display.py", "markdown.py")
_SHOWING_ROOMS = ("drawing", "page")


def code_digest(extensions: Sequence[str] = ()) -> str:
    """Return a digest of all that a result depends on beside its settings.

    These are our four packages, less what only draws and reports, the files of extensions, named or
    installed, and the versions of the libraries that compute.
    """
    digest = hashlib.sha256()
    for room in _ROOMS:
        for path in sorted((_ROOT / room).rglob("*.py")):
            name = path.relative_to(_ROOT)
            if path.name not in _SHOWING and name.parts[1] not in _SHOWING_ROOMS:
                digest.update(str(name).encode() + b"\0" + path.read_bytes() + b"\0")
    for extension in (*map(Path, extensions), *installed_files()):
        digest.update(extension.read_bytes() + b"\0")
    for package in _PACKAGES:
        digest.update(f"{package} {_version(package)}\0".encode())
    return digest.hexdigest()[:12]


def provenance() -> dict[str, str]:
    """Return what to record beside every result."""
    found = {"python": platform.python_version(), "processor": _processor()}
    found["cores"] = str(psutil.cpu_count())
    found["memory"] = f"{psutil.virtual_memory().total / 1024**3:.0f} GiB"
    for package in ("wdro-cvx", *_PACKAGES):
        found[package] = _version(package)
    found["commit"] = _commit()
    found["code"] = code_digest()
    return found


def write_provenance(folder: Path, settings: dict[str, object]) -> None:
    """Write ``provenance.json``: what a result was made with, and its settings."""
    record = provenance() | {"settings": {name: str(value) for name, value in settings.items()}}
    write_atomically(folder / "provenance.json", json.dumps(record, indent=1) + "\n")


def provenance_line() -> str:
    """Return the record as one line of Markdown."""
    return ", ".join(f"{name} {value}" for name, value in provenance().items())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def _commit() -> str:
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=_ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        changed = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no", "--", *_ROOMS],
            cwd=_ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip() + (" with changes" if changed.stdout.strip() else "")

"""What a result was made with: versions, processor, threads, commit."""

from __future__ import annotations

import json
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from experiments.store import write_atomically

_PACKAGES = ("wdro-cvx", "numpy", "scipy", "cvxpy", "clarabel", "scs", "piqp", "pandas")


def provenance() -> dict[str, str]:
    """Return what to record beside every result."""
    found = {"python": platform.python_version(), "processor": _processor()}
    found["cores"] = str(psutil.cpu_count())
    found["memory"] = f"{psutil.virtual_memory().total / 1024**3:.0f} GiB"
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    found["commit"] = _commit()
    return found


def write_provenance(folder: Path, settings: dict[str, object]) -> None:
    """Write ``provenance.json``: what a result was made with, and its settings."""
    record = provenance() | {"settings": {name: str(value) for name, value in settings.items()}}
    write_atomically(folder / "provenance.json", json.dumps(record, indent=1) + "\n")


def provenance_line() -> str:
    """Return the record as one line of Markdown."""
    return ", ".join(f"{name} {value}" for name, value in provenance().items())


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
            cwd=Path(__file__).parent, capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()

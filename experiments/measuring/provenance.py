"""What a result was made with: versions, processor, threads, commit, and the code it ran."""

from __future__ import annotations

import json
import platform
import subprocess
from pathlib import Path

import psutil

from experiments.measuring.digest import LIBRARIES, ROOT, Source, library_version
from experiments.measuring.files import write_atomically

_ROOMS = ("wdro_cvx", "formulations", "solvers", "experiments")


def provenance() -> dict[str, str]:
    """Return what to record beside every result."""
    found = {"python": platform.python_version(), "processor": _processor()}
    found["cores"] = str(psutil.cpu_count())
    found["memory"] = f"{psutil.virtual_memory().total / 1024**3:.0f} GiB"
    for package in ("wdro-cvx", *LIBRARIES):
        found[package] = library_version(package)
    found["commit"] = _commit()
    return found


def write_provenance(folder: Path, settings: dict[str, object], source: Source) -> None:
    """Write ``provenance.json``: what a result was made with, by which code, and its settings."""
    record: dict[str, object] = dict(provenance())
    record["settings"] = {name: str(value) for name, value in settings.items()}
    record["trials"], record["extensions"] = list(source.trials), list(source.extensions)
    record["data"] = [str(path.relative_to(ROOT)) for path in source.data]
    record["code"] = source.code()
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
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        changed = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no", "--", *_ROOMS],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip() + (" with changes" if changed.stdout.strip() else "")

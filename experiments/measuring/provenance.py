"""Record the code, versions and settings behind results, and find stale committed results.

``make stale`` runs this module. It lists every committed result as fresh or stale, names the
modules that changed since the result was made, and exits with 1 if any result is stale.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from experiments.measuring.digest import LIBRARIES, PACKAGES, ROOT, Source, library_version
from experiments.measuring.files import write_atomically

_SHOWN = 6  # changed modules to name


def provenance() -> dict[str, str]:
    """Return the versions, the processor, the memory and the commit."""
    found = {"python": platform.python_version(), "processor": _processor()}
    found["cores"] = str(psutil.cpu_count())
    found["memory"] = f"{psutil.virtual_memory().total / 1024**3:.0f} GiB"
    for package in ("wdro-cvx", *LIBRARIES):
        found[package] = library_version(package)
    found["commit"] = _commit()
    return found


def write_provenance(folder: Path, settings: dict[str, object], source: Source) -> None:
    """Write ``provenance.json``: the versions, code and settings behind a result."""
    record: dict[str, object] = dict(provenance())
    record["settings"] = {name: str(value) for name, value in settings.items()}
    record["trials"], record["extensions"] = list(source.trials), list(source.extensions)
    record["data"] = [str(path.relative_to(ROOT)) for path in source.data]
    record["code"] = source.code()
    write_atomically(folder / "provenance.json", json.dumps(record, indent=1) + "\n")


def provenance_line() -> str:
    """Return the provenance as one line of Markdown."""
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
            ["git", "status", "--porcelain", "--untracked-files=no", "--", *PACKAGES],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip() + (" with changes" if changed.stdout.strip() else "")


def main(folder: Path = ROOT / "results") -> int:
    """Print whether each result below a folder is fresh or stale; return 1 if any is stale."""
    stale = 0
    for path in sorted(folder.rglob("provenance.json")):
        changed = changes(json.loads(path.read_text(encoding="utf-8")))
        stale += bool(changed)
        print(f"{'stale' if changed else 'fresh':6} {path.parent.relative_to(folder)}", end="")
        more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
        print(f": {', '.join(changed[:_SHOWN])}{more}" if changed else "")
    return 1 if stale else 0


def changes(record: Mapping[str, Any]) -> list[str]:
    """Return the names of modules, libraries and files that changed since a record."""
    code = record.get("code")
    if not isinstance(code, dict) or "trials" not in record:
        return ["made before modules were recorded"]
    minor = record["python"].rpartition(".")[0]
    if minor != platform.python_version().rpartition(".")[0]:
        return [f"cannot tell, because it was made with Python {minor}"]
    data = tuple(ROOT / name for name in record["data"])
    try:
        now = Source(tuple(record["trials"]), tuple(record["extensions"]), data).code()
    except (OSError, ValueError) as reason:
        return [str(reason)]
    return sorted(name for name in {*code, *now} if code.get(name) != now.get(name))


if __name__ == "__main__":
    sys.exit(main())

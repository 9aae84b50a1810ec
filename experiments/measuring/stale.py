"""``make stale``: which committed results the present code would no longer make.

Prints every result as fresh or stale, with the modules that changed since it was made, and exits
with 1 if any is stale.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.measuring.digest import ROOT, Source

_SHOWN = 6  # changed modules that are named


def main(folder: Path = ROOT / "results") -> int:
    """Print the state of every result below a folder; return 1 if any is stale, else 0."""
    stale = 0
    for path in sorted(folder.rglob("provenance.json")):
        changed = changes(json.loads(path.read_text(encoding="utf-8")))
        stale += bool(changed)
        print(f"{'stale' if changed else 'fresh':6} {path.parent.relative_to(folder)}", end="")
        more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
        print(f": {', '.join(changed[:_SHOWN])}{more}" if changed else "")
    return 1 if stale else 0


def changes(record: Mapping[str, Any]) -> list[str]:
    """Return what has changed since a record of provenance was written."""
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

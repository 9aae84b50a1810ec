"""Make every committed result again whose code has changed; ``make reference`` runs this module.

Results are made one after another, so that nothing else runs while times are measured. A run that
was stopped is resumed. All of them together take several hours.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from pathlib import Path

from experiments.measuring.digest import ROOT
from experiments.measuring.provenance import changes

#: The command that makes each folder of ``results/``; those that measure times come first.
COMMANDS = {
    "compare": "wdro compare --preset paper --figure7-limit 450",
    "bench": "wdro bench",
    "bench-small": "wdro bench --small",
    "bench-scale": "wdro bench --scale --largest 1000000 --time-limit 7200",
    "bench-hard": "wdro bench --hard",
    "bench-log-degree": "wdro bench --log-degree",
    "stress": "wdro stress --cells 60",
    "stress-attacks": "python tests/adversarial/campaign.py --cases 10000",
    "propositions": "wdro propositions",
    "figures": "wdro figures --preset paper",
    "temperature": "wdro study temperature",
    "edges": "wdro study edges",
    "validate": "wdro study validate",
    "coverage": "wdro study coverage",
    "mechanism": "wdro study mechanism --tuned 40 --graphs 120",
    "shift": "wdro study shift --tuned 20 --graphs 60",
    "explain": "wdro study explain --search 8 --graphs 40",
}


def reason(name: str, results: Path = ROOT / "results") -> str:
    """Return why a result must be made again; empty if it need not."""
    record = results / name / "provenance.json"
    if not record.exists():
        return "there is none"
    found = json.loads(record.read_text(encoding="utf-8"))
    changed = changes(found)
    if changed:
        return f"{len(changed)} modules, libraries or files changed" if changed[1:] else changed[0]
    made_by = found["settings"].get("command")
    return "" if made_by == COMMANDS[name] else f"it was made by {made_by}"


def main() -> int:
    """Run the commands of all stale results; return 1 if a command failed."""
    failed = 0
    for name, command in COMMANDS.items():
        why = reason(name)
        print(f"{name}: {f'{command} ({why})' if why else 'fresh'}", flush=True)
        if why:
            program, *words = shlex.split(command)
            start = ["-m", "experiments"] if program == "wdro" else []
            began = time.perf_counter()
            done = subprocess.run([sys.executable, *start, *words, "--reference"], cwd=ROOT)
            failed += done.returncode != 0
            print(f"{name}: {(time.perf_counter() - began) / 60:.0f} minutes", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

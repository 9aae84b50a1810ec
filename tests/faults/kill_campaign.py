"""Kill runs at random moments and check that nothing is lost, torn, doubled or left running.

``make faults`` runs this program (``KILLS=100``), which prints the counts. Every command keeps its
folder from kill to kill, so that each run resumes the previous one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

COMMANDS = {
    "compare": ["compare", "--dimensions", "5,10,15,20"],
    "figures": ["figures", "gamma", "reliability", "communities", "--trials", "4"],
    "propositions": ["propositions", "--instances", "2"],
    "stress": ["stress", "--dimensions", "2,3,20"],
    "bench": ["bench"],
}
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
LONGEST_S = 20.0  # before the signal: from the first import to well into the run
GRACE_S = 10.0  # for everything to be gone


def family(mark: str) -> list[psutil.Process]:
    """Return all living processes that a run started."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("WDRO_TEST_MARK") == mark and process.status() != "zombie":
                found.append(process)
        except psutil.Error:
            continue
    return found


def stored(folder: Path) -> dict[Path, tuple[int, bytes]]:
    """Return all stored rows with the time of writing."""
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.glob("cells/*/*.json")
    }


def kill_once(name: str, folder: Path, rng: random.Random, counts: Counter[str]) -> None:
    """Start a command, send it a signal at a random moment, and count what is left."""
    mark = f"campaign-{os.getpid()}-{time.monotonic_ns()}"
    before = stored(folder)
    run = subprocess.Popen(
        [sys.executable, "-m", "experiments", *COMMANDS[name], "--output", str(folder)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "WDRO_TEST_MARK": mark},
    )  # fmt: skip
    how, whole_group = rng.choice(SIGNALS), rng.random() < 0.3
    try:
        run.wait(rng.uniform(0.0, LONGEST_S))
        finished = True
    except subprocess.TimeoutExpired:
        finished = False
        (os.killpg if whole_group else os.kill)(run.pid, how)
    try:
        run.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        counts["did not end"] += 1
        run.kill()
        run.wait()
    deadline = time.monotonic() + GRACE_S
    while family(mark) and time.monotonic() < deadline:
        time.sleep(0.1)
    left = family(mark)
    counts["processes left"] += len(left)
    for process in left:
        process.kill()
    after = stored(folder)
    counts["rows lost"] += len(before.keys() - after.keys())
    counts["rows written twice"] += sum(after[p] != row for p, row in before.items() if p in after)
    counts["torn files"] += sum(not whole(raw) for _, raw in after.values())
    counts["rows saved"] += len(after.keys() - before.keys())
    counts["finished first" if finished else f"killed by {how.name}"] += 1
    counts["kills"] += not finished
    if finished:
        counts["finished with an error"] += run.returncode not in (0, 1)
        shutil.rmtree(folder, ignore_errors=True)  # a run that failed at once has made no folder


def whole(raw: bytes) -> bool:
    """Return whether a stored row is complete."""
    try:
        return set(json.loads(raw)) == {"task", "row"}
    except ValueError:
        return False


def main() -> int:
    """Run the campaign; return 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    # A shell starts jobs in the background with Ctrl-C ignored, which their children inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    totals: dict[str, Counter[str]] = {name: Counter() for name in COMMANDS}
    with tempfile.TemporaryDirectory() as place:
        folders = {name: Path(place) / name for name in COMMANDS}
        while sum(counts["kills"] for counts in totals.values()) < options.kills:
            name = min(COMMANDS, key=lambda one: totals[one]["kills"])
            kill_once(name, folders[name], rng, totals[name])
            print(name, dict(totals[name]), flush=True)
        for name in ("compare", "figures", "propositions", "stress"):  # let the last runs finish
            command = [sys.executable, "-m", "experiments", *COMMANDS[name]]
            done = subprocess.run(
                [*command, "--output", str(folders[name])], capture_output=True, check=False
            )
            # 1 is a verdict, not an error: few instances decide little.
            totals[name]["last run failed"] += done.returncode not in (0, 1)
    columns = ["kills", "rows saved", "rows lost", "rows written twice", "torn files",
               "processes left", "did not end", "last run failed"]  # fmt: skip
    print("| command | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name, counts in totals.items():
        print(f"| {name} | " + " | ".join(str(counts[column]) for column in columns) + " |")
    bad = [*columns[2:], "finished with an error"]
    return int(any(counts[column] for counts in totals.values() for column in bad))


if __name__ == "__main__":
    sys.exit(main())

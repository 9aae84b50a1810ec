"""Plant one known fault at a time, and see whether the tests of ``make test`` fail.

``python tests/mutants/plant.py`` plants all faults. Words select the faults whose file or text
contains them all: ``python tests/mutants/plant.py judge.py gap``. A number before the words is the
first fault to plant: ``python tests/mutants/plant.py 40``. The faults are planted in a copy of the
tree. Exits with 1 if a fault is not noticed, or if the table no longer fits the code.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from faults import FAULTS

ROOT = Path(__file__).parents[2]
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "build", "runs", "results", "__pycache__", ".*_cache"
)


class Fault(NamedTuple):
    """One fault, and the tests that must notice it."""

    file: str
    text: str
    faulty: str
    tests: list[str]


def main(words: list[str]) -> int:
    every = [
        Fault(file, text, faulty, tests.split())
        for file, (tests, texts) in FAULTS.items()
        for text, faulty in texts
    ]
    first = int(words.pop(0)) if words and words[0].isdigit() else 1
    chosen = [
        (number, one)
        for number, one in enumerate(every, 1)
        if number >= first and all(word in f"{one.file} {one.text}" for word in words)
    ]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=_LEFT_OUT)
        (copy / "results").symlink_to(ROOT / "results")
        outcomes = [tried(copy, number, fault) for number, fault in chosen]
    caught, survived = outcomes.count("caught"), outcomes.count("SURVIVED")
    stale = len(chosen) - caught - survived
    print(f"{len(chosen)} faults: {caught} caught, {survived} survived, {stale} not in the code")
    return int(caught < len(chosen))


def tried(copy: Path, number: int, fault: Fault) -> str:
    """Plant a fault, run its tests, remove it, print what happened, and return the outcome."""
    path = copy / fault.file
    sound = path.read_text() if path.is_file() else ""
    if sound.count(fault.text) != 1:
        outcome, seconds, by = "STALE", 0.0, f"{sound.count(fault.text)} places have this text"
    else:
        path.write_text(sound.replace(fault.text, fault.faulty))
        outcome, seconds, by = noticed(copy, fault.tests)
        path.write_text(sound)
    what = f"{fault.file}: {fault.faulty.strip()!r}"
    print(f"{number:3} {outcome:8} {seconds:5.0f} s  {what}  {by}", flush=True)
    return outcome


def noticed(copy: Path, tests: list[str]) -> tuple[str, float, str]:
    """Return the outcome, the seconds that the tests took, and the test that failed."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider"]
    environment = os.environ | {
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "",  # compiled once for all faults
        "OPENBLAS_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [*command, *tests], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - started
    if done.returncode == 0:
        return "SURVIVED", seconds, f"despite {' '.join(tests)}"
    found = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if found is None:
        raise SystemExit(done.stdout + done.stderr)
    return "caught", seconds, found[1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

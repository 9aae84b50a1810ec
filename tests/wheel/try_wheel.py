"""Build the wheel, install it alone into a new environment, and use it far from the repository.

``make wheel-test`` runs this program. It needs a package index and is therefore not part of the
test suite. The working directory has folders ``solvers`` and ``experiments`` that end any process
that imports them.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
EXTRAS = {
    "tables": ["learn", "table.parquet", "--output", "parquet"],
    "temperature": ["study", "temperature", "--output", "temperature"],
    "validate": ["study", "validate", "--output", "validate"],
    "cluster": ["figures", "gamma", "--dask", "local", "--output", "figures"],
}
SCRIPT = "from solvers import solve; print(solve.__module__)"


def main() -> int:
    """Try everything; the first thing that does not hold ends it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--constraint", type=Path, default=ROOT / "constraints.txt")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wdro-wheel-") as folder:
        home = Path(folder)
        wheel = build(home / "wheels")
        run([sys.executable, "-m", "twine", "check", "--strict", *(home / "wheels").iterdir()])
        place = install(wheel, home / "venv", options.constraint)
        work = home / "work"
        work.mkdir()
        confuse(work)
        try_readme(place, work)
        try_commands(place, work)
        try_extras(place, work)
        try_scripts(place, work)
    print("the wheel works alone")
    return 0


def build(folder: Path) -> Path:
    """Build source distribution and wheel from a copy, in whose way no earlier build is."""
    copy = folder.with_name("source")
    left_out = shutil.ignore_patterns(".*", "build", "runs", "results", "tests", "*.egg-info")
    shutil.copytree(ROOT, copy, ignore=left_out)
    run([sys.executable, "-m", "build", "--outdir", folder, copy])
    (wheel,) = folder.glob("wdro_cvx-*.whl")
    return wheel


def install(wheel: Path, folder: Path, constraint: Path) -> Path:
    """Install the wheel and what it needs; return the folder of its programs."""
    venv.create(folder, with_pip=True)
    place = folder / "bin"
    run([place / "python", "-m", "pip", "install", "--quiet", "--constraint", constraint, wheel])
    return place


def confuse(work: Path) -> None:
    """Put packages of the same names into the working directory, and a table beside them."""
    for name in ("solvers", "experiments", "formulations"):
        (work / name).mkdir()
        (work / name / "__init__.py").write_text("raise SystemExit('not ours')\n")
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((30, 6)).cumsum(axis=1)
    header = ",".join(f"place {vertex}" for vertex in range(6))
    np.savetxt(work / "table.csv", rows, delimiter=",", header=header, comments="")
    (work / "table.parquet").write_bytes(b"PAR1")


def try_readme(place: Path, work: Path) -> None:
    """Run the README's snippet, which must print what the README says, up to its numbers."""
    blocks = re.findall(r"```(\w*)\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    start = next(k for k, (language, _) in enumerate(blocks) if language == "python")
    said = run([place / "python", "-P", "-c", blocks[start][1]], work)
    words, shown = (
        [word for word in text.split() if not re.fullmatch(r"[\d.]+(e-\d+)?", word)]
        for text in (said, blocks[start + 1][1])
    )
    expect(words == shown, f"the README's snippet printed\n{said}")


def try_commands(place: Path, work: Path) -> None:
    """Compare on a small grid, and learn, by both names of the command."""
    said = run([place / "wdro", "--version"], work)
    expect("wdro-cvx 0." in said, said)
    grid = ["compare", "--dimensions", "5,8", "--repeats", "1", "--seeds", "1"]
    run([place / "wdro", *grid], work)
    expect((work / "runs/compare/report.md").exists(), "no report of the comparison")
    run([place / "python", "-m", "wdro_cvx", *grid], work)
    run([place / "wdro", "learn", "table.csv"], work)
    run([place / "python", "-m", "wdro_cvx", "learn", "table.csv", "--force"], work)
    learned = work / "runs/learn/table"
    for name in ("graph.html", "edges.csv", "summary.md", "graph.graphml"):
        expect((learned / name).exists(), f"wdro learn wrote no {name}")


def try_extras(place: Path, work: Path) -> None:
    """What is not installed is named in one sentence, with the extra that brings it."""
    for extra, command in EXTRAS.items():
        done = subprocess.run(
            [place / "wdro", *command], cwd=work, env=clean(), capture_output=True, text=True
        )
        # What a command says of its progress does not begin so.
        lines = [line for line in done.stderr.splitlines() if line.startswith("wdro")]
        expect(done.returncode == 2, f"{extra}: ended with {done.returncode}\n{done.stderr}")
        expect(len(lines) == 1 and extra in lines[0], f"{extra}: {done.stderr}")
        print(lines[0])


def try_scripts(place: Path, work: Path) -> None:
    """A folder beside a script wins, unless the path is safe: docs/installation.md."""
    (work / "script.py").write_text(SCRIPT)
    confused = subprocess.run(
        [place / "python", "script.py"], cwd=work, env=clean(), capture_output=True, text=True
    )
    expect("not ours" in confused.stderr, "the folder beside a script was not in its way")
    said = run([place / "python", "-P", "script.py"], work)
    expect(said.startswith("solvers"), said)


def clean() -> dict[str, str]:
    """Return the environment without what would lead back to the repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "OPENBLAS_NUM_THREADS": "1"}


def run(command: list[object], work: Path | None = None) -> str:
    """Run a command to its end and return what it printed; a failure ends everything."""
    done = subprocess.run(
        [str(part) for part in command], cwd=work, env=clean(), capture_output=True, text=True
    )
    expect(done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def expect(holds: bool, otherwise: str) -> None:
    """End everything if something does not hold."""
    if not holds:
        raise SystemExit(f"wheel: {otherwise}")


if __name__ == "__main__":
    sys.exit(main())

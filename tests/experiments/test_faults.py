"""A run that is killed, stopped or disturbed: nothing lost, nothing doubled, nothing left over."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import psutil
import pytest

from experiments.cli import main
from experiments.compare.grid import PRESETS, Grid
from experiments.stress.grid import corners

DOUBLES = str(Path(__file__).parents[1] / "helpers" / "doubles.py")
METHODS = ("SampleAverage:CLARABEL", "PIQP")
SIZES = tuple(range(5, 13))
COMMANDS = {
    "compare": [
        "compare", "--dimensions", ",".join(map(str, SIZES)), "--methods", ",".join(METHODS),
    ],
    "stress": ["stress", "--dimensions", "2", "--cells", "5"],
    "sleep": ["compare", "--dimensions", "5", "--methods", "Sleeper", "--with", DOUBLES],
}  # fmt: skip


def start(name, output):
    """Start a command in a process group of its own, as a shell does."""
    mark = f"{name}-{os.getpid()}-{time.monotonic_ns()}"
    command = [sys.executable, "-m", "experiments", *COMMANDS[name], "--output", str(output)]
    # A job in the background of a script ignores SIGINT, and so would all that it starts.
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        run = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True, env={**os.environ, "WDRO_TEST_MARK": mark},
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, before)
    return run, mark


def family(mark):
    """Return all processes that a run started, however they are related to it."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("WDRO_TEST_MARK") == mark:
                found.append(process)
        except psutil.Error:
            continue
    return found


def stop_after(output, run, mark, rows, how):
    """Send a signal once some rows are saved; return the files by name, and who lived on."""
    deadline = time.monotonic() + 120
    while len(list(output.glob("cells/*/*.json"))) < rows and time.monotonic() < deadline:
        time.sleep(0.01)
    members = family(mark)
    os.kill(run.pid, how)
    said = run.communicate(timeout=60)[1]
    _, alive = psutil.wait_procs([p for p in members if p.pid != run.pid], timeout=10)
    kept = {path: path.stat().st_mtime_ns for path in output.glob("cells/*/*.json")}
    return kept, alive, said


@pytest.mark.parametrize(
    ("name", "how"),
    [
        pytest.param("compare", signal.SIGKILL, marks=pytest.mark.slow),
        pytest.param("compare", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param("compare", signal.SIGINT, marks=pytest.mark.slow),
        pytest.param("stress", signal.SIGKILL, marks=pytest.mark.slow),
        ("stress", signal.SIGTERM),
    ],
)
def test_a_stopped_run_goes_on_where_it_was(name, how, tmp_path, capsys, unpainted):
    run, mark = start(name, tmp_path)
    kept, alive, said = stop_after(tmp_path, run, mark, 2, how)
    assert not alive
    assert run.returncode == (-how if how == signal.SIGKILL else 128 + how)
    if how != signal.SIGKILL:
        assert "the same command resumes" in said
        assert "Traceback" not in said
    assert len(kept) >= 2
    assert all(json.loads(path.read_text())["row"] for path in kept)
    capsys.readouterr()
    assert main([*COMMANDS[name], "--output", str(tmp_path)]) == 0  # what it needs is on the disk
    out, err = capsys.readouterr()
    for path, written in kept.items():
        assert path.stat().st_mtime_ns == written  # not computed twice
    assert "from an earlier run" in err
    rows = pd.read_csv(tmp_path / "runs.csv")
    plans = {
        "compare": Grid(replace(PRESETS["quick"], dimensions=SIZES), METHODS).plan(),
        "stress": corners([2], 5),
    }  # fmt: skip
    assert len(rows) == len(plans[name])
    assert f"{len(rows)} " in out
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.slow
def test_two_runs_with_one_folder(tmp_path, capsys):
    first, mark = start("sleep", tmp_path)
    deadline = time.monotonic() + 60
    while not (tmp_path / "cells").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert main([*COMMANDS["sleep"], "--output", str(tmp_path)]) == 2
    assert f"in use by another run (process {first.pid})" in capsys.readouterr().err
    first.terminate()
    first.communicate(timeout=60)
    psutil.wait_procs(family(mark), timeout=10)
    assert family(mark) == []

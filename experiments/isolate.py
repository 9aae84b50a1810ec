"""Run a measurement in a process of its own, within limits of time and memory.

A time-out, running out of memory or a crash is a result, not an accident: it is what the paper
reports of SDPs. The child leads its own process group, which is killed as a whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from experiments.cell import Cell, measure
from experiments.extensions import load_extension, load_installed
from wdro_cvx import WdroError

_POLL_S = 0.02
_ORPHAN_POLL_S = 0.5


@dataclass(frozen=True)
class Limits:
    """Wall-clock seconds and MiB of memory for one measurement, its judging included."""

    limit_s: float
    limit_mb: float


def run_isolated(
    cell: Cell, limits: Limits, extensions: tuple[str, ...] = ()
) -> tuple[dict[str, Any], np.ndarray | None]:
    """Measure a cell in a child process; return its row and, if it ended well, the Laplacian.

    Parameters
    ----------
    cell : Cell
    limits : Limits
    extensions : tuple of str
        Python files to run first, which register further methods.
    """
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder)
        task = {"cell": asdict(cell), "output": folder, "extensions": list(extensions)}
        with (output / "log").open("wb") as log:
            child = subprocess.Popen(
                [sys.executable, "-m", "experiments.isolate"],
                stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
            try:
                assert child.stdin is not None
                child.stdin.write(json.dumps(task).encode())
                child.stdin.close()
                verdict = _watch(child, limits)
            finally:
                _kill_group(child)
        if verdict is not None:
            return verdict, None
        result = output / "row.json"
        if not result.exists():
            tail = (output / "log").read_text(errors="replace").strip().splitlines()
            reason = tail[-1] if tail else f"exit code {child.returncode}"
            return {"outcome": "crash", "message": reason[:300]}, None
        row = json.loads(result.read_text())
        laplacian = np.load(output / "laplacian.npy") if row["outcome"] == "ok" else None
        return row, laplacian


def _watch(child: subprocess.Popen[bytes], limits: Limits) -> dict[str, Any] | None:
    """Wait for the child; return the row if a limit was hit, None if it ended by itself."""
    started = time.perf_counter()
    process = psutil.Process(child.pid)
    while child.poll() is None:
        if time.perf_counter() - started > limits.limit_s:
            return {"outcome": "time-out", "message": f"stopped after {limits.limit_s:g} s"}
        try:
            used = process.memory_info().rss / 1024.0**2
        except psutil.Error:
            break
        if used > limits.limit_mb:
            message = f"stopped at {limits.limit_mb:g} MiB"
            return {"outcome": "out of memory", "message": message, "peak_mb": used}
        time.sleep(_POLL_S)
    child.wait()
    return None


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _end_with(parent: int) -> None:
    """Kill this process and its children once the parent is gone, however it went."""
    while os.getppid() == parent:
        time.sleep(_ORPHAN_POLL_S)
    os.killpg(0, signal.SIGKILL)


def _child() -> None:
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    task = json.load(sys.stdin)
    load_installed()
    for path in task["extensions"]:
        load_extension(path)
    output = Path(task["output"])
    try:
        row, laplacian = measure(Cell.from_dict(task["cell"]))
        np.save(output / "laplacian.npy", laplacian)
        row["outcome"] = "ok"
    except MemoryError as reason:
        row = {"outcome": "out of memory", "message": str(reason) or "MemoryError"}
    except WdroError as reason:
        row = {"outcome": "failed", "message": str(reason)[:300]}
    (output / "row.part").write_text(json.dumps(row))
    (output / "row.part").rename(output / "row.json")


if __name__ == "__main__":
    _child()

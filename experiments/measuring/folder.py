"""Where a run writes: everyday runs below ``runs/``, references in ``results/``, one at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from experiments.measuring.files import OutputError, make_folder, remove_folder, writing
from wdro_cvx import WdroError

RUNS = Path("runs")
RESULTS = Path("results")
CELLS = "cells"
_LOCK = ".lock"
#: What a run writes and the repository does not keep: PDFs are made again from the tables.
_NOT_PUBLISHED = (CELLS, _LOCK, "*.part", "*.pdf")


@contextlib.contextmanager
def locked(output: Path) -> Iterator[Path]:
    """Make the folder and hold it for this run; a second run with the same folder is refused.

    The kernel drops the lock with the process, so that a killed run leaves none behind.
    """
    make_folder(output)
    path = output / _LOCK
    with writing(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(handle, 20).decode(errors="replace").strip() or "unknown"
            raise OutputError(
                f"{output} is in use by another run (process {holder}). Wait for it, or name "
                "another folder with --output."
            ) from None
        with writing(path):
            os.ftruncate(handle, 0)
            os.write(handle, f"{os.getpid()}\n".encode())
        yield output
    finally:
        os.close(handle)


def choose_output(command: str, output: Path | None, reference: bool) -> Path:
    """Return where a command writes; ``runs/<command>`` unless told otherwise."""
    if output is not None and reference:
        raise WdroError("--reference writes to results/; leave out --output, or leave it out.")
    return output if output is not None else RUNS / command


def publish(output: Path, command: str) -> Path:
    """Replace the committed reference by what a finished run wrote; return where it is."""
    target = RESULTS / command
    if not RESULTS.is_dir():
        raise WdroError(
            f"there is no folder {RESULTS.resolve()}; --reference replaces the results that are "
            "committed with the project, so run it at its root."
        )
    # Beside it first, then two renames: at no moment is half of it there.
    fresh, stale = (target.with_name(f".{command}.{word}") for word in ("new", "old"))
    for path in (fresh, stale):
        remove_folder(path)
    with writing(target):
        shutil.copytree(output, fresh, ignore=shutil.ignore_patterns(*_NOT_PUBLISHED))
        if target.exists():
            os.replace(target, stale)
        os.replace(fresh, target)
    remove_folder(stale)
    return target

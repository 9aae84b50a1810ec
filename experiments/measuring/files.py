"""Write files atomically and manage the folders of runs.

Ordinary runs write below ``runs/``, reference runs to ``results/``. A lock allows only one run at a
time in a folder.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from wdro_cvx import WdroError

if TYPE_CHECKING:
    import pandas as pd

RUNS = Path("runs")
RESULTS = Path("results")
CELLS = "cells"
_LOCK = ".lock"
#: Files of a run that the repository does not keep; PDFs can be made again.
_NOT_PUBLISHED = (CELLS, _LOCK, "*.part", "*.pdf")

_REMEDIES = {
    errno.ENOSPC: "Free some space",
    errno.EDQUOT: "Free some space",
    errno.EROFS: "Name a folder on a disk that can be written with --output",
    errno.EACCES: "Name a folder that you may write to with --output",
    errno.EPERM: "Name a folder that you may write to with --output",
    errno.ENOTDIR: "One of the names in it is a file; name another folder with --output",
    errno.EEXIST: "It is a file; name a folder with --output",
    errno.ENOENT: "It was there when the run began; do not move it",
    errno.ENAMETOOLONG: "Name a shorter one with --output",
}


class OutputError(WdroError):
    """A result cannot be written or read back."""


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert errors while writing to an :class:`OutputError` with a remedy."""
    try:
        yield
    except (OSError, ValueError) as reason:
        if isinstance(reason, ValueError) and "null" not in str(reason):
            raise
        number = reason.errno if isinstance(reason, OSError) else None
        what = reason.strerror if isinstance(reason, OSError) else "its name has a null character"
        remedy = _REMEDIES.get(number or 0, "Name another folder with --output")
        raise OutputError(
            f"{path} cannot be written ({what}). {remedy}, and run the same command again; "
            "saved results are kept."
        ) from None


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file; readers see either the old or the new content, never a part of it."""
    raw = content.encode("utf-8") if isinstance(content, str) else content
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with writing(path):
        try:
            part.write_bytes(raw)
            os.replace(part, path)
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink()
            raise


def write_together(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write several files to a folder; replace the old ones only after all are written."""
    make_folder(folder)
    parts = {folder / name: folder / f"{name}.{os.getpid()}.part" for name in contents}
    try:
        for (path, part), raw in zip(parts.items(), contents.values(), strict=True):
            with writing(path):
                part.write_bytes(raw)
        for path, part in parts.items():
            with writing(path):
                os.replace(part, path)
    finally:
        for part in parts.values():
            with contextlib.suppress(OSError):
                part.unlink()


def table_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as CSV."""
    return table.to_csv(index=False, float_format="%.10g").encode()


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table as CSV, atomically."""
    write_atomically(path, table_bytes(table))


def check_writable(folder: Path) -> None:
    """Raise :class:`OutputError` if a folder cannot be made or written to."""
    with writing(folder):
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def make_folder(path: Path) -> Path:
    """Make a folder and its parents, and return it."""
    with writing(path):
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileNotFoundError as reason:  # users cannot make folders here, for example in /proc
            raise OSError(errno.EPERM, reason.strerror) from None
    return path


def remove_folder(path: Path) -> None:
    """Remove a folder with its content, if it exists."""
    with writing(path), contextlib.suppress(FileNotFoundError):
        shutil.rmtree(path)


@contextlib.contextmanager
def locked(output: Path) -> Iterator[Path]:
    """Make and lock a folder; raise :class:`OutputError` if another run has locked it.

    The kernel releases the lock when the process ends, even if it is killed.
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
    """Return the folder that a command writes to, by default ``runs/<command>``."""
    if output is not None and reference:
        raise WdroError("--reference writes to results/; leave out --output or --reference.")
    return output if output is not None else RUNS / command


def publish(output: Path, command: str) -> Path:
    """Replace the committed reference with the output of a finished run; return its folder."""
    target = RESULTS / command
    if not RESULTS.is_dir():
        raise WdroError(
            f"there is no folder {RESULTS.resolve()}; --reference replaces the committed results. "
            "Run it at the root of the project."
        )
    # Copy first, then rename twice: the reference is never incomplete.
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

"""Files that are whole or not there; what cannot be written is said in one sentence."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from wdro_cvx import WdroError

if TYPE_CHECKING:
    import pandas as pd

_REMEDIES = {
    errno.ENOSPC: "Free some space",
    errno.EDQUOT: "Free some space",
    errno.EROFS: "Name a folder on a disk that can be written with --output",
    errno.EACCES: "Name a folder that you may write to with --output",
    errno.EPERM: "Name a folder that you may write to with --output",
    errno.ENOTDIR: "One of the names in it is a file; name another folder with --output",
    errno.EEXIST: "It is a file; name a folder with --output",
    errno.ENOENT: "It was there when the run began; leave it where it is",
    errno.ENAMETOOLONG: "Name a shorter one with --output",
}


class OutputError(WdroError):
    """A result cannot be written or read back."""


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says of a file that cannot be written into an :class:`OutputError`."""
    try:
        yield
    except (OSError, ValueError) as reason:
        if isinstance(reason, ValueError) and "null" not in str(reason):
            raise
        number = reason.errno if isinstance(reason, OSError) else None
        what = reason.strerror if isinstance(reason, OSError) else "its name has a null character"
        remedy = _REMEDIES.get(number or 0, "Name another folder with --output")
        raise OutputError(
            f"{path} cannot be written ({what}). {remedy}, and give the same command again: what "
            "was saved before is kept."
        ) from None


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that readers see the old one or the new one, never half of it."""
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
    """Write several files of a folder, all of them or none."""
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
    """Refuse a folder that could not be made or written to, before any work is done."""
    with writing(folder):
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def make_folder(path: Path) -> Path:
    """Make a folder and those above it."""
    with writing(path):
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileNotFoundError as reason:  # no place for folders, as below /proc
            raise OSError(errno.EPERM, reason.strerror) from None
    return path


def remove_folder(path: Path) -> None:
    """Remove a folder and all in it, if it is there."""
    with writing(path), contextlib.suppress(FileNotFoundError):
        shutil.rmtree(path)

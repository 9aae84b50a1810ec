"""Store results on disk: one small file per task, written atomically when the task is done.

A killed run loses only the tasks in progress, and the next run resumes. Results are stored under
a digest of the code that made them and are not reused with other code.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.measuring.files import CELLS, make_folder, remove_folder, write_atomically
from wdro_cvx.validation import Array

Row = dict[str, Any]


class Store:
    """The results of tasks (dataclasses) in one folder, made by one version of the code.

    ``notes`` lists stored results that were not used, with reasons.
    """

    def __init__(self, output: Path, code: str, fresh: bool = False) -> None:
        everything = output / CELLS
        if fresh:
            remove_folder(everything)
        self.folder = make_folder(everything / code)
        self.notes: list[str] = []
        others = [p for p in everything.glob("*/*.json") if p.parent != self.folder]
        if others:
            self.notes.append(
                f"{len(others)} stored results were made with other code and are not used"
            )

    def load(self, task: Any) -> Row | None:
        """Return the stored row of a task, or None if there is no usable one."""
        path = self._path(task, "json")
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as reason:
            self._refuse(path, f"cannot be read ({reason})")
            return None
        try:
            stored = json.loads(text)
            belongs = stored["task"] == json.loads(_identity(task))
            row: Row = dict(stored["row"])
        except (ValueError, TypeError, KeyError):
            self._refuse(path, "is damaged")
            return None
        if not belongs:
            self._refuse(path, "holds the result of another task")
        return row if belongs else None

    def array(self, task: Any) -> Array | None:
        """Return the stored array of a task, or None if there is no usable one."""
        path = self._path(task, "npy")
        try:
            return np.asarray(np.load(path, allow_pickle=False))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, EOFError) as reason:
            self._refuse(path, f"is damaged ({reason})")
            return None

    def save(self, task: Any, row: Row, array: Array | None = None) -> None:
        """Store a row and an optional array; write the row last, so a row always has its array."""
        if array is not None:
            buffer = io.BytesIO()
            np.save(buffer, array)
            write_atomically(self._path(task, "npy"), buffer.getvalue())
        content = {"task": json.loads(_identity(task)), "row": row}
        write_atomically(self._path(task, "json"), json.dumps(content, indent=1, default=_plain))

    def _path(self, task: Any, suffix: str) -> Path:
        return self.folder / f"{key_of(task)}.{suffix}"

    def _refuse(self, path: Path, why: str) -> None:
        self.notes.append(f"{path} {why}; it is computed again")


def key_of(task: Any) -> str:
    """Return a file name for a task; equal tasks have equal names."""
    return hashlib.sha256(_identity(task).encode()).hexdigest()[:20]


def flat(task: Any) -> Row:
    """Return the fields of a task, with nested dataclasses flattened."""
    fields: Row = {}
    for name, value in asdict(task).items():
        if isinstance(value, Mapping):
            fields |= value
        else:
            fields[name] = value
    return fields


def _identity(task: Any) -> str:
    assert is_dataclass(task)
    fields = {"kind": type(task).__name__, **asdict(task)}  # type: ignore[arg-type]
    return json.dumps(fields, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    """Convert a NumPy scalar, which a variant may return, to a Python one for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a result is of type {type(value).__name__}, which cannot be stored")

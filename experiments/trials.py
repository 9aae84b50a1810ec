"""Many small independent trials: run in parallel, saved one by one, resumed after a kill."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import joblib
from tqdm import tqdm

from experiments.store import write_atomically


class Task(Protocol):
    """What a trial is given: a value that can be pickled, with a name of its own."""

    @property
    def key(self) -> str:
        """The name under which its row is saved."""


Row = dict[str, Any]
T = TypeVar("T", bound=Task)


def run_trials(
    tasks: Sequence[T],
    function: Callable[[T], Row],
    folder: Path,
    description: str,
    jobs: int = -1,
) -> list[Row]:
    """Return one row for every task, in their order; rows found in ``folder`` are not recomputed.

    Every task carries its own seed, so the rows do not depend on the number of processes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    waiting = [task for task in tasks if not _path(folder, task).exists()]
    if waiting:
        with joblib.parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
            pool = joblib.Parallel(return_as="generator_unordered")
            results = pool(joblib.delayed(_named)(function, task) for task in waiting)
            for key, row in tqdm(results, total=len(waiting), desc=description, unit="trial"):
                write_atomically(folder / f"{key}.json", json.dumps(row))
    return [json.loads(_path(folder, task).read_text(encoding="utf-8")) for task in tasks]


def forget(folder: Path) -> None:
    """Remove the saved rows."""
    shutil.rmtree(folder, ignore_errors=True)


def _path(folder: Path, task: Task) -> Path:
    return folder / f"{task.key}.json"


def _named(function: Callable[[T], Row], task: T) -> tuple[str, Row]:
    return task.key, function(task)

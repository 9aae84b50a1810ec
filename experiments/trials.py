"""Many small trials: in parallel or on a cluster, saved one by one, resumed after a kill."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import joblib
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from experiments.store import write_atomically
from wdro_cvx import WdroError


class Task(Protocol):
    """What a trial is given: a value that can be pickled, with a name of its own."""

    @property
    def key(self) -> str:
        """The name under which its row is saved."""


Row = dict[str, Any]
T = TypeVar("T", bound=Task)

#: The address that stands for a Dask cluster on this machine.
LOCAL_CLUSTER = "local"
_CONNECT_S = 20


def run_trials(
    tasks: Sequence[T],
    function: Callable[[T], Row],
    folder: Path,
    description: str,
    jobs: int = -1,
    scheduler: str | None = None,
) -> list[Row]:
    """Return one row for every task, in their order; rows found in ``folder`` are not recomputed.

    Every task carries its own seed, so the rows do not depend on the number of processes.

    Parameters
    ----------
    tasks : sequence of Task
    function : callable
        Turns a task into a row that JSON can hold.
    folder : Path
        Where rows are saved as they come.
    description : str
        The name of the progress bar.
    jobs : int
        Processes on this machine; -1 for one per core.
    scheduler : str, optional
        The address of a Dask scheduler (``tcp://host:port``), or ``local``, instead of processes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    waiting = [task for task in tasks if not _path(folder, task).exists()]
    if waiting:
        if scheduler is None:
            results = _in_processes(waiting, function, jobs)
        else:
            results = _on_cluster(waiting, function, scheduler)
        for key, row in tqdm(results, total=len(waiting), desc=description, unit="trial"):
            write_atomically(folder / f"{key}.json", json.dumps(row))
    return [json.loads(_path(folder, task).read_text(encoding="utf-8")) for task in tasks]


def forget(folder: Path) -> None:
    """Remove the saved rows."""
    shutil.rmtree(folder, ignore_errors=True)


def _path(folder: Path, task: Task) -> Path:
    return folder / f"{task.key}.json"


def _in_processes(
    tasks: Sequence[T], function: Callable[[T], Row], jobs: int
) -> Iterator[tuple[str, Row]]:
    with joblib.parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        pool = joblib.Parallel(return_as="generator_unordered")
        yield from pool(joblib.delayed(_named)(function, task) for task in tasks)


def _on_cluster(
    tasks: Sequence[T], function: Callable[[T], Row], scheduler: str
) -> Iterator[tuple[str, Row]]:
    """Yield rows as workers finish them; what a lost worker had in hand goes to another."""
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise WdroError(
            "Running on a cluster needs Dask: pip install 'wdro-cvx[cluster]'."
        ) from None
    try:
        if scheduler == LOCAL_CLUSTER:
            client = Client(threads_per_worker=1, dashboard_address=None)
        else:
            client = Client(scheduler, timeout=_CONNECT_S)
    except (OSError, ValueError) as error:
        raise WdroError(
            f"No Dask scheduler answers at {scheduler!r} ({error}). Start one with "
            "`dask scheduler`, or use --dask local."
        ) from None
    with client:
        futures = [client.submit(_named, function, task, pure=False) for task in tasks]
        for future in as_completed(futures):
            yield future.result()
            future.release()


def _named(function: Callable[[T], Row], task: T) -> tuple[str, Row]:
    with threadpool_limits(1):
        return task.key, function(task)

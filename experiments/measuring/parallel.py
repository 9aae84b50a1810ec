"""Run many trials in parallel or on a cluster; save each result and resume stopped runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait
from typing import Any, TypeVar

import scipy.linalg  # noqa: F401 - it brings a BLAS that threadpool_limits must find
from threadpoolctl import threadpool_limits

from experiments.measuring.cluster import on_cluster
from experiments.measuring.display import Display, note
from experiments.measuring.isolated import Worker
from experiments.measuring.outcome import Answer, Outcome
from experiments.measuring.store import Row, Store
from wdro_cvx import WdroError

T = TypeVar("T")
Trial = Callable[[T], Row]


def run_trials(
    tasks: Sequence[T],
    function: Trial[T],
    store: Store,
    description: str,
    jobs: int | None = None,
    scheduler: str | None = None,
) -> list[Row]:
    """Return one row for every task, in order; stored rows are not computed again.

    Rows do not depend on the number of processes, because every task has its own seed. A failed
    trial does not stop the others; it is reported at the end.

    Parameters
    ----------
    tasks : sequence of dataclasses
    function : callable
        Turns a task into a row that JSON can represent; defined at the top level of a module.
    store : Store
        Saves rows as they arrive.
    description : str
        The label of the progress display.
    jobs : int, optional
        The number of processes; one per core by default.
    scheduler : str, optional
        The address of a Dask scheduler (``tcp://host:port``), or ``local``.

    Raises
    ------
    WdroError
        If a trial failed, or the cluster was lost.
    """
    rows = {place: row for place, task in enumerate(tasks) if (row := store.load(task)) is not None}
    for text in store.notes:
        note(text)
    waiting = [place for place in range(len(tasks)) if place not in rows]
    failures: list[tuple[T, str]] = []
    if waiting:
        numbered = [(place, (function, tasks[place])) for place in waiting]
        if scheduler is None:
            results = _in_processes(numbered, min(jobs or os.cpu_count() or 1, len(waiting)))
        else:
            results = on_cluster(numbered, pinned, scheduler, store.folder)
        with Display(description, len(tasks), len(rows)) as display:
            for place, answer in results:
                if answer.outcome is Outcome.OK:
                    rows[place] = answer.value
                    store.save(tasks[place], answer.value)
                else:
                    failures.append((tasks[place], answer.message))
                display.step()
    if failures:
        task, reason = failures[0]
        raise WdroError(
            f"{len(failures)} of {len(tasks)} trials failed, {task} first: {reason}. The others "
            "are saved; the same command resumes."
        )
    return [rows[place] for place in range(len(tasks))]


def pinned(work: tuple[Trial[Any], Any]) -> Row:
    """Run a trial with one BLAS thread."""
    function, task = work
    with threadpool_limits(1):
        return function(task)


def _in_processes(
    numbered: Sequence[tuple[int, tuple[Trial[Any], Any]]], jobs: int
) -> Iterator[tuple[int, Answer]]:
    """Yield answers as they arrive; replace processes that die."""
    todo = list(reversed(numbered))
    module = numbered[0][1][0].__module__
    busy: dict[Any, tuple[Worker, int]] = {}
    idle: list[Worker] = []
    try:
        while todo or busy:
            while todo and len(busy) < jobs:
                worker = idle.pop() if idle else Worker(module)
                place, work = todo.pop()
                worker.send(pinned, work)
                busy[worker.connection] = (worker, place)
            for connection in wait(list(busy)):
                worker, place = busy.pop(connection)
                answer = worker.receive()
                if worker.ended:
                    worker.kill()
                else:
                    idle.append(worker)
                yield place, answer
    finally:
        for worker in [*idle, *(pair[0] for pair in busy.values())]:
            worker.kill()

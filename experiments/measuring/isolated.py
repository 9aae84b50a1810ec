"""Run one task in a process of its own, within limits of time and memory.

Time-outs, memory exhaustion and crashes are results too, as in the paper's table of SDPs. The
process leads its own process group and is killed together with everything that it started.
"""

from __future__ import annotations

import contextlib
import signal
import tempfile
import time
from collections.abc import Iterable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

from experiments.measuring.orphans import kill_groups
from experiments.measuring.outcome import Answer, Limits, Outcome
from experiments.measuring.server import Task, server_with

_POLL_S = 0.02
_TREE_POLL_S = 0.25  # listing all descendants takes milliseconds
_GONE_S = 5.0
_PATIENCE = 4.0  # wall seconds allowed for each CPU second
_MIB = 1024.0**2


class Worker:
    """A context manager for a process that runs tasks one at a time.

    Parameters
    ----------
    module : str
        The module to load before the process starts.
    log : Path, optional
        The file for its standard output and error.
    """

    def __init__(self, module: str, log: Path | None = None) -> None:
        self._server = server_with(module)
        self.pid, self.connection = self._server.fork(log)
        self.ended = False
        self._seen: set[psutil.Process] = set()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def send(self, function: Task, task: Any) -> None:
        """Send a task."""
        # A dead worker is reported when its answer is read.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send((function, task))

    def receive(self) -> Answer:
        """Return the answer, or a crash if the process ended without one."""
        try:
            answer: Answer = self.connection.recv()
        except (EOFError, OSError):
            self.ended = True
            return Answer(Outcome.CRASH, message=_ending(self._server.exit_code(self.pid)))
        return answer

    def tree(self) -> list[psutil.Process]:
        """Return the process and its living descendants."""
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self.pid)
            found = [process, *process.children(recursive=True)]
            self._seen.update(found)
            return found
        return []

    def kill(self) -> None:
        """Kill the process, its group, and descendants that left the group."""
        self.tree()
        kill_groups([self.pid])
        for process in self._seen:
            with contextlib.suppress(psutil.Error):
                process.kill()
        # The next measurement must not share the machine with dying processes.
        psutil.wait_procs(list(self._seen), timeout=_GONE_S)
        self.connection.close()


def run_isolated(function: Task, task: Any, limits: Limits) -> Answer:
    """Call ``function(task)`` in its own process; return its value or what stopped it.

    Parameters
    ----------
    function : callable
        Defined at the top level of a module.
    task : object
        Must be picklable, and so must the returned value.
    limits : Limits
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with Worker(function.__module__, log) as worker:
            worker.send(function, task)
            answer = _watch(worker, limits)
        if answer.outcome is Outcome.CRASH and not answer.message.count(":"):
            return Answer(Outcome.CRASH, message=_with_last_line(answer.message, log))
        return answer


def _watch(worker: Worker, limits: Limits) -> Answer:
    started = looked = time.perf_counter()
    processes: Iterable[psutil.Process] = worker.tree()
    used = 0.0
    while not _ready(worker.connection):
        now = time.perf_counter()
        if now - looked > _TREE_POLL_S:
            processes, looked = worker.tree(), now
            used = _cpu_s(processes)
        if used > limits.limit_s or now - started > _PATIENCE * limits.limit_s:
            return Answer(Outcome.TIME_OUT, message=f"stopped after {limits.limit_s:g} s")
        if _memory_mb(processes) > limits.limit_mb:
            return Answer(Outcome.OUT_OF_MEMORY, message=f"stopped at {limits.limit_mb:g} MiB")
    return worker.receive()


def _ready(connection: Connection) -> bool:
    try:
        return connection.poll(_POLL_S)
    except OSError:  # reset by the worker
        return True


def _memory_mb(processes: Iterable[psutil.Process]) -> float:
    """Return the total resident memory of processes."""
    total = 0.0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            total += process.memory_info().rss / _MIB
    return total


def _cpu_s(processes: Iterable[psutil.Process]) -> float:
    """Return the total CPU seconds of processes and their finished children."""
    total = 0.0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            total += sum(process.cpu_times()[:4])
    return total


def _ending(code: int | None) -> str:
    if code is None:
        return "its process vanished"
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"


def _with_last_line(reason: str, log: Path) -> str:
    """Append the last line of the log, which often explains the crash."""
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return f"{reason}: {lines[-1][:250]}" if lines else reason

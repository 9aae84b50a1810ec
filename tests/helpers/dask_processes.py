"""A Dask scheduler and its workers, each in its own process that can be killed.

They are forked from a process that has already loaded the libraries. Loading them in each process
would take longer than the tests themselves.
"""

import json
import multiprocessing
import os
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

_LOADED = [
    "distributed.cli.dask_scheduler",
    "distributed.cli.dask_worker",
    "experiments.figures.trials",
]


def forking():
    """Return a context whose processes are forked from one with the libraries loaded."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_LOADED)
    return context


def _run(command, arguments):
    """Run ``dask scheduler`` or ``dask worker`` without output."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    from distributed.cli import dask_scheduler, dask_worker

    {"scheduler": dask_scheduler, "worker": dask_worker}[command].main(arguments)


@dataclass(frozen=True)
class Cluster:
    address: str
    workers: list[BaseProcess]
    scheduler: BaseProcess


def _address(file):
    """Return the address that a scheduler writes when it has started."""
    for _ in range(1200):
        with suppress(OSError, ValueError):  # not there yet, or half written
            return json.loads(file.read_text())["address"]
        time.sleep(0.1)
    raise TimeoutError("the scheduler did not start within two minutes")


@contextmanager
def started_cluster():
    """Yield a scheduler on the loopback interface with two workers.

    The scheduler chooses its port: one that is chosen here may be taken before it starts.
    """
    context = forking()

    def start(command, *arguments):
        process = context.Process(
            target=_run, args=(command, [*arguments, "--no-dashboard"]), daemon=True
        )
        process.start()
        return process

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        told = ["--scheduler-file", str(file)]
        scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0", *told)
        address = _address(file)
    workers = [start("worker", address, "--nthreads", "1", "--no-nanny") for _ in range(2)]
    yield Cluster(address, workers, scheduler)
    for process in (*workers, scheduler):
        process.kill()
        process.join()

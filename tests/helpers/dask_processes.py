"""A Dask scheduler and its workers, each a process of its own that can be killed.

They are forked from a process that has the libraries loaded: to load them in each would cost more
than all that is tried on them.
"""

import multiprocessing
import os
import socket
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess

_LOADED = [
    "distributed.cli.dask_scheduler",
    "distributed.cli.dask_worker",
    "experiments.figures.trials",
]


def forking():
    """Return the context of processes that are forked from the one with the libraries."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_LOADED)
    return context


def _run(command, arguments):
    """Do what ``dask scheduler`` or ``dask worker`` does, without a word."""
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


@contextmanager
def started_cluster():
    """Yield a scheduler on the loopback with two workers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    context = forking()

    def start(command, *arguments):
        process = context.Process(
            target=_run, args=(command, [*arguments, "--no-dashboard"]), daemon=True
        )
        process.start()
        return process

    scheduler = start("scheduler", "--host", "127.0.0.1", "--port", str(port))
    workers = [start("worker", address, "--nthreads", "1", "--no-nanny") for _ in range(2)]
    yield Cluster(address, workers, scheduler)
    for process in (*workers, scheduler):
        process.kill()
        process.join()

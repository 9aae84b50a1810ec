"""Trials on a real Dask scheduler with real workers on the loopback, one of them killed."""

import signal
import socket
import subprocess
import sys
import threading
import time

import pandas as pd
import pytest

from experiments.figures.run import run_figures
from wdro_cvx import WdroError

TRIALS = 10


@pytest.fixture
def cluster():
    """A scheduler and two workers, each a process of its own; yields address and workers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    dask = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"], **quiet
    )
    worker = [*dask, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    workers = [subprocess.Popen(worker, **quiet) for _ in range(2)]
    yield address, workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def test_a_killed_worker_loses_nothing(cluster, tmp_path):
    address, workers = cluster
    run_figures(tmp_path / "serial", ["reliability"], TRIALS, 0, False)

    def kill_one():
        while not list((tmp_path / "dask").rglob("reliability-*.json")):
            time.sleep(0.01)
        workers[0].send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    run_figures(tmp_path / "dask", ["reliability"], TRIALS, 0, False, address)
    killer.join()
    assert workers[0].wait() == -signal.SIGKILL
    assert len(list((tmp_path / "dask").rglob("reliability-*.json"))) == TRIALS
    serial, parallel = (
        pd.read_csv(tmp_path / run / "reliability.csv") for run in ("serial", "dask")
    )
    pd.testing.assert_frame_equal(serial, parallel)


def test_a_local_cluster_gives_the_same_numbers(tmp_path):
    run_figures(tmp_path / "serial", ["gamma"], 3, 0, False)
    run_figures(tmp_path / "dask", ["gamma"], 3, 0, False, "local")
    assert (tmp_path / "serial/gamma.csv").read_text() == (tmp_path / "dask/gamma.csv").read_text()


def test_a_scheduler_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.trials._CONNECT_S", 1)
    with pytest.raises(WdroError, match=r"No Dask scheduler answers at 'tcp://127.0.0.1:1'"):
        run_figures(tmp_path, ["gamma"], 2, 0, False, "tcp://127.0.0.1:1")

"""Trials on a real Dask scheduler with real workers on the loopback, some of them killed."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest
from trials import Task, slow

from experiments.figures.run import chosen_experiments, run_figures
from experiments.running import cluster as running
from experiments.running.parallel import run_trials
from experiments.running.store import Store
from wdro_cvx import WdroError

TRIALS = 10


@pytest.fixture
def cluster():
    """A scheduler and two workers, each a process of its own; yields address and processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    dask = [sys.executable, "-m", "dask"]
    quiet = {
        "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL,
        "env": {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "helpers")},
    }  # fmt: skip
    scheduler = subprocess.Popen(
        [*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"], **quiet
    )
    worker = [*dask, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    workers = [subprocess.Popen(worker, **quiet) for _ in range(2)]
    yield address, workers, scheduler
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def after_the_first_row(folder, act):
    """Do something in a thread as soon as a row is saved."""

    def wait():
        deadline = time.monotonic() + 120
        while not list(folder.rglob("*.json")) and time.monotonic() < deadline:
            time.sleep(0.01)
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_a_killed_worker_loses_nothing(cluster, tmp_path):
    address, workers, _ = cluster
    chosen = chosen_experiments(["reliability"])
    run_figures(tmp_path / "serial", chosen, TRIALS, 0, False)
    killer = after_the_first_row(tmp_path / "dask", lambda: workers[0].send_signal(signal.SIGKILL))
    run_figures(tmp_path / "dask", chosen, TRIALS, 0, False, address)
    killer.join()
    assert workers[0].wait() == -signal.SIGKILL
    assert len(list((tmp_path / "dask").rglob("*.json"))) == TRIALS + 1  # and the provenance
    serial, parallel = (
        pd.read_csv(tmp_path / run / "reliability.csv") for run in ("serial", "dask")
    )
    pd.testing.assert_frame_equal(serial, parallel)


@pytest.mark.parametrize("lost", ["workers", "scheduler"])
def test_the_loss_of_a_cluster_is_told_with_what_was_saved(lost, cluster, tmp_path, monkeypatch):
    address, workers, scheduler = cluster
    monkeypatch.setattr(running, "_PATIENCE_S", 1.0)
    victims = workers if lost == "workers" else [scheduler]
    killer = after_the_first_row(tmp_path, lambda: [victim.kill() for victim in victims])
    store = Store(tmp_path, "code")
    tasks = [Task(seed) for seed in range(200)]
    with pytest.raises(WdroError, match=r"gone. \d+ of 200 trials came back and are saved in"):
        run_trials(tasks, slow, store, "test", scheduler=address)
    killer.join()
    saved = len(list(store.folder.glob("*.json")))
    assert 1 <= saved < 200


def test_a_local_cluster_gives_the_same_numbers(tmp_path):
    chosen = chosen_experiments(["gamma"])
    run_figures(tmp_path / "serial", chosen, 3, 0, False)
    run_figures(tmp_path / "dask", chosen, 3, 0, False, "local")
    assert (tmp_path / "serial/gamma.csv").read_text() == (tmp_path / "dask/gamma.csv").read_text()


def test_a_scheduler_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "_CONNECT_S", 1)
    with pytest.raises(WdroError, match=r"No Dask scheduler answers at 'tcp://127.0.0.1:1'"):
        run_figures(tmp_path, chosen_experiments(["gamma"]), 2, 0, False, "tcp://127.0.0.1:1")

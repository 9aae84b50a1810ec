"""Trials on a real Dask scheduler with real workers on the loopback, some of them killed."""

import signal
import threading
import time
from contextlib import nullcontext
from dataclasses import asdict
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from dask_processes import forking, started_cluster
from signal_tables import plain
from trials import Task, slow

from experiments import cli
from experiments.bench.scale import describe
from experiments.bench.scale_trial import SPARSE, ScaleCell, measure
from experiments.measuring import cluster as running
from experiments.measuring.cluster import connected
from experiments.measuring.parallel import run_trials
from experiments.measuring.store import Store
from solvers import SparseSolver, price_on
from solvers.large.blocks import ambient_executor
from wdro_cvx import GraphProblem, Nominal, Status, WassersteinBall, WdroError
from wdro_cvx.generators import neighbour_graph, smooth_table

TRIALS = 6


@pytest.fixture
def cluster(monkeypatch):
    monkeypatch.setattr(running, "_CONNECT_S", 120.0)  # other tests keep all cores busy
    with started_cluster() as found:
        yield found


def figures(folder, name, trials, *more):
    arguments = ["figures", name, "--trials", str(trials), "--output", str(folder), *more]
    return cli.main(arguments)


def ended(process):
    process.join()
    return process.exitcode


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


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(cluster, tmp_path, unpainted):
    address, workers = cluster.address, cluster.workers
    assert figures(tmp_path / "serial", "reliability", TRIALS) == 0
    killer = after_the_first_row(tmp_path / "dask", workers[0].kill)
    assert figures(tmp_path / "dask", "reliability", TRIALS, "--dask", address) == 0
    killer.join()
    assert ended(workers[0]) == -signal.SIGKILL
    assert len(list((tmp_path / "dask").rglob("*.json"))) == TRIALS + 1  # and the provenance
    serial, parallel = (
        pd.read_csv(tmp_path / run / "reliability.csv") for run in ("serial", "dask")
    )
    pd.testing.assert_frame_equal(serial, parallel)


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["workers", "scheduler"])
def test_the_loss_of_a_cluster_is_told_with_what_was_saved(lost, cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "_PATIENCE_S", 1.0)
    victims = cluster.workers if lost == "workers" else [cluster.scheduler]
    killer = after_the_first_row(tmp_path, lambda: [victim.kill() for victim in victims])
    store = Store(tmp_path, "code")
    tasks = [Task(seed) for seed in range(200)]
    with pytest.raises(WdroError, match=r"gone. \d+ of 200 trials came back and are saved in"):
        run_trials(tasks, slow, store, "test", scheduler=cluster.address)
    killer.join()
    saved = len(list(store.folder.glob("*.json")))
    assert 1 <= saved < 200


@pytest.mark.slow
def test_an_answer_that_dies_with_its_worker_is_asked_for_again(cluster, tmp_path, monkeypatch):
    """It was there when it was announced, and gone when it was fetched."""
    fetch, gone = running._answer, []

    def answer(future):
        if not gone:
            gone.append(future)
            raise TimeoutError
        return fetch(future)

    monkeypatch.setattr(running, "_answer", answer)
    tasks = [Task(seed) for seed in range(6)]
    store = Store(tmp_path, "code")
    assert len(run_trials(tasks, slow, store, "test", scheduler=cluster.address)) == 6
    assert gone


def test_a_local_cluster_gives_the_same_numbers(tmp_path, monkeypatch, unpainted):
    assert figures(tmp_path / "serial", "gamma", 3) == 0
    forking()
    from distributed import config

    monkeypatch.setitem(config["distributed"]["worker"], "multiprocessing-method", "forkserver")
    assert figures(tmp_path / "dask", "gamma", 3, "--dask", "local") == 0
    assert (tmp_path / "serial/gamma.csv").read_text() == (tmp_path / "dask/gamma.csv").read_text()


def test_a_scheduler_that_is_not_there_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(running, "_CONNECT_S", 1)
    assert figures(tmp_path, "gamma", 2, "--dask", "tcp://127.0.0.1:1") == 2
    assert "No Dask scheduler answers at 'tcp://127.0.0.1:1'" in capsys.readouterr().err


def large_problem():
    rng = np.random.default_rng(0)
    samples = smooth_table(neighbour_graph(700, rng), 20, rng)
    return samples, GraphProblem(Nominal.from_samples(samples), WassersteinBall(2.0), 0.3)


class Watched:
    """A Dask client that does something at its so-manieth block."""

    def __init__(self, client, place, act):
        self.client, self.place, self.act, self.blocks = client, place, act, 0

    def submit(self, *args):
        self.blocks += 1
        if self.blocks == self.place:
            self.act()
        return self.client.submit(*args)

    def __getattr__(self, name):
        return getattr(self.client, name)


def same_bits(one, other):
    np.testing.assert_array_equal(one.laplacian, other.laplacian)
    np.testing.assert_array_equal(
        one.certificate.degree_multipliers, other.certificate.degree_multipliers
    )
    return one.value == other.value and one.bound == other.bound


@pytest.mark.parametrize(
    "lost", ["one worker", pytest.param("all workers", marks=pytest.mark.slow), "scheduler"]
)
def test_pricing_survives_what_a_cluster_loses(lost, cluster, monkeypatch):
    """The answer has the same bits whoever computed, and whoever was killed meanwhile."""
    workers = cluster.workers
    monkeypatch.setattr("solvers.large.pricing._BLOCK", 64)
    monkeypatch.setattr("solvers.large.blocks._LOOK_S", 1.0)
    _, problem = large_problem()
    alone = SparseSolver().solve(problem)
    victims = {
        "one worker": workers[:1], "all workers": workers, "scheduler": [cluster.scheduler],
    }[lost]  # fmt: skip
    with connected(cluster.address) as client:
        client.wait_for_workers(2, timeout=60)
        watched = Watched(client, 30, lambda: [victim.kill() for victim in victims])
        together = SparseSolver(executor=watched).solve(problem)
    assert watched.blocks >= (66 if lost == "one worker" else 30)
    assert all(ended(victim) == -signal.SIGKILL for victim in victims)
    assert together.status is Status.SOLVED
    assert same_bits(together, alone)


def test_an_estimator_prices_where_it_is_told_to(cluster):
    samples, _ = large_problem()
    alone = plain(radius=0.1).fit(samples)
    with connected(cluster.address) as client:
        watched = Watched(client, 1, lambda: None)
        with price_on(watched):
            together = plain(radius=0.1).fit(samples)
        assert watched.blocks > 0
    assert same_bits(together.solution_, alone.solution_)


def test_learn_prices_on_the_cluster_that_it_is_told(tmp_path, monkeypatch):
    used = []
    monkeypatch.setattr(running, "connected", lambda address: nullcontext(f"client of {address}"))

    def learned(*args):
        used.append(ambient_executor())
        return SimpleNamespace(solved=True), SimpleNamespace(shown=lambda: "a summary")

    monkeypatch.setattr("experiments.learn.run.run_learn", learned)
    table = tmp_path / "table.csv"
    table.touch()
    assert cli.main(["learn", str(table), "--dask", "tcp://here:1"]) == 0
    assert cli.main(["learn", str(table)]) == 0
    assert used == ["client of tcp://here:1", None]


def test_the_bench_of_scale_takes_a_cluster(cluster, capsys):
    cell = ScaleCell(SPARSE, 400, 20, 2, cluster=True)
    here, there = measure((cell, None)), measure((cell, cluster.address))
    assert there["is_solved"]
    assert there["value"] == here["value"]
    table = pd.DataFrame([asdict(cell) | there | {"outcome": "ok", "message": ""}])
    assert "Dask cluster" in "".join(describe(table))
    assert "Dask cluster" not in "".join(describe(table.assign(cluster=False)))
    assert cli.main(["bench", "--dask", cluster.address]) == 2
    assert "--dask is for --scale" in capsys.readouterr().err

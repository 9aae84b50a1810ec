"""One process per measurement: limits, misbehaviour, and nothing left running."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from experiments.measuring import server
from experiments.measuring.campaign import Planned, run_campaign
from experiments.measuring.instances import Instance
from experiments.measuring.isolated import Worker, run_isolated
from experiments.measuring.measurement import Assignment, Cell, carry_out, measure
from experiments.measuring.methods import find_method
from experiments.measuring.outcome import Limits, Outcome
from experiments.measuring.server import server_with, stop_servers
from experiments.measuring.store import Store
from wdro_cvx import SolverError, WdroError

DOUBLES = (str(Path(__file__).parents[1] / "helpers" / "doubles.py"),)
INSTANCE = Instance("gaussian", 6, 12, 0.5, 0.3, seed=0)
LIMITS = Limits(limit_s=60.0, limit_mb=4096.0)


@pytest.fixture
def one_server():
    """Servers as a command has them: each with what it needs, and a small memory."""


def run(method, limits=LIMITS):
    return run_isolated(carry_out, Assignment(Cell(INSTANCE, method), DOUBLES), limits)


def marked(text):
    """Return the processes that have a text in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if text in process.environ().values():
                found.append(process)
        except psutil.Error:
            continue
    return found


def test_a_good_method_is_measured_and_judged():
    answer = run("CertifiedSolver")
    assert answer.outcome is Outcome.OK
    row, laplacian = answer.value
    assert row["said_solved"]
    assert row["is_solved"]
    assert row["gap"] <= 1e-6
    assert 0 < row["fastest_s"] <= row["total_s"] <= row["slowest_s"]
    assert row["wall_s"] > 0
    assert row["runs"] == 3
    assert row["peak_mb"] > 10
    assert laplacian.shape == (6, 6)


@pytest.fixture
def own_servers(monkeypatch):
    """The test starts its own; those that others have are left running."""
    monkeypatch.setattr("experiments.measuring.server._SERVERS", {})
    yield
    stop_servers()


@pytest.mark.parametrize("method", [pytest.param("Sleeper", marks=pytest.mark.slow), "Deserter"])
def test_a_sleeper_is_a_time_out_and_nothing_is_left_running(method, monkeypatch, own_servers):
    # The server, and all below it, inherit the environment of its start.
    monkeypatch.setenv("WDRO_TEST_MARK", f"{method}-{os.getpid()}")
    answer = run(method, Limits(1.0, 4096.0))
    assert answer.outcome is Outcome.TIME_OUT
    assert "1 s" in answer.message
    left = marked(f"{method}-{os.getpid()}")
    assert len(left) <= 1  # the server itself
    stop_servers()
    _, alive = psutil.wait_procs(left, timeout=10)
    assert not alive


@pytest.mark.parametrize("method", ["Hoarder", "Family"])
def test_memory_is_that_of_all_processes_together(method):
    answer = run(method, Limits(60.0, 600.0))
    assert answer.outcome is Outcome.OUT_OF_MEMORY
    assert "600 MiB" in answer.message


def test_a_liar_said_solved_and_is_not():
    answer = run("Liar")
    assert answer.outcome is Outcome.OK
    assert answer.value[0]["said_solved"]
    assert not answer.value[0]["is_solved"]


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        ("Crasher", "exit code 3"),
        ("Leaver", "SystemExit: I have had enough"),
        ("Impostor", "AttributeError"),
    ],
)
def test_a_crash_is_a_result(method, reason):
    answer = run(method)
    assert answer.outcome is Outcome.CRASH
    assert reason in answer.message


def test_a_killed_process_is_a_crash_with_the_signal():
    with Worker(carry_out.__module__) as worker:
        worker.send(carry_out, Assignment(Cell(INSTANCE, "Sleeper"), DOUBLES))
        os.kill(worker.pid, signal.SIGSEGV)
        answer = worker.receive()
    assert answer.outcome is Outcome.CRASH
    assert "SIGSEGV" in answer.message


@pytest.mark.slow
def test_a_measurement_dies_with_its_server():
    """Killed by the system for want of memory, for instance; the next run starts another."""
    worker = Worker(carry_out.__module__)
    worker.send(carry_out, Assignment(Cell(INSTANCE, "Sleeper"), DOUBLES))
    measuring = psutil.Process(worker.pid)
    server_with(carry_out.__module__).process.kill()
    _, alive = psutil.wait_procs([measuring], timeout=10)
    assert not alive
    assert worker.receive().outcome is Outcome.CRASH
    worker.kill()
    assert run("CertifiedSolver").outcome is Outcome.OK


def test_a_server_that_cannot_start_is_an_error_and_no_hang(monkeypatch, own_servers):
    monkeypatch.setattr("experiments.measuring.server._BOOT", "raise SystemExit(1)")
    with pytest.raises(WdroError, match="ended by itself"):
        run("CertifiedSolver")


def test_a_refusal_says_why():
    answer = run("PIQP")
    assert answer.outcome is Outcome.FAILED
    assert "sample averages" in answer.message


@pytest.mark.parametrize("limits", [(0.0, 1.0), (1.0, -1.0), (float("nan"), 1.0), (1.0, 1e999)])
def test_limits_that_are_none_are_refused(limits):
    with pytest.raises(WdroError, match="must be a number above 0"):
        Limits(*limits)


def test_limits_skip_larger_sizes_with_the_reason_and_are_retried_when_raised(tmp_path):
    store = Store(tmp_path, "code")
    cells = [
        Cell(Instance("gaussian", d, 12, 0.5, 0.3, seed=0), name)
        for d in (5, 6)
        for name in ("Sleeper", "CertifiedSolver")
    ]

    def plan(limit_s):
        return [Planned("panel", cell, Limits(limit_s, 4096.0)) for cell in cells]

    rows = run_campaign(plan(0.5), store, "test", DOUBLES)
    outcomes = {(row["d"], row["method"]): row["outcome"] for _, row in rows.iterrows()}
    assert outcomes[5, "Sleeper"] == Outcome.TIME_OUT
    assert outcomes[6, "Sleeper"] == Outcome.SKIPPED
    assert outcomes[6, "CertifiedSolver"] == Outcome.OK
    skipped = rows[rows["outcome"] == Outcome.SKIPPED].iloc[0]
    assert "time-out at d = 5" in skipped["message"]
    again = run_campaign(plan(0.6)[:1], store, "test", DOUBLES)
    assert again.iloc[0]["limit_s"] == 0.6
    kept = run_campaign(plan(0.5)[:1], store, "test", DOUBLES)
    assert kept.iloc[0]["limit_s"] == 0.6


def test_finished_cells_are_not_computed_twice(tmp_path, monkeypatch):
    store = Store(tmp_path, "code")
    methods = ("CertifiedSolver", "ProjectedGradient")
    plan = [Planned("panel", Cell(INSTANCE, method), LIMITS) for method in methods]
    first = run_campaign(plan, store, "test")
    monkeypatch.setattr("experiments.measuring.campaign.run_isolated", pytest.fail)
    second = run_campaign(plan, store, "test")
    assert first["total_s"].tolist() == second["total_s"].tolist()


def test_another_method_s_bound_helps_an_answer_without_a_certificate():
    """In the hard case the worst case of the Laplacian alone proves too little."""
    hard = Cell(Instance("gaussian", 8, 2, 4.0, 0.3, seed=1), "Modest")
    for path in DOUBLES:
        from experiments.measuring.extensions import load_extension

        load_extension(path)
    alone, _ = measure(hard)
    certified, _ = measure(Cell(hard.instance, "CertifiedSolver"))
    helped, _ = measure(hard, certified["bound"])
    assert not alone["is_solved"]
    assert certified["is_solved"]
    assert helped["is_solved"]


def test_the_loosest_accepted_tolerance_is_used():
    row, _ = measure(Cell(Instance("gaussian", 8, 16, 0.5, 0.3, 0), "RobustPremium:SCS", 1e-4))
    tight, _ = measure(Cell(Instance("gaussian", 8, 16, 0.5, 0.3, 0), "RobustPremium:SCS", 1e-8))
    assert row["is_solved"]
    assert tight["is_solved"]
    assert tight["tol"] < row["tol"]


def test_unknown_names_list_what_there_is():
    with pytest.raises(SolverError, match=r"'Magic' is unknown.*BlockDescent.*GaussianSDP"):
        find_method("Magic")
    with pytest.raises(SolverError, match="installed are"):
        find_method("GaussianSDP:MAGIC")
    with pytest.raises(WdroError, match="model must be one of"):
        Instance("magic", 5, 5, 0.5, 0.3, 0).problem()


@pytest.mark.slow
def test_nothing_in_the_working_directory_is_imported(tmp_path):
    """Names of libraries, of our own package, and of an installed variant, lying about."""
    trap = "raise RuntimeError('imported from the working directory')\n"
    (tmp_path / "psutil.py").write_text(trap)
    (tmp_path / "numpy.py").write_text(trap)
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "__init__.py").write_text(trap)
    info = tmp_path / "evil-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[wdro_cvx.variants]\nevil = evil\n")
    (tmp_path / "evil.py").write_text(trap)
    wdro = Path(sys.executable).with_name("wdro")
    command = [str(wdro), "compare", "--dimensions", "4", "--methods", "PIQP", "--output", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1 runs: 1 solved" in done.stdout


def test_what_left_its_group_dies_also_where_the_end_is_called_for_twice(monkeypatch):
    """The line closes and the signal comes while workers are being killed."""
    deserter, exits = subprocess.Popen(["sleep", "60"]), []
    end = server._End({1, 2})
    found = iter([[psutil.Process(deserter.pid)], []])
    monkeypatch.setattr(psutil.Process, "children", lambda *_, **__: next(found))
    monkeypatch.setattr(server, "kill_groups", lambda workers: end())
    monkeypatch.setattr(os, "_exit", exits.append)
    end()
    assert exits == [0]
    assert deserter.wait(10) == -signal.SIGKILL


@pytest.mark.slow
def test_a_process_dies_with_the_one_that_asked_however_that_one_ends(tmp_path):
    """Killed while the libraries are still being imported, too; what left its group as well.

    The second method sleeps like the first, and so does what it has started: with the command, its
    server and the measurement they are four.
    """
    for method, members in (("Sleeper", 2), ("Deserter", 4)):
        mark = f"orphan-{os.getpid()}-{method}"
        options = ["--dimensions", "5", "--methods", method, "--with", *DOUBLES]
        parent = subprocess.Popen(
            [sys.executable, "-m", "experiments", "compare", *options, "--output", tmp_path / mark],
            env={**os.environ, "WDRO_TEST_MARK": mark},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while len(marked(mark)) < members and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        family = marked(mark)
        assert len(family) >= members
        parent.kill()
        parent.wait()
        _, alive = psutil.wait_procs([p for p in family if p.pid != parent.pid], timeout=10)
        assert not alive

"""Files and stored results: complete or absent, refused if damaged, and one run per folder."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trials import Task

from experiments.cli import main
from experiments.measuring import files
from experiments.measuring.files import (
    OutputError,
    check_writable,
    choose_output,
    locked,
    publish,
    write_atomically,
    write_together,
)
from experiments.measuring.instances import Instance
from experiments.measuring.measurement import Cell
from experiments.measuring.store import Store, flat, key_of
from wdro_cvx import WdroError

TASK = Task(3)
INSTANCE = Instance("gaussian", 6, 12, 0.5, 0.3, seed=0)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path, "code")


# --- Rows ----------------------------------------------------------------------------------------


@given(st.dictionaries(st.text(), st.floats() | st.text() | st.booleans() | st.none(), max_size=5))
def test_what_is_saved_comes_back(tmp_path_factory, row):
    store = Store(tmp_path_factory.mktemp("store"), "code")
    store.save(TASK, row)
    assert json.dumps(store.load(TASK)) == json.dumps(row)  # NaN is not equal to itself
    assert store.notes == []


def test_scalars_of_numpy_are_stored_as_numbers(store):
    """What a variant returns ends up in rows."""
    store.save(TASK, {"solved": np.bool_(True), "gap": np.float32(0.5), "steps": np.int64(3)})
    assert store.load(TASK) == {"solved": True, "gap": 0.5, "steps": 3}
    with pytest.raises(TypeError, match="of type set, which cannot be stored"):
        store.save(TASK, {"solved": set()})


def test_arrays_come_back(store):
    array = np.random.default_rng(0).standard_normal((3, 3))
    store.save(TASK, {}, array)
    np.testing.assert_array_equal(store.array(TASK), array)
    assert store.array(Task(4)) is None


@pytest.mark.parametrize("damage", ["truncated", "empty", "binary", "no JSON", "other shape"])
def test_a_damaged_row_names_its_file_and_is_computed_again(store, damage):
    store.save(TASK, {"value": 1.0})
    (path,) = store.folder.glob("*.json")
    raw = path.read_bytes()
    path.write_bytes(
        {"truncated": raw[: len(raw) // 2], "empty": b"", "binary": b"\xff\xfe\x00",
         "no JSON": b"[1, 2", "other shape": b"[1, 2]"}[damage]
    )  # fmt: skip
    assert store.load(TASK) is None
    assert len(store.notes) == 1
    assert str(path) in store.notes[0]


def test_a_row_of_another_task_is_refused(store):
    store.save(Task(4), {"value": 1.0})
    (path,) = store.folder.glob("*.json")
    path.rename(store.folder / f"{key_of(TASK)}.json")
    assert store.load(TASK) is None
    assert "holds the result of another task" in store.notes[0]


def test_a_damaged_array_is_refused(store):
    store.save(TASK, {}, np.eye(3))
    (path,) = store.folder.glob("*.npy")
    path.write_bytes(path.read_bytes()[:-20])
    assert store.array(TASK) is None
    assert str(path) in store.notes[0]


def test_half_written_files_do_not_count(store):
    (store.folder / f"{key_of(TASK)}.json.123.part").write_text('{"task":')
    assert store.load(TASK) is None
    assert store.notes == []


def test_keys_tell_tasks_apart():
    cells = [
        Cell(INSTANCE, "CertifiedSolver"),
        Cell(INSTANCE, "PIQP"),
        Cell(INSTANCE, "CertifiedSolver", target=1e-9),
        Cell(Instance("gaussian", 7, 12, 0.5, 0.3, seed=0), "CertifiedSolver"),
        TASK,
    ]
    assert len({key_of(cell) for cell in cells}) == 5
    assert key_of(Cell(INSTANCE, "PIQP")) == key_of(cells[1])
    assert flat(cells[0])["d"] == 6


# --- Folders -------------------------------------------------------------------------------------


def test_a_second_run_with_the_same_folder_is_refused(tmp_path):
    holder = f"in use by another run .process {os.getpid()}"
    with locked(tmp_path), pytest.raises(OutputError, match=holder), locked(tmp_path):
        pass
    with locked(tmp_path):  # released with the first
        pass


def test_a_killed_run_leaves_no_lock_behind(tmp_path):
    code = (
        "import os, pathlib, signal; from experiments.measuring.files import locked\n"
        f"with locked(pathlib.Path({str(tmp_path)!r})): os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert (tmp_path / ".lock").exists()
    with locked(tmp_path):
        pass


def test_everyday_runs_leave_the_reference_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert choose_output("bench", None, False) == Path("runs/bench")
    assert choose_output("bench", None, True) == Path("runs/bench")
    assert choose_output("bench", Path("x"), False) == Path("x")
    with pytest.raises(WdroError, match="--reference"):
        choose_output("bench", Path("x"), True)


def test_a_reference_is_replaced_as_a_whole_and_without_cells(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output = tmp_path / "runs/bench"
    Store(output, "code").save(TASK, {})
    (output / "report.md").write_text("new")
    (output / "deep").mkdir()
    (output / "deep/x").write_text("new")
    with pytest.raises(WdroError, match=r"no folder .*results"):
        publish(output, "bench")
    old = tmp_path / "results/bench"
    old.mkdir(parents=True)
    (old / "report.md").write_text("old")
    (old / "gone.md").write_text("old")
    publish(output, "bench")
    assert sorted(p.relative_to(old).as_posix() for p in old.rglob("*")) == [
        "deep", "deep/x", "report.md",
    ]  # fmt: skip
    assert (old / "report.md").read_text() == "new"
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["bench"]


# --- Disks that fail -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "remedy"),
    [(errno.ENOSPC, "Free some space"), (errno.EROFS, "--output"), (errno.EACCES, "may write")],
)
def test_a_disk_that_fails_is_one_sentence_and_the_old_file_stays(
    number, remedy, tmp_path, monkeypatch
):
    path = tmp_path / "table.csv"
    write_atomically(path, "old")

    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OutputError, match=remedy) as caught:
        write_atomically(path, "new")
    assert os.strerror(number) in str(caught.value)
    with pytest.raises(OutputError, match=remedy):
        write_together(tmp_path, {"table.csv": b"new", "other": b"new"})
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["table.csv"]


def test_several_files_are_written_all_or_none(tmp_path, monkeypatch):
    written = []
    original = Path.write_bytes

    def second_fails(path, raw):
        written.append(path)
        if len(written) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return original(path, raw)

    monkeypatch.setattr(Path, "write_bytes", second_fails)
    with pytest.raises(OutputError):
        write_together(tmp_path, {"a": b"1", "b": b"2"})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_vanished_is_told(tmp_path):
    store = Store(tmp_path / "out", "code")
    files.remove_folder(tmp_path / "out")
    with pytest.raises(OutputError, match="was there when the run began"):
        store.save(TASK, {})


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
@pytest.mark.parametrize(("full", "code"), [("stdout", 2), ("stderr", 0)])
def test_a_log_on_a_full_disk_is_no_defect_and_no_disagreement(
    full, code, tmp_path, monkeypatch, capsys, unpainted
):
    """The verdict that cannot be written is an error; lines on what goes on are not missed."""
    command = ["compare", "--dimensions", "4", "--methods", "PIQP", "--output", str(tmp_path)]
    with open("/dev/full", "w") as disk:
        monkeypatch.setattr(sys, full, disk)
        assert main(command) == code
        monkeypatch.undo()
        if full == "stdout":
            said = capsys.readouterr().err
            assert said.splitlines()[-1].startswith("wdro: the output cannot be written")
            disk.flush()  # as at the end of a process, where an error would change the exit code
        os.dup2(os.open(os.devnull, os.O_WRONLY), disk.fileno())
    assert (tmp_path / "report.md").exists()


@pytest.mark.parametrize("command", ["compare", "bench", "stress", "propositions", "figures"])
def test_an_output_below_a_file_is_refused_before_work_starts(command, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main([command, "--output", str(tmp_path / "file" / "x")]) == 2
    said = capsys.readouterr().err
    assert "is a file; name another folder" in said
    assert len(said.strip().splitlines()) == 1
    assert main([command, "--output", str(tmp_path / "file")]) == 2


def test_a_place_without_permission_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files.os, "access", lambda *_: False)
    with pytest.raises(OutputError, match="may write to"):
        check_writable(tmp_path / "new")
    assert Path("runs") == files.RUNS

"""What importing a room costs: heavy libraries are loaded by those who use them."""

import subprocess
import sys

import pytest

import solvers

HEAVY = {"sklearn", "networkx", "tqdm", "pandas", "matplotlib", "cvxpy"}
#: One room after the other in one process: each adds its own to what is there.
ROOMS = {"wdro_cvx": set(), "solvers": set(), "formulations": {"cvxpy"}}


def test_rooms_import_no_heavy_library():
    code = "".join(f"import {room}; print(*sys.modules)\n" for room in ROOMS)
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys\n{code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for (room, allowed), loaded in zip(ROOMS.items(), done.stdout.splitlines(), strict=True):
        assert room in loaded.split()
        assert HEAVY & set(loaded.split()) <= allowed, room


@pytest.mark.parametrize(
    "name",
    [
        "experiments",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("solvers", "formulations")),
    ],
)
def test_a_folder_of_the_users_does_not_confuse_the_command(name, tmp_path):
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("raise SystemExit('not ours')")
    done = subprocess.run(
        [sys.executable, "-m", "wdro_cvx", "compare", "--help"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: wdro compare")


def test_the_estimator_is_there_when_asked_for():
    assert solvers.RobustGraph.__module__ == "solvers.estimator"
    with pytest.raises(AttributeError, match="no attribute 'Magic'"):
        _ = solvers.Magic

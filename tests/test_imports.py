"""Imports of the packages: heavy libraries are loaded only when they are used."""

import subprocess
import sys

import pytest

import solvers

HEAVY = {"sklearn", "networkx", "tqdm", "pandas", "matplotlib", "cvxpy"}
#: What the solvers load when they need it.
LATE = {"scipy.linalg", "scipy.sparse", "scipy.spatial", "scipy.special", "threadpoolctl"}
#: One room after the other in one process: each adds its own to what is there.
ROOMS = {"wdro_cvx": set(), "solvers": set(), "experiments.cli": set(), "formulations": {"cvxpy"}}


@pytest.fixture(scope="module")
def said():
    """Lines of a process: what each room loads, and the rooms that are loaded on demand."""
    code = "".join(f"import {room}; print(*sys.modules)\n" for room in ROOMS)
    code += """if True:
        import importlib, pkgutil
        apart = tuple(f"solvers.{room}" for room in solvers._ON_DEMAND)
        early = [name for name in sys.modules if name.startswith(apart)]
        before = solvers.registered()
        for module in pkgutil.walk_packages(solvers.__path__, "solvers."):
            importlib.import_module(module.name)
        late = [name for name in sys.modules if name.startswith(apart)]
        print(len(early), len(late) > 10, solvers.registered() == before)
    """
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys\n{code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_rooms_import_no_heavy_library(said):
    for (room, allowed), loaded in zip(ROOMS.items(), said[:-1], strict=True):
        assert room in loaded.split()
        assert HEAVY & set(loaded.split()) <= allowed, room
    for loaded in said[:2]:
        assert not LATE & set(loaded.split())


def test_rooms_without_registered_solvers_are_loaded_on_demand(said):
    """Their code registers nothing, so results of registered solvers do not depend on it."""
    assert said[-1].split() == ["0", "True", "True"]


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
    assert solvers.solve_for_neighbours.__module__ == "solvers.selection.target_degree"
    assert solvers.NeighbourFit.__module__ == "solvers.selection.target_degree"
    with pytest.raises(AttributeError, match="no attribute 'Magic'"):
        _ = solvers.Magic

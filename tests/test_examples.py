"""The example scripts run as they are."""

import os
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
PROMISES = {
    "quick_start": ["radius 0.000", "certified gap"],
    "certificate": ["outside the ambiguity set"],
    "certified_edges": ["'undecided': 0"],
    "choose_radius": ["'bootstrap'", "Florida has an edge"],
    "communities": ["NMI"],
    "edge_confidence": ["in nine of ten refits"],
    "large_graph": ["judged gap"],
    "learned_map": ["certified gap"],
    "new_variant": ["NuclearBall(radius=0.5): passed", "NuclearForm: passed"],
    "priors": ["log-degree: least degree"],
    "radius_path": ["largest certified gap"],
    "worst_case": ["worst case"],
}
#: The documentation site runs every example; these take seconds, and run here by make test-all.
SLOW = {
    "certified_edges", "choose_radius", "communities", "edge_confidence", "large_graph",
    "learned_map", "new_variant", "radius_path",
}  # fmt: skip
SHELL = "certificate"
CASES = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem in SLOW else [])
    for path in EXAMPLES
    if path.stem != SHELL
]


def check_promises(path, folder, said):
    for promise in PROMISES[path.stem]:
        assert promise in said
    assert (folder / f"{path.stem}.png").stat().st_size > 10_000


@pytest.mark.parametrize("path", CASES)
def test_example_runs(path, tmp_path, monkeypatch, capsys, own_registries):
    """Here, and not each in an interpreter of its own, which would load all libraries again."""
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(), plt.rc_context():
        warnings.simplefilter("default")
        runpy.run_path(str(path), run_name="__main__")
    plt.close("all")
    check_promises(path, tmp_path, capsys.readouterr().out)


def test_an_example_runs_from_the_shell(tmp_path):
    path = next(path for path in EXAMPLES if path.stem == SHELL)
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=120, check=False,
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(path.parents[1])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    check_promises(path, tmp_path, done.stdout)


def test_every_example_has_its_promise():
    assert {path.stem for path in EXAMPLES} == set(PROMISES)

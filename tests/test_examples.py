"""The example scripts run as they are."""

import os
import subprocess
import sys
from pathlib import Path

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


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=120, check=False,
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(path.parents[1])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for promise in PROMISES[path.stem]:
        assert promise in done.stdout
    assert (tmp_path / f"{path.stem}.png").stat().st_size > 10_000


def test_every_example_has_its_promise():
    assert {path.stem for path in EXAMPLES} == set(PROMISES)

"""A user's set in one file: the conformance tests include it and can fail on it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "new_variant.py"


@pytest.mark.slow
def test_the_suite_takes_in_a_right_one_and_a_wrong_one(tmp_path):
    text = EXAMPLE.read_text().replace("Nuclear", "Wrong")
    wrong = text.replace('nominal.second_moment, "nuc"', "nominal.second_moment, 2")  # too near
    assert wrong != text
    (tmp_path / "wrong.py").write_text(wrong)
    command = [sys.executable, "-m", "pytest", "tests/conformance", "-rA"]
    command += ["--with", str(EXAMPLE), "--with", str(tmp_path / "wrong.py")]
    command += ["-k", "Nuclear and not paper or (Wrong and bounds-hard)", "-p", "no:cacheprovider"]
    command += ["-m", "slow or not slow"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert done.returncode == 1, done.stdout
    for name in (
        "test_it_keeps_its_promises[NuclearBall]",
        "NuclearBall-a trace other than d-hard]",
        "NuclearBall-logarithms and bounds-smooth]",
        "test_a_problem_in_another_unit_is_the_same[NuclearBall]",
        "test_it_solves_what_it_claims[NuclearForm-NuclearBall]",
    ):
        assert any(line.startswith("PASSED") and line.endswith(name) for line in lines), name
    failed = [line for line in lines if line.startswith("FAILED")]
    assert any("WrongBall-bounds-hard" in line for line in failed)
    assert not any("Nuclear" in line for line in failed)

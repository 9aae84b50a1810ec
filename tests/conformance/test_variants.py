"""A set of one's own, in one file: the same suite picks it up, and can fail on it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "new_variant.py"


def run_suite(variant, *options):
    command = [sys.executable, "-m", "pytest", "tests/conformance", "--with", str(variant)]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist", *options]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return done.returncode, done.stdout


def test_the_example_passes_what_ours_have_to_pass():
    code, output = run_suite(EXAMPLE, "-k", "Nuclear", "-rA")
    assert code == 0, output
    lines = output.splitlines()
    for name in (
        "test_it_keeps_its_promises[NuclearBall]",
        "NuclearBall-a trace other than d-hard]",
        "NuclearBall-logarithms and bounds-smooth]",
        "test_a_problem_in_another_unit_is_the_same[NuclearBall]",
        "test_it_solves_what_it_claims[NuclearForm-NuclearBall]",
    ):
        assert any(line.startswith("PASSED") and line.endswith(name) for line in lines), name


def test_a_wrong_one_does_not(tmp_path):
    text = EXAMPLE.read_text()
    wrong = text.replace('nominal.second_moment, "nuc"', "nominal.second_moment, 2")  # too near
    assert wrong != text
    (tmp_path / "wrong.py").write_text(wrong)
    code, output = run_suite(tmp_path / "wrong.py", "-k", "Nuclear and bounds-hard")
    assert code == 1
    assert "forged" in output

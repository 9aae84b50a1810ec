import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest

from experiments.bench import CONTESTS
from experiments.cli import main
from experiments.compare import METHODS, Grid
from experiments.growth import fit_exponent
from experiments.report import markdown_table, seconds

DOUBLES = str(Path(__file__).parents[1] / "helpers" / "doubles.py")
SMALL = ["--dimensions", "5", "--methods", "RobustPremium:CLARABEL,BlockDescent"]
# These two claim one of the panels only.
AVERAGES = ("SampleAverage:CLARABEL", "PIQP")


def read(folder):
    return pd.read_csv(folder / "runs.csv")


def test_a_small_comparison_agrees_and_writes_everything(tmp_path, capsys):
    assert main(["compare", *SMALL, "--output", str(tmp_path)]) == 0
    rows = read(tmp_path)
    assert (rows["outcome"] == "ok").all()
    assert rows["is_solved"].all()
    assert rows["excess"].max() <= 2e-6
    assert (rows["distance"] <= 2 * rows["allowed"]).all()
    for name in ("report.md", "runtime.png", "runtime.pdf"):
        assert (tmp_path / name).stat().st_size > 1000
    report = (tmp_path / "report.md").read_text()
    assert "No method that said solved disagrees" in report
    assert str(tmp_path) in capsys.readouterr().out


def test_a_liar_makes_the_command_fail_and_is_named(tmp_path, capsys):
    arguments = ["--dimensions", "5", "--methods", "Liar", "--with", DOUBLES]
    assert main(["compare", *arguments, "--output", str(tmp_path)]) == 1
    report = (tmp_path / "report.md").read_text()
    assert "**Outliers:**" in report
    assert "| Liar |" in report.split("**Outliers:**")[1]
    assert "disagree" in capsys.readouterr().err


def test_a_killed_run_resumes(tmp_path):
    """SIGKILL in the middle: nothing is computed twice, nothing is lost, the table is whole."""
    grid = ["--dimensions", "5,6,7", "--methods", ",".join(AVERAGES)]
    command = [sys.executable, "-m", "experiments", "compare", *grid, "--output", str(tmp_path)]
    run = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    cells = tmp_path / "cells"
    deadline = time.monotonic() + 120
    while len(list(cells.glob("*.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    measuring = psutil.Process(run.pid).children(recursive=True)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    _, alive = psutil.wait_procs(measuring, timeout=10)
    assert not alive  # nothing is left running
    kept = {path.name: path.stat().st_mtime_ns for path in cells.glob("*.json")}
    assert len(kept) >= 2
    assert all(json.loads((cells / name).read_text())["outcome"] for name in kept)
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    for name, written in kept.items():
        assert (cells / name).stat().st_mtime_ns == written
    assert len(read(tmp_path)) == len(Grid((5, 6, 7), AVERAGES).cells()) == 6


def test_fresh_starts_over(tmp_path):
    arguments = ["compare", "--dimensions", "5", "--methods", "PIQP"]
    main([*arguments, "--output", str(tmp_path)])
    first = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "cells").glob("*.json")}
    main([*arguments, "--output", str(tmp_path), "--fresh"])
    second = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "cells").glob("*.json")}
    assert first.keys() == second.keys()
    assert all(second[name] > first[name] for name in first)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "Magic"], "'Magic' is unknown"),
        (["--methods", "GaussianSDP:MAGIC"], "not an installed CVXPY backend"),
        (["--with", "nowhere.py"], "nowhere.py"),
    ],
)
def test_bad_requests_are_named(tmp_path, capsys, arguments, message):
    assert main(["compare", *arguments, "--output", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["--dimensions", "1"], ["--dimensions", "a"], ["--seeds", "0"], ["--preset", "x"]]
)
def test_bad_options_are_refused_before_work_starts(tmp_path, capsys, arguments):
    with pytest.raises(SystemExit):
        main(["compare", *arguments, "--output", str(tmp_path / "never")])
    assert not (tmp_path / "never").exists()


def test_penalised_problems_meet_only_penalised_ones():
    cells = Grid((5,), METHODS).cells()
    for cell in cells:
        assert not (cell.method == "PIQP" and cell.instance.model != "average")
    groups = {(cell.instance.model, cell.instance.trace_penalty) for cell in cells}
    assert ("gaussian", None) in groups
    assert ("gaussian", 10.0) in groups


def test_contests_name_methods_that_exist():
    for contest in CONTESTS:
        assert contest.ours in contest.sizes
        assert len(contest.cells()) == sum(len(sizes) for sizes in contest.sizes.values())


def test_exponents_and_tables():
    sizes = np.array([10.0, 20.0, 40.0])
    assert fit_exponent(sizes, 1e-4 * sizes**2.5) == pytest.approx(2.5)
    assert np.isnan(fit_exponent(sizes[:1], sizes[:1]))
    assert markdown_table(["a"], [[1]]) == "| a |\n| --- |\n| 1 |"
    assert [seconds(0.0123), seconds(12.3), seconds(float("nan"))] == ["12.3 ms", "12.3 s", "–"]

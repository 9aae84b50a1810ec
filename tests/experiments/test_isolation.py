from pathlib import Path

import psutil
import pytest

from experiments.campaign import run_campaign
from experiments.cell import Cell, measure
from experiments.instances import Instance
from experiments.isolate import Limits, run_isolated
from experiments.methods import find_method
from experiments.store import Store
from wdro_cvx import SolverError, WdroError

DOUBLES = (str(Path(__file__).parents[1] / "helpers" / "doubles.py"),)
INSTANCE = Instance("gaussian", 6, 12, 0.5, 0.3, seed=0)
LIMITS = Limits(limit_s=60.0, limit_mb=4096.0)


def children():
    return psutil.Process().children(recursive=True)


def test_a_good_method_is_measured_and_judged():
    row, laplacian = run_isolated(Cell(INSTANCE, "CertifiedSolver"), LIMITS)
    assert row["outcome"] == "ok"
    assert row["said_solved"]
    assert row["is_solved"]
    assert row["gap"] <= 1e-6
    assert 0 < row["fastest_s"] <= row["total_s"] <= row["slowest_s"]
    assert row["runs"] == 3
    assert row["peak_mb"] > 10
    assert laplacian.shape == (6, 6)


def test_a_sleeper_is_a_time_out_and_nothing_is_left_running():
    before = len(children())
    row, laplacian = run_isolated(Cell(INSTANCE, "Sleeper"), Limits(6.0, 4096.0), DOUBLES)
    assert row["outcome"] == "time-out"
    assert "6 s" in row["message"]
    assert laplacian is None
    assert len(children()) <= before


def test_a_hoarder_is_out_of_memory():
    row, _ = run_isolated(Cell(INSTANCE, "Hoarder"), Limits(60.0, 600.0), DOUBLES)
    assert row["outcome"] == "out of memory"
    assert "600 MiB" in row["message"]


def test_a_liar_said_solved_and_is_not():
    row, _ = run_isolated(Cell(INSTANCE, "Liar"), LIMITS, DOUBLES)
    assert row["outcome"] == "ok"
    assert row["said_solved"]
    assert not row["is_solved"]


def test_a_crash_is_a_result():
    row, _ = run_isolated(Cell(INSTANCE, "Crasher"), LIMITS, DOUBLES)
    assert row["outcome"] == "crash"
    assert "exit code 3" in row["message"]


def test_a_refusal_says_why():
    row, _ = run_isolated(Cell(INSTANCE, "PIQP"), LIMITS)
    assert row["outcome"] == "failed"
    assert "sample averages" in row["message"]


def test_limits_skip_larger_sizes_with_the_reason_and_are_retried_when_raised(tmp_path):
    store = Store(tmp_path)
    cells = [
        Cell(Instance("gaussian", d, 12, 0.5, 0.3, seed=0), name)
        for d in (5, 6)
        for name in ("Sleeper", "CertifiedSolver")
    ]
    rows = run_campaign(cells, store, Limits(15.0, 4096.0), "test", DOUBLES)
    outcomes = {(row["d"], row["method"]): row["outcome"] for _, row in rows.iterrows()}
    assert outcomes[5, "Sleeper"] == "time-out"
    assert outcomes[6, "Sleeper"] == "skipped"
    assert outcomes[6, "CertifiedSolver"] == "ok"
    skipped = rows[rows["outcome"] == "skipped"].iloc[0]
    assert "time-out at d = 5" in skipped["message"]
    again = run_campaign(cells[:1], store, Limits(15.5, 4096.0), "test", DOUBLES)
    assert again.iloc[0]["limit_s"] == 15.5


def test_finished_cells_are_not_computed_twice(tmp_path, monkeypatch):
    store = Store(tmp_path)
    cells = [Cell(INSTANCE, "CertifiedSolver"), Cell(INSTANCE, "ProjectedGradient")]
    first = run_campaign(cells, store, LIMITS, "test")
    monkeypatch.setattr("experiments.campaign.run_isolated", pytest.fail)
    second = run_campaign(cells, store, LIMITS, "test")
    assert first["total_s"].tolist() == second["total_s"].tolist()


def test_half_written_files_do_not_count(tmp_path):
    store = Store(tmp_path)
    cell = Cell(INSTANCE, "CertifiedSolver")
    (tmp_path / "cells" / f"{cell.key}.json.part").write_text('{"outcome":')
    assert store.load(cell) is None


def test_keys_tell_cells_apart():
    cells = [
        Cell(INSTANCE, "CertifiedSolver"),
        Cell(INSTANCE, "PIQP"),
        Cell(INSTANCE, "CertifiedSolver", target=1e-9),
        Cell(Instance("gaussian", 7, 12, 0.5, 0.3, seed=0), "CertifiedSolver"),
    ]
    assert len({cell.key for cell in cells}) == 4
    assert Cell(INSTANCE, "PIQP").key == cells[1].key


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

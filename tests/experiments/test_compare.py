"""``wdro compare`` from end to end, its cross-check and its report."""

import contextlib
import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from experiments.cli import main
from experiments.compare.crosscheck import cross_check, outliers
from experiments.compare.grid import (
    BETAS,
    CONTESTS,
    METHODS,
    PRESETS,
    SCENARIOS,
    Grid,
    Preset,
)
from experiments.compare.report import describe
from experiments.drawing.scaling import draw_panels
from experiments.measuring.campaign import Planned
from experiments.measuring.instances import Instance
from experiments.measuring.measurement import Cell
from experiments.measuring.outcome import Limits, Outcome
from experiments.measuring.store import Store, flat, key_of
from experiments.measuring.text import busy_warning

DOUBLES = str(Path(__file__).parents[1] / "helpers" / "doubles.py")
SMALL = ["--dimensions", "5", "--seeds", "1", "--methods", "RobustPremium:CLARABEL,BlockDescent"]
LIMITS = Limits(60.0, 4096.0)
TINY = Preset((5,), LIMITS, 90.0, 1, 60.0, varied_d=5)
SCENARIO_TITLES = {scenario.title(beta) for scenario in SCENARIOS for beta in BETAS}


def read(folder):
    return pd.read_csv(folder / "runs.csv")


def test_a_small_comparison_agrees_and_writes_everything(tmp_path, capsys):
    assert main(["compare", *SMALL, "--output", str(tmp_path)]) == 0
    rows = read(tmp_path)
    assert (rows["outcome"] == "ok").all()
    assert rows["is_solved"].all()
    assert (rows["excess"] <= 2 * rows["target"]).all()
    assert (rows["distance"] <= 2 * rows["allowed"]).all()
    assert set(rows["panel"]) < {*CONTESTS, *SCENARIO_TITLES}
    np.testing.assert_allclose(  # one clock for a run and for its parts
        rows["build_s"] + rows["compile_s"] + rows["solve_s"], rows["total_s"]
    )
    for name in ("report.md", "runtime.png", "runtime.pdf"):
        assert (tmp_path / name).stat().st_size > 1000
    assert not (tmp_path / "figure7.png").exists()  # without the paper's algorithms
    report = (tmp_path / "report.md").read_text()
    assert "No method that said solved disagrees" in report
    said = capsys.readouterr()
    assert f"{len(rows)} runs: {len(rows)} solved; no disagreements" in said.out
    assert str(tmp_path) in said.out
    lines = said.err.splitlines()  # a log has lines, not carriage returns
    assert "\r" not in said.err
    assert sum("RobustPremium:CLARABEL" in line for line in lines) == len(rows) / 2


def test_the_papers_figure_comes_first(tmp_path, unpainted):
    methods = "solve,PrintedGradient@1e-2,GeneralRegularized:CLARABEL@1e-8"
    arguments = ["--dimensions", "5", "--seeds", "1", "--methods", methods]
    assert main(["compare", *arguments, "--output", str(tmp_path)]) == 0
    assert (tmp_path / "figure7.png").exists()
    report = (tmp_path / "report.md").read_text()
    assert report.index("figure7.png") < report.index("runtime.png")
    assert "Which statements of the paper hold?" in report


@pytest.mark.parametrize("method", ["Liar", "Nothing"])
def test_a_liar_makes_the_command_fail_and_is_named(method, tmp_path, capsys, unpainted):
    arguments = ["--dimensions", "5", "--seeds", "1", "--methods", method, "--with", DOUBLES]
    assert main(["compare", *arguments, "--output", str(tmp_path)]) == 1
    report = (tmp_path / "report.md").read_text()
    assert "**Outliers:**" in report
    assert f"| {method} |" in report.split("**Outliers:**")[1]
    said = capsys.readouterr()
    assert f"some methods disagree: {method}" in said.err
    assert "disagreements" in said.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "limits"),
    [
        pytest.param("Sleeper", ["--time-limit", "0.2"], marks=pytest.mark.slow),
        ("Crasher", []),
        pytest.param("Leaver", [], marks=pytest.mark.slow),
    ],
)
def test_a_run_without_any_answer_still_reports(method, limits, tmp_path, capsys, request):
    if method != "Crasher":  # one picture of nothing is painted
        request.getfixturevalue("unpainted")
    arguments = [
        "--dimensions",
        "5,6",
        "--seeds",
        "1",
        "--methods",
        method,
        "--with",
        DOUBLES,
        *limits,
    ]
    assert main(["compare", *arguments, "--output", str(tmp_path)]) == 0
    assert "no disagreements" in capsys.readouterr().out
    assert method in (tmp_path / "report.md").read_text()
    assert not read(tmp_path)["is_solved"].any()


@pytest.mark.slow
def test_others_go_on_when_a_method_misbehaves(tmp_path, unpainted):
    methods = "Crasher,Impostor,CertifiedSolver"
    arguments = ["--dimensions", "5", "--seeds", "1", "--methods", methods, "--with", DOUBLES]
    assert main(["compare", *arguments, "--output", str(tmp_path)]) == 0
    rows = read(tmp_path).set_index("method")
    assert set(rows.loc["Crasher", "outcome"]) == {"crash"}
    assert set(rows.loc["Impostor", "outcome"]) == {"crash"}
    assert rows.loc["CertifiedSolver", "is_solved"].all()
    assert "## What went wrong" in (tmp_path / "report.md").read_text()


def test_a_right_laplacian_without_a_certificate_is_no_outlier(tmp_path, unpainted):
    """Two routes to one problem; only the first has a certificate, and it comes last."""
    arguments = [
        "--sets",
        "KLBall",
        "--dimensions",
        "6",
        "--seeds",
        "1",
        "--repeats",
        "1",
        "--with",
        DOUBLES,
    ]
    methods = ["--methods", "Modest,CertifiedSolver"]
    assert main(["compare", *arguments, *methods, "--output", str(tmp_path)]) == 0
    assert read(tmp_path)["is_solved"].all()


def test_every_answer_is_judged_with_the_best_bound(tmp_path):
    """One method with a bound that proves nothing, one with a good one; both Laplacians right."""
    cells = [Cell(Instance("gaussian", 2, 4, 0.5, 0.3, 0), name) for name in ("Weak", "Strong")]
    plan = [Planned("panel", cell, LIMITS) for cell in cells]
    store = Store(tmp_path, "code")
    graph = np.array([[1.0, -1.0], [-1.0, 1.0]])
    rows = []
    for cell, bound in zip(cells, (0.5, 1.0 - 1e-7), strict=True):
        store.save(cell, {}, graph)
        rows.append(flat(cell) | {
            "key": key_of(cell), "panel": "panel", "outcome": Outcome.OK, "value": 1.0,
            "judged_value": 1.0, "bound": bound, "gap": 1.0 - bound, "residual": 0.0,
            "oracle_error": 0.0, "constant": 0.0, "floor": 0.0,
            "said_solved": True, "is_solved": bound > 0.9,
        })  # fmt: skip
    found = cross_check(pd.DataFrame(rows), plan, store)
    assert found["is_solved"].all()
    np.testing.assert_allclose(found["excess"], 1e-7, rtol=1e-6)
    # ‖L‖ = 2: η‖L - L*‖² ≤ 2·target·value, relative to the Laplacian's size.
    np.testing.assert_allclose(found["allowed"], np.sqrt(2 * cells[0].target / 0.3) / 2)
    assert outliers(found).empty
    rows[0]["judged_value"] = 1.0 + 5e-6  # not a solution, whoever judges it
    found = cross_check(pd.DataFrame(rows), plan, store)
    assert found["is_solved"].tolist() == [False, True]
    assert len(outliers(found)) == 1


@pytest.mark.slow
def test_fresh_starts_over(tmp_path, unpainted):
    arguments = ["compare", "--dimensions", "5", "--seeds", "1", "--methods", "PIQP"]
    main([*arguments, "--output", str(tmp_path)])
    first = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("cells/*/*.json")}
    main([*arguments, "--output", str(tmp_path), "--fresh"])
    second = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("cells/*/*.json")}
    assert first.keys() == second.keys()
    assert len(first) == 1
    assert all(second[name] > first[name] for name in first)


FICKLE = """
import os
from dataclasses import dataclass
from solvers import CertifiedSolver, Solver, register
from wdro_cvx import AmbiguitySet

@register
@dataclass(frozen=True)
class Fickle(Solver):
    claims = (AmbiguitySet,)
    tol: float = 1e-6

    def solve(self, problem):
        os._exit(3)
"""


@pytest.mark.slow
def test_a_changed_extension_is_measured_again(tmp_path, capsys, own_registries, unpainted):
    """The key of a measurement has the code in it, so that nothing stale passes for fresh."""
    plugin = tmp_path / "fickle.py"
    plugin.write_text(FICKLE)
    arguments = [
        "compare",
        "--dimensions",
        "5",
        "--seeds",
        "1",
        "--methods",
        "Fickle",
        "--with",
        str(plugin),
    ]
    main([*arguments, "--output", str(tmp_path / "out")])
    assert set(read(tmp_path / "out")["outcome"]) == {"crash"}
    good = "return CertifiedSolver(self.tol).solve(problem)"
    plugin.write_text(FICKLE.replace("os._exit(3)", good))
    capsys.readouterr()
    main([*arguments, "--output", str(tmp_path / "out")])
    rows = read(tmp_path / "out")
    assert rows["is_solved"].all()
    assert "made with other code and are not used" in capsys.readouterr().err
    main([*arguments, "--output", str(tmp_path / "out")])
    assert f"{len(rows)} of them from an earlier run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "Magic"], "'Magic' is unknown"),
        (["--methods", "GaussianSDP:MAGIC"], "an installed CVXPY backend; it is 'MAGIC'"),
        (["--with", "nowhere.py"], "nowhere.py"),
        (["--reference"], "leave out --output"),
    ],
)
def test_bad_requests_are_named(tmp_path, capsys, arguments, message):
    assert main(["compare", *arguments, "--output", str(tmp_path / "never")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--methods=,", "names nothing"),
        ("--sets=", "names nothing"),
        ("--output= ", "names no folder"),
    ],
)
def test_a_list_or_a_folder_without_a_name_is_not_all_of_them(capsys, option, message):
    with pytest.raises(SystemExit) as leaving:
        main(["compare", option])
    assert leaving.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import no_such_module", "ModuleNotFoundError"),
        ("def broken(:", "SyntaxError"),
        ("from solvers import register\n@register\nclass X: pass", "cannot be loaded"),
        ("from wdro_cvx import register_ambiguity\nregister_ambiguity(3)", "cannot be loaded"),
        ("raise SystemExit(0)", "SystemExit"),
    ],
)
def test_extensions_that_fail_are_named(tmp_path, capsys, code, reason):
    plugin = tmp_path / "plugin.py"
    plugin.write_text(code)
    assert main(["compare", "--with", str(plugin), "--output", str(tmp_path / "never")]) == 2
    said = capsys.readouterr().err
    assert str(plugin) in said
    assert reason in said
    assert not (tmp_path / "never").exists()


def test_penalised_problems_meet_only_penalised_ones():
    plan = Grid(TINY).plan()
    for item in plan:
        assert not (item.cell.method == "PIQP" and item.cell.instance.model != "average")
        printed = item.cell.method.startswith("Printed")
        assert not (printed and item.cell.instance.trace_penalty is None)
    groups = {(item.cell.instance.model, item.cell.instance.trace_penalty) for item in plan}
    assert groups >= {("gaussian", None), *(("gaussian", beta) for beta in BETAS)}


def test_ours_comes_first_so_that_its_bound_judges_the_others():
    plan = Grid(TINY).plan()
    for panel in dict.fromkeys(item.panel for item in plan):
        assert next(item for item in plan if item.panel == panel).cell.method == "solve"


def test_each_variation_changes_one_setting_of_a_scenario():
    plan = {item.panel: item.cell.instance for item in Grid(TINY).plan()}
    base = plan["Gaussian, β = 1"]
    changed = {
        "Gaussian, ε = 2": {"radius": 2.0},
        "Gaussian, η = 0.03": {"eta": 0.03},
        "Gaussian, N/d = 10": {"n": 50},
    }
    for panel, difference in changed.items():
        assert plan[panel] == replace(base, **difference)
    assert len(plan) == len(CONTESTS) + len(SCENARIO_TITLES) + 2 * 6


def test_a_backend_that_is_not_installed_is_left_out_and_named(monkeypatch):
    monkeypatch.setattr("experiments.measuring.methods.installed_backends", lambda: ["CLARABEL"])
    grid = Grid(TINY, METHODS)
    assert set(grid.missing()) == {name for name in METHODS if name.endswith(":SCS")}
    assert not any(item.cell.method.endswith(":SCS") for item in grid.plan())
    rows = table({"CertifiedSolver": [(5, 0.1)]})
    report = "\n".join(describe(rows, {"panel": rows}, rows.iloc[:0], grid))
    assert "Not compared: SCS on the paper's SDP, because SCS is not installed (pip ins" in report


def test_scenarios_and_the_interior_points_of_figure_7_have_their_own_limits():
    plan = Grid(TINY, long_s=3600.0).plan()
    longest = {(p.panel, p.cell.method) for p in plan if p.limits.limit_s == 3600.0}
    assert longest == {(scenario.title(10.0), scenario.interior) for scenario in SCENARIOS}
    longer = {p.panel for p in plan if p.limits.limit_s == 90.0}
    assert longer == SCENARIO_TITLES
    assert PRESETS["paper"].dimensions[-1] == 120
    assert PRESETS["paper"].seeds == 5


def table(times, panel="panel", spread=0.1):
    """Rows of solved runs by method: a list of (d, seconds)."""
    return pd.DataFrame([
        {
            "panel": panel, "method": method, "d": d, "total_s": s, "fastest_s": s * (1 - spread),
            "slowest_s": s * (1 + spread), "wall_s": 2 * s, "is_solved": True, "said_solved": True,
            "outcome": Outcome.OK, "excess": 1e-8, "misstated": 1e-8, "distance": 0.0,
            "allowed": 1e-3, "runs": 3, "others": 0.0, "message": "", "limit_s": 60.0,
            "target": 1e-6, "seed": 0, "gap": 1e-8, "build_s": 0.0, "compile_s": 0.0, "solve_s": s,
            "peak_mb": 100.0,
        }
        for method, pairs in times.items()
        for d, s in pairs
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("is_solved", False), ("excess", 3e-6), ("misstated", 2e-5), ("distance", 3e-3),
        ("misstated", np.nan),
    ],
)  # fmt: skip
def test_each_way_to_disagree_is_an_outlier(column, value):
    rows = table({"CertifiedSolver": [(5, 0.1)]})
    assert outliers(rows).empty
    rows[column] = value
    assert len(outliers(rows)) == 1
    rows["said_solved"] = False
    assert outliers(rows).empty


def test_a_picture_of_limits_only_has_room_around_them():
    rows = table({"CertifiedSolver": [(5, 0.1), (9, 0.2)]})
    rows = rows.assign(is_solved=False, outcome=Outcome.TIME_OUT)
    figure = draw_panels({"panel": rows})
    low, high = figure.axes[0].get_ylim()
    plt.close(figure)
    assert low < 0.9 * 60.0 < 60.0 < 0.9 * high


def test_near_zero_a_gap_is_relative_to_the_problems_floor(tmp_path):
    """As the judge has it; relative to the value alone nothing would be solved there."""
    cell = Cell(Instance("average", 2, 4, 0.0, 0.3, 0), "CertifiedSolver")
    store = Store(tmp_path, "code")
    store.save(cell, {}, np.array([[1.0, -1.0], [-1.0, 1.0]]))
    row = flat(cell) | {
        "key": key_of(cell), "panel": "panel", "outcome": Outcome.OK, "value": 1e-9,
        "judged_value": 1e-9, "bound": -1e-9, "gap": 2e-9, "residual": 0.0, "oracle_error": 0.0,
        "constant": 0.0, "floor": 1.0, "said_solved": True, "is_solved": True,
    }  # fmt: skip
    found = cross_check(pd.DataFrame([row]), [Planned("panel", cell, LIMITS)], store)
    assert found["is_solved"].all()
    assert outliers(found).empty
    contradicted = cross_check(
        pd.DataFrame([row | {"bound": 1e-3}]), [Planned("panel", cell, LIMITS)], store
    )
    assert not contradicted["is_solved"].any()  # a bound above the value proves nothing


def test_a_busy_machine_is_told():
    rows = table({"CertifiedSolver": [(5, 0.1), (6, 10.0)]})
    assert busy_warning(rows) == []
    rows["others"] = [1.9, 0.0]  # a short run, in which this is mostly rounding
    assert busy_warning(rows) == []
    rows["others"] = [0.0, 1.5]
    assert "used 1.5 cores" in busy_warning(rows)[0]
    rows["wall_s"] = np.nan
    assert busy_warning(rows) == []


@pytest.mark.slow
def test_a_terminal_sees_the_table_fill_in(tmp_path):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "experiments", "compare", "--dimensions", "5,6"]
    run = subprocess.Popen(
        [*command, "--methods", "PIQP", "--output", str(tmp_path)], stderr=theirs,
        stdout=subprocess.PIPE, env={**os.environ, "COLUMNS": "100", "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the other end is closed when the run is over
        while part := os.read(ours, 4096):
            shown += part
    run.communicate(timeout=60)
    os.close(ours)
    assert run.returncode == 0
    text = shown.decode()
    assert "sample average" in text
    assert "2 of 2, about" in text
    assert "…" in text  # under way


def test_a_single_method_of_the_scenarios_still_reports(tmp_path, unpainted):
    """No contest claims it, nothing bounds its gap, and there is nothing to compare it with."""
    arguments = ["--methods", "PrintedGradient@1e-2", "--dimensions", "5", "--seeds", "1"]
    assert main(["compare", *arguments, "--output", str(tmp_path)]) == 0
    assert not (tmp_path / "runtime.png").exists()
    assert "Which statements" not in (tmp_path / "report.md").read_text()

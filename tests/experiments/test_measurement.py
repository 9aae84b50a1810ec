"""Measurements: methods with their own stopping rule, steady times, one data set for slow sizes."""

from dataclasses import replace

import pytest

from experiments.measuring import measurement
from experiments.measuring.campaign import Planned, run_campaign
from experiments.measuring.instances import Instance
from experiments.measuring.measurement import Cell, Timed, measure
from experiments.measuring.methods import Method, find_method
from experiments.measuring.outcome import Limits
from experiments.measuring.store import Store
from wdro_cvx import SolverError, WdroError


def test_a_name_with_a_tolerance_stops_by_its_own_rule():
    method = find_method("PrintedGradient@1e-2")
    assert method.tolerances(1e-9) == (1e-2,)
    instance = Instance("moment", 6, 12, 0.5, 0.3, 0, trace_penalty=10.0)
    rough, _ = measure(Cell(instance, method.name, target=1e-4))
    assert rough["tol"] == 1e-2
    assert rough["gap"] > 1e-4  # the rule ends it there, and no tighter tolerance is tried
    fine, _ = measure(Cell(instance, "PrintedGradient", target=1e-4))
    assert fine["tol"] < 1e-2
    assert fine["iterations"] > rough["iterations"]


@pytest.mark.parametrize(
    "name", ["PrintedGradient@", "PrintedGradient@often", "solve@0", "solve@-1"]
)
def test_a_tolerance_that_is_no_positive_number_is_refused(name):
    with pytest.raises(WdroError, match="tolerance of method"):
        find_method(name)


def test_repeats_begin_when_times_are_steady():
    times = iter([0.015, 0.01, 0.02, 0.02, 0.02, 0.02, 0.02])
    ran = []

    def timed(run):
        ran.append(next(times))
        return Timed(None, ran[-1], ran[-1])

    first = Timed(None, 0.03, 0.03)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measurement, "_timed", timed)
        assert [run.cpu_s for run in measurement._steady(lambda: None, first, 2)] == [0.02, 0.02]
        assert measurement._steady(lambda: None, first, 0) == [first]
    assert ran[:2] == [0.015, 0.01]  # with the first 0.03 s, enough of warming up


def test_a_long_size_is_measured_on_one_data_set(tmp_path):
    cells = [Cell(Instance("average", 5, 10, 0.0, 0.3, seed), "solve") for seed in range(3)]
    planned = [Planned("panel", cell, Limits(60.0, 4096.0), once_s=1e-6) for cell in cells]
    rows = run_campaign(planned, Store(tmp_path, "code"), "test")
    assert rows["outcome"].tolist() == ["ok", "skipped", "skipped"]
    assert rows["message"].iloc[1].startswith("one data set is measured")
    planned = [Planned("panel", cell, Limits(60.0, 4096.0), once_s=60.0) for cell in cells]
    rows = run_campaign(planned, Store(tmp_path, "code"), "test")
    assert rows["outcome"].tolist() == ["ok", "ok", "ok"]


def test_an_error_at_a_tighter_tolerance_keeps_the_answer_before(monkeypatch):
    instance = Instance("average", 5, 10, 0.0, 0.3, 0)
    ours = find_method("solve")

    def run(problem, tol):
        if tol < 1e-3:
            raise SolverError("too tight")
        return replace(ours.run(problem, 1e-2), value=0.0)  # misstated, so the next one is tried

    fragile = Method("Fragile", run, ours.check, (1e-2, 1e-4))
    monkeypatch.setattr(measurement, "find_method", lambda name: fragile)
    row, _ = measure(Cell(instance, "Fragile"))
    assert row["tol"] == 1e-2
    hopeless = Method("Hopeless", run, ours.check, (1e-4,))
    monkeypatch.setattr(measurement, "find_method", lambda name: hopeless)
    with pytest.raises(SolverError, match="too tight"):
        measure(Cell(instance, "Hopeless"))

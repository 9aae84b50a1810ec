"""Verdicts on run times follow the numbers, and each names its conditions."""

import numpy as np
import pandas as pd
import pytest

from experiments.compare.figure7 import draw_figure7
from experiments.compare.grid import BETAS, SCENARIOS
from experiments.compare.statements import check_statements, compare_times, timed
from experiments.measuring.outcome import Outcome

GENERAL, GAUSSIAN = SCENARIOS
SIZES = (10, 20, 40, 80, 120)


def runs(panel, method, times, gap=1e-8, seeds=(0,), outcome=Outcome.OK):
    """One row per size and data set; ``times`` maps d to seconds."""
    return [
        {"panel": panel, "method": method, "d": d, "seed": seed, "total_s": s * (1 + seed / 100),
         "solve_s": s / 2, "gap": gap, "is_solved": gap <= 1e-4, "outcome": outcome,
         "limit_s": 60.0, "limit_mb": 1024.0, "iterations": 100, "peak_mb": 50.0 * d, "message": ""}
        for d, s in times.items() for seed in seeds
    ]  # fmt: skip


def compare(slow, fast, **how):
    rows = pd.DataFrame([*runs("P", "slow", slow, **how), *runs("P", "fast", fast, **how)])
    return compare_times(timed(rows, "P", "slow"), timed(rows, "P", "fast")).set_index("d")


def test_faster_means_on_every_data_set():
    found = compare({5: 2.0, 9: 1.0, 12: 1.0}, {5: 1.0, 9: 2.0}, seeds=(0, 1))
    assert found["verdict"].to_dict() == {5: "holds", 9: "fails"}  # 12 has no partner
    assert found["ratio"].to_dict() == {5: 2.0, 9: 0.5}
    rows = pd.DataFrame([
        *runs("P", "slow", {5: 1.0}, seeds=(0, 1)),
        *runs("P", "fast", {5: 0.9}), *runs("P", "fast", {5: 1.2}, seeds=(1,)),
    ])  # fmt: skip
    mixed = compare_times(timed(rows, "P", "slow"), timed(rows, "P", "fast"))
    assert mixed["verdict"].tolist() == ["undecided"]


@pytest.mark.parametrize(
    ("stopped", "other_s", "verdict", "sign"),
    [("slow", 3.0, "holds", "> "), ("fast", 3.0, "fails", "< "), ("slow", 70.0, None, "")],
)
def test_a_run_that_was_stopped_took_at_least_its_limit(stopped, other_s, verdict, sign):
    other = "fast" if stopped == "slow" else "slow"
    rows = pd.DataFrame([
        *runs("P", stopped, {9: np.nan}, outcome=Outcome.TIME_OUT), *runs("P", other, {9: other_s}),
    ])  # fmt: skip
    found = compare_times(timed(rows, "P", "slow"), timed(rows, "P", "fast"))
    assert found["verdict"].tolist() == ([] if verdict is None else [verdict])
    assert found["sign"].tolist() == ([] if verdict is None else [sign])


def scenario_rows(gradient, interior, sdp, gap=1e-8):
    """Rows of both scenarios for all weights; each argument maps d to seconds."""
    rows = []
    for beta in BETAS:
        for scenario, point in ((GENERAL, interior), (GAUSSIAN, sdp)):
            panel = scenario.title(beta)
            slower = 1.0 if scenario is GENERAL else 2.0
            times = {d: slower * gradient(d) for d in SIZES}
            rows += runs(panel, scenario.interior, {d: point(d) for d in SIZES})
            rows += runs(panel, "solve", dict.fromkeys(SIZES, 0.001))
            for error in ("0.001", "0.0001"):
                rows += runs(panel, f"{scenario.printed}@{error}", times, gap=gap)
            rows += runs(panel, scenario.printed, times)
    return pd.DataFrame(rows)


def verdicts(rows):
    return {statement.text: statement for statement in check_statements(rows)}


def test_the_papers_world_confirms_the_paper():
    rows = scenario_rows(lambda d: 1e-6 * d**2, lambda d: 1e-6 * d**3, lambda d: 1e-6 * d**5)
    found = verdicts(rows)
    memory = [s for text, s in found.items() if "memory" in text]
    assert [s.verdict for s in memory] == ["not tested"]
    steps = found.pop("A step of Algorithm 3 costs O(d^3).")
    assert steps.verdict == "holds"
    others = {text: s.verdict for text, s in found.items() if "memory" not in text}
    assert set(others.values()) == {"holds"}, others


def test_a_slow_gradient_that_stops_early_is_found_out():
    rows = scenario_rows(lambda d: 1e-5 * d**3, lambda d: 1e-4 * d, lambda d: 1e-8 * d**5, gap=0.16)
    found = verdicts(rows)
    faster = found["Projected gradient is faster than interior point (general scenario)."]
    assert faster.verdict == "fails"
    assert "β = 10, error 0.001" in faster.evidence
    assert "stops at a gap of 16.0%" in faster.evidence
    grows = found["Interior point grows faster with d than projected gradient (general scenario)."]
    assert grows.verdict == "fails"
    assert found["A step of Algorithm 4 costs O(d^2)."].verdict == "fails"


def test_falling_times_refute_that_all_grow():
    rows = scenario_rows(lambda d: 1.0 / d, lambda d: 1e-4 * d, lambda d: 1e-8 * d**5)
    grows = verdicts(rows)["The run times of all four algorithms increase with d."]
    assert grows.verdict == "depends"
    assert "PrintedGradient@0.001" in grows.evidence


def test_figure_7_marks_rough_answers_and_names_limits():
    rows = scenario_rows(lambda d: 1e-5 * d**2, lambda d: 1e-6 * d**3, lambda d: 1e-7 * d**4, 0.05)
    last = (rows["method"] == GAUSSIAN.interior) & (rows["d"] == 120)
    rows.loc[last, ["outcome", "total_s"]] = [Outcome.OUT_OF_MEMORY, np.nan]
    figure = draw_figure7(rows)
    left, right = figure.axes
    texts = [text.get_text() for text in left.texts]
    assert "5 %" in texts
    assert "out of 1 GiB" in texts
    assert any("β = 0.1" in text.get_text() for text in right.texts)
    hollow = [line for line in left.lines if line.get_markerfacecolor() == "white"]
    assert len(hollow) == 2 * 2 * len(SIZES)
    stop = [line for line in left.lines if line.get_marker() == "x"]
    assert [float(line.get_xdata()[0]) for line in stop] == [120.0]

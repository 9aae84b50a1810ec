"""Verdicts on run times follow the numbers, and each names its conditions."""

import numpy as np
import pandas as pd
import pytest

from experiments.compare.figure7 import draw_figure7
from experiments.compare.grid import BETAS, SCENARIOS
from experiments.compare.statements import (
    _all_grow,
    _cost_of_a_step,
    _gradient_is_faster,
    _interior_grows_faster,
    _memory,
    _sdp_is_slowest,
    check_statements,
    compare_times,
    timed,
)
from experiments.measuring.outcome import Outcome

GENERAL, GAUSSIAN = SCENARIOS
SIZES = (10, 20, 40, 80, 120)


def runs(panel, method, times, gap=1e-8, seeds=(0,), outcome=Outcome.OK):
    """One row per size and data set; ``times`` maps d to seconds."""
    return [
        {"panel": panel, "method": method, "d": d, "seed": seed, "total_s": s * (1 + seed / 100),
         "solve_s": s * (1 + seed / 100), "gap": gap, "is_solved": gap <= 1e-4,
         "outcome": outcome, "limit_s": 60.0, "limit_mb": 1024.0, "iterations": 100,
         "solver_mb": 50.0 * d, "message": ""}
        for d, s in times.items() for seed in seeds
    ]  # fmt: skip


def compare(slow, fast, names=("slow", "fast"), **how):
    rows = pd.DataFrame([*runs("P", names[0], slow, **how), *runs("P", names[1], fast, **how)])
    return compare_times(timed(rows, "P", names[0]), timed(rows, "P", names[1])).set_index("d")


def test_faster_means_on_every_data_set():
    found = compare({5: 2.0, 9: 1.0, 12: 1.0}, {5: 1.0, 9: 2.0}, seeds=(0, 1))
    assert found["verdict"].to_dict() == {5: "holds", 9: "fails"}  # 12 has no partner
    assert found["ratio"].to_dict() == {5: 2.0, 9: 0.5}
    assert found["count"].to_dict() == {5: 2, 9: 2}
    rows = pd.DataFrame([
        *runs("P", "slow", {5: 1.0}, seeds=(0, 1)),
        *runs("P", "fast", {5: 0.5}), *runs("P", "fast", {5: 2.0}, seeds=(1,)),
    ])  # fmt: skip
    mixed = compare_times(timed(rows, "P", "slow"), timed(rows, "P", "fast"))
    assert mixed["verdict"].tolist() == ["undecided"]


def test_a_small_difference_decides_nothing():
    assert compare({5: 1.2}, {5: 1.0})["verdict"].tolist() == ["undecided"]
    assert compare({5: 1.3}, {5: 1.0})["verdict"].tolist() == ["holds"]
    assert compare({5: 1.0}, {5: 1.3})["verdict"].tolist() == ["fails"]


def test_a_lead_that_is_only_modelling_decides_nothing():
    rows = pd.DataFrame([*runs("P", "slow", {5: 2.0}), *runs("P", "fast", {5: 1.0})])
    rows.loc[rows["method"] == "slow", "solve_s"] = 0.8  # the fast one solves in 1.0
    found = compare_times(timed(rows, "P", "slow"), timed(rows, "P", "fast"))
    assert found["verdict"].tolist() == ["undecided"]
    assert found["solving"].tolist() == [0.8]


def test_a_fast_answer_that_is_wrong_does_not_win():
    found = compare({5: 2.0}, {5: 1.0}, gap=0.02, names=("slow@1", "fast@1"))
    assert found["verdict"].tolist() == ["undecided"]


@pytest.mark.parametrize(
    ("stopped", "other_s", "verdict", "sign"),
    [
        ("slow@1", 3.0, "holds", "> "),
        ("fast@1", 3.0, "fails", "< "),
        ("slow@1", 70.0, "undecided", "> "),  # more than 60 s against 70 s
        ("slow", 3.0, "undecided", "> "),  # a search over tolerances: no bound of the last one
        ("fast", 3.0, "undecided", "< "),
    ],
)
def test_a_run_that_was_stopped_took_at_least_its_limit(stopped, other_s, verdict, sign):
    at = "@1" if "@" in stopped else ""
    other = f"fast{at}" if stopped.startswith("slow") else f"slow{at}"
    rows = pd.DataFrame([
        *runs("P", stopped, {9: np.nan}, outcome=Outcome.TIME_OUT), *runs("P", other, {9: other_s}),
    ])  # fmt: skip
    found = compare_times(timed(rows, "P", f"slow{at}"), timed(rows, "P", f"fast{at}"))
    assert found["verdict"].tolist() == [verdict]
    assert found["sign"].tolist() == [sign]


def test_two_runs_that_were_stopped_say_nothing():
    rows = pd.DataFrame([
        *runs("P", "slow@1", {9: np.nan}, outcome=Outcome.TIME_OUT),
        *runs("P", "fast@1", {9: np.nan}, outcome=Outcome.TIME_OUT),
    ])  # fmt: skip
    found = compare_times(timed(rows, "P", "slow@1"), timed(rows, "P", "fast@1"))
    assert found["verdict"].tolist() == ["undecided"]


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


def test_the_papers_world_confirms_the_paper():
    rows = scenario_rows(lambda d: 1e-6 * d**2, lambda d: 1e-6 * d**3, lambda d: 1e-6 * d**5)
    found = {statement.text: statement for statement in check_statements(rows)}
    memory = [s for text, s in found.items() if "memory" in text]
    assert [s.verdict for s in memory] == ["not tested"]
    assert found["A step of Algorithm 2 in 3 costs O(d^3)."].verdict == "holds"
    others = {text: s.verdict for text, s in found.items() if "memory" not in text}
    assert others.pop("A step of Algorithm 4 costs O(d^2).") in ("holds", "undecided")  # exactly 2
    assert set(others.values()) == {"holds"}, others


def test_a_slow_gradient_that_stops_early_is_found_out():
    rows = scenario_rows(lambda d: 1e-5 * d**3, lambda d: 1e-4 * d, lambda d: 1e-8 * d**5, gap=0.16)
    faster = _gradient_is_faster(rows, GENERAL)
    assert faster.verdict == "fails"
    assert "β = 10, error 0.001" in faster.evidence
    assert "gap 16.0%" in faster.evidence
    assert _interior_grows_faster(rows, GENERAL).verdict == "fails"
    assert _cost_of_a_step(rows, GENERAL).verdict == "fails"


def test_falling_times_refute_that_all_grow():
    rows = scenario_rows(lambda d: 1.0 / d, lambda d: 1e-4 * d, lambda d: 1e-8 * d**5)
    grows = _all_grow(rows)
    assert grows.verdict == "fails"
    assert "falls: Algorithm 4 as printed" in grows.evidence


def test_the_sdp_is_not_the_slowest_where_another_one_was_stopped_too():
    rows = scenario_rows(lambda d: 1e-6 * d**2, lambda d: 1e-6 * d**3, lambda d: 1e-6 * d**5)
    both = (rows["d"] == 120) & rows["method"].isin([GAUSSIAN.interior, *GAUSSIAN.by_own_rule])
    rows.loc[both, ["outcome", "total_s"]] = [Outcome.TIME_OUT, np.nan]
    assert _sdp_is_slowest(rows).verdict == "undecided"


@pytest.mark.parametrize(
    ("d", "outcome", "limit_mb", "verdict"),
    [
        (120, Outcome.OUT_OF_MEMORY, 16384.0, "holds"),
        (120, Outcome.OUT_OF_MEMORY, 1024.0, "not tested"),  # of a small machine
        (120, Outcome.TIME_OUT, 16384.0, "not tested"),
        (200, Outcome.OK, 16384.0, "fails"),
    ],
)
def test_memory_decides_only_on_a_machine_like_the_papers(d, outcome, limit_mb, verdict):
    rows = scenario_rows(lambda d: 1e-6 * d**2, lambda d: 1e-6 * d**3, lambda d: 1e-6 * d**5)
    last = (rows["method"] == GAUSSIAN.interior) & (rows["d"] == 120)
    rows.loc[last, ["d", "outcome", "limit_mb"]] = [d, outcome, limit_mb]
    assert _memory(rows).verdict == verdict


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

"""The stress grid draws likelihood problems in every regime, and its report lists unsolved ones."""

import numpy as np
import pandas as pd

from experiments.stress.grid import LIKELIHOOD, Corner, build, corners, solve_corner
from experiments.stress.study import describe
from wdro_cvx import LogDet

CELLS = [corner for corner in corners([10], 25) if corner.prior == LIKELIHOOD]


def test_likelihoods_come_in_every_regime():
    problems = [build(corner) for corner in CELLS]
    assert {type(problem.ambiguity).__name__ for problem, _ in problems} == {
        "Singleton", "WassersteinBall",
    }  # fmt: skip
    for problem, _ in problems:
        (term,) = problem.terms
        assert type(term) is LogDet
    drawn = pd.DataFrame([row for _, row in problems])
    assert {"free", "none", "weak"} <= set(drawn["penalty"])
    assert set(drawn["bounds"]) == {"none", "mask", "pins", "caps"}
    assert drawn["n"].min() == 1
    assert (drawn["eta"] == 0.0).any()
    assert drawn["radius"].max() > 5.0
    free = np.array([problem.prior.trace.free for problem, _ in problems])
    assert np.array_equal(free, drawn["penalty"] == "free")


def test_rows_are_judged_and_open_ones_are_listed():
    row = solve_corner(Corner("WassersteinBall", LIKELIHOOD, 10, 3))
    assert row["solved"]
    assert row["gap"] <= 1e-6
    key = {"set": "WassersteinBall", "prior": LIKELIHOOD, "d": 10, "number": 3}
    failed = row | {"solved": False, "gap": 0.1}
    table = pd.DataFrame([key | row, key | failed])
    text = "\n".join(describe(table))
    assert "`LogDet` (likelihood) for Singleton and WassersteinBall" in text
    assert "| WassersteinBall | likelihood | 2 | 50.00% |" in text
    assert "not call solved at 1e-06" in text

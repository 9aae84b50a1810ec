"""``wdro stress --conic``: every set has a conic form, and ratios use the better backend."""

import math

import pandas as pd
import pytest

from experiments.cli import main
from experiments.stress.conic import FORMS, LIMITS, plan, ratios
from experiments.stress.grid import Corner, build
from formulations import registered
from wdro_cvx import registered_ambiguities


def test_every_set_has_a_form_that_claims_its_problems():
    ours = {
        name for name, kind in registered_ambiguities().items() if "wdro_cvx" in kind.__module__
    }
    assert set(FORMS) == ours
    for name, form in FORMS.items():
        for number in range(4):
            problem, _ = build(Corner(name, "Frobenius", 10, number))
            registered()[form].check_claim(problem)


def test_instances_are_the_grids_problems():
    item = plan([10], 3)[-1]
    drawn, _ = build(Corner("WassersteinBall", "Frobenius", 10, 2))
    found = item.cell.instance.problem()
    assert found.ambiguity == drawn.ambiguity
    assert (found.nominal.second_moment == drawn.nominal.second_moment).all()


def row(method, seconds, solved=True, seed=0):
    return {
        "model": "KLBall", "seed": seed, "d": 30, "method": method,
        "total_s": seconds, "is_solved": solved,
    }  # fmt: skip


def test_the_better_backend_counts_and_failures_count_with_the_limit():
    found = ratios(
        pd.DataFrame([
            row("solve", 0.5), row("KLDual:CLARABEL", 2.0), row("KLDual:SCS", 1.5),
            row("solve", 0.1, seed=1), row("KLDual:CLARABEL", 0.2, solved=False, seed=1),
            row("KLDual:SCS", math.nan, solved=False, seed=1),
        ])
    )  # fmt: skip
    assert list(found["ratio"]) == pytest.approx([3.0, LIMITS.limit_s / 0.1])
    assert list(found["open"]) == [False, True]


@pytest.mark.slow
def test_the_command_writes_its_report(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("experiments.stress.conic.FORMS", {"KLBall": "KLDual"})
    options = ["--conic", "--dimensions", "3", "--cells", "1", "--output", str(tmp_path)]
    assert main(["stress", *options]) == 0
    assert "| KLBall | 3 | 1 | 1 | 0 |" in (tmp_path / "report.md").read_text()
    assert "1 problems" in capsys.readouterr().out

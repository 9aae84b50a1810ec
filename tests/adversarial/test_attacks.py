"""Hostile problems and forged certificates against exact arithmetic: a sample of the campaign."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from attacks import attack, exact_objective, forge, is_wrong
from hostile import (
    CONSTRAINTS,
    DATA,
    SHIPPED,
    Case,
    build,
    draw_cases,
)

from experiments.measuring.provenance import changes
from solvers import solve
from wdro_cvx import (
    Certificate,
    GraphProblem,
    MomentBall,
    Nominal,
    Singleton,
    WassersteinBall,
    judge,
    registered_ambiguities,
)
from wdro_cvx.ambiguity.transport import TransportMembership
from wdro_cvx.graphs.laplacian import laplacian_from_weights

ALL = len(SHIPPED) * len(DATA) * len(CONSTRAINTS)
# With these strides the sample has every set, every kind of table and all constraints.
EVERY = draw_cases(ALL, seed=1)[::16]
SAMPLE = EVERY[::7]
REST = [case for case in EVERY if case not in SAMPLE]


@pytest.mark.parametrize(
    "case", [*SAMPLE, *(pytest.param(case, marks=pytest.mark.slow) for case in REST)], ids=str
)
def test_nothing_that_the_judge_says_is_false(case):
    row = attack(case, time_limit=2.0)
    assert not is_wrong(row), row


def test_every_shipped_set_table_and_constraint_is_attacked():
    ours = {
        name
        for name, kind in registered_ambiguities().items()
        if kind.__module__.startswith("wdro_cvx.")
    }
    assert {case.ambiguity for case in SAMPLE} == set(SHIPPED) == ours
    assert {case.data for case in SAMPLE} == set(DATA)
    assert {case.constraints for case in SAMPLE} == set(CONSTRAINTS)


def test_the_exact_truth_is_the_objective():
    """Its routes are dual ones, and where floating point is at ease both must agree."""
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((12, 5)) + 3.0
    weights = rng.exponential(size=10)
    laplacian = laplacian_from_weights(weights * 2.5 / weights.sum())
    sets = [
        registered_ambiguities()[name].example(0.7, 5) for name in SHIPPED if name != "Singleton"
    ]
    sets += [Singleton(), *(MomentBall(0.5, p=p) for p in (1.0, 1.3, 4.0, np.inf))]
    for ambiguity in sets:
        problem = GraphProblem(Nominal.from_samples(samples), ambiguity, eta=0.1)
        exact = float(exact_objective(problem, laplacian))
        assert problem.value(laplacian) == pytest.approx(exact, rel=1e-13), ambiguity


def test_the_attack_sees_a_judge_that_trusts(monkeypatch):
    """If membership were not asked for, forged moments would pass the optimum."""
    case = Case(seed=5, ambiguity="WassersteinBall", data="plain", constraints="trace")
    assert not is_wrong(attack(case))
    monkeypatch.setattr(TransportMembership, "measure", lambda *_: 0.0)
    assert attack(case)["fooled"]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("wdro_cvx.judging.dense.safe_cost", "understated"),
        ("wdro_cvx.judging.dense.dual_bound", "fooled"),
    ],
)
def test_the_attack_sees_the_last_digits(name, fault, monkeypatch):
    """A value or a bound that is wrong by 1e-9 is seen."""
    module, _, attribute = name.rpartition(".")
    honest = getattr(importlib.import_module(module), attribute)

    def lying(*arguments):
        found = honest(*arguments)
        if fault == "understated":
            return found - 1e-9 * abs(found)
        return replace(found, value=found.value + 1e-9 * abs(found.value))

    monkeypatch.setattr(name, lying)
    case = Case(seed=5, ambiguity="Singleton", data="plain", constraints="trace")
    assert attack(case)[fault]


@pytest.mark.parametrize("name", sorted(registered_ambiguities()))
def test_forged_certificates_do_not_raise_the_bound_above_the_optimum(name):
    """Every registered set, those of plug-ins too: the truth is the solver's own value."""
    rng = np.random.default_rng(3)
    samples = rng.standard_normal((9, 5)) * np.geomspace(1e-3, 1e3, 5)
    problem = GraphProblem(
        Nominal.from_samples(samples), registered_ambiguities()[name].example(0.3, 5), eta=0.2
    )
    answer = solve(problem, 1e-9, time_limit=10.0)
    for forgery, certificate in forge(problem, answer.laplacian, rng):
        bound = judge(problem, answer.laplacian, certificate).bound
        assert bound <= answer.value, forgery


def test_cases_are_reproducible():
    case = draw_cases(20, seed=3)[-1]
    first, second = build(case), build(case)
    np.testing.assert_array_equal(first.samples, second.samples)
    assert repr(first.problem) == repr(second.problem)


@pytest.mark.parametrize("offset", [1e2, 1e4, 1e6, 1e8, 1e12])
def test_a_common_offset(offset):
    samples = np.random.default_rng(0).standard_normal((30, 6)) + offset
    problem = GraphProblem(Nominal.from_samples(samples), Singleton(), eta=0.1)
    answer = solve(problem)
    exact = exact_objective(problem, answer.laplacian)
    assert answer.bound <= exact <= answer.value
    assert answer.value == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("column", [1e7, 1e-7])
def test_one_column_in_another_unit(column):
    """Distances by roots called moments members that were far outside it: bounds 60 % too high."""
    rng = np.random.default_rng(1)
    samples = rng.standard_normal((12, 5))
    samples[:, 0] *= column
    problem = GraphProblem(Nominal.from_samples(samples), WassersteinBall(0.2), eta=0.1)
    answer = solve(problem, 1e-7)
    wide = WassersteinBall(0.66).worst_case(problem.nominal, answer.laplacian)
    for moment in (wide.moment, wide.second_moment):
        verdict = judge(problem, answer.laplacian, Certificate(moment))
        assert verdict.bound <= answer.value
    assert WassersteinBall(0.2).distance(problem.nominal, wide.second_moment) >= 0.66 * (1 - 1e-9)


def test_one_sample_repeated_many_times():
    """Its weights are the certificate; a matrix within rounding of the set's is not."""
    samples = np.repeat(np.random.default_rng(2).standard_normal((1, 4)), 20_000, axis=0) + 1000.0
    nominal = Nominal.from_samples(samples)
    for name in ("KLBall", "ChiSquareBall"):
        problem = GraphProblem(nominal, registered_ambiguities()[name].example(0.5, 4), eta=0.1)
        average = solve(GraphProblem(nominal, Singleton(), eta=0.1))
        raised = nominal.second_moment * (1 + 3e-12)
        verdict = judge(problem, average.laplacian, Certificate(raised))
        assert verdict.bound <= average.value  # all samples are equal, so that no weights matter


def test_the_campaign_reports_what_it_found(tmp_path, capsys):
    path = Path(__file__).with_name("campaign.py")
    spec = importlib.util.spec_from_file_location("campaign", path)
    campaign = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(campaign)
    assert campaign.main(["--cases", "2", "--output", str(tmp_path)]) == 0
    assert "2 problems" in capsys.readouterr().out
    assert len(pd.read_csv(tmp_path / "runs.csv")) == 2
    record = json.loads((tmp_path / "provenance.json").read_text())
    assert {"tests.helpers.hostile", "wdro_cvx.verify"} <= set(record["code"])
    assert changes(record) == []

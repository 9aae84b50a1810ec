"""The methods that can be timed: QP solvers called directly, ladders, and what is missing."""

import importlib.util
import re

import cvxpy as cp
import pytest
from instances import paper_problem

import formulations
import solvers
from experiments.bench.contests import CONTESTS
from experiments.measuring import methods
from experiments.measuring.methods import find_method, missing_backend
from experiments.measuring.methods.quadratic import DIRECT, missing_module
from experiments.measuring.words import method_words
from solvers import solve
from wdro_cvx import EdgeBounds, GaussianBall, Singleton, SolverError, Status, judge

ROOMS = re.compile(r"(solvers|formulations)\.")


def need(name):
    if missing := missing_module(name):
        pytest.skip(f"{missing} is not installed")


@pytest.mark.parametrize("penalty", [None, 0.7])
@pytest.mark.parametrize("name", DIRECT)
def test_qp_solvers_find_the_sample_average(name, penalty):
    need(name)
    problem = paper_problem(9, 20, Singleton(), trace_penalty=penalty)
    method = find_method(name)
    method.check(problem)
    errors = []
    for tol in method.tolerances(1e-6):
        answer = method.run(problem, tol)
        verdict = judge(problem, answer)
        errors.append(max(verdict.gap, verdict.residuals.largest))
        assert answer.status is Status.SOLVED
    assert verdict.solved(1e-7)
    assert max(errors) == errors[0] or errors[0] < 1e-12
    assert answer.value == pytest.approx(solve(problem, 1e-10).value, rel=1e-7)
    assert min(answer.build_s, answer.solve_s) > 0.0


@pytest.mark.parametrize("name", DIRECT)
def test_qp_solvers_refuse_what_is_not_their_qp(name):
    for problem in (
        paper_problem(5, 9, GaussianBall(0.5)),
        paper_problem(5, 9, Singleton()).replace(bounds=_no_first_edge(5)),
    ):
        assert not find_method(name).claims(problem)
        with pytest.raises(SolverError, match=f"{name}, called directly, solves sample averages"):
            find_method(name).run(problem, 1e-6)


def _no_first_edge(d):
    return EdgeBounds.from_edges(d, absent=[(0, 1)])


def test_a_qp_solver_that_breaks_down_is_reported(monkeypatch):
    need("PIQP")
    import qpsolvers

    def breaks(*_, **__):
        raise ArithmeticError("singular")

    problem = paper_problem(5, 9, Singleton())
    monkeypatch.setattr(qpsolvers, "solve_problem", breaks)
    with pytest.raises(SolverError, match=r"PIQP failed.*ArithmeticError: singular.*larger tol"):
        find_method("PIQP").run(problem, 1e-6)


def test_a_qp_solver_without_an_answer_is_reported(monkeypatch):
    need("PIQP")
    import qpsolvers

    found = qpsolvers.Solution(None, found=False, x=None)
    monkeypatch.setattr(qpsolvers, "solve_problem", lambda *_, **__: found)
    with pytest.raises(SolverError, match="PIQP returned no graph"):
        find_method("PIQP").run(paper_problem(5, 9, Singleton()), 1e-6)


def test_missing_packages_are_named_with_their_remedy(monkeypatch):
    assert missing_backend("CertifiedSolver") is None
    assert missing_backend("RobustPremium:clarabel") is None
    monkeypatch.setattr(methods, "installed_backends", lambda: ["CLARABEL"])
    assert "pip install 'sdpa-python'" in missing_backend("GaussianSDP:SDPA")
    for name in ("MOSEK", "COPT"):
        assert "licence" in missing_backend(f"GaussianSDP:{name}")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert missing_backend("OSQP") == "qpsolvers is not installed (pip install 'wdro-cvx[bench]')"
    with pytest.raises(SolverError, match="OSQP needs qpsolvers"):
        find_method("OSQP").run(paper_problem(5, 9, Singleton()), 1e-6)


def test_a_commercial_backend_without_a_licence_counts_as_missing(monkeypatch):
    monkeypatch.setattr(methods, "installed_backends", lambda: ["MOSEK"])
    monkeypatch.setattr(cp.Problem, "solve", _without_licence)
    methods._has_licence.cache_clear()
    assert "MOSEK finds no licence" in missing_backend("GaussianSDP:MOSEK")
    monkeypatch.setattr(cp.Problem, "solve", lambda *_: 1.0)
    methods._has_licence.cache_clear()
    assert missing_backend("GaussianSDP:MOSEK") is None
    methods._has_licence.cache_clear()


def _without_licence(*_):
    raise RuntimeError("rescode.err_missing_license_file(1008)")


@pytest.mark.parametrize("contest", CONTESTS, ids=lambda contest: contest.title)
def test_every_method_of_a_contest_claims_its_problems(contest):
    for name in contest.sizes:
        if name != "LowRank" and missing_backend(name) is None:
            instance = contest._at(10)
            assert find_method(name).claims(instance.problem()), name


def test_reports_name_every_method_in_its_own_words():
    """Tables of class names beside words are hard to read, and legends merge equal names."""
    known = {**solvers.registered(), **formulations.registered()}
    ours = [name for name, kind in known.items() if ROOMS.match(kind.__module__)]
    words = [method_words(name if name in solvers.registered() else f"{name}:SCS") for name in ours]
    assert len(ours) >= 28
    assert not [told for name, told in zip(ours, words, strict=True) if name in told]
    assert len(set(words)) == len(words)

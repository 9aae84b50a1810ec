"""Every backend by name: its tolerance is obeyed, and its errors become ours."""

import cvxpy as cp
import numpy as np
import pytest
from instances import paper_problem

from formulations import GaussianDual, GeneralRegularized, RobustPremium, SampleAverage
from formulations.backends import backend_options, check_backend, installed_backends
from wdro_cvx import GaussianBall, MomentBall, Singleton, SolverError, Status, judge

QUADRATIC = ("CLARABEL", "SCS", "CVXOPT", "SDPA", "ECOS", "QOCO", "OSQP", "HIGHS", "PIQP", "PROXQP")
SECOND_ORDER = ("CLARABEL", "SCS", "CVXOPT", "SDPA", "ECOS", "QOCO")
SEMIDEFINITE = ("CLARABEL", "SCS", "CVXOPT", "SDPA")
CASES = [
    *[(SampleAverage, Singleton(), backend) for backend in QUADRATIC],
    *[(GeneralRegularized, MomentBall(0.5), backend) for backend in SECOND_ORDER],
    *[(RobustPremium, GaussianBall(0.5), backend) for backend in SEMIDEFINITE],
    *[(GaussianDual, GaussianBall(0.5), backend) for backend in SEMIDEFINITE],
]


def need(backend):
    if backend not in installed_backends():
        pytest.skip(f"{backend} is not installed")


@pytest.mark.slow
@pytest.mark.parametrize(("form", "ball", "backend"), CASES)
def test_a_looser_tolerance_never_gives_a_smaller_error(form, ball, backend):
    """The error is the gap or the residual, whichever is larger."""
    need(backend)
    problem = paper_problem(7, 15, ball, seed=1)  # SDPA does not reach 1e-7 for every seed
    errors = []
    for tol in (1e-2, 1e-4, 1e-7):
        answer = form(problem).solve(backend, tol=tol)
        assert answer.status is Status.SOLVED
        verdict = judge(problem, answer)
        errors.append(max(verdict.gap, verdict.residuals.largest))
    assert errors[-1] <= 5e-6  # ProxQP's tolerance is per row, so it leaves the most
    assert errors[0] >= 0.9 * errors[1] >= 0.8 * errors[2]
    if backend not in ("HIGHS", "OSQP"):  # an active set and a polished solution are exact
        assert errors[0] > 10 * errors[2]


@pytest.mark.parametrize("backend", QUADRATIC)
def test_backends_take_every_option_at_any_tolerance(backend):
    """A backend may fail to get there, but it says so; an unknown option would also be an error."""
    need(backend)
    program = SampleAverage(paper_problem(5, 9, Singleton()))
    if backend in ("CVXOPT", "SDPA"):
        with pytest.raises(SolverError, match=rf"{backend} .*larger tol"):
            program.solve(backend, tol=1e-15)
    else:
        assert np.all(np.isfinite(program.solve(backend, tol=1e-15).laplacian))


def test_what_a_backend_raises_of_its_own_becomes_a_solver_error():
    program = SampleAverage(paper_problem(5, 9, Singleton()))
    with pytest.raises(SolverError, match=r"SCS cannot solve SampleAverage: it raises .*nonsense"):
        program.solve("SCS", nonsense=3)


def test_tolerances_stay_where_the_backend_accepts_them():
    options = backend_options("HIGHS", 1e-14)
    assert set(options.values()) == {1e-10}
    assert set(backend_options("QOCO", 1e-14).values()) == {1e-14}


@pytest.mark.parametrize(
    ("backend", "remedy"),
    [("MOSEK", "'mosek', and a licence"), ("SDPA", "'sdpa-python'"), ("HIGHS", "'highspy'")],
)
def test_a_missing_backend_names_its_package(monkeypatch, backend, remedy):
    monkeypatch.setattr(cp, "installed_solvers", lambda: ["CLARABEL"])
    with pytest.raises(SolverError, match=f"pip install {remedy}"):
        check_backend(backend)

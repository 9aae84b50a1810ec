"""Sets without structure whose formulation takes over at a kink."""

from dataclasses import dataclass

import numpy as np
import pytest
from instances import random_nominal

from formulations import Formulation, Risk, register, smoothness
from formulations.base import _REGISTRY
from solvers import CertifiedSolver, solve
from wdro_cvx import AmbiguitySet, GraphProblem, Singleton, Status, WorstCase, judge
from wdro_cvx.programs import programs_for


@dataclass(frozen=True)
class TopBall(AmbiguitySet):
    """``{Θ + Δ : ‖Δ‖_* ≤ ε}``: the risk is ``⟨Θ, L⟩ + ελ_max(L)``."""

    radius_degree = 2

    def worst_case(self, nominal, laplacian):
        top = np.linalg.eigh(laplacian)[1][:, -1]
        moment = nominal.second_moment + self.radius * np.outer(top, top)
        return WorstCase(float(np.vdot(moment, laplacian)), moment, np.nan)

    def distance(self, nominal, second_moment):
        return float(np.abs(np.linalg.eigvalsh(second_moment - nominal.second_moment)).sum())


class TopProgram(Formulation):
    """Its conic program, which can be made to lie about the worst case."""

    claims = (TopBall,)
    factor = 1.0
    calls = 0

    def risk(self, laplacian):
        import cvxpy as cp

        type(self).calls += 1
        moment, top = self.normalised.nominal.second_moment, cp.Variable()
        above = top * np.eye(self.problem.d) - laplacian.matrix >> 0

        def worst_moment():
            dual = np.asarray(above.dual_value)
            return moment + self.factor * (dual + dual.T) / 2

        risk = smoothness(moment, laplacian) + self.radius * top
        return Risk(risk, [above], worst_moment=worst_moment)


@pytest.fixture
def program():
    TopProgram.calls, TopProgram.factor = 0, 1.0
    register(TopProgram)
    yield TopProgram
    _REGISTRY.forget("TopProgram")


def kinked(d=12):
    return GraphProblem(random_nominal(np.random.default_rng(0), d, 2 * d), TopBall(5.0), 0.3)


def test_a_kink_goes_to_the_program_and_few_steps_are_left(program):
    problem = kinked()
    answer = solve(problem)
    assert answer.status is Status.SOLVED
    assert program.calls == 1
    assert judge(problem, answer).solved(1e-6)
    alone = CertifiedSolver().solve(problem)
    assert program.calls == 1  # the solver by itself stays independent of formulations
    assert answer.iterations < alone.iterations / 4
    assert answer.value == pytest.approx(alone.value, rel=2e-6)


def test_a_wrong_worst_case_of_a_program_proves_nothing(program):
    """Its moment is far outside the set; the bundle has to finish."""
    program.factor = 3.0
    problem = kinked(6)
    answer = solve(problem)
    assert answer.status is Status.SOLVED
    assert answer.value == pytest.approx(CertifiedSolver().solve(problem).value, rel=2e-6)
    moment = answer.certificate.second_moment
    assert problem.ambiguity.distance(problem.nominal, moment) <= 5.0 * (1 + 1e-9)


def test_a_rough_answer_is_asked_for_again(program, monkeypatch):
    """The bundle would need many more iterations for the last digit."""
    asked, solve_it = [], program.solve

    def rough(self, backend, tol, **options):
        asked.append(tol)
        return solve_it(self, backend, tol if len(asked) > 1 else 1e-5, **options)

    monkeypatch.setattr(program, "solve", rough)
    problem = kinked()
    answer = solve(problem)
    assert answer.status is Status.SOLVED
    assert len(asked) == 2
    assert asked[1] < asked[0] < 1e-6
    assert answer.iterations < CertifiedSolver().solve(problem).iterations / 4


def test_a_backend_that_fails_leaves_the_bundle(program, monkeypatch):
    from wdro_cvx import SolverError

    def broken(self, *arguments, **options):
        raise SolverError("no")

    monkeypatch.setattr(program, "solve", broken)
    assert solve(kinked(6)).status is Status.SOLVED


def test_without_a_program_there_is_none():
    assert next(programs_for(kinked()), None) is None


def test_the_sample_average_builds_no_program(monkeypatch):
    """Building one takes longer than the solution."""
    monkeypatch.setattr(
        "solvers.generic.solver.programs_for", lambda problem: pytest.fail("built a program")
    )
    nominal = random_nominal(np.random.default_rng(0), 4, 9)
    answer = solve(GraphProblem(nominal, Singleton(), eta=0.3))
    assert answer.status is Status.SOLVED

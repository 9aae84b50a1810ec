"""Every registered term; no solver, formulation or judge ignores a term silently."""

from dataclasses import dataclass

import combinations
import numpy as np
import pytest
from scipy import sparse

import formulations
import solvers
from wdro_cvx import (
    Frobenius,
    GraphProblem,
    LogDegree,
    ProblemError,
    Singleton,
    SolverError,
    Term,
    WdroError,
    check_term,
    judge,
    registered_ambiguities,
    registered_terms,
)
from wdro_cvx.testing.problems import PRIORS, D, some_nominal

TERMS = list(registered_terms())
SOLVERS = solvers.registered()
FORMULATIONS = formulations.registered()


def term_of(name, alpha=0.7):
    return registered_terms()[name].example(alpha, D)


@pytest.mark.parametrize("name", TERMS)
def test_it_keeps_its_promises(name):
    for alpha in (1e-3, 0.7, 50.0):
        report = check_term(term_of(name, alpha))
        assert report.passed, str(report)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("name", TERMS)
def test_its_problems_are_solved_by_two_routes(name, prior):
    """CVXPY and the hand-written solver agree; where the term has kinks, CVXPY is judged alone."""
    problem = GraphProblem(
        some_nominal(), Singleton(), prior=PRIORS[prior](), terms=(term_of(name),)
    )
    stated = formulations.SampleAverage(problem).solve()
    assert judge(problem, stated).solved(1e-6)
    if problem.terms[0].smooth:
        answer = solvers.solve(problem, 1e-7)
        assert judge(problem, answer).solved(1e-7)
        scale = max(abs(stated.value), problem.floor)
        assert answer.value == pytest.approx(stated.value, abs=1e-6 * scale)


def example_for(kind):
    """Return a problem that a solver or formulation claims, or None."""
    sets = [ambiguity.example(0.3, D) for ambiguity in registered_ambiguities().values()]
    for ambiguity in [*sets, *combinations.QUICK.values()]:
        for prior in (Frobenius(0.2, float(D)), LogDegree(1.0, 0.3), Frobenius(0.2, D, 5.0)):
            problem = GraphProblem(some_nominal(), ambiguity, prior=prior)
            try:
                kind.check_claim(problem)
            except ProblemError:
                continue
            return problem
    return None


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_takes_terms_or_refuses_them(name):
    """A term that is ignored leaves the objective of the problem without it."""
    solver = SOLVERS[name]
    plain = example_for(solver)
    if plain is None:  # it needs a term
        plain = GraphProblem(some_nominal(), Singleton(), eta=0.2)
    for kind in TERMS:
        problem = plain.replace(terms=(term_of(kind),))
        try:
            solver.check_claim(problem)
        except ProblemError:
            with pytest.raises(WdroError):
                solver().solve(problem)
            continue
        answer = solver().solve(problem)
        assert answer.value == pytest.approx(problem.value(answer.laplacian), rel=1e-6)
        assert judge(problem, answer).solved(1e-5)


class Odd(Term):
    """A term that only its value knows."""

    def value(self, laplacian):
        return self.alpha * float(np.sum(np.square(laplacian)))

    def gradient(self, laplacian):
        return 2 * self.alpha * laplacian

    def expression(self, laplacian, cp):
        return self.alpha * laplacian.squared_norm


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_formulation_takes_terms_or_refuses_them(name):
    problem = example_for(FORMULATIONS[name])
    if name == "GaussianDual":  # a dual program needs the conjugate
        with pytest.raises(ProblemError, match="conjugate_expression"):
            FORMULATIONS[name](problem.replace(terms=(Odd(0.5),)))
        return
    program = FORMULATIONS[name](problem.replace(terms=(Odd(0.5),)))
    stated, more = program.solve(), problem.replace(prior=Frobenius(0.7, float(D)))
    # 0.5‖L‖² is 0.5 more of eta, which every formulation knows.
    if isinstance(problem.prior, Frobenius) and problem.prior.trace.fixed:
        wanted = FORMULATIONS[name](more).solve().value
        assert stated.value == pytest.approx(wanted, rel=1e-6)


def test_a_term_without_a_conjugate_proves_nothing():
    problem = GraphProblem(some_nominal(), Singleton(), eta=0.2, terms=(Odd(0.5),))
    answer = formulations.SampleAverage(problem).solve()
    assert judge(problem, answer).bound == -np.inf
    assert "conjugate touches" in check_term(Odd(0.5)).failures


def test_a_sparse_laplacian_is_not_judged_without_its_terms():
    problem = GraphProblem(some_nominal(), Singleton(), eta=0.2, terms=(term_of("LogDet"),))
    graph = sparse.csr_array(problem.prior.start(D))
    with pytest.raises(ProblemError, match="without terms"):
        judge(problem, graph)


@dataclass(frozen=True)
class Careless(solvers.Solver):
    """A solver whose author has not heard of terms and checks nothing."""

    claims = (Singleton,)
    tol: float = 1e-6

    def solve(self, problem):
        return solvers.solve(problem.replace(terms=()))


def test_a_solver_that_checks_nothing_refuses_terms_all_the_same():
    problem = GraphProblem(some_nominal(), Singleton(), eta=0.2)
    assert judge(problem, Careless().solve(problem)).solved(1e-6)
    with pytest.raises(ProblemError, match="Careless takes no LogDet term"):
        Careless().solve(problem.replace(terms=(term_of("LogDet"),)))


def test_solve_says_why_no_solver_takes_a_term():
    problem = GraphProblem(some_nominal(), Singleton(), eta=0.2, terms=(term_of("KnownEdges"),))
    with pytest.raises(SolverError, match="has kinks"):
        solvers.solve(problem)

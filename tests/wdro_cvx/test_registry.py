"""Registries and claims: every name is registered once, and solvers are tried in order of rank."""

from dataclasses import dataclass

import numpy as np
import pytest
from instances import paper_problem

import formulations
import solvers
from formulations import Formulation, Risk
from solvers import BlockDescent, CertifiedSolver, MomentNewton, Solver, SparseSolver
from solvers.solve import candidates
from wdro_cvx import (
    AmbiguitySet,
    CVaRBall,
    GaussianBall,
    GraphProblem,
    KLBall,
    LogDegree,
    MahalanobisBall,
    MomentBall,
    MomentUncertainty,
    Nominal,
    PairBall,
    ProblemError,
    Singleton,
    WassersteinBall,
    register_ambiguity,
    registered_ambiguities,
)
from wdro_cvx.claims import (
    DEARER_PAIRS,
    EUCLIDEAN_TRANSPORT,
    MOVED_ROWS,
    NORM_BALL,
    REWEIGHED,
    SIMPLE_NORM,
    claimed,
)
from wdro_cvx.registry import Registry


def test_a_name_is_registered_once():
    registry = Registry(object)
    first = type("Same", (), {"__module__": "here"})
    registry.add(first)
    registry.add(type("Same", (), {"__module__": "here"}))  # the same file, run again
    with pytest.raises(ProblemError, match=r"registered already, as here\.Same; give there\.Same"):
        registry.add(type("Same", (), {"__module__": "there"}))
    assert list(registry.all()) == ["Same"]
    registry.forget("Same")
    assert registry.all() == {}


@pytest.mark.parametrize("claims", [3, (), (3,), (int,), [Singleton], Singleton])
@pytest.mark.parametrize("base", [Formulation, Solver])
def test_claims_are_a_tuple_of_sets(base, claims):
    register = formulations.register if base is Formulation else solvers.register
    with pytest.raises(ProblemError, match="claims must be the tuple of ambiguity sets"):
        register(type("Vague", (base,), {"claims": claims, "risk": None, "solve": None}))


def test_what_is_registered_is_of_its_kind_and_complete():
    with pytest.raises(ProblemError, match="int cannot be registered: it must subclass Ambig"):
        register_ambiguity(int)
    with pytest.raises(ProblemError, match="3 cannot be registered"):
        formulations.register(3)
    with pytest.raises(ProblemError, match="must subclass Formulation"):
        formulations.register(type("Other", (), {"claims": (Singleton,)}))
    with pytest.raises(ProblemError, match="Empty cannot be registered: it must implement risk"):
        formulations.register(type("Empty", (Formulation,), {"claims": (Singleton,)}))
    with pytest.raises(ProblemError, match="Idle cannot be registered: it must implement solve"):
        solvers.register(type("Idle", (Solver,), {"claims": (Singleton,)}))
    with pytest.raises(ProblemError, match="must implement distance and worst_case"):
        register_ambiguity(type("Half", (AmbiguitySet,), {}))


def test_a_set_a_formulation_and_a_solver_cannot_take_a_name_that_is_taken():
    @dataclass(frozen=True)
    class WassersteinBall(GaussianBall):
        pass

    class SampleAverage(Formulation):
        claims = (Singleton,)

        def risk(self, laplacian):
            return Risk(laplacian.trace)

    @dataclass(frozen=True)
    class CertifiedSolver(Solver):
        claims = (AmbiguitySet,)

        def solve(self, problem):
            raise NotImplementedError

    before = registered_ambiguities(), formulations.registered(), solvers.registered()
    for register, taken in (
        (register_ambiguity, WassersteinBall),
        (formulations.register, SampleAverage),
        (solvers.register, CertifiedSolver),
    ):
        with pytest.raises(ProblemError, match=f"{taken.__name__} is registered already"):
            register(taken)
    assert before == (registered_ambiguities(), formulations.registered(), solvers.registered())


def test_solvers_claim_by_what_a_set_offers():
    class Renamed(WassersteinBall):
        """As a user's own set would be: of no class that a solver knows."""

    def claims(offers, ambiguity):
        return claimed(offers, paper_problem(2, 5, ambiguity))

    even, uneven = MahalanobisBall(1.0, (1.0, 1.0)), MahalanobisBall(1.0, (1.0, 2.0))
    assert claims((EUCLIDEAN_TRANSPORT,), Renamed(1.0))
    assert claims((EUCLIDEAN_TRANSPORT,), even)
    assert not claims((EUCLIDEAN_TRANSPORT,), uneven)
    assert claims((MOVED_ROWS,), uneven)
    assert not claims((MOVED_ROWS, NORM_BALL), KLBall(1.0))
    assert not claims((MOVED_ROWS,), MomentUncertainty(1.0, 1.0, 1.0))
    assert claims((NORM_BALL,), MomentBall(1.0, p=3.0))
    assert all(claims((SIMPLE_NORM,), MomentBall(1.0, p=p)) for p in (1.0, 2.0, np.inf))
    assert not claims((SIMPLE_NORM,), MomentBall(1.0, p=3.0))

    class Different(KLBall):
        """Has another worst case than its tilt."""

        def worst_case(self, nominal, laplacian):
            return Singleton().worst_case(nominal, laplacian)

    assert claims((REWEIGHED,), KLBall(1.0))
    assert claims((REWEIGHED,), CVaRBall(1.0))
    nominal = Nominal.from_samples(np.eye(5))
    assert not REWEIGHED.made_by(Different(1.0).structure(nominal))
    assert claims((DEARER_PAIRS,), PairBall(1.0))
    assert not claims((DEARER_PAIRS,), MomentBall(1.0))
    assert claims((KLBall, NORM_BALL), KLBall(1.0))
    with pytest.raises(ProblemError, match="BlockDescent solves problems with GaussianBall or"):
        BlockDescent.check_claim(paper_problem(4, 5, KLBall(1.0)))


@pytest.mark.parametrize(
    ("ambiguity", "expected"),
    [
        (WassersteinBall(0.5), [SparseSolver, CertifiedSolver]),
        (Singleton(), [SparseSolver, CertifiedSolver]),
        (MomentBall(0.5), [SparseSolver, MomentNewton, CertifiedSolver]),
        (MomentBall(0.5, p=np.inf), [SparseSolver, MomentNewton, CertifiedSolver]),
        (MomentBall(0.5, p=3.0), [MomentNewton, CertifiedSolver]),
        (PairBall(0.5), [SparseSolver, CertifiedSolver]),
        (KLBall(0.5), [SparseSolver, CertifiedSolver]),
        (MomentUncertainty(0.5, 1.0, 1.0), [CertifiedSolver]),
    ],
)
def test_solve_asks_the_registry(ambiguity, expected):
    signals = np.random.default_rng(0).standard_normal((3, SparseSolver.least))
    large = GraphProblem(Nominal.from_samples(signals), ambiguity, eta=0.3)
    assert candidates(large) == expected
    expected = [solver for solver in expected if solver is not SparseSolver]
    assert candidates(paper_problem(4, 5, ambiguity)) == expected


def test_a_solver_of_ones_own_goes_first_where_it_has_the_rank():
    @dataclass(frozen=True)
    class Mine(Solver):
        claims = (KLBall,)
        rank = 1

        tol: float = 1e-6

        def solve(self, problem):
            return (self.tol, problem)

    problem = paper_problem(4, 5, KLBall(0.5))
    solvers.register(Mine)
    try:
        assert candidates(problem) == [Mine, CertifiedSolver]
        assert solvers.solve(problem, tol=1e-3) == (1e-3, problem)
        assert Mine not in candidates(paper_problem(4, 5, GaussianBall(0.5)))
    finally:
        solvers.base._REGISTRY.forget("Mine")


def test_a_prior_that_a_solver_does_not_know_leaves_it_out():
    problem = paper_problem(4, 5, MomentBall(0.5, p=4.0))
    under_logs = type(problem)(problem.nominal, problem.ambiguity, prior=LogDegree(1.0, 0.1))
    assert candidates(under_logs) == [CertifiedSolver]

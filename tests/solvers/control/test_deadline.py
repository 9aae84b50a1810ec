"""Time limits reach the inner loops, and a run without one ends even if it cannot succeed."""

from dataclasses import dataclass

import numpy as np
import pytest

from solvers import CertifiedSolver, LikelihoodSolver, SparseSolver
from solvers.atoms.model import build_model
from solvers.bracket.incumbent import Incumbent
from solvers.bracket.limits import Clock, OutOfTime
from solvers.bracket.run import Run
from solvers.control.deadline import tick, watched
from solvers.large.worst_case import worst_transport
from solvers.likelihood.search import Search
from solvers.qp import LaplacianQP, solve_laplacian_qp
from wdro_cvx import (
    AmbiguitySet,
    GraphProblem,
    KLBall,
    LogDet,
    Nominal,
    Status,
    WassersteinBall,
    WorstCase,
)
from wdro_cvx.generators import neighbour_graph, smooth_table

RNG = np.random.default_rng(0)
NOMINAL = Nominal.from_samples(RNG.standard_normal((12, 8)))


class _StopError(Exception):
    pass


def _stop():
    raise _StopError


def _quadratic():
    problem = GraphProblem(NOMINAL, KLBall(0.3), eta=0.3)
    return solve_laplacian_qp(LaplacianQP(NOMINAL.second_moment, problem.prior))


def _tiles():
    problem = GraphProblem(NOMINAL, KLBall(0.3), eta=0.3)
    model = build_model(problem, problem.structure, problem.prior.start(8), 1.0)
    return model.spread.costs(model.ball.shares)


def _gradients():
    from scipy import sparse

    graph = sparse.csr_array(GraphProblem(NOMINAL, KLBall(0.3), eta=0.3).prior.start(8))
    return worst_transport(graph, NOMINAL.factor.T, 0.1, 1e-3)


def _newton():
    problem = GraphProblem(NOMINAL, WassersteinBall(0.3), eta=0.1, terms=(LogDet(1.0),))
    search = Search(problem.normalised, 1e-6, Run())
    return search._step(search._start(None))


@pytest.mark.parametrize("work", [_quadratic, _tiles, _gradients, _newton])
def test_inner_loops_notice_the_limit(work):
    work()  # outside of a run there is no limit
    with watched(_stop), pytest.raises(_StopError):
        work()
    tick()  # the limit ended with its run


def test_time_for_the_judge_is_kept():
    incumbent = Incumbent(GraphProblem(NOMINAL, KLBall(0.3), eta=0.3), run=Run(clock=Clock(100.0)))
    incumbent.evaluate(incumbent.problem.prior.start(8))
    incumbent.check_clock()
    incumbent.judging = 101.0
    with pytest.raises(OutOfTime):
        incumbent.check_clock()


@pytest.mark.parametrize("kind", [CertifiedSolver, LikelihoodSolver, SparseSolver])
def test_a_run_out_of_time_has_a_certified_answer(kind):
    terms = (LogDet(1.0),) if kind is LikelihoodSolver else ()
    rng = np.random.default_rng(1)
    nominal = Nominal.from_samples(smooth_table(neighbour_graph(60, rng), 9, rng))
    problem = GraphProblem(nominal, WassersteinBall(3.0), eta=0.3, terms=terms)
    answer = kind(tol=1e-12, time_limit=1e-9).solve(problem)
    assert answer.status is Status.TIME_LIMIT
    assert 0.0 < answer.gap <= 1.0


@dataclass(frozen=True)
class _Missed(AmbiguitySet):
    """A ball in the nuclear norm whose worst case stops short of its risk."""

    def worst_case(self, nominal, laplacian):
        values, vectors = np.linalg.eigh(laplacian)
        push = 0.9 * self.radius * np.outer(vectors[:, -1], vectors[:, -1])
        risk = float(np.vdot(nominal.second_moment, laplacian)) + self.radius * values[-1]
        return WorstCase(risk, nominal.second_moment + push, 1.0)

    def distance(self, nominal, second_moment):
        return float(np.abs(np.linalg.eigvalsh(second_moment - nominal.second_moment)).sum())


def test_a_worst_case_that_misses_its_risk_ends_the_run():
    answer = CertifiedSolver().solve(GraphProblem(NOMINAL, _Missed(5.0), eta=0.3))
    assert answer.status is Status.ITERATION_LIMIT
    assert answer.iterations < 400  # of 5500

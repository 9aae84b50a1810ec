"""The sparse solver near the hard case and in it."""

import numpy as np
import pytest
from scipy import sparse

from solvers import CertifiedSolver, SparseSolver
from solvers.large.worst_case import top_bound
from wdro_cvx import GraphProblem, Nominal, Status, WassersteinBall, judge
from wdro_cvx.generators import neighbour_graph, smooth_table


def smooth_problem(d, n, ambiguity):
    rng = np.random.default_rng(0)
    samples = smooth_table(neighbour_graph(d, rng), n, rng)
    return GraphProblem(Nominal.from_samples(samples), ambiguity, 0.3)


@pytest.mark.parametrize("share", [0.6, 0.7])
def test_next_to_the_hard_case_it_closes_the_gap(share):
    """γ above λmax, but below what |L| says of it: a third more for graphs with triangles."""
    problem = smooth_problem(120, 20, WassersteinBall(share * np.sqrt(120)))
    answer = SparseSolver().solve(problem)
    assert answer.status is Status.SOLVED
    laplacian = sparse.csr_array(answer.laplacian)
    assert answer.multiplier < top_bound(laplacian)
    assert judge(problem, laplacian, answer.certificate).solved(1e-6)
    best = CertifiedSolver(1e-7, time_limit=60.0).solve(problem)
    assert answer.value == pytest.approx(best.value, rel=1e-6)


@pytest.mark.slow
def test_in_the_hard_case_a_mixture_of_worst_cases_is_the_proof():
    problem = smooth_problem(60, 8, WassersteinBall(5.0))
    answer = SparseSolver().solve(problem)
    assert answer.status is Status.SOLVED
    # λmax is multiple, and the budget is spread over its eigenvectors.
    assert len(answer.certificate.moment.spread) > 1
    values = np.linalg.eigvalsh(answer.laplacian)
    assert values[-2] > (1 - 1e-3) * values[-1]
    laplacian = sparse.csr_array(answer.laplacian)
    assert judge(problem, laplacian, answer.certificate).solved(1e-6)
    assert judge(problem, answer).solved(1e-6)  # by the dense judge
    # One worst case alone proves little.
    assert judge(problem, laplacian).gap > 1e-4


def test_where_even_a_mixture_is_not_of_low_rank_it_claims_nothing():
    problem = smooth_problem(50, 5, WassersteinBall(40.0))
    answer = SparseSolver().solve(problem)
    assert answer.status is not Status.SOLVED
    best = CertifiedSolver(1e-5, time_limit=60.0).solve(problem)
    assert answer.bound <= best.value
    assert answer.value >= best.bound

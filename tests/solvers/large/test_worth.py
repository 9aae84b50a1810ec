"""The sparse path gives way to the dense one once its work exceeds that of the dense path."""

import numpy as np
import pytest

from solvers import SparseSolver
from solvers.bracket.run import Request
from solvers.large import rounds
from solvers.large.worst_case import worst_transport
from solvers.large.worth import most_work, worthwhile
from wdro_cvx import GraphProblem, Nominal, WassersteinBall
from wdro_cvx.generators import neighbour_graph, smooth_table
from wdro_cvx.graphs.edge_list import EdgeList


def _problem(d, rows, radius):
    rng = np.random.default_rng(0)
    table = smooth_table(neighbour_graph(d, rng), rows, rng)
    return GraphProblem(Nominal.from_samples(table), WassersteinBall(radius), eta=0.3)


def test_it_yields_when_its_worst_cases_have_taken_too_long(monkeypatch):
    problem = _problem(320, 6, 2.0)
    assert worthwhile(problem)
    assert SparseSolver.try_solve(problem, Request()) is not None
    monkeypatch.setattr(rounds, "most_work", lambda problem: 1.0)
    assert SparseSolver.try_solve(problem, Request()) is None
    # By name it is patient.
    assert SparseSolver().solve(problem).gap <= 1e-6


def test_the_work_of_the_dense_path_is_cubic():
    assert most_work(_problem(320, 6, 2.0)) > 40 * 320**3 / 6 / 12
    larger = most_work(_problem(640, 6, 2.0)) / most_work(_problem(320, 6, 2.0))
    assert 6.5 < larger < 8.0  # 8, less what grows with the square


@pytest.mark.parametrize("share", [0.3, 3.0])
def test_products_are_counted_and_grow_towards_the_largest_eigenvalue(share):
    path = EdgeList(50, np.arange(49), np.arange(1, 50), np.ones(49)).laplacian()
    points = np.random.default_rng(0).standard_normal((50, 3))
    near, far = (worst_transport(path, points, radius, 1e-6) for radius in (10 * share, share))
    assert near.multiplier < far.multiplier
    assert near.products > far.products > 0
    assert far.products % points.shape[1] == 0

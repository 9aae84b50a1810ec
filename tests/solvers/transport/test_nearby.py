"""Worst cases from Cholesky factors agree with those from eigenvalues."""

import numpy as np
import pytest

from solvers.transport import nearby as module
from solvers.transport.nearby import FROM, NearbyWorst
from wdro_cvx import GaussianBall, GraphProblem, MahalanobisBall, Nominal
from wdro_cvx.graphs.laplacian import laplacian_from_weights

TOL = 1e-6


def _problem(radius, rows=40, d=FROM):
    rng = np.random.default_rng(3)
    return GraphProblem(
        Nominal.from_samples(rng.standard_normal((rows, d))), GaussianBall(radius), eta=0.3
    )


def _graph(seed, d=FROM):
    rng = np.random.default_rng(seed)
    m = d * (d - 1) // 2
    weights = rng.exponential(size=m) * (rng.random(m) < 0.05)
    return laplacian_from_weights(weights * d / 2 / weights.sum())


@pytest.mark.parametrize("radius", [1e-3, 1.0, 8.0])
def test_it_is_the_worst_case(radius, monkeypatch):
    problem = _problem(radius)
    first = _graph(0)
    second = first + 0.02 * (_graph(1) - first)
    exact = [problem.ambiguity.worst_case(problem.nominal, graph) for graph in (first, second)]
    nearby = NearbyWorst(problem, TOL)
    monkeypatch.setattr("wdro_cvx.ambiguity.transport.eigen", None)  # it must not be needed
    for graph, known in zip((first, second), exact, strict=True):
        found = nearby(graph)
        # It promises a hundredth of the tolerance; beyond rounding it is never above the risk.
        assert -1e-12 * known.risk <= known.risk - found.risk <= 0.01 * TOL * known.risk
        assert found.multiplier == pytest.approx(known.multiplier, rel=1e-3)
        np.testing.assert_allclose(
            found.second_moment, known.second_moment, atol=1e-3 * np.abs(known.second_moment).max()
        )
        membership = problem.ambiguity.membership(problem.nominal)
        # The distance itself is rounded: about 1e-16 of the signals, over a radius of 1e-3.
        assert membership.distance(found.moment) <= radius * (1 + 1e-12)


def test_next_to_the_largest_eigenvalue_the_set_answers():
    problem, graph = _problem(1e3, rows=2), _graph(0)
    known = problem.ambiguity.worst_case(problem.nominal, graph)
    found = NearbyWorst(problem, TOL)(graph)
    assert found.risk == pytest.approx(known.risk, rel=0.01 * TOL)


def test_it_is_for_many_vertices_and_the_euclidean_metric():
    assert NearbyWorst.applies(_problem(1.0))
    assert not NearbyWorst.applies(_problem(0.0))
    assert not NearbyWorst.applies(_problem(1.0, d=FROM - 1))
    other = MahalanobisBall(1.0, scales=np.linspace(1.0, 2.0, FROM))
    assert not NearbyWorst.applies(GraphProblem(_problem(1.0).nominal, other, eta=0.3))


def test_a_stack_has_the_worst_cases_of_its_problems(monkeypatch):
    """After the first ones no eigenvalues are needed, except next to the largest of them."""
    rng = np.random.default_rng(5)
    d, radii = 9, [0.1, 1.0, 3.0, 1e3]
    problems = [
        GraphProblem(Nominal.from_samples(rng.standard_normal((2, d))), GaussianBall(radius), 0.3)
        for radius in radii
    ]
    graphs = np.stack([laplacian_from_weights(rng.exponential(size=36)) for _ in radii])
    nearby = [NearbyWorst(problem, TOL) for problem in problems]
    counts = []
    exact = module.stacked_worst_cases

    def counted(sets, *others):
        counts.append(len(sets))
        return exact(sets, *others)

    monkeypatch.setattr(module, "stacked_worst_cases", counted)
    for _ in range(3):
        for problem, graph, found in zip(
            problems, graphs, NearbyWorst.together(nearby, graphs), strict=True
        ):
            known = problem.ambiguity.worst_case(problem.nominal, graph)
            assert -1e-12 * known.risk <= known.risk - found.risk <= 0.01 * TOL * known.risk
            assert found.multiplier == pytest.approx(known.multiplier, rel=1e-3)
            membership = problem.ambiguity.membership(problem.nominal)
            assert membership.distance(found.moment) <= problem.ambiguity.radius * (1 + 1e-12)
        graphs = graphs * (1.0 + 0.02 * rng.random((len(radii), 1, 1)))
    assert counts == [4, 1, 1]

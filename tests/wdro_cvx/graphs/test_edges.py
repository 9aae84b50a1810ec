import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import paper_problem, random_laplacian, seeds

from solvers import solve
from wdro_cvx import (
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    MomentBall,
    ProblemError,
    Singleton,
    judge,
)
from wdro_cvx.graphs.laplacian import weights_from_laplacian
from wdro_cvx.judging.edges import EdgeBrackets
from wdro_cvx.priors import Frobenius


def test_two_vertices_with_a_trace_have_one_graph():
    assert Frobenius(0.3, 2.0).edge_reach(2) == pytest.approx(0.0, abs=1e-15)


SETS = [Singleton(), GaussianBall(0.5), MomentBall(0.5, p=1.0), MomentBall(1.0, p=4.0)]


@examples(25)
@given(seeds, st.sampled_from(SETS), st.floats(0.0, 1.0), st.booleans(), st.booleans())
def test_brackets_and_distance_contain_the_optimal_graph(seed, ambiguity, mix, penalty, bounded):
    """Whatever graph is judged: the optimum is solved for to 1e-10 and must be in the brackets."""
    rng = np.random.default_rng(seed)
    base = paper_problem(7, 10, ambiguity, seed=seed % 50)
    bounds = EdgeBounds(np.zeros(21), rng.choice([0.0, 0.4, np.inf], 21, p=[0.2, 0.3, 0.5]))
    problem = GraphProblem(
        base.nominal, ambiguity, 0.3,
        trace_penalty=0.5 if penalty else None,
        bounds=bounds if bounded and np.isinf(bounds.upper).any() else None,
    )  # fmt: skip
    best = solve(problem, 1e-10)
    exact = weights_from_laplacian(best.laplacian)
    shown = (1 - mix) * best.laplacian + mix * random_laplacian(rng, 7)
    verdict = judge(problem, shown, best.certificate)
    slack = 2 * best.distance + 1e-12
    assert np.all(verdict.edges.lower <= exact + slack)
    assert np.all(exact <= verdict.edges.upper + slack)


def test_a_solved_graph_decides_nearly_every_edge():
    problem = paper_problem(20, 40, GaussianBall(0.5))
    counts = judge(problem, solve(problem, 1e-10)).edges.counts()
    assert counts["undecided"] <= 2
    assert counts["present"] > 20
    assert counts["absent"] > 50
    assert sum(counts.values()) == 190


def test_a_poor_graph_decides_little():
    problem = paper_problem(20, 40, GaussianBall(0.5))
    poor = judge(problem, random_laplacian(np.random.default_rng(0), 20))
    assert poor.edges.counts()["present"] == 0
    assert poor.distance > 0.1


def test_thresholds_are_positive_numbers():
    brackets = EdgeBrackets(np.array([0.5, 0.0]), np.array([0.6, 0.1]))
    assert brackets.counts(0.2) == {"present": 1, "absent": 1, "undecided": 0}
    assert brackets.counts(0.05) == {"present": 1, "absent": 0, "undecided": 1}
    assert "1 present" in repr(brackets)
    with pytest.raises(ProblemError, match="threshold"):
        brackets.present(0.0)

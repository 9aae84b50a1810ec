"""The working set of the interior point: its matrices, its first edges, and edges added later."""

from dataclasses import replace

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import dimensions, random_nominal, seeds
from scipy import linalg

from solvers.bracket.incumbent import Incumbent
from solvers.bracket.requests import alone
from solvers.generic.proximal import proximal_descent
from solvers.transport import interior, working_set
from solvers.transport.edges import FreeEdges
from solvers.transport.interior import _start, follow_path
from solvers.transport.lmi import TransportLMI
from solvers.transport.system import NewtonSystem
from solvers.transport.working_set import WorkingSet
from wdro_cvx import EdgeBounds, GraphProblem, LogDegree, MahalanobisBall, WassersteinBall, judge
from wdro_cvx.graphs.laplacian import edge_index


def make(d, n=3, radius=2.0, seed=0, **options):
    rng = np.random.default_rng(seed)
    options = options or {"eta": 0.05}
    return GraphProblem(random_nominal(rng, d, n), WassersteinBall(radius), **options)


def begun(problem):
    """Return an incumbent after two smooth steps, and what the interior point starts with."""
    incumbent = Incumbent(problem)
    alone(proximal_descent(incumbent, problem.prior.start(problem.d), 2))
    form = problem.structure
    return incumbent, form, TransportLMI.of(problem, form, incumbent.laplacian)


def incidence(edges, d):
    columns = np.arange(edges.heads.size)
    signed = np.zeros((d, edges.heads.size))
    signed[edges.heads, columns], signed[edges.tails, columns] = 1.0, -1.0
    return signed


@st.composite
def lists(draw):
    """Draw a dimension, some of its edges and two symmetric matrices."""
    d, rng = draw(dimensions), np.random.default_rng(draw(seeds))
    pool = FreeEdges.of(make(d))
    chosen = rng.random(pool.heads.size) < draw(st.sampled_from([0.2, 0.7, 1.0]))
    chosen[rng.integers(chosen.size)] = True
    first, second = rng.standard_normal((2, d, d))
    return d, pool.among(chosen), first + first.T, second + second.T, rng


@given(lists())
def test_products_are_those_of_the_incidence_matrix(drawn):
    d, edges, first, second, rng = drawn
    signed, scale = incidence(edges, d), rng.random(edges.heads.size) + 0.1
    expected = (signed.T @ first @ signed) * (signed.T @ second @ signed)
    found = edges.products(first, second, scale)
    assert found.shape == (scale.size + 1, scale.size + 1)  # room for the multiplier
    below = np.tril_indices(scale.size)
    np.testing.assert_allclose(found[below], (expected * np.outer(scale, scale))[below], atol=1e-12)
    excess = rng.random(edges.heads.size)
    np.testing.assert_allclose(edges.combined(excess), (signed * excess) @ signed.T, atol=1e-13)


@given(lists())
def test_meetings_are_pairs_of_edges_with_a_common_vertex(drawn):
    d, edges, _, _, rng = drawn
    vertices = rng.random(d)
    unsigned = np.abs(incidence(edges, d))
    expected = unsigned.T @ np.diag(vertices) @ unsigned
    np.fill_diagonal(expected, 0.0)
    found = np.zeros_like(expected)
    later, earlier, shared = edges.meetings
    found[later, earlier] = vertices[shared]
    np.testing.assert_allclose(found, np.tril(expected), atol=0.0)


def test_the_others_stay_at_their_least_weights():
    lower = np.zeros(10)
    lower[[1, 4]] = 0.2
    pool = FreeEdges.of(make(5, eta=0.1, bounds=EdgeBounds(lower, np.full(10, np.inf))))
    some = pool.among(np.arange(10) < 3)
    np.testing.assert_array_equal(some.base, pool.base)
    assert some.total == pool.total == pytest.approx(5 / 2 - 0.4)
    assert -some.base[edge_index(5)][1] == 0.2


@pytest.mark.parametrize("prior", [{"eta": 1e-3}, {"prior": LogDegree(1.0, 1e-3)}])
def test_every_vertex_has_edges_to_begin_with(prior):
    incumbent, _, _ = begun(make(30, n=4, **prior))
    first = WorkingSet.first(incumbent, FreeEdges.of(incumbent.problem))
    assert first.size < first.inside.size
    ends = np.concatenate([first.edges.heads, first.edges.tails])
    assert np.bincount(ends, minlength=30).min() >= 1


def test_edges_that_the_caps_leave_too_little_room_are_joined_by_all():
    problem = make(12, eta=0.1, bounds=EdgeBounds(np.zeros(66), np.full(66, 6.3 / 66)))
    chosen = np.arange(66) < 20
    assert WorkingSet.of(FreeEdges.of(problem), chosen).whole
    assert not WorkingSet.of(FreeEdges.of(make(12)), chosen).whole


def test_an_edge_joins_where_its_reduced_cost_is_negative():
    incumbent, _form, lmi = begun(make(14, n=3, radius=1.0, eta=1e-3))
    pool = FreeEdges.of(incumbent.problem)
    chosen = WorkingSet.of(pool, np.arange(pool.heads.size) % 4 == 0)
    system = NewtonSystem(lmi, chosen.edges, _start(lmi, chosen.edges))
    level = system.complementarity() / system.count
    costs = pool.adjoint(system.gradient) - system.at.tau
    least = float(np.median(-costs[costs < 0.0]))  # so that some of them are not worth it
    joined, moved = chosen.joined(system, level, least)
    expected = ~chosen.inside & (costs < -least)
    assert expected.any()
    np.testing.assert_array_equal(joined.inside, chosen.inside | expected)
    assert joined.entered == np.count_nonzero(expected)
    # The old ones are where they were, the new ones on the path, and the LMI holds.
    old = chosen.inside[joined.inside]
    np.testing.assert_array_equal(moved.at.excess[old], system.at.excess)
    np.testing.assert_allclose(moved.at.excess[~old] * moved.at.lower[~old], level, rtol=1e-12)
    linalg.cholesky(moved.at.gamma * np.eye(14) - lmi.scaled(moved.laplacian))
    assert chosen.joined(system, level, np.inf) == (chosen, system)


@examples(15)
@given(seeds, st.sampled_from([{"eta": 1e-3}, {"eta": 1.0}, {"prior": LogDegree(1.0, 0.01)}]))
def test_a_bad_first_choice_costs_steps_but_not_the_answer(seed, prior):
    """From a star, which is hardly ever optimal, the same optimum as from all edges."""
    found = []
    for first in ("star", "all"):
        problem = make(16, n=3, radius=3.0, seed=seed % 50, **prior)
        incumbent, form, _ = begun(problem)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(WorkingSet, "first", classmethod(
                lambda cls, incumbent, pool, first=first: cls(
                    pool, (pool.heads == 0) | (first == "all"), 15
                )
            ))  # fmt: skip
            follow_path(incumbent, form, 500)
        assert judge(problem, incumbent.laplacian, incumbent.certificate).solved(2e-6)
        found.append(incumbent)
    size = max(abs(found[0].value), problem.floor)
    assert abs(found[0].value - found[1].value) <= 2e-6 * size


def test_a_part_of_the_edges_is_enough_where_the_graph_is_sparse(monkeypatch):
    rng = np.random.default_rng(1)
    scales = tuple(10 ** rng.uniform(-0.5, 0.5, 40))
    problem = replace(make(40, n=2, eta=1e-3), ambiguity=MahalanobisBall(3.0, scales=scales))
    incumbent, form, _ = begun(problem)
    sizes = []
    original = WorkingSet.joined

    def noted(self, system, level, least):
        sizes.append(self.size)
        return original(self, system, level, least)

    monkeypatch.setattr(WorkingSet, "joined", noted)
    follow_path(incumbent, form, 500)
    assert incumbent.gap <= 1e-6
    assert sizes
    assert max(sizes) < 40 * 39 // 4  # never half of the edges
    assert judge(problem, incumbent.laplacian, incumbent.certificate).solved(1.1e-6)


def test_a_third_beginning_is_with_all_edges_where_there_is_room(monkeypatch):
    incumbent, _form, lmi = begun(make(14, n=3, eta=1e-3))
    pool = FreeEdges.of(incumbent.problem)
    chosen = WorkingSet(pool, np.arange(pool.heads.size) < 14, 14, entered=5)
    system = NewtonSystem(lmi, chosen.edges, _start(lmi, chosen.edges))
    second = chosen.grown(system)
    assert not second.whole
    assert second.size == 14 + 2 * 5
    assert (second.inside | ~chosen.inside).all()
    assert second.grown(system).whole
    monkeypatch.setattr(working_set, "MAX_EDGES", 50)
    assert not second.grown(system).whole


def test_steps_with_a_part_of_the_edges_are_not_counted_against_all_of_them(monkeypatch):
    """Each beginning has its own limit of steps."""
    problem = make(16, n=3, radius=3.0, eta=1e-3)
    incumbent, form, _ = begun(problem)
    monkeypatch.setattr(
        WorkingSet,
        "first",
        classmethod(lambda cls, incumbent, pool: cls(pool, pool.heads == 0, 15)),
    )
    monkeypatch.setattr(interior, "_PART_STEPS", 14)
    monkeypatch.setattr(interior, "_MAX_STEPS", 30)
    monkeypatch.setattr(WorkingSet, "joined", lambda self, system, level, least: (self, system))
    follow_path(incumbent, form, 500)
    assert incumbent.iterations > 30
    assert incumbent.gap <= 1e-6

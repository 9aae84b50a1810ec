"""Graphs with about k neighbours for every set, prior and unit, or an error that says why not."""

from dataclasses import replace

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from instances import paper_problem

import solvers.selection.target_degree as target_degree
from solvers.selection.target_degree import (
    average_neighbours,
    solve_for_neighbours,
    with_smaller_radius,
)
from wdro_cvx import (
    EdgeBounds,
    GraphProblem,
    LogDegree,
    MomentUncertainty,
    Nominal,
    ProblemError,
    Singleton,
    Status,
    WassersteinBall,
    judge,
    registered_ambiguities,
)


def problem_with(ambiguity, prior, d=16, n=40, seed=0):
    problem = paper_problem(d, n, ambiguity, seed=seed)
    if prior == "eta":
        return problem
    return GraphProblem(problem.nominal, ambiguity, prior=LogDegree(1.0, 1.0))


def counted(laplacian):
    """Count neighbours from the matrix, not from a list of edges."""
    mean = np.trace(laplacian) / len(laplacian)
    return np.count_nonzero(-laplacian >= 1e-4 * mean) / len(laplacian)


@pytest.mark.parametrize("prior", ["eta", "log-degree"])
@pytest.mark.parametrize("name", sorted(registered_ambiguities()))
def test_every_set_has_about_so_many_neighbours(name, prior):
    problem = problem_with(registered_ambiguities()[name].example(0.1, 16), prior)
    for k in (6.0, 9.5):
        fit = solve_for_neighbours(problem, k)
        # At a gap of 1e-6 an edge about the threshold may come or go: two edges of 48.
        assert fit.neighbours == pytest.approx(k, abs=2 * 2 / 16)
        assert counted(fit.solution.laplacian) == fit.neighbours
        assert fit.solution.status is Status.SOLVED
        assert judge(fit.problem, fit.solution).solved(1e-6)
        assert type(fit.problem.prior) is type(problem.prior)
        # The trace of the paper's prior is d; a log-degree graph is scaled to it.
        assert np.trace(fit.solution.laplacian) == pytest.approx(16.0, rel=1e-2)


@examples(10)
@given(st.integers(0, 1000), st.floats(-6, 6), st.sampled_from(["eta", "log-degree"]))
def test_the_unit_of_the_data_does_not_matter(seed, exponent, prior):
    problem = problem_with(Singleton(), prior, d=9, seed=seed)
    unit = 10.0**exponent
    first = solve_for_neighbours(problem, 3.0)
    second = solve_for_neighbours(replace(problem, nominal=problem.nominal.scaled(unit)), 3.0)
    assert first.neighbours == second.neighbours
    degree = 2 if prior == "eta" else 4
    # Strengths are found to within a bracket of edges that come or go, not to digits.
    strengths = [second.trials[-1][0], first.trials[-1][0] * unit**degree]
    assert strengths[0] == pytest.approx(strengths[1], rel=0.05)


def test_more_neighbours_need_more_strength():
    problem = problem_with(WassersteinBall(0.3), "log-degree")
    shapes = []
    for k in (5, 7, 10, 13):
        prior = solve_for_neighbours(problem, k).problem.prior
        shapes.append(prior.alpha * prior.beta)
    assert np.all(np.diff(shapes) > 0)


def test_a_graph_that_jumps_over_k_is_the_nearest():
    """On a cycle all vertices are alike: neighbours come in pairs, and 3 there never are."""
    angles = 2 * np.pi * np.arange(12) / 12
    samples = np.array([np.cos(angles), np.sin(angles)])
    problem = GraphProblem(Nominal.from_samples(samples), Singleton(), eta=1.0)
    fit = solve_for_neighbours(problem, 3.0)
    assert fit.neighbours in (2.0, 4.0)
    assert len(fit.trials) < 40


def test_each_graph_starts_from_the_one_before(monkeypatch):
    starts = []
    plain = target_degree.solve

    def spy(problem, tol, start=None, **options):
        starts.append(start)
        return plain(problem, tol, start=start, **options)

    monkeypatch.setattr(target_degree, "solve", spy)
    fit = solve_for_neighbours(problem_with(WassersteinBall(0.3), "eta"), 5.0)
    assert starts[0] is None
    assert len(starts) == len(fit.trials) > 1
    assert all(start is not None for start in starts[1:])


@pytest.mark.parametrize("prior", ["eta", "log-degree"])
def test_the_complete_graph_is_within_reach(prior):
    fit = solve_for_neighbours(problem_with(WassersteinBall(0.3), prior, d=8), 7)
    assert fit.neighbours == 7.0


@pytest.mark.parametrize("neighbours", [0.0, -1.0, np.nan, "many", 15.5])
def test_numbers_that_no_graph_has_are_refused(neighbours):
    with pytest.raises(ProblemError, match="neighbours"):
        solve_for_neighbours(problem_with(Singleton(), "eta"), neighbours)


def test_under_logarithms_less_than_one_neighbour_is_refused_with_a_remedy():
    with pytest.raises(ProblemError, match="at least 1, or use eta"):
        solve_for_neighbours(problem_with(Singleton(), "log-degree"), 0.5)


def test_bounds_limit_what_can_be_asked_for():
    m = 16 * 15 // 2
    upper = np.zeros(m)
    upper[::4] = np.inf
    problem = problem_with(Singleton(), "eta").replace(bounds=EdgeBounds(np.zeros(m), upper))
    with pytest.raises(ProblemError, match=r"at most 3\.75"):
        solve_for_neighbours(problem, 5)
    assert solve_for_neighbours(problem, 3).neighbours == pytest.approx(3.0, abs=1 / 16)


@pytest.mark.parametrize("prior", ["eta", "log-degree"])
def test_a_set_that_keeps_edges_whatever_the_prior_says_so(prior):
    problem = problem_with(MomentUncertainty(3.0, 1.0, 1.0), prior)
    with pytest.raises(ProblemError, match=r"out of reach: .* ask for more, or take a smaller"):
        solve_for_neighbours(problem, 1)


def test_a_radius_gives_way_where_it_keeps_too_many_edges():
    problem = problem_with(WassersteinBall(8.0), "eta")
    with pytest.raises(ProblemError, match="out of reach"):
        solve_for_neighbours(problem, 3)
    fit = with_smaller_radius(problem, 3, 1e-6)
    assert fit.neighbours == pytest.approx(3.0, abs=2 * 2 / 16)
    assert 0.0 < fit.problem.ambiguity.radius < 8.0


def test_edges_of_equal_cost_are_all_there_or_none():
    problem = GraphProblem(Nominal.from_samples(np.eye(6)), Singleton(), eta=1.0)
    with pytest.raises(ProblemError, match="the least that these data give is 5"):
        solve_for_neighbours(problem, 2)


def test_neighbours_are_counted_relative_to_the_mean_degree():
    answer = solve_for_neighbours(problem_with(Singleton(), "log-degree"), 4.0).solution
    tiny = replace(answer, laplacian=answer.laplacian * 1e-9)
    assert average_neighbours(tiny) == average_neighbours(answer)

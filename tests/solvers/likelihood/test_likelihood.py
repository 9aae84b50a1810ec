"""LikelihoodSolver: values against CVXPY, regimes, and the derivatives of its risks."""

import numpy as np
import pytest
from instances import random_nominal

from formulations import PairRegularized, RobustPremium, SampleAverage
from solvers import CertifiedSolver, LikelihoodSolver, solve
from solvers.bracket.run import Run
from solvers.likelihood import newton
from solvers.likelihood.model import best_tau
from solvers.likelihood.search import Search
from solvers.selection.refit import refit_weights
from wdro_cvx import (
    EdgeBounds,
    Frobenius,
    GraphProblem,
    KLBall,
    LogDegree,
    LogDet,
    MomentBall,
    Nominal,
    PairBall,
    ProblemError,
    Singleton,
    Solution,
    SolverError,
    Status,
    WassersteinBall,
    judge,
)
from wdro_cvx.graphs.laplacian import adjoint, complete_graph
from wdro_cvx.priors import DegreePrior

TERMS = (LogDet(1.0),)


def bounds(d):
    known = EdgeBounds.from_edges(d, absent=[(0, 1)], present=[(2, 3)], least=0.05)
    upper = known.upper.copy()
    upper[-1], upper[d] = 0.1, 0.3
    return EdgeBounds(known.lower, upper)


def priors(d):
    return {
        "trace": Frobenius(0.1, d),
        "free": Frobenius(0.05, None),
        "no eta": Frobenius(0.0, None),
        "no eta, trace": Frobenius(0.0, d),
        "tiny eta": Frobenius(1e-6, d),
        "penalty": Frobenius(0.1, d, 1.0),
        "bounds": Frobenius(0.05, d, bounds=bounds(d)),
        "no eta, bounds": Frobenius(0.0, None, bounds=bounds(d)),
    }


@pytest.mark.parametrize("prior", priors(6))
@pytest.mark.parametrize(
    ("ambiguity", "form"),
    [
        (Singleton(), SampleAverage),
        (WassersteinBall(0.5), RobustPremium),
        (PairBall(0.2), PairRegularized),
    ],
    ids=["average", "wasserstein", "pairs"],
)
def test_its_values_are_those_of_cvxpy(ambiguity, form, prior):
    d = 7
    nominal = random_nominal(np.random.default_rng(3), d, 12)
    problem = GraphProblem(nominal, ambiguity, prior=priors(d)[prior], terms=(LogDet(0.8),))
    answer = solve(problem, 1e-8)
    assert answer.status is Status.SOLVED
    assert judge(problem, answer).solved(1e-8)
    for backend in ("CLARABEL", "SCS"):
        stated = form(problem).solve(backend)
        scale = max(abs(answer.value), problem.floor)
        assert stated.value == pytest.approx(answer.value, abs=1e-6 * scale)


@pytest.mark.parametrize("prior", priors(6))
@pytest.mark.parametrize(("samples", "radius"), [(2, 0.4), (2, 3.0), (5, 1.0)])
def test_few_samples_and_large_radii_are_solved(samples, radius, prior):
    """The worst case is not unique here, and the bound needs the barrier's moment."""
    d = 8
    nominal = random_nominal(np.random.default_rng(5), d, samples)
    ball = WassersteinBall(radius * d**0.5)
    problem = GraphProblem(nominal, ball, prior=priors(d)[prior], terms=TERMS)
    answer = LikelihoodSolver().solve(problem)
    assert answer.status is Status.SOLVED, answer
    assert judge(problem, answer).solved(1e-6)


def test_a_tree_has_the_inverse_costs():
    """With the edges of a path alone the maximum-likelihood weights are known in closed form."""
    d = 5
    nominal = random_nominal(np.random.default_rng(7), d, 9)
    pairs = [(i, i + 1) for i in range(d - 1)]
    others = [(i, j) for i in range(d) for j in range(i + 2, d)]
    prior = Frobenius(0.0, None, bounds=EdgeBounds.from_edges(d, absent=others))
    answer = solve(GraphProblem(nominal, Singleton(), prior=prior, terms=TERMS), 1e-10)
    moment = nominal.second_moment
    for i, j in pairs:
        cost = moment[i, i] + moment[j, j] - 2 * moment[i, j]
        assert -answer.laplacian[i, j] == pytest.approx(1.0 / cost, rel=1e-5)


def test_the_optimum_has_the_risk_of_its_logarithm():
    """Scaling: at the optimum ``⟨M, L⟩ + 2η‖L‖² = α(d - 1)``, and L is linear in α at fixed αη."""
    d = 9
    nominal = random_nominal(np.random.default_rng(2), d, 30)
    first = solve(
        GraphProblem(
            nominal, WassersteinBall(0.3), prior=Frobenius(0.2, None), terms=(LogDet(1.0),)
        ),
        1e-10,
    )
    risk = WassersteinBall(0.3).worst_case(nominal, first.laplacian).risk
    squares = float(np.sum(np.square(first.laplacian)))
    assert risk + 2 * 0.2 * squares == pytest.approx(d - 1, rel=1e-5)
    third = solve(
        GraphProblem(
            nominal, WassersteinBall(0.3), prior=Frobenius(0.2 / 3, None), terms=(LogDet(3.0),)
        ),
        1e-10,
    )
    assert np.allclose(third.laplacian, 3 * first.laplacian, atol=1e-4)


@pytest.mark.parametrize("ambiguity", [Singleton(), WassersteinBall(0.7)], ids=str)
@pytest.mark.parametrize("prior", [Frobenius(0.2, None), Frobenius(0.2, 9.0, 3.0)], ids=str)
def test_gradient_and_hessian_are_derivatives(ambiguity, prior, monkeypatch):
    rng = np.random.default_rng(1)
    nominal = Nominal.from_samples(rng.standard_normal((30, 7)))
    problem = GraphProblem(nominal, ambiguity, prior=prior, terms=(LogDet(0.8),)).normalised
    search = Search(problem, 1e-6, Run())
    search._start(None)
    model = search.model
    weights, step, h = rng.random(21) + 0.3, rng.standard_normal(21), 1e-6
    here, ahead, behind = (
        model.at(weights),
        model.at(weights + h * step),
        model.at(weights - h * step),
    )
    slope = (ahead.value - behind.value) / (2 * h)
    assert slope == pytest.approx(here.gradient @ step, rel=1e-6)
    bend = (ahead.gradient - behind.gradient) / (2 * h)
    for stored, factored in ((10**6, 0), (0, 0), (0, 10**6)):
        monkeypatch.setattr(newton, "_STORED", stored)
        monkeypatch.setattr(newton, "_FACTORED", factored)
        product = newton._System.of(here, np.arange(21)).product(step)
        assert np.allclose(product, bend, atol=1e-5 * np.abs(bend).max())


def test_a_barrier_moment_is_in_the_ball():
    nominal = random_nominal(np.random.default_rng(4), 6, 3)
    ball = WassersteinBall(0.8)
    problem = GraphProblem(nominal, ball, prior=Frobenius(0.1, None), terms=TERMS).normalised
    search = Search(problem, 1e-6, Run())
    point = search._start(None)
    moment = point.risk.moment()
    distance = problem.ambiguity.membership(problem.nominal).distance(moment)
    assert distance == pytest.approx(problem.ambiguity.radius, rel=1e-9)
    assert np.allclose(moment.second_moment, point.risk.gradient)
    assert (
        point.risk.above
        >= ball.scaled(1 / problem.unit)
        .worst_case(problem.nominal, np.diag(point.degrees) * 0.0)
        .risk
    )


@pytest.mark.parametrize("far", [1e-6, 1e6])
@pytest.mark.parametrize("prior", [Frobenius(0.0, None), Frobenius(0.05, 8.0, 2.0)], ids=str)
def test_the_first_graph_has_the_right_size(prior, far):
    """Newton's steps would halve weights that are a million times too large one by one."""
    nominal = random_nominal(np.random.default_rng(6), 8, 20)
    problem = GraphProblem(nominal, WassersteinBall(0.8), prior=prior, terms=TERMS)
    graph = Solution(far * complete_graph(8, 8.0), 0.0, Status.FAILED)
    point = Search(problem.normalised, 1e-6, Run())._start(graph)
    assert abs(point.gradient @ point.weights) <= 0.05 * problem.terms[0].alpha * 7
    answer = LikelihoodSolver().solve(problem, graph)
    assert answer.status is Status.SOLVED
    assert answer.iterations <= LikelihoodSolver().solve(problem).iterations + 10


def test_the_central_path_goes_on_until_its_own_values_say_that_it_is_done():
    """Its first value can be a million times the optimum, and μ relative to that is too large."""
    nominal = random_nominal(np.random.default_rng(6), 8, 1)
    problem = GraphProblem(
        nominal, WassersteinBall(0.8), prior=Frobenius(0.0, None), terms=TERMS
    ).normalised
    search = Search(problem, 1e-6, Run())
    near = search._start(None)
    search.best = search.model.at(1e7 * near.weights)
    search.value, search.bound = search.best.above, near.bound().value
    points = list(search._points(None))
    assert points[0].above > 1e4 * points[-1].above
    gap = points[-1].above - points[-1].bound().value
    assert gap <= 1e-6 * max(abs(points[-1].above), problem.floor)


def test_no_step_all_but_cuts_off_vertices():
    """Such a step lowers the value; the run then stopped with a value that the judge calls inf."""
    d, rng = 200, np.random.default_rng(0)
    samples = rng.standard_t(3.0, (40, d))
    radius = 0.5 * float(np.mean(np.sum(samples**2, axis=1))) ** 0.5
    nominal, prior = Nominal.from_samples(samples), Frobenius(0.01, None)
    problem = GraphProblem(nominal, WassersteinBall(radius), prior=prior, terms=TERMS)
    answer = LikelihoodSolver().solve(problem)
    assert answer.status is Status.SOLVED
    assert answer.iterations <= 30


def test_a_start_is_used_and_a_disconnected_one_does_no_harm():
    nominal = random_nominal(np.random.default_rng(6), 8, 20)
    problem = GraphProblem(nominal, Singleton(), prior=Frobenius(0.01, None), terms=TERMS)
    cold = LikelihoodSolver(tol=1e-9).solve(problem)
    warm = LikelihoodSolver(tol=1e-9).solve(problem, cold)
    assert warm.iterations <= 1 < cold.iterations
    empty = LikelihoodSolver().solve(problem, type(cold)(np.zeros((8, 8)), 0.0, Status.FAILED))
    assert empty.status is Status.SOLVED


def test_limits_are_kept():
    nominal = random_nominal(np.random.default_rng(6), 12, 30)
    problem = GraphProblem(nominal, Singleton(), prior=Frobenius(0.0, None), terms=TERMS)
    stopped = LikelihoodSolver(max_iterations=1).solve(problem)
    assert stopped.status is Status.ITERATION_LIMIT
    assert stopped.bound < stopped.value


@pytest.mark.parametrize(
    ("ambiguity", "prior", "terms"),
    [
        (KLBall(0.1), Frobenius(0.1, 6.0), TERMS),
        (MomentBall(0.1, p=1.0), Frobenius(0.1, 6.0), TERMS),
        (Singleton(), LogDegree(1.0, 0.1), TERMS),
        (Singleton(), Frobenius(0.1, 6.0), (LogDet(1.0), LogDet(2.0))),
    ],
)
def test_what_it_does_not_claim_is_refused_and_solved_elsewhere(ambiguity, prior, terms):
    nominal = random_nominal(np.random.default_rng(0), 6, 30)
    problem = GraphProblem(nominal, ambiguity, prior=prior, terms=terms)
    with pytest.raises(ProblemError, match="CertifiedSolver"):
        LikelihoodSolver().solve(problem)
    if not isinstance(ambiguity, MomentBall):
        assert judge(problem, solve(problem)).solved(1e-6)


def test_the_refit_of_edge_selection_is_the_same_optimum():
    """On a given support: solvers/selection/refit.py stops at 1e-3 of the likelihood's scale."""
    d = 10
    nominal = random_nominal(np.random.default_rng(8), d, 40)
    heads, tails = np.triu_indices(d, 1)
    kept = (heads + 1 == tails) | ((heads + tails) % 3 == 0)
    upper = np.where(kept, np.inf, 0.0)
    prior = Frobenius(0.0, None, bounds=EdgeBounds(np.zeros(upper.size), upper))
    answer = solve(GraphProblem(nominal, Singleton(), prior=prior, terms=TERMS), 1e-9)
    costs = adjoint(nominal.second_moment)[kept]
    weights = refit_weights(costs, heads[kept], tails[kept], d, tol=1e-6)
    assert np.allclose(weights, -answer.laplacian[heads[kept], tails[kept]], rtol=1e-3, atol=1e-3)


def test_sparse_products_take_the_same_steps(monkeypatch):
    """Products with a sparse change of the Laplacian pay on large graphs only."""
    nominal = random_nominal(np.random.default_rng(3), 14, 40)
    problem = GraphProblem(nominal, Singleton(), prior=Frobenius(0.0, None), terms=TERMS)
    monkeypatch.setattr(newton, "_STORED", 0)  # nor is the Hessian stored
    usual = LikelihoodSolver(1e-8).solve(problem)
    monkeypatch.setattr(newton, "_LARGE", 2)
    sparse = LikelihoodSolver(1e-8).solve(problem)
    assert sparse.status is Status.SOLVED
    assert sparse.iterations <= usual.iterations + 1
    assert sparse.value == pytest.approx(usual.value, rel=1e-8)


@pytest.mark.parametrize("prior", [Frobenius(0.1, 7.0), Frobenius(0.1, 7.0, trace_penalty=0.3)])
def test_the_multiplier_of_the_trace_is_the_one_that_a_search_finds(prior):
    """Bounds that bind nowhere take the search; without bounds there is a formula."""
    levels = np.random.default_rng(0).uniform(-2.0, 3.0, 21)
    none, open_ended = np.zeros(21), np.full(21, np.inf)
    limits = EdgeBounds(none, open_ended)
    bounded = DegreePrior(prior.beta, prior.kappa, prior.alpha, prior.trace, limits)
    found = best_tau(prior, levels, none, open_ended)
    assert found == pytest.approx(best_tau(bounded, levels, none, open_ended), rel=1e-12)


@pytest.mark.parametrize("solver", [LikelihoodSolver, CertifiedSolver])
def test_a_trace_beyond_floating_point_is_named(solver):
    nominal = random_nominal(np.random.default_rng(6), 5, 4)
    problem = GraphProblem(nominal, WassersteinBall(0.3), prior=Frobenius(0.3, 1e-40), terms=TERMS)
    with pytest.raises(SolverError, match=r"so large or small that numbers overflow"):
        solver().solve(problem)

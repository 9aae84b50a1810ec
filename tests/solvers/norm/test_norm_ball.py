"""The interior point for balls of a norm: its gradient, and other routes to its values."""

import numpy as np
import pytest
from effort import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from instances import random_nominal, seeds

from formulations import GeneralRegularized
from solvers import MomentNewton
from solvers.bracket.incumbent import Incumbent
from solvers.bracket.run import Run
from solvers.norm.interior import _NormModel, _NormPoint, solve_norm_ball
from solvers.norm.peak import solve_largest_degree
from wdro_cvx import EdgeBounds, GaussianBall, GraphProblem, LogDegree, MomentBall
from wdro_cvx.graphs.laplacian import laplacian_from_weights

orders = st.sampled_from([1.0, 1.05, 4 / 3, 2.0, 4.0, 20.0])


def bounds_of(kind, rng, d, trace):
    m = d * (d - 1) // 2
    lower, upper = np.zeros(m), np.full(m, np.inf)
    if kind == "caps":
        upper = rng.uniform(1.5, 4.0, m) * trace / (2 * m)
    elif kind == "pins":
        pinned = np.arange(m) % 4 == 1
        lower = np.where(pinned, 0.3 * trace / (2 * m), 0.0)
        upper = np.where(pinned, lower, np.inf)
    return None if kind == "none" else EdgeBounds(lower, upper)


def improved(problem, tol=1e-7):
    """Run the methods for norm balls alone, from a graph that is far off."""
    incumbent = Incumbent(problem.normalised, run=Run(unit=problem.unit))
    incumbent.evaluate(incumbent.problem.prior.start(problem.d))
    incumbent.tol = tol
    for method in (solve_largest_degree, solve_norm_ball):
        method(incumbent, 200)
    return incumbent


@examples(60)
@given(seeds, st.integers(3, 12), orders, st.sampled_from(["none", "caps", "pins"]))
def test_it_agrees_with_newton_under_the_paper_s_prior(seed, d, p, kind):
    rng = np.random.default_rng(seed)
    problem = GraphProblem(
        random_nominal(rng, d, int(rng.integers(1, 3 * d))),
        MomentBall(float(10.0 ** rng.uniform(-2, 1)), p=p),
        eta=float(10.0 ** rng.uniform(-3, 1)),
        bounds=bounds_of(kind, rng, d, d),
    )
    newton = MomentNewton(1e-9).solve(problem)
    assume(newton.gap <= 1e-8)
    found = improved(problem)
    assert found.gap <= 1e-7
    assert found.value * problem.unit**2 == pytest.approx(newton.value, rel=2e-7)


@pytest.mark.parametrize("p", [1.0, 4 / 3, 2.0, 4.0])
@pytest.mark.parametrize("kind", ["none", "caps"])
def test_it_agrees_with_clarabel_under_logarithms(p, kind):
    rng = np.random.default_rng(3)
    d = 8
    nominal = random_nominal(rng, d, 4)
    prior = LogDegree(1.0, 0.01, bounds_of(kind, rng, d, 4 * d))
    problem = GraphProblem(nominal, MomentBall(1.0, p=p), prior=prior)
    found = improved(problem)
    assert found.gap <= 1e-7
    conic = GeneralRegularized(problem).solve("CLARABEL")
    # Clarabel stops at about 1e-8 of αd = 8, in exponential cones a little earlier.
    assert found.value * problem.unit**2 == pytest.approx(conic.value, abs=1e-5)


@examples(40)
@given(seeds, st.integers(3, 8), st.sampled_from([1.05, 4 / 3, 2.0, 4.0, 20.0]), st.booleans())
def test_its_conditions_are_the_gradient_of_the_objective(seed, d, p, logarithms):
    rng = np.random.default_rng(seed)
    prior = {"prior": LogDegree(0.7, 0.2)} if logarithms else {"eta": 0.3}
    problem = GraphProblem(random_nominal(rng, d, 2 * d), MomentBall(0.5, p=p), **prior)
    incumbent = Incumbent(problem)
    incumbent.evaluate(problem.prior.start(d))
    model = _NormModel.of(problem, incumbent.master(), p / (p - 1.0))
    m = d * (d - 1) // 2
    w = rng.uniform(0.2, 1.0, m)
    point = _NormPoint(model, w, 0.0, np.zeros(m), np.zeros(m))

    def objective(weights):
        graph = laplacian_from_weights(weights)
        worst = problem.ambiguity.worst_case(problem.nominal, graph)
        return (worst.risk + problem.regularisation(graph)) / model.master.unit

    step = 1e-6
    for edge in range(m):
        around = np.zeros(m)
        around[edge] = step
        slope = (objective(w + around) - objective(w - around)) / (2 * step)
        # Differences of numbers of size 1 have an error of 1e-10 by rounding.
        assert point.missed[edge] == pytest.approx(slope, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("ambiguity", [MomentBall(0.5, p=np.inf), MomentBall(0.0), GaussianBall(1)])
def test_it_leaves_alone_what_is_not_its_own(ambiguity):
    problem = GraphProblem(random_nominal(np.random.default_rng(0), 5, 9), ambiguity, eta=0.1)
    found = improved(problem)
    assert found.iterations == 0
    assert found.bound == -np.inf

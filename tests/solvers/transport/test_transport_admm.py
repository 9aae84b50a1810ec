"""The ADMM of transport sets: its parts, and when it is chosen and left."""

import cvxpy as cp
import numpy as np
import pytest
from transports import form_of, make, random_bounds, started

from solvers.qp.ascent import maximise
from solvers.transport import admm, interior
from solvers.transport.admm import run_admm
from solvers.transport.lmi import TransportLMI
from solvers.transport.quadratic import StepPoint, StepQP
from solvers.transport.solve import solve_transport
from solvers.transport.step import LaplacianStep
from wdro_cvx import judge
from wdro_cvx.graphs.laplacian import edge_index, weights_from_laplacian


def test_many_edges_go_to_the_admm(monkeypatch):
    problem = make("wasserstein", d=12, n=3)
    monkeypatch.setattr(interior, "MAX_EDGES", 20)
    incumbent = started(problem)
    solve_transport(incumbent, 2000)
    assert incumbent.gap <= 1e-6
    assert incumbent.iterations % 20 == 0  # certificates of the ADMM
    assert judge(problem, incumbent.laplacian, incumbent.certificate).solved(1.1e-6)


def test_many_edges_that_an_interior_point_can_bear_are_the_admms_if_it_is_fast():
    problem = make("wasserstein", d=60, n=5, radius=10.0, eta=0.3)
    incumbent = started(problem)
    solve_transport(incumbent, 2000)
    assert incumbent.gap <= 1e-6
    assert incumbent.iterations % 20 == 0  # certificates of the ADMM, no step of the other


def test_on_trial_the_admm_gives_up_where_it_crawls():
    problem = make("mahalanobis", d=12, n=1, radius=30.0, eta=1e-3)
    incumbent = started(problem)
    run_admm(incumbent, form_of(problem), 5000, on_trial=True)
    assert incumbent.gap > 1e-6
    assert 0 < incumbent.iterations <= 500


def test_clusters_of_eigenvalues_on_which_lapack_gives_up(monkeypatch):
    problem = make("wasserstein", d=12, n=3)
    eigh = admm.linalg.eigh

    def unwilling(matrix, driver=None, **options):
        if driver == "evr":
            raise np.linalg.LinAlgError("Internal Error.")
        return eigh(matrix, driver=driver, **options)

    monkeypatch.setattr(admm.linalg, "eigh", unwilling)
    incumbent = started(problem)
    run_admm(incumbent, form_of(problem), 2000)
    assert incumbent.gap <= 1e-6


@pytest.mark.parametrize("edges", [False, True], ids=["equal weights", "weighted"])
@pytest.mark.parametrize("bounds", ["", "mask", "pins", "caps"])
@pytest.mark.parametrize("penalty", [None, 0.3])
def test_the_qp_of_a_step_is_solved_exactly(penalty, bounds, edges):
    d, rng = 6, np.random.default_rng(2)
    limits = random_bounds(bounds, d, 5.0, rng)
    moment = rng.standard_normal((d, d))
    moment = moment @ moment.T
    scales = 10 ** rng.uniform(-1, 1, d) if edges else np.ones(d)
    weights = 0.1 + 0.5 * np.outer(scales**2, scales**2)
    vertices = 0.1 + 0.5 * scales**4
    coupled = 0.4 / d
    lower, upper = (0.0, np.inf) if limits is None else limits.matrices()
    diagonal = np.diagonal(moment)
    costs = np.add.outer(diagonal, diagonal) - 2 * moment
    room = 1.0 - coupled * float(np.sum(scales**4 / vertices))
    qp = StepQP(
        costs, weights, vertices, coupled, scales**2, room, 5.0, penalty, lower, upper, limits
    )
    found = maximise(StepPoint(qp, np.zeros(d), 1.0), 1e-14, 200)
    assert found.steps <= 20
    heads, tails = edge_index(d)
    w = cp.Variable(heads.size)
    incidence = np.zeros((d, heads.size))
    incidence[heads, np.arange(heads.size)] = incidence[tails, np.arange(heads.size)] = 1.0
    form = incidence.T @ (np.diag(vertices) - coupled * np.outer(scales**2, scales**2)) @ incidence
    form = form + np.diag(2 * weights[heads, tails])
    objective = costs[heads, tails] @ w + cp.quad_form(w, cp.psd_wrap((form + form.T) / 2))
    constraints = [w >= 0] if limits is None else [w >= limits.lower]
    if limits is not None:
        finite = np.isfinite(limits.upper)
        if finite.any():
            constraints.append(w[finite] <= limits.upper[finite])
    if penalty is None:
        constraints.append(cp.sum(w) == 2.5)
    else:
        objective = objective + penalty * cp.square(2 * cp.sum(w) - 5.0)
    optimum = cp.Problem(cp.Minimize(objective), constraints).solve(solver=cp.CLARABEL)
    assert found.value == pytest.approx(found.last.value, rel=1e-11)
    assert found.value == pytest.approx(optimum, rel=1e-7, abs=1e-7)
    weight = weights_from_laplacian(found.best.laplacian())
    np.testing.assert_allclose(weight, w.value, atol=1e-4)


@pytest.mark.parametrize("level", [-1e9, None])
def test_a_level_at_which_no_edge_pays_is_not_gone_on_with(level):
    """A step of the ADMM begins with the trace's multiplier of the last one; it may be useless."""
    problem = make("moments", d=9)
    form = form_of(problem)
    near = problem.prior.start(9)
    lmi = TransportLMI.of(problem, form, near)
    primal, dual = lmi.start(near)
    laplacian, _, _ = LaplacianStep(lmi, near, tau=level).take(primal - dual, 1.0, 1e-6)
    assert np.trace(laplacian) == pytest.approx(9.0)
    expected, _, _ = LaplacianStep(lmi, near).take(primal - dual, 1.0, 1e-6)
    np.testing.assert_allclose(laplacian, expected, atol=1e-5)

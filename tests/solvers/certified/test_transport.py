"""The interior point and the ADMM of transport sets: their parts, and both before the judge."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import dimensions, random_laplacian, random_nominal, seeds

from formulations import MahalanobisPremium, MomentPremium, RobustPremium
from solvers.certified import CertifiedSolver
from solvers.certified.transport import admm, interior, solve_transport
from solvers.certified.transport.admm import run_admm
from solvers.certified.transport.anderson import Anderson
from solvers.certified.transport.coupling import coupling
from solvers.certified.transport.edges import FreeEdges
from solvers.certified.transport.interior import follow_path
from solvers.certified.transport.lmi import TransportLMI
from solvers.certified.transport.quadratic import StepPoint, StepQP
from solvers.certified.transport.step import LaplacianStep
from solvers.certified.transport.system import Iterate, NewtonSystem
from solvers.laplacian_qp.ascent import maximise
from solvers.running.incumbent import Incumbent
from wdro_cvx import (
    EdgeBounds,
    GaussianBall,
    GraphProblem,
    MahalanobisBall,
    MomentBall,
    MomentUncertainty,
    Nominal,
    Status,
    WassersteinBall,
    judge,
)
from wdro_cvx.generators import rbf_graph, smooth_signals
from wdro_cvx.graphs.laplacian import edge_index, weights_from_laplacian

CONIC = 2e-6  # 1e-6 of the certified solver, and what Clarabel leaves
FORMS = {
    "wasserstein": RobustPremium,
    "gaussian": RobustPremium,
    "mahalanobis": MahalanobisPremium,
    "moments": MomentPremium,
}


def transport_set(kind, d, radius, rng, spread=1.0):
    if kind == "wasserstein":
        return WassersteinBall(radius)
    if kind == "gaussian":
        return GaussianBall(radius)
    if kind == "mahalanobis":
        return MahalanobisBall(radius, scales=tuple(10 ** rng.uniform(-spread, spread, d)))
    return MomentUncertainty(1.0, mean_radius=radius, covariance_radius=0.3 * radius)


def random_bounds(kind, d, trace, rng):
    m = d * (d - 1) // 2
    lower, upper = np.zeros(m), np.full(m, np.inf)
    some = rng.permutation(m)[: m // 3]
    if kind == "mask":
        upper[some] = 0.0
    elif kind == "pins":
        lower[some] = upper[some] = 0.3 * trace / m
    elif kind == "caps":
        upper[:] = 1.5 * trace / (2 * m)
    else:
        return None
    return EdgeBounds(lower, upper)


def make(kind, d=7, n=3, radius=2.0, eta=0.05, seed=0, *, trace=None, penalty=None, bounds=""):
    rng = np.random.default_rng(seed)
    nominal = random_nominal(rng, d, n)
    limits = random_bounds(bounds, d, d if trace is None else trace, rng)
    ambiguity = transport_set(kind, d, radius, rng)
    return GraphProblem(nominal, ambiguity, eta, trace, penalty, limits)


def started(problem):
    """An incumbent as the proximal phase might leave it: anything feasible."""
    incumbent = Incumbent(problem)
    incumbent.evaluate(incumbent.bound_by(problem.nominal.second_moment, None).laplacian)
    return incumbent


def form_of(problem):
    return problem.ambiguity.transport_form(problem.nominal)


def interior_start(problem):
    lmi = TransportLMI.of(problem, form_of(problem), problem.prior.start(problem.d))
    edges = FreeEdges.of(problem)
    return lmi, edges, interior._start(lmi, edges)


# The conditions of optimality, from the docstring of solvers/certified/transport/system.py.


def conditions(problem, edges, at, target):
    form = form_of(problem)
    lmi = TransportLMI.of(problem, form, problem.prior.start(problem.d))
    laplacian = edges.base + edges.combined(at.excess)
    scaled = np.diag(lmi.scales) @ laplacian @ np.diag(lmi.scales)
    slack = at.gamma * np.eye(problem.d) - scaled
    centred = form.factor - form.factor.mean(axis=1, keepdims=True)
    factor = centred / form.radius / lmi.scales
    rows = (factor + at.moves) * lmi.scales
    matrix = rows.T @ rows
    if form.rest is not None:
        matrix = matrix + form.rest / form.radius**2
    matrix = matrix + at.spread * np.outer(lmi.scales, lmi.scales)
    bend = 2 * problem.eta + form.reach / np.linalg.norm(laplacian)
    matrix = matrix + bend / form.radius**2 * laplacian
    slope = 0.0
    if problem.trace_penalty is not None:
        slope = form.radius**2 / (8 * problem.trace_penalty)
    capped = np.isfinite(edges.room)
    return [
        edges.adjoint(matrix) - at.tau - at.lower + at.upper,
        np.array([1.0 - np.sum(at.moves**2) - np.trace(at.spread)]),
        np.array([edges.total - at.excess.sum() - slope * at.tau]),
        at.moves @ slack - factor @ scaled,
        at.excess * at.lower - target,
        (edges.room - at.excess)[capped] * at.upper[capped] - target,
    ]


@pytest.mark.parametrize("bounds", ["", "mask", "pins", "caps"])
@pytest.mark.parametrize("penalty", [None, 0.7])
@pytest.mark.parametrize("kind", ["wasserstein", "mahalanobis", "moments"])
def test_the_direction_is_newtons(kind, penalty, bounds):
    """Along it every condition shrinks by the share of the way, up to the square of that share."""
    problem = make(kind, d=5, n=3, penalty=penalty, bounds=bounds, trace=4.0)
    lmi, edges, at = interior_start(problem)
    rng = np.random.default_rng(1)
    at = replace(at, moves=at.moves + 0.1 * rng.standard_normal(at.moves.shape), tau=0.3)
    noise = rng.standard_normal((5, 5))
    at = replace(at, spread=at.spread + 0.01 * noise @ noise.T)
    at = replace(at, lower=at.lower * rng.uniform(0.5, 2, at.lower.size))
    system = NewtonSystem(lmi, edges, at)
    target = 0.3 * system.complementarity() / system.count
    step = system.direction(target)
    share = 1e-6
    before = conditions(problem, edges, at, target)
    after = conditions(problem, edges, at.moved(step, share), target)
    for old, new in zip(before, after, strict=True):
        change = (new - old) / share
        np.testing.assert_allclose(change, -old, atol=1e-4 * max(1.0, np.abs(old).max(initial=0.0)))
    # W: linearised around the inverse of the slack that is fixed.
    slack = at.gamma * np.eye(5) - lmi.scaled(edges.base + edges.combined(at.excess))
    turn = step.gamma * np.eye(5) - lmi.scaled(edges.combined(step.excess))
    linear = np.linalg.solve(slack, turn @ at.spread)
    expected = target * np.linalg.inv(slack) - at.spread - (linear + linear.T) / 2
    np.testing.assert_allclose(step.spread, expected, atol=1e-9 * np.abs(expected).max())


def test_the_second_direction_has_the_second_order_of_the_first():
    """What a full first step leaves of the conditions that are products is put into the second."""
    problem = make("mahalanobis", d=5, n=3, bounds="caps", trace=4.0)
    lmi, edges, at = interior_start(problem)
    system = NewtonSystem(lmi, edges, at)
    first = system.direction(0.0)
    plain, second = system.direction(0.1), system.direction(0.1, first)
    whole = conditions(problem, edges, at.moved(first, 1.0), 0.0)
    change = [
        (new - old) / 1e-6
        for old, new in zip(
            conditions(problem, edges, at.moved(plain, 1e-6), 0.1),
            conditions(problem, edges, at.moved(second, 1e-6), 0.1),
            strict=True,
        )
    ]
    for left, turned in zip(whole, change, strict=True):
        np.testing.assert_allclose(turned, -left, atol=1e-4 * max(1.0, np.abs(left).max()))


def test_the_longest_step_ends_where_something_vanishes():
    problem = make("wasserstein", d=5, bounds="caps", trace=4.0)
    lmi, edges, at = interior_start(problem)
    system = NewtonSystem(lmi, edges, at)
    rng = np.random.default_rng(0)
    for part in ("excess", "lower", "upper", "spread", "gamma"):
        zero = Iterate(*(0.0 * np.asarray(value) for value in vars(at).values()))
        if part == "spread":
            noise = rng.standard_normal((5, 5))
            change = noise + noise.T
        else:
            change = -rng.random(np.shape(getattr(at, part)))
        length = system.longest(replace(zero, **{part: change}))
        moved = at.moved(replace(zero, **{part: change}), length)
        slack = moved.gamma * np.eye(5) - lmi.scaled(edges.base + edges.combined(moved.excess))
        least = [
            np.linalg.eigvalsh(slack)[0],
            np.linalg.eigvalsh(moved.spread)[0],
            moved.excess.min(),
            moved.lower.min(),
            moved.upper.min(),
            (edges.room - moved.excess).min(),
        ]
        assert min(least) == pytest.approx(0.0, abs=1e-9)


@settings(max_examples=60)
@given(seeds, dimensions, st.sampled_from(list(FORMS)), st.sampled_from([1e-3, 0.5, 30.0]))
def test_a_coupling_is_in_the_set(seed, d, kind, radius):
    """Whatever moves and spread: scaled to the budget they are worth exactly the radius."""
    rng = np.random.default_rng(seed)
    problem = make(kind, d=d, n=3, radius=radius, seed=seed % 100)
    form = form_of(problem)
    moves = rng.standard_normal(form.factor.shape) * 10 ** rng.uniform(-3, 3)
    spread = rng.standard_normal((2, d))
    pieces = coupling(form, moves, spread, random_laplacian(rng, d))
    cost = np.sum((pieces.moved - form.factor) ** 2 * form.metric)
    cost += np.sum(pieces.spread**2 * form.metric)
    # Rows of length 1 that move by 1e-3 lose three digits of the move.
    assert cost == pytest.approx(form.radius**2, rel=1e-10)
    if form.rest is None:
        assert pieces.shift is None
    else:
        assert np.linalg.norm(pieces.shift - form.rest) == pytest.approx(form.reach, rel=1e-9)
    distance = problem.ambiguity.proved_distance(problem.nominal, pieces)
    assert distance == pytest.approx(problem.ambiguity.radius, rel=1e-9)


@settings(max_examples=40)
@given(
    seeds,
    st.sampled_from(list(FORMS)),
    st.sampled_from(["", "mask", "pins", "caps"]),
    st.sampled_from([None, 0.01, 10.0]),
    st.sampled_from([None, 0.3, 7.0]),
    st.sampled_from([1, 2, 40]),
    st.sampled_from([0.01, 0.3, 3.0, 30.0]),
    st.sampled_from([1e-4, 0.1, 10.0]),
)
def test_the_interior_point_solves_from_anywhere(
    seed, kind, bounds, penalty, trace, n, radius, eta
):
    """Judged, without any help of the proximal phase or the ADMM."""
    trace = None if trace is None else 7 * trace
    problem = make(
        kind, 7, n, radius, eta, seed % 1000, trace=trace, penalty=penalty, bounds=bounds
    ).normalised
    incumbent = started(problem)
    follow_path(incumbent, form_of(problem), 1e-6, 100)
    assert incumbent.gap <= 1e-6
    assert judge(problem, incumbent.laplacian, incumbent.certificate).solved(1.1e-6)


@pytest.mark.parametrize("bounds", ["", "mask", "pins", "caps"])
@pytest.mark.parametrize("penalty", [None, 0.05])
@pytest.mark.parametrize("kind", ["wasserstein", "mahalanobis", "moments"])
def test_both_methods_find_the_conic_optimum(kind, penalty, bounds):
    problem = make(kind, penalty=penalty, bounds=bounds, trace=5.0)
    optimum = FORMS[kind](problem).solve().value
    for method in (follow_path, run_admm):
        incumbent = started(problem)
        method(incumbent, form_of(problem), 1e-6, 3000)
        assert incumbent.gap <= 1e-6
        assert incumbent.value == pytest.approx(optimum, rel=CONIC)
        assert incumbent.bound <= optimum * (1 + 1e-7)


@pytest.mark.parametrize("n", [1, 2, 10])
@pytest.mark.parametrize("seed", range(3))
def test_scales_of_six_orders_of_magnitude(seed, n):
    """Where a step in the Frobenius norm of L tells nothing of most vertices."""
    rng = np.random.default_rng(seed)
    nominal = Nominal.from_samples(smooth_signals(rbf_graph(20, rng), n, rng, noise=0.1))
    ambiguity = transport_set("mahalanobis", 20, 3.0, rng, spread=3.0)
    problem = GraphProblem(nominal, ambiguity, 0.01)
    solution = CertifiedSolver(3e-7).solve(problem)
    assert solution.status is Status.SOLVED
    assert solution.iterations <= 60 + 70
    # The judge's distance loses digits of such scales.
    assert judge(problem, solution.laplacian, solution.certificate).solved(1e-5)


@pytest.mark.parametrize(("seed", "n", "radius", "trace"), [(0, 1, 3.0, 6.0), (1, 2, 0.05, 140.0)])
def test_the_path_is_followed_where_the_coupling_bends(seed, n, radius, trace):
    """Moves take over from the spread within a step or two of the path."""
    rng = np.random.default_rng(seed)
    nominal = Nominal.from_samples(rng.standard_t(2, (n, 20)))
    ambiguity = transport_set("mahalanobis", 20, radius, rng, spread=3.0)
    problem = GraphProblem(nominal, ambiguity, 1e-3, trace)
    incumbent = started(problem)
    follow_path(incumbent, form_of(problem), 1e-6, 80)
    assert incumbent.gap <= 1e-6


def test_the_path_starts_where_multipliers_have_the_size_of_costs():
    """A tiny radius of the mean makes all else large in its unit."""
    rng = np.random.default_rng(0)
    nominal = Nominal.from_samples(1e-3 * rng.standard_t(2, (1, 20)))
    ambiguity = MomentUncertainty(1.0, mean_radius=1e-6, covariance_radius=1e-6)
    problem = GraphProblem(nominal, ambiguity, 1e-10, 140.0)
    incumbent = started(problem)
    follow_path(incumbent, form_of(problem), 1e-6, 40)
    assert incumbent.gap <= 1e-6


@pytest.mark.parametrize("ratio", [1e-4, 1.0, 1e4])
def test_radii_of_mean_and_covariance_that_differ(ratio):
    nominal = random_nominal(np.random.default_rng(0), 12, 4)
    ambiguity = MomentUncertainty(1.0, mean_radius=ratio**0.5, covariance_radius=ratio**-0.5)
    problem = GraphProblem(nominal, ambiguity, 0.01)
    solution = CertifiedSolver().solve(problem)
    assert solution.status is Status.SOLVED
    assert judge(problem, solution.laplacian, solution.certificate).solved(1.1e-6)
    assert solution.value == pytest.approx(MomentPremium(problem).solve().value, rel=CONIC)


@pytest.mark.parametrize("kind", list(FORMS))
@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_units_change_nothing(kind, factor):
    problem = make(kind, d=12, n=4)
    found = []
    for case in (problem, problem.scaled(factor)):
        incumbent = started(case)
        follow_path(incumbent, form_of(case), 1e-6, 100)
        found.append(incumbent)
    assert found[0].iterations == found[1].iterations
    assert found[1].value == pytest.approx(found[0].value * factor**2, rel=1e-9)


def test_sets_without_the_form_are_left_alone():
    problem = replace(make("gaussian"), ambiguity=MomentBall(0.5))
    incumbent = started(problem)
    before = incumbent.value, incumbent.bound
    solve_transport(incumbent, 1e-6, 100)
    assert (incumbent.value, incumbent.bound, incumbent.iterations) == (*before, 0)


def test_many_edges_go_to_the_admm(monkeypatch):
    problem = make("wasserstein", d=12, n=3)
    monkeypatch.setattr(interior, "MAX_EDGES", 20)
    incumbent = started(problem)
    solve_transport(incumbent, 1e-6, 2000)
    assert incumbent.gap <= 1e-6
    assert incumbent.iterations % 20 == 0  # certificates of the ADMM
    assert judge(problem, incumbent.laplacian, incumbent.certificate).solved(1.1e-6)


def test_many_edges_that_an_interior_point_can_bear_are_the_admms_if_it_is_fast():
    problem = make("wasserstein", d=60, n=5, radius=10.0, eta=0.3)
    incumbent = started(problem)
    solve_transport(incumbent, 1e-6, 2000)
    assert incumbent.gap <= 1e-6
    assert incumbent.iterations % 20 == 0  # certificates of the ADMM, no step of the other


def test_on_trial_the_admm_gives_up_where_it_crawls():
    problem = make("mahalanobis", d=12, n=1, radius=30.0, eta=1e-3)
    incumbent = started(problem)
    run_admm(incumbent, form_of(problem), 1e-6, 5000, on_trial=True)
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
    run_admm(incumbent, form_of(problem), 1e-6, 2000)
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


def test_anderson_solves_a_linear_iteration_of_few_modes_at_once():
    """Five rates, five differences: the combination whose residual vanishes is the fixed point."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    rates = np.where(np.arange(30) < 4, [0.95, 0.8, 0.5, 0.2] + [0.0] * 26, 0.0)
    matrix, goal = (basis * rates) @ basis.T, rng.standard_normal(30)
    point, anderson = np.zeros(30), Anderson(5)
    assert anderson.extrapolate() is None
    for _ in range(6):
        image = matrix @ point + goal - matrix @ goal
        anderson.add(image, image - point)
        point = image
    plain = np.linalg.norm(point - goal)
    assert np.linalg.norm(anderson.extrapolate() - goal) <= 1e-8 * plain
    anderson.forget()
    assert anderson.extrapolate() is None


# The hard case of the paper's sets: few samples and a large radius.


@pytest.mark.parametrize(("d", "n", "seed"), [*((8, 3, seed) for seed in range(6)), (20, 10, 0)])
@pytest.mark.parametrize("penalty", [None, 10.0])
def test_the_hard_case_needs_its_certificate(d, n, seed, penalty):
    """Where the risk is not smooth the Laplacian alone does not prove that it is optimal."""
    nominal = random_nominal(np.random.default_rng(seed), d, n, mean=0)
    problem = GraphProblem(nominal, GaussianBall(20.0), 0.1, trace_penalty=penalty)
    solution = CertifiedSolver().solve(problem)
    assert solution.status is Status.SOLVED
    assert judge(problem, solution.laplacian, solution.certificate).solved(1.1e-6)
    assert solution.iterations <= 60 + 20  # the interior point takes 8 to 12
    assert not judge(problem, solution.laplacian).solved(1e-2)
    if d == 8:
        optimum = RobustPremium(problem).solve().value
        assert solution.value == pytest.approx(optimum, rel=CONIC)


@pytest.mark.parametrize("radius", [0.1, 1.0])
def test_one_sample_and_hardly_any_regularisation(radius):
    rng = np.random.default_rng([20, 1])
    nominal = Nominal.from_samples(smooth_signals(rbf_graph(20, rng), 1, rng, noise=0.1))
    problem = GraphProblem(nominal, GaussianBall(radius), 1e-3)
    solution = CertifiedSolver().solve(problem)
    assert solution.status is Status.SOLVED
    assert solution.iterations <= 60 + 40
    assert judge(problem, solution.laplacian, solution.certificate).solved(1.1e-6)


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
